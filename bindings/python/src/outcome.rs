//! Failures as exceptions of Python.

use obvia::{Error, HRESULT, code};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Returns the exception for a failure of the runtime or of a method.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = || -> PyResult<Bound<'_, PyAny>> {
        let make = MAKE.get_or_try_init(py, || Ok::<_, PyErr>(py.import("obvia._errors")?.getattr("of")?.unbind()))?;
        let text = error.to_string();
        make.bind(py).call1((error.code().0.cast_unsigned(), error.detail().unwrap_or(&text), &text))
    };
    make().map_or_else(|failure| failure, PyErr::from_value)
}

/// Returns the failure that callers in other processes receive for an exception.
pub(crate) fn error_of(py: Python<'_>, failure: &PyErr) -> Error {
    let value = failure.value(py);
    let code = value.getattr("hresult").and_then(|code| code.extract::<u32>());
    let message = value.getattr("message").and_then(|message| message.extract::<String>());
    match code {
        Ok(code) => Error::new(HRESULT(code.cast_signed()), message.unwrap_or_else(|_| value.to_string())),
        Err(_) => Error::new(code::E_FAIL, failure.to_string()),
    }
}

/// Runs `work` without the interpreter's lock, so that other threads of Python run meanwhile.
pub(crate) fn detached<R: Send>(py: Python<'_>, work: impl FnOnce() -> obvia::Result<R> + Send) -> PyResult<R> {
    py.detach(work).map_err(|error| exception(py, &error))
}
