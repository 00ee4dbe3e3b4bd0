"""Transcripts: one seed before and after training, and any seed under several policies."""
