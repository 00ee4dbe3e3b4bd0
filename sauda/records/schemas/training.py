"""What the runs of players and of roles share."""

from pydantic import Field

from sauda.records.schemas.base import Record


class RunBase(Record):
    """The base model that was trained."""

    name: str = Field(description="name of the model")
    origin: str = Field(description="where its weights come from, with their version")
    sha256: str = Field(description="digest of its weights")
    precision: str = Field(description="number format of its weights")


class RunAdapter(Record):
    """The adapter that the run wrote."""

    name: str = Field(description="folder under adapters/")
    sha256: str = Field(description="digest of its weights file")
    bytes: int = Field(description="size of that file")


class Hardware(Record):
    """The machine of the run."""

    device: str = Field(description="GPU or CPU")
    cores: int = Field(description="CPU cores")
    threads: int = Field(description="threads used by PyTorch")
    packages: dict[str, str] = Field(description="versions of the training libraries")


class SampleToken(Record):
    """One token of a training sequence."""

    text: str = Field(description="the token")
    in_loss: bool = Field(description="whether it counts in the loss")
