//! Activation requests in the form of the older interface, `IActivation`.

use super::classes::Activated;
use crate::orpc::OrpcThis;
use crate::orpc::activator::RemoteActivation;
use windows_core::GUID;

/// The mode of a RemoteActivation for the class object (MODE_GET_CLASS_OBJECT).
pub(super) const CLASS_OBJECT: u32 = u32::MAX;

impl Activated {
    pub(super) fn mode(self) -> u32 {
        if self == Self::ClassObject { CLASS_OBJECT } else { 0 }
    }
}

/// Returns an activation request in the form of `IActivation`.
pub(crate) fn asked(
    this: OrpcThis,
    class: GUID,
    wanted: Activated,
    iids: Vec<GUID>,
    protseqs: Vec<u16>,
) -> RemoteActivation {
    let (object_name, storage, impersonation, mode) = (None, None, 0, wanted.mode());
    RemoteActivation { this, class, object_name, storage, impersonation, mode, iids, protseqs }
}
