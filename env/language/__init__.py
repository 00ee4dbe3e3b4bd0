"""Prices in text, in English, Hinglish and Hindi: `money.py` finds them, `numerals.py` numbers."""
