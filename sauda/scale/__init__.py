"""Beyond one process: work in pieces, training and evaluation as rented jobs, a page on a Space.

`pieces/` cuts work and computes it on engines; `job.py` trains and `fanout.py` evaluates as jobs,
whose request is in `request.py`, whose script is of `job.sh`, `shard.sh` and `setup.sh`;
`hardware.py` chooses a machine, `deploy/` puts the page on a Space. What a job has trained is kept
by `sauda/train/kept_runs.py`, where the next attempt finds it.
"""
