"""Results: every measurement, one module per question or part."""
