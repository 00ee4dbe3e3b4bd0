"""The games under the interfaces of the field: `gym_env.py` for Gymnasium, `aec_env.py` for
PettingZoo. `encoding.py` turns observations into vectors and numbers into actions for both.

Gymnasium and PettingZoo come with the extra `field`; nothing else here needs them.
"""
