"""Work that is cut into pieces, each kept on disk: a stopped run resumes where it was.

`store.py` keeps plans and pieces, `engines.py` computes pieces in processes or on a Ray cluster,
`shards.py` cuts an evaluation by seeds and merges it, `rollouts.py` plays a language model's games,
`servers.py` shares its requests among OpenAI-style servers.
"""
