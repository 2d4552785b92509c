"""The exceptions of the package."""

import builtins

RPC_E_TIMEOUT = 0x8001011F


class Error(OSError):
    """The failure of a call, of a method or of the runtime.

    `hresult` is the code, as an unsigned number, and `message` the explanation. If the
    runtime raised the exception, its text also has the code's name.
    """

    def __init__(self, hresult, message, text=None):
        super().__init__(text or message)
        self.hresult = hresult
        self.message = message

    def __reduce__(self):
        return type(self), (self.hresult, self.message, str(self))


class TimeoutError(Error, builtins.TimeoutError):
    """A call whose deadline has passed."""


def of(hresult, message, text):
    """Returns the exception for an HRESULT."""
    return (TimeoutError if hresult == RPC_E_TIMEOUT else Error)(hresult, message, text)
