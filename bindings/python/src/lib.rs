//! The extension module `obvia._obvia`: calls of objects in other processes, from Python.
//!
//! The description of an interface, from the server or from a file, determines the layout of its
//! methods' frames; there is no generated code. The package's Python part makes the classes of
//! structures, enumerations and results.

mod argument;
mod budget;
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
