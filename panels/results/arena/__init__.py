"""The GPU arena in Results: its evaluations, its reward and its actions."""
