"""The shape of each kind of artifact: pydantic models with a description for every field.

`base.py` holds what several share; every other module holds a family of kinds: `evaluation`,
`arena`, `comparison`, `published`, `bench`, `market`, `language`, `pitching`, `seller`, `training`,
`pilot`. `sauda/records/kinds/` says which model belongs to which kind.
"""
