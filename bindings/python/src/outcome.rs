//! Failures as exceptions of Python.

use crate::fork;
use obvia::{Error, HRESULT, abi, code};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::panic::{AssertUnwindSafe, catch_unwind};

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

/// Sets the failure that the caller receives when a method raises an exception. Returns the
/// failure's HRESULT. The caller receives the text of an exception of `obvia`. The texts of other
/// exceptions are only for callers of the same user on this host, and only if Python runs without
/// `-O`.
pub(crate) fn leave(py: Python<'_>, failure: &PyErr) -> HRESULT {
    let value = failure.value(py);
    let is_own = py.import("obvia._errors").and_then(|errors| value.is_instance(&errors.getattr("Error")?));
    if !is_own.unwrap_or(false) {
        let is_debugged = py.import("builtins").and_then(|builtins| builtins.getattr("__debug__")?.extract());
        return abi::unforeseen(code::E_FAIL, &failure.to_string(), is_debugged.unwrap_or(false));
    }
    let number = value.getattr("hresult").and_then(|code| code.extract::<i64>());
    // The code may be given as a signed or as an unsigned number.
    let number = number.ok().filter(|number| (i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(number));
    let code = number.map(|number| HRESULT(number as i32)).filter(|code| code.is_err());
    let message = value.getattr("message").and_then(|message| message.extract::<String>());
    abi::fail(Error::new(code.unwrap_or(code::E_FAIL), message.unwrap_or_else(|_| value.to_string())))
}

/// Runs `work`, and turns a panic into an `Exception`. PyO3 would raise a `PanicException`, which
/// ends threads that handle only `Exception`.
pub(crate) fn caught<R>(work: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
    let failed = |_| Err(PyRuntimeError::new_err("obvia has failed to convert a value; this is a defect of obvia"));
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(failed)
}

/// Runs `work` without the interpreter's lock, so that other threads of Python can run at the same
/// time.
pub(crate) fn detached<R: Send>(py: Python<'_>, work: impl FnOnce() -> obvia::Result<R> + Send) -> PyResult<R> {
    py.detach(|| fork::enter().and_then(|()| work())).map_err(|error| exception(py, &error))
}
