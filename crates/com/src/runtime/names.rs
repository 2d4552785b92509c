//! Names that objects are exported by, and connecting to them.

use super::data::with_handler;
use super::{Name, Runtime, is_string_binding, lock};
use crate::agile::Agile;
use crate::error::{Error, Result, code};
use crate::link::Link;
use crate::marshaling::unmarshal_custom;
use crate::objref::ObjRef;
use crate::orpc::ObjRef as Any;
use crate::registry::{self, InterfaceInfo, Remote};
use crate::server::accept_on;
use crate::system::{self, Forms};
use obvia_via::provider::shm::Listener;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use windows_core::{IUnknown, Interface};

/// An exported name. While it lives, other processes can connect to the object by the name.
#[must_use = "the name disappears when this is dropped"]
pub struct Export {
    runtime: &'static Runtime,
    name: String,
    // Where the name is in the directory of this host.
    listener: Option<Arc<Listener>>,
}

impl Drop for Export {
    fn drop(&mut self) {
        if let Some(listener) = &self.listener {
            listener.close();
        }
        // The object's own drop must not run under the lock.
        let removed = lock(&self.runtime.names).remove(&self.name);
        drop(removed);
    }
}

/// Lets other processes connect to an object by a name.
///
/// The object's methods are called by several threads at once, so it must be safe for that, as objects made by
/// `#[implement]` of `Sync` types are. The name must be a legal file name without spaces.
///
/// # Errors
///
/// RPC_S_DUPLICATE_ENDPOINT when a live process serves the name; E_INVALIDARG when it cannot be a name, such as a string binding: those are
/// [listened](crate::listen) on.
///
/// ```ignore
/// let _export = obvia::export("calc", ICalc::from(Calc))?;
/// obvia::wait_for_signal()
/// ```
pub fn export<I: Remote>(name: &str, object: I) -> Result<Export> {
    export_object(name, &object.cast()?, I::INFO)
}

/// As [`export`], for an interface that is known by its description only.
pub(crate) fn export_object(name: &str, object: &IUnknown, info: &'static InterfaceInfo) -> Result<Export> {
    check_name(name)?;
    let runtime = Runtime::of_process()?;
    registry::register_module(info);
    runtime.serve()?;
    let object = Agile::new(object)?;
    let listener = Arc::new(runtime.directory.bind(name)?);
    let entry = Name { object, info, _listener: Some(Arc::clone(&listener)) };
    lock(&runtime.names).insert(name.to_owned(), entry);
    accept_on(runtime, Arc::clone(&listener))?;
    Ok(Export { runtime, name: name.to_owned(), listener: Some(listener) })
}

/// Refuses a name that whoever connects by it would be led elsewhere by.
fn check_name(name: &str) -> Result<()> {
    if !is_string_binding(name) {
        return Ok(());
    }
    let text = format!(
        "`{name}` is a string binding and no name: export a name, and have obvia::listen(\"{name}\") lead to it"
    );
    Err(Error::new(code::E_INVALIDARG, text))
}

/// The same for those alone who reach this process over a network: on this host somebody else has the name.
pub(crate) fn export_to_networks(name: &str, object: &IUnknown, info: &'static InterfaceInfo) -> Result<Export> {
    check_name(name)?;
    let runtime = Runtime::of_process()?;
    registry::register_module(info);
    let object = Agile::new(object)?;
    match lock(&runtime.names).entry(name.to_owned()) {
        Entry::Occupied(_) => {
            Err(Error::new(code::RPC_S_DUPLICATE_ENDPOINT, format!("this process exports `{name}` already")))
        }
        Entry::Vacant(place) => {
            place.insert(Name { object, info, _listener: None });
            Ok(Export { runtime, name: name.to_owned(), listener: None })
        }
    }
}

/// Connects to the object that a process of this host exports by a name, or that a string binding names.
///
/// A string binding is `ncacn_vi_udp:host[port,name=NAME]`; the name may be left out where the process exports only one. In
/// the process that exports it the result is the object itself.
///
/// # Errors
///
/// RPC_S_SERVER_UNAVAILABLE when nobody serves the name; E_ACCESSDENIED when the server does not let this process in, or there are no credentials
/// for it; E_NOINTERFACE when the object has no such interface;
/// RPC_E_VERSION_MISMATCH when the interface is described differently on the two sides.
///
/// ```ignore
/// let calc: ICalc = obvia::connect("calc")?;
/// let there: ICalc = obvia::connect("ncacn_vi_udp:10.0.0.1[5555,name=calc]")?;
/// ```
pub fn connect<I: Remote>(name: &str) -> Result<I> {
    Ok(connect_object(name, I::INFO)?.cast()?)
}

/// As [`connect`], for an interface that is known by its description only.
pub(crate) fn connect_object(name: &str, info: &'static InterfaceInfo) -> Result<IUnknown> {
    let runtime = Runtime::of_process()?;
    registry::register_module(info);
    if let Ok(own) = runtime.named(name) {
        return Ok(own.get().clone());
    }
    let (link, name) = runtime.find(name)?;
    match system::resolve(&link, &name, info, Forms::All).map_err(|error| not_there(&link, &name, error))? {
        Any::Custom { clsid, data, .. } => unmarshal_custom(&clsid, data, info),
        any => with_handler(&any, runtime.adopt(&link, &ObjRef::from_any(&any)?, info)?, info),
    }
}

/// Why a name was not found, where the process that should have it is there: which names it has.
pub(crate) fn not_there(link: &Link, name: &str, error: Error) -> Error {
    if error.code() != code::RPC_E_DISCONNECTED {
        return error;
    }
    // Where it does not answer this either, it is gone.
    let Ok(text) = system::list(link) else { return error };
    let names: Vec<&str> = text.lines().filter_map(|line| line.split('\t').next()).collect();
    if names.contains(&name) {
        return error;
    }
    let there = if names.is_empty() { "nothing is".to_owned() } else { format!("there are: {}", names.join(", ")) };
    let text = format!("nothing is exported as `{name}` at {}; {there}", link.binding());
    Error::new(code::RPC_S_SERVER_UNAVAILABLE, text)
}
