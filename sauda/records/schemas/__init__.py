"""The shape of each kind of artifact: pydantic models with a description for every field.

`base.py` holds what several share; every other module holds a family of kinds: `evaluation`,
`arena`, `comparison`, `published`, `bench`, `language`, `pitching`, `roles`, `seller`,
`training`. `sauda/records/kinds.py` says which model
belongs to which kind.
"""
