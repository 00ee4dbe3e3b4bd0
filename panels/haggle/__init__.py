"""Haggle: a visitor plays against Sauda, a model or a script."""
