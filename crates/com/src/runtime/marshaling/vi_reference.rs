//! References to objects that are called over virtual interfaces.

use crate::orpc::ViReference;
use crate::runtime::Runtime;
use crate::types::error::{Error, Result, code};
use crate::types::registry::InterfaceInfo;
use windows_core::IUnknown;

/// Decodes the data of a custom reference to an object that is called over virtual interfaces.
pub(crate) fn read(data: &[u8]) -> Result<ViReference> {
    ViReference::from_bytes(data).map_err(|why| {
        Error::new(
            code::RPC_E_INVALID_OBJREF,
            format!("the reference to an object over virtual interfaces is invalid: {why}"),
        )
    })
}

/// Unmarshals an object that is called over virtual interfaces from the data of its reference.
pub(crate) fn unmarshal(data: &[u8], info: &'static InterfaceInfo) -> Result<IUnknown> {
    let ViReference { ways, standard } = read(data)?;
    Runtime::current()?.unmarshal_by(&standard, &ways, info)
}

/// Releases the data of a custom reference to an object that is called over virtual interfaces.
pub(crate) fn release(data: &[u8]) -> Result<()> {
    let ViReference { ways, standard } = read(data)?;
    Runtime::current()?.release_by(&standard, &ways)
}
