//! Marshaling by COM's rules: an interface pointer as bytes, for any process that unmarshals them.
//!
//! Proxies and stubs marshal parameters and results themselves. [`marshal`] (CoMarshalInterface) is
//! for references that travel by other means: in a file, in a message of another protocol, or in a
//! table for clients. The bytes are an OBJREF (MS-DCOM 2.2.18). [`Context`] is the destination, and
//! [`Flags`] the number of times that they are unmarshaled.
//!
//! ```no_run
//! # use obvia::{Remote, marshaling::{self, Context, Flags}};
//! # fn example<ICalc: Remote>(calc: &ICalc) -> obvia::Result<()> {
//! let bytes = marshaling::marshal(calc, Context::Local, Flags::NORMAL)?;
//! // In another process, once:
//! let calc: ICalc = marshaling::unmarshal(&bytes)?;
//! # Ok(())
//! # }
//! ```

mod aggregated;
mod custom;
mod handler;
mod interfaces;
mod specialised;
mod stream;

pub use crate::objref::DATA_MAX;
pub use aggregated::vi_marshaler;
pub use custom::{Marshaler, Passing, STANDARD, UnmarshalerRegistration, register_unmarshaler};
pub(crate) use custom::{marshal as marshal_custom, marshal_specialised, unmarshal as unmarshal_custom};
pub use handler::{Handled, HandlerRegistration, register_handler};
pub(crate) use handler::{behind, class_of as handler_class_of, make as make_handler};
pub use interfaces::{
    IMarshal, IMarshal_Impl, IMarshal_Vtbl, ISequentialStream, ISequentialStream_Impl, ISequentialStream_Vtbl,
    IStdMarshalInfo, IStdMarshalInfo_Impl, IStdMarshalInfo_Vtbl, IStream, IStream_Impl, IStream_Vtbl,
};
pub use specialised::Specialised;

use crate::error::{Error, Result, code};
use crate::exports::Keeping;
use crate::objref::parse;
use crate::orpc::{Client, ObjRef as Any};
use crate::registry::{InterfaceInfo, Remote};
use crate::runtime::Runtime;
use std::ops::BitOr;
use windows_core::{IUnknown, Interface};

/// The destination of a reference (MSHCTX).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Context {
    /// Another process of this host.
    Local = 0,
    /// Another process of this host that shares no memory with this one.
    NoSharedMemory = 1,
    /// Another host: the process must [listen](crate::listen) on a network.
    DifferentMachine = 2,
    /// The same process.
    InProcess = 3,
    /// Another COM context of this process. There are no such contexts here, so the value equals
    /// `InProcess`.
    CrossContext = 4,
}

impl Context {
    /// Returns the context with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        let all = [Self::Local, Self::NoSharedMemory, Self::DifferentMachine, Self::InProcess, Self::CrossContext];
        all.into_iter().find(|context| *context as u32 == number)
    }
}

/// The manner in which a reference is unmarshaled (MSHLFLAGS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags(u32);

impl Flags {
    /// Once. If the reference is neither unmarshaled nor released, it expires like an object
    /// without pings.
    pub const NORMAL: Self = Self(0);
    /// Any number of times until it is released. The reference keeps the object alive.
    pub const TABLE_STRONG: Self = Self(1);
    /// Any number of times until it is released, while other references keep the object alive.
    pub const TABLE_WEAK: Self = Self(2);
    /// A flag beside another: holders of the reference do not ping the object, and it does not
    /// expire without pings.
    pub const NO_PING: Self = Self(4);

    /// Returns the flags with this number; `None` for unknown flags or a contradiction.
    pub fn from_number(number: u32) -> Option<Self> {
        (number <= 6 && number & 3 != 3).then_some(Self(number))
    }

    /// Returns COM's number for the flags.
    pub fn number(self) -> u32 {
        self.0
    }

