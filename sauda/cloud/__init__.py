"""Beyond one process: work in pieces, rented machines, a page on a Space.

`shards.py` cuts an evaluation into pieces and computes them in processes or on a Ray cluster,
`rollouts.py` plays a language model's games in pieces. `jobs.py` trains and evaluates as jobs of
the Hub, their scripts made of `job.sh`, `shard.sh` and `setup.sh`; `space.py` deploys the page.
"""


class CloudFault(RuntimeError):
    """A worker, a rented machine or a Space failed for good; the message is a sentence."""
