"""The tabs of the page, in order. Each is a module with `TITLE` and `build()`."""

from panels import artifacts, gpu_arena, haggle, judge, results, tour, training, transcripts

PANELS = (tour, haggle, gpu_arena, results, training, transcripts, judge, artifacts)
