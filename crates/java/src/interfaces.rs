//! The registration of interfaces with the runtime, by their descriptions in IDL.

use crate::halves::Halves;
use crate::outcome::{give, guarded, text};
use com::abi::{self, InterfaceInfo};
use com::dynamic::{Described, Identity};
use com::{Error, GUID, HRESULT, IUnknown, Interface as _, Result, code};
use obvia_idl::{Failure, description, ndr};
use std::collections::HashMap;
use std::ffi::c_char;
use std::sync::{Mutex, PoisonError};

/// The described interfaces by IID. They are never freed, as the runtime's tables refer to them.
static KNOWN: Mutex<Option<HashMap<u128, &'static InterfaceInfo>>> = Mutex::new(None);

/// The identity of an interface, which must be the same at both ends of a connection, and its
/// description in IDL.
#[derive(Debug)]
#[repr(C)]
pub struct Description {
    iid: Halves,
    fingerprint: Halves,
    /// The major version in the lower half, the minor one in the upper.
    version: u32,
    name: *const c_char,
    idl: *const c_char,
}

/// Registers an interface with the runtime, and stores its description in `*interface`. The
/// description is never freed. Repeated calls for an interface store the same description.
///
/// # Errors
///
/// E_POINTER if a pointer is null; E_INVALIDARG if the text does not describe the interface, or if
/// the interface belongs to COM or to the runtime; RPC_E_VERSION_MISMATCH if another interface with
/// this IID is known.
///
/// # Safety
///
/// `description` must be null or refer to NUL-terminated strings; `interface` must be null or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_describe(
    description: *const Description,
    interface: *mut *const InterfaceInfo,
) -> HRESULT {
    guarded(|| {
        // SAFETY: the caller's promise.
        let given = unsafe { description.as_ref() }.ok_or(code::E_POINTER)?;
        // SAFETY: the caller's promise.
        let name = unsafe { text(given.name) }?;
        // SAFETY: the caller's promise.
        let idl = unsafe { text(given.idl) }?;
        let info = describe(given, name, idl)?;
        // SAFETY: the caller's promise.
        unsafe { give(interface, std::ptr::from_ref(info)) }
    })
}

fn describe(given: &Description, name: &str, idl: &str) -> Result<&'static InterfaceInfo> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    let (iid, fingerprint) = (given.iid.join(), given.fingerprint.join());
    match known.get(&iid) {
        Some(info) if info.fingerprint == fingerprint => return Ok(info),
        Some(info) => {
            let text = format!("this process has two different interfaces with the same IID, {} and {name}", info.name);
            return Err(Error::new(code::RPC_E_VERSION_MISMATCH, text));
        }
        None => {}
    }
    let iid = GUID::from_u128(iid);
    let is_unknown = iid == IUnknown::IID;
    let described = Described {
        identity: Identity { iid, fingerprint },
        name: name.to_owned(),
        version: (given.version as u16, (given.version >> 16) as u16),
        plain: false,
        endpoints: Vec::new(),
        ndr: if is_unknown { Vec::new() } else { words(name, idl)? },
        idl: idl.to_owned(),
    };
    // SAFETY: this library has no generated code, and no other library shares its runtime.
    let info = unsafe { abi::describe(&described) }?;
    if !is_unknown {
        com::register(&[info]);
    }
    known.insert(iid.to_u128(), info);
    Ok(info)
}

/// Returns the NDR plan of an interface.
fn words(name: &str, idl: &str) -> Result<Vec<i64>> {
    let wrong = |why: String| Error::new(code::E_INVALIDARG, format!("the description of {name} is invalid: {why}"));
    let found = description::interface(name, idl, |_| None).map_err(|failure: Failure| wrong(failure.to_string()))?;
    let (model, id) = found.ok_or_else(|| wrong("it is not the canonical text of an interface".to_owned()))?;
    Ok(ndr::words(&model, id))
}

/// Returns a described interface.
///
/// # Safety
///
/// `interface` must be null, or come from [`obvia_java_describe`].
pub(crate) unsafe fn described(interface: *const InterfaceInfo) -> Result<&'static InterfaceInfo> {
    // SAFETY: the caller promises null or a described interface. Described interfaces are never
    // freed.
    unsafe { interface.as_ref() }.ok_or_else(|| code::E_POINTER.into())
}
