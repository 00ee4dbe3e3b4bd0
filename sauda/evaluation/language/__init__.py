"""How well `sauda.language` reads what people write.

`sentences.py` scores prices and tells in labelled sentences, `acts.py` dialogue acts in annotated
dialogues.
"""
