//! The extension module `obvia._obvia`: calls of objects in other processes, from Python.
//!
//! A method's frames are laid out by the description of its interface, which the server has or a
//! file; there is no generated code. The package's Python part makes the classes of structures,
//! enumerations and results.

mod argument;
mod callee;
mod fork;
mod interface;
mod object;
mod outcome;
mod outgoing;
mod reference;
mod result;
mod served;
mod server;
mod unchecked;

use pyo3::prelude::*;

#[pymodule]
mod _obvia {
    #[pymodule_export]
    use super::fork::after_fork;
    #[pymodule_export]
    use super::object::{Method, close, connect, describe, interfaces, names, query, types, with_timeout};
    #[pymodule_export]
    use super::reference::Object;
    #[pymodule_export]
    use super::served::{Declared, Serving, declare, listen, serve};
}
