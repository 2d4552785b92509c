"""Servers for the tests: programs of the examples and of the matrix.

`OBVIA_PROGRAMS` is the folder with the built programs.
"""

import atexit
import os
import pathlib
import subprocess
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = pathlib.Path(os.environ.get("OBVIA_PROGRAMS", ROOT / "target/debug"))

# The maximum time until a server is ready, in seconds.
READY_S_MAX = 60

# A private directory of names: the user may export a calculator, too.
_names = tempfile.TemporaryDirectory(prefix="obvia-python-")
os.environ["OBVIA_RUNTIME_DIR"] = FOLDER = _names.name
_environment = os.environ | {"RUST_BACKTRACE": "0"}


def start(program, *arguments, environment={}):
    """Starts a server and waits for the first line that it prints, after which it accepts calls."""
    words = [str(PROGRAMS / program), *arguments]
    # The servers end when their standard input ends.
    server = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=_environment | environment
    )
    atexit.register(end, server)
    # The timer kills a server that is late, which also ends its output.
    late = threading.Timer(READY_S_MAX, server.kill)
    late.start()
    server.line = server.stdout.readline().strip()
    late.cancel()
    if not server.line:
        raise RuntimeError(f"{words[0]} ended before it was ready, or needed more than {READY_S_MAX} s")
    return server


def end(server):
    """Ends a server."""
    server.kill()
    server.wait()
    server.stdin.close()
    server.stdout.close()
