"""Beyond one process: work in pieces, rented machines, a page on a Space.

`pieces.py` computes pieces in processes or on a Ray cluster and keeps them in folders: `shards.py`
those of an evaluation, `rollouts.py` a language model's games. `jobs.py` trains and evaluates as
jobs of the Hub, their scripts made of `job.sh`; `space.py` deploys the page.
"""


class CloudFault(RuntimeError):
    """A worker, a rented machine or a Space failed for good; the message is a sentence."""
