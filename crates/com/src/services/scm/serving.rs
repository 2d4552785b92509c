//! The role of a process as its user's SCM.

use super::names::SERVICE;
use crate::runtime::Runtime;
use crate::services::process;
use crate::services::scm::starter::Starter;
use crate::types::error::Result;
use obvia_via::provider::shm::Listener;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The role of this process as the user's SCM, for as long as this value lives.
#[must_use = "servers are no longer started on demand when this is dropped"]
pub struct Service {
    runtime: &'static Runtime,
    listener: Arc<Listener>,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Service").field(&SERVICE).finish()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.listener.close();
        Starter::of(self.runtime).is_serving.store(false, Ordering::Relaxed);
    }
}

/// Makes this process the SCM, which starts the servers of [registered](super::install) classes for
/// processes of this user. The servers continue when the SCM ends.
///
/// If this process [listens](crate::listen) on `ncacn_ip_tcp`, it also serves those clients of
/// other hosts that the registrations [admit](super::Class::remote).
///
/// # Errors
///
/// RPC_S_DUPLICATE_ENDPOINT where an SCM exists already; otherwise as for [`crate::export`].
pub fn serve() -> Result<Service> {
    let runtime = process::runtime()?;
    let listener = runtime.bind_name(SERVICE)?;
    Starter::of(runtime).is_serving.store(true, Ordering::Relaxed);
    Ok(Service { runtime, listener })
}
