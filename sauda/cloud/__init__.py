"""Beyond this machine: servers of language models, rented machines, a page on a Space.

`rollouts.py` plays a language model's games, also through servers. `jobs.py` trains and evaluates
as jobs of the Hub, their scripts made of `job.sh`; `space.py` deploys the page, `publish.py` writes
what the Hub reads.
"""


class CloudFault(RuntimeError):
    """A worker, a rented machine or a Space failed for good; the message is a sentence."""
