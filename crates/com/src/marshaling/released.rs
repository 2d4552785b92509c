//! Releasing marshaled data.

use super::custom;
use crate::error::Result;
use crate::objref::parse;
use crate::orpc::ObjRef as Any;
use crate::runtime::Runtime;

/// Releases marshaled data, in a process that has a runtime.
pub(crate) fn release(bytes: &[u8]) -> Result<()> {
    match parse(bytes)? {
        Any::Custom { clsid, data, .. } => custom::release(&clsid, data),
        any => Runtime::current()?.release_data(&any),
    }
}
