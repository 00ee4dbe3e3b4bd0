"""A buyer's words: its lines, and the step that puts a decided move into words."""
