"""Amounts of rupees in Indian notation."""

import math
import re


def rupees(amount: float) -> str:
    """`amount` in Indian notation: ₹1,20,000, ₹31.50, −₹500. Raises ValueError on NaN and inf."""
    if not math.isfinite(amount):
        raise ValueError(f"expected a finite amount of rupees, got {amount}")
    whole, paise = f"{abs(amount):.2f}".split(".")
    text = f"₹{grouped(whole)}" if paise == "00" else f"₹{grouped(whole)}.{paise}"
    return f"−{text}" if amount < 0 and text != "₹0" else text


def grouped(digits: str) -> str:
    """`digits` of a whole number in Indian groups: 1,20,000."""
    if len(digits) <= 3:
        return digits
    return re.sub(r"(?<=\d)(?=(?:\d\d)*\d{3}$)", ",", digits)
