"""One module a stage of training: its Config, what it learns from, its trainer, `train`."""
