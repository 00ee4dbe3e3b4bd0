"""The result types that several rooms read: pydantic models, each field with a comment.

`base.py` holds what all share. Every other result type stands beside the code that fills it.
"""
