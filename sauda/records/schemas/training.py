"""What the runs of players and of roles share."""

from sauda.records.schemas.base import Record


class RunBase(Record):
    """The base model that was trained."""

    name: str  # name of the model
    origin: str  # where its weights come from, with their version
    sha256: str  # digest of its weights
    precision: str  # number format of its weights


class RunAdapter(Record):
    """The adapter that the run wrote."""

    name: str  # folder under adapters/
    sha256: str  # digest of its weights file
    bytes: int  # size of that file


class Hardware(Record):
    """The machine of the run."""

    device: str  # GPU or CPU
    cores: int  # CPU cores
    threads: int  # threads used by PyTorch
    packages: dict[str, str]  # versions of the training libraries


class SampleToken(Record):
    """One token of a training sequence."""

    text: str  # the token
    in_loss: bool  # whether it counts in the loss
