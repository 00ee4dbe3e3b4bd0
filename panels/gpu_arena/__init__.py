"""GPU arena: labs share scarce GPUs, step by step."""
