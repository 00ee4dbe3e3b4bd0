"""The result types that several rooms read: pydantic models with a description for every field.

`base.py` holds what all share. Every other result type stands beside the code that fills it.
"""
