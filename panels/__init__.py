"""The tabs of the page, in order. Each is a module with `TITLE` and `build()`."""

from panels import artifacts, judge
from panels.gpu_arena import tab as gpu_arena
from panels.haggle import tab as haggle
from panels.results import tab as results
from panels.tour import tab as tour
from panels.training import tab as training
from panels.transcripts import tab as transcripts

PANELS = (tour, haggle, gpu_arena, results, training, transcripts, judge, artifacts)
