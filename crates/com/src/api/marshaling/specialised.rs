//! Objects that are called over virtual interfaces, even if their processes have other bindings as
//! well.
//!
//! Objects of this kind have obvia's own marshaler. Their references contain the bindings of
//! virtual interfaces, and a standard reference for receivers that can use none of these bindings
//! ([`ViReference`]). The objects are marshaled in the standard way for tables, for a destination
//! in the object's process, and if the process has no bindings of virtual interfaces.

use super::{Context, DATA_MAX, Marshaler, Passing, STANDARD};
use crate::client::proxy::Wanted;
use crate::orpc::{DualStringArray, ObjRef as Any, ViReference};
use crate::runtime::marshaling::vi_reference::{read, release, unmarshal};
use crate::services::process;
use crate::types::error::{Error, Result, code};
use windows_core::{GUID, IUnknown, IUnknownImpl, Interface};

/// Marks objects in Rust that are called over virtual interfaces. For a type
/// `#[obvia::object(ICalc, IMarshal)] struct Calc;`, the mark is
/// `impl Specialised for Calc_Impl {}`.
pub trait Specialised: Send + Sync + 'static {
    /// Returns a string binding of virtual interfaces, such as `ncacn_vi_fabric:10.0.0.1`. The
    /// process begins to listen on this binding when an object of the type is first passed to
    /// another host. The default, an empty string, means `ncacn_vi_udp` at those addresses where
    /// the process listens on `ncacn_ip_tcp` but on no virtual interface.
    fn endpoint(&self) -> &str {
        ""
    }

    /// Whether the object is called over virtual interfaces at the destination. Otherwise the
    /// object is marshaled in the standard way.
    fn is_called_there(&self, passing: &Passing) -> bool {
        let _ = passing;
        true
    }
}

impl<T: Specialised + IUnknownImpl> Marshaler for T {
    fn class(&self, passing: &Passing) -> Result<GUID> {
        let is_wanted = is_passed(passing) && self.is_called_there(passing);
        let is_usable = is_wanted && !ways(passing, self.endpoint())?.strings.is_empty();
        Ok(if is_usable { ViReference::CLASS } else { STANDARD })
    }

    fn marshal(&self, passing: &Passing) -> Result<Vec<u8>> {
        if !is_passed(passing) {
            return Err(Error::new(
                code::E_INVALIDARG,
                "the object is passed by its standard marshaler in this context",
            ));
        }
        let mut object = std::ptr::null_mut();
        // SAFETY: the call passes an IID and room for one pointer, as QueryInterface requires.
        unsafe { self.QueryInterface(&IUnknown::IID, &mut object) }.ok()?;
        // SAFETY: the query succeeded, so the pointer is a counted interface pointer.
        let object = unsafe { IUnknown::from_raw(object) };
        let ways = ways(passing, self.endpoint())?;
        let (runtime, info) = (process::runtime()?, Wanted::Iid(passing.iid).info()?);
        let standard = runtime.marshal_data(&object, info, passing.context, passing.flags)?;
        Ok(ViReference { ways, standard: Any::from_bytes(&standard)? }.to_bytes()?)
    }

    fn unmarshal(&self, data: &[u8]) -> Result<IUnknown> {
        process::runtime()?;
        unmarshal(data, Wanted::Iid(*read(data)?.standard.iid()).info()?)
    }

    fn release(&self, data: &[u8]) -> Result<()> {
        process::runtime()?;
        release(data)
    }
}

/// Whether the reference is unmarshaled once, in another process. Only such a reference may contain
/// bindings of virtual interfaces.
fn is_passed(passing: &Passing) -> bool {
    let is_elsewhere = matches!(passing.context, Context::Local | Context::NoSharedMemory | Context::DifferentMachine);
    is_elsewhere && !passing.flags.is_table()
}

fn ways(passing: &Passing, endpoint: &str) -> Result<DualStringArray> {
    Ok(DualStringArray::new(&process::runtime()?.vi_ways(passing.context, endpoint)?))
}

// The data of a custom reference has room for a standard reference and the bindings, since it has
// room for two standard references.
const _: () = assert!(2 * crate::protocol::objref::LENGTH_MAX <= DATA_MAX);
