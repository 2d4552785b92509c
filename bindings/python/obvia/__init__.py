"""Calls of objects in other processes, through shared memory or a network.

    import obvia

    calc = obvia.connect("calc")
    print(calc.add(2, 3))

The server describes its interfaces, so there is no generated code.
"""

import os
from types import SimpleNamespace

from . import _obvia
from ._errors import Error, TimeoutError
from ._obvia import (
    Object,
    Serving,
    close,
    connect,
    describe,
    interfaces,
    listen,
    names,
    query,
    serve,
    with_timeout,
)
from ._serving import implements
from ._types import Union

__all__ = [
    "Error",
    "Object",
    "Serving",
    "TimeoutError",
    "Union",
    "close",
    "connect",
    "describe",
    "implements",
    "interfaces",
    "listen",
    "names",
    "query",
    "serve",
    "types",
    "with_timeout",
]

# A child of `os.fork` must not use the connections of its parent.
os.register_at_fork(after_in_child=_obvia.after_fork)


def types(object):
    """Returns the classes of the structures and enumerations of an object's interface."""
    return SimpleNamespace(**_obvia.types(object))
