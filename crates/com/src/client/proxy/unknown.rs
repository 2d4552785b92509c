//! The proxies for IUnknown alone, and the interfaces of objects that are passed.

use super::UNKNOWN_POINTER;
use crate::types::error::Result;
use crate::types::registry::{self, Description, InterfaceInfo, Stubs};
use windows_core::{GUID, IUnknown, Interface};

/// The interface of an object that is passed.
#[derive(Clone, Copy)]
pub enum Wanted {
    /// An interface that the method's declaration names.
    Known(&'static InterfaceInfo),
    /// The interface with this IID. The runtime looks up its description.
    Iid(GUID),
    /// Any interface: the object itself is passed.
    Unknown,
}

impl Wanted {
    pub(crate) fn info(self) -> Result<&'static InterfaceInfo> {
        match self {
            Self::Known(info) => Ok(info),
            Self::Iid(iid) if iid == IUnknown::IID => Ok(&UNKNOWN_INFO),
            Self::Iid(iid) => registry::find(&iid),
            Self::Unknown => Ok(&UNKNOWN_INFO),
        }
    }
}

/// The description of IUnknown as an interface without methods of its own.
// SAFETY: the proxies are the runtime's own for IUnknown, which has no remote methods.
pub(crate) static UNKNOWN_INFO: InterfaceInfo = unsafe { InterfaceInfo::new(UNKNOWN) };

const UNKNOWN: Description = Description {
    name: "IUnknown",
    iid: IUnknown::IID,
    version: (0, 0),
    fingerprint: 0,
    plain: false,
    endpoints: &[],
    base: None,
    proxy: UNKNOWN_POINTER,
    stubs: Stubs::NONE,
    idl: "",
    ndr: &[],
    module: &[],
};

/// Makes the description of an interface without proxies and stubs, for calls by frames.
pub(crate) fn without_vtables(description: Description) -> InterfaceInfo {
    let (proxy, stubs) = (UNKNOWN_POINTER, Stubs::NONE);
    // SAFETY: no proxies are made with this description, since its targets are only called by
    // frames.
    unsafe { InterfaceInfo::new(Description { proxy, stubs, ..description }) }
}
