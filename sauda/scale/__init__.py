"""Beyond one machine: training as a job on rented hardware.

`job.py` with `job.sh` makes and submits a job, `hardware.py` chooses its machine. What a job has
trained is kept by `sauda/train/kept_runs.py`, where the next attempt finds it.
"""
