"""Files for visitors to download: in the link itself, or one for all that the page writes once."""

import atexit
import shutil
import tempfile
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from pathlib import Path

import gradio as gr
from markupsafe import Markup

from sauda.records.store import replace_file


class NotWritten(ValueError):
    """A file for download could not be written; the text says why, in a sentence."""

    def __init__(self, error: OSError) -> None:
        why = error.strerror or type(error).__name__
        super().__init__(
            f"the file for download could not be written ({why.lower()});"
            " nothing else is lost, so try again later"
        )


def shared_file(name: str, write: Callable[[Path], None]) -> Path:
    """The file called `name`, which `write` makes for all visitors unless it is there already.

    Raises NotWritten where there is no room, and then leaves no part of the file.
    """
    try:
        path = shared_folder() / name
        if not path.exists():
            with replace_file(path) as part:
                write(part)
    except OSError as error:
        raise NotWritten(error) from None
    return path


@cache
def shared_folder() -> Path:
    """A folder of this process, removed when it ends, whose files Gradio serves as they stand."""
    folder = Path(tempfile.mkdtemp(prefix="sauda-")).resolve()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    gr.set_static_paths([folder])
    return folder


def data_address(content: bytes, kind: str) -> str:
    """The address of a file that holds the file itself; `kind` is its type, such as "image/png"."""
    return f"data:{kind};base64,{b64encode(content).decode()}"


def text_link(name: str, text: str, words: str) -> Markup:
    """A link called `words` that saves `text` as the file `name`."""
    link = Markup('<a class="sauda-file" download="{}" href="{}">{}</a>')
    return link.format(name, data_address(text.encode(), "text/plain;charset=utf-8"), words)
