"""The page on a Hugging Face Space: staged, checked, uploaded, tested where it then is.

`staging.py` makes the folder that is uploaded, `checks.py` and `imports.py` look for what would
break there, `upload.py` hands it to the Hub, `smoke.py` tests a page at an address.
"""
