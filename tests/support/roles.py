"""A role run that nobody has trained, for tests of what reads one."""

from typing import Any

from sauda.records.store import Artifact, validate

HOLDOUT = {"d1": (1.0, 10), "d2": (2.0, 20), "d3": (0.5, 10)}  # nats a token, tokens


def role_run(name: str, shift: float = 0.0, **changes: Any) -> Artifact:
    """The run called `name`, its hold-out losses `shift` nats a token above HOLDOUT."""
    _, role, *control = name.split("-")
    own = ("buyer", "seller") if role == "generalist" else (role,)
    sides = own if control else ("buyer", "seller")
    act = {"intent": "counter-price", "price": 1500.0}
    reply = {
        "dialogue": "d1", "turn": 1, "intention": "Name another price: ₹1,500.",
        "text": "Let us say <b>₹1,500</b>.", "meant": act, "tokens": 9, "fault": "",
    }  # fmt: skip
    content = {
        "stage": "roles", "role": role, "schedule": not control,
        "base": {"name": "toy", "origin": "made up", "sha256": "00", "precision": "bf16"},
        "taught": {"dialogues": 4, "roles": {role: 4}, "acts": {"agree": 2},
                   "tokens": {"all": 100, "in_loss": 20}, "sha256": "00"},
        "log": [
            {"step": i, "num_tokens": 100 * i, "seconds": 10.0 * i, "step_time": 8.0,
             "loss": 3.0 / i, "loss_average": 2.0, "learning_rate": 1e-3 * i,
             "learning_rate_lowest": 1e-4, "grad_norm": 0.5, "mean_token_accuracy": 0.5,
             "entropy": 1.0, "memory": 1.5}
            for i in (1, 2)
        ],
        "resumed": [],
        "validations": [
            {"step": i, "dialogues": 2, "tokens": 30, "loss": loss, "perplexity": perplexity}
            for i, loss, perplexity in ((0, 4.0, 54.598150033144236), (2, 1.0, 2.718281828459045))
        ],
        "best_step": 2,
        "holdout": [
            {"dialogue": d, "role": side, "off_role": side not in own, "tokens": tokens,
             "nats": (loss + shift) * tokens}
            for side in sides for d, (loss, tokens) in HOLDOUT.items()
        ],
        "acceptance": {"n": 1, "valid": 1.0, "same_kind": 1.0, "tokens": 9.0, "faults": [],
                       "passed": True},
        "replies": [
            reply | {"role": side, "off_role": False, "read": act}
            if side in own
            else reply | {"role": side, "off_role": True, "read": None}
            for side in sides
        ],
        "hardware": {"device": "a made-up CPU", "cores": 1, "threads": 1, "packages": {}},
        "seconds": 20.0, "num_tokens": 200,
        "sample": [{"text": "Hi", "in_loss": True}],
    }  # fmt: skip
    made = {"command": "made up", "commit": None, "dirty": None, "created": "2026-01-01"}
    data = validate("role_run/1", content | changes)
    return Artifact(f"training/{name}.json", "role_run/1", "measured", made, {}, data)
