"""Artifacts & API: every file, to download and check; how to use it from code."""
