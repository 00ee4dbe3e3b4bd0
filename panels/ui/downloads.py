"""Files that the page writes for visitors to download: few, small, and each under its content.

Gradio serves them from their folder. It would otherwise copy each into a folder of its own, which
has no limit, and answer a full disk with the status 500.
"""

import atexit
import hashlib
import shutil
import tempfile
from base64 import b64encode
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock

import gradio as gr
from markupsafe import Markup

from panels.ui.look import trouble
from sauda.records.store import replace_file

MIB = 2**20
FILES = 400  # of visitors
BYTES = 64 * MIB


class NotWritten(ValueError):
    """A file for download could not be written; the text says why, in a sentence."""

    def __init__(self, error: OSError) -> None:
        why = error.strerror or type(error).__name__
        super().__init__(
            f"the file for download could not be written ({why.lower()});"
            " nothing else is lost, so try again later"
        )


class Downloads:
    """A folder of files, those used last at the end; the oldest give way to new ones."""

    def __init__(self, folder: Path, most_files: int = FILES, most_bytes: int = BYTES) -> None:
        self.folder, self.most_files, self.most_bytes = folder, most_files, most_bytes
        self.sizes: OrderedDict[Path, int] = OrderedDict()  # bytes, of visitors' files
        self._lock = Lock()

    def write(self, name: str, content: str, write: Callable[[Path], None]) -> Path:
        """The file called `name`, which `write` makes unless it is there already.

        `content` identifies what the file holds: two files of one name lie side by side. Raises
        NotWritten where there is no room, and then leaves no part of the file.
        """
        key = hashlib.sha256(f"{name}\n{content}".encode()).hexdigest()[:16]
        path = self.folder / key / name.replace("/", "-").replace(" ", "-")
        self._use(path, 0)  # before the look at it, so that it is not dropped meanwhile
        try:
            if not path.exists():
                with replace_file(path) as part:
                    write(part)
            size = path.stat().st_size
        except OSError as error:
            with self._lock:
                self.sizes.pop(path, None)
            raise NotWritten(error) from None
        self._use(path, size)
        return path

    def _use(self, path: Path, size: int) -> None:
        with self._lock:
            self.sizes[path] = max(size, self.sizes.get(path, 0))
            self.sizes.move_to_end(path)
            while len(self.sizes) > 1 and self._is_full():
                oldest, _ = self.sizes.popitem(last=False)
                shutil.rmtree(oldest.parent, ignore_errors=True)

    def _is_full(self) -> bool:
        return len(self.sizes) > self.most_files or sum(self.sizes.values()) > self.most_bytes


@cache
def downloads() -> Downloads:
    """The folder of this process, removed when it ends; NotWritten where none can be made."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="sauda-")).resolve()
    except OSError as error:
        raise NotWritten(error) from None
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    gr.set_static_paths([folder])
    return Downloads(folder)


def text_link(name: str, text: str, words: str) -> Markup:
    """A link called `words` that saves `text` as the file `name`; it holds the text itself."""
    return Markup(
        '<a class="sauda-file" download="{}" href="data:text/plain;charset=utf-8;base64,{}">{}</a>'
    ).format(name, b64encode(text.encode()).decode(), words)


def offer(make: Callable[[], str]) -> tuple[str | None, Markup]:
    """The path that `make` returns, for a download button; or None and the sentence on why not."""
    try:
        return make(), Markup("")
    except NotWritten as error:
        return None, trouble(error)
