"""Beyond one machine: training as a job on rented hardware.

`job.py` with `job.sh` makes and submits a job, `hardware.py` chooses its machine, `kept_runs.py`
keeps runs where the next attempt finds them.
"""
