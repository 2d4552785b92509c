//! The targets of calls: interface pointers, and interfaces of functions.

use crate::interface::Interface;
use obvia::dynamic::{self, pointer};
use obvia::security::{Credential, Credentials};
use obvia::{Agile, Error, HRESULT, IUnknown, code};
use std::sync::Arc;

/// A target of calls.
pub(crate) enum Callee {
    /// An interface pointer of an object.
    Pointer(Agile<IUnknown>),
    /// The functions of a server.
    Functions(dynamic::Object),
}

impl Callee {
    /// Connects to a name or a string binding.
    pub(crate) fn connect(name: &str, interface: &'static Interface) -> obvia::Result<Self> {
        if interface.described.plain {
            return dynamic::Object::bind(name, &interface.described).map(Self::Functions);
        }
        Self::of(&pointer::connect(name, interface.info)?)
    }

    /// Makes a target of an interface pointer.
    pub(crate) fn of(pointer: &IUnknown) -> obvia::Result<Self> {
        Agile::new(pointer).map(Self::Pointer)
    }

    /// Returns the interface pointer.
    pub(crate) fn pointer(&self) -> obvia::Result<&IUnknown> {
        match self {
            Self::Pointer(pointer) => Ok(pointer.get()),
            Self::Functions(_) => Err(Error::new(code::E_NOTIMPL, "functions pass no objects")),
        }
    }

    /// Calls a method, and returns its HRESULT and the frame of its reply.
    pub(crate) fn call(&self, opnum: u16, request: &[u8], references: &[Vec<u8>]) -> obvia::Result<(HRESULT, Vec<u8>)> {
        match self {
            Self::Pointer(pointer) => pointer::call(pointer.get(), opnum, request, &slices(references)),
            Self::Functions(functions) => functions.call(opnum, request),
        }
    }

    /// Calls a one-way method.
    pub(crate) fn call_oneway(&self, opnum: u16, request: &[u8], references: &[Vec<u8>]) -> obvia::Result<()> {
        match self {
            Self::Pointer(pointer) => pointer::call_oneway(pointer.get(), opnum, request, &slices(references)),
            Self::Functions(functions) => functions.call_oneway(opnum, request),
        }
    }
}

/// Returns the credentials of a user.
pub(crate) fn credentials(domain: &str, user: &str, password: &str) -> Arc<dyn Credentials> {
    Arc::new(Credential::user(domain, user, password))
}

/// Returns references as slices.
pub(crate) fn slices(references: &[Vec<u8>]) -> Vec<&[u8]> {
    references.iter().map(Vec::as_slice).collect()
}