    pub(crate) fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) fn is_table(self) -> bool {
        self.0 & 3 != 0
    }

    /// Returns the manner in which the export table keeps the reference.
    pub(crate) fn keeping(self) -> Keeping {
        match self.0 & 3 {
            0 if self.contains(Self::NO_PING) => Keeping::Once(Client::Table),
            0 => Keeping::Once(Client::NOBODY),
            1 => Keeping::Table,
            _ => Keeping::Weak,
        }
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Marshals an interface of an object to bytes (CoMarshalInterface).
///
/// # Errors
///
/// E_NOINTERFACE when the object lacks the interface; E_INVALIDARG for table marshaling of an
/// object of another process, and for contradictory flags; E_NOTIMPL for weak table marshaling of
/// an object without weak references; RPC_S_NO_BINDINGS when the destination cannot reach this
/// process.
pub fn marshal<I: Remote>(object: &I, context: Context, flags: Flags) -> Result<Vec<u8>> {
    marshal_object(&object.cast()?, I::INFO, context, flags)
}

/// As [`marshal`], for an interface that is known by its description only.
pub(crate) fn marshal_object(
    object: &IUnknown,
    info: &'static InterfaceInfo,
    context: Context,
    flags: Flags,
) -> Result<Vec<u8>> {
    if Flags::from_number(flags.0).is_none() {
        return Err(Error::new(code::E_INVALIDARG, "a table is strong or weak, not both"));
    }
    match custom::marshal(object, info, context, flags)? {
        Some(bytes) => Ok(bytes),
        None => Runtime::of_process()?.marshal_data(object, info, context, flags),
    }
}

/// Unmarshals an interface pointer from [`marshal`]ed bytes (CoUnmarshalInterface). In the object's
/// process the result is the object itself.
///
/// Data that is not for a table is consumed, even where the object lacks the interface.
///
/// # Errors
///
/// RPC_E_INVALID_OBJREF for bytes that are no reference; CO_E_OBJNOTCONNECTED for consumed or
/// released data; the error of the connection where the object's process cannot be reached.
pub fn unmarshal<I: Remote>(bytes: &[u8]) -> Result<I> {
    Ok(unmarshal_object(bytes, I::INFO)?.cast()?)
}

/// As [`unmarshal`], for an interface that is known by its description only.
pub(crate) fn unmarshal_object(bytes: &[u8], info: &'static InterfaceInfo) -> Result<IUnknown> {
    match parse(bytes)? {
        Any::Custom { clsid, data, .. } => custom::unmarshal(&clsid, data, info),
        any => Runtime::of_process()?.unmarshal_data(&any, info),
    }
}

/// Releases [`marshal`]ed data (CoReleaseMarshalData). Any process may do so instead of
/// unmarshaling, or when a table entry is removed.
///
/// # Errors
///
/// As for [`unmarshal`].
pub fn release_marshal_data(bytes: &[u8]) -> Result<()> {
    match parse(bytes)? {
        Any::Custom { clsid, data, .. } => custom::release(&clsid, data),
        any => Runtime::of_process()?.release_data(&any),
    }
}

/// Disconnects an object from all other processes (CoDisconnectObject): their calls fail with
/// RPC_E_DISCONNECTED, and marshaled data becomes invalid. The object may be marshaled again, with
/// a new identity for other processes.
///
/// # Errors
///
/// E_INVALIDARG for an object of another process.
pub fn disconnect<I: Interface>(object: &I) -> Result<()> {
    let object = object.cast()?;
    custom::disconnect(&object)?;
    Runtime::of_process()?.disconnect(&object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_coms() {
        for number in 0..5 {
            assert_eq!(Context::from_number(number).map(|context| context as u32), Some(number));
        }
        assert_eq!(Context::from_number(5), None);
        let legal: Vec<u32> = (0..16).filter(|&number| Flags::from_number(number).is_some()).collect();
        assert_eq!(legal, [0, 1, 2, 4, 5, 6]);
        assert_eq!((Flags::TABLE_WEAK | Flags::NO_PING).number(), 6);
    }
}
