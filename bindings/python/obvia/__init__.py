"""Calls of objects in other processes, through shared memory or a network.

    import obvia

    calc = obvia.connect("calc")
    print(calc.add(2, 3))

The server describes its interfaces, so there is no generated code.
"""

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
    "interfaces",
    "listen",
    "names",
    "query",
    "serve",
    "types",
    "with_timeout",
]


def types(object):
    """Returns the classes of the structures and enumerations of an object's interface."""
    return SimpleNamespace(**_obvia.types(object))
