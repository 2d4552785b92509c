//! The look-up of a proxy's link and target by its interface pointer.

use super::Proxy;
use crate::client::link::Link;
use crate::types::registry::is_proxy;
use obvia_rpc::vi_call::TargetId;
use std::sync::Arc;
use windows_core::Interface;

/// The link, OID and target of a proxy, from which references to its object are made.
pub(crate) struct Imported {
    pub(crate) link: Arc<Link>,
    pub(crate) oid: u64,
    pub(crate) target: TargetId,
}

/// Returns the link, OID and target of a proxy; `None` for objects that are no proxies.
pub(crate) fn look_behind<I: Interface>(object: &I) -> Option<Imported> {
    if !is_proxy(object) {
        return None;
    }
    // SAFETY: only a proxy has a vtable of proxies, and the holder of the interface pointer keeps
    // the proxy alive.
    let proxy = unsafe { Proxy::from_raw(object.as_raw()) }.targeted();
    Some(Imported { link: Arc::clone(&proxy.link), oid: proxy.manager().oid, target: proxy.target })
}
