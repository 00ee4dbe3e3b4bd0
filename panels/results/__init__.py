"""Results: every measurement, one module a section."""
