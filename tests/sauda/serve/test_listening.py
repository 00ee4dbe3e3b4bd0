"""A port that is in use is told before anything slow is loaded."""

import os
import socket
import subprocess
import sys

import pytest

from sauda.records.store import REPOSITORY
from sauda.serve.listening import check_free

NO_GRADIO = "import sys; sys.modules['gradio'] = None; import runpy; "
START = NO_GRADIO + "runpy.run_path('app.py', run_name='__main__')"


def test_a_page_at_a_busy_port_ends_with_a_sentence_before_it_loads_gradio():
    """Gradio cannot be imported here, so a page that got so far would say that instead."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        page = subprocess.run(
            [sys.executable, "-c", START],
            cwd=REPOSITORY,
            env=os.environ | {"HOST": "127.0.0.1", "PORT": str(port)},
            capture_output=True,
            text=True,
        )
        assert (page.returncode, "Traceback" in page.stderr) == (1, False)
        assert f"Cannot listen on 127.0.0.1, port {port}" in page.stderr
    check_free("127.0.0.1", port)
    with pytest.raises(ValueError, match="no address of this machine"):
        check_free("192.0.2.1", port)
