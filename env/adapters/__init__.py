"""The games under the interfaces of the field: `gym_env.py` for Gymnasium, `aec_env.py` for
PettingZoo, `trl_env.py` for TRL.

Each needs a package of its own: the extras `gymnasium`, `pettingzoo` and `openenv` install them.
"""
