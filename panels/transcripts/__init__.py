"""Transcripts: recorded games, side by side."""
