//! Exporting objects by names, and connecting to them.

use crate::client::link::Link;
use crate::client::own_target;
use crate::orpc::ObjRef as Any;
use crate::protocol::objref::ObjRef;
use crate::protocol::own_calls::Forms;
use crate::runtime::data::with_handler;
use crate::runtime::marshaling::unmarshal_custom;
use crate::runtime::names::Name;
use crate::runtime::{Runtime, is_string_binding};
use crate::server::accept_on;
use crate::services::process;
use crate::types::agile::Agile;
use crate::types::deadline;
use crate::types::error::{Error, Result, code};
use crate::types::registry::{self, InterfaceInfo, Remote};
use obvia_via::provider::shm::Listener;
use std::path::PathBuf;
use std::sync::Arc;
use windows_core::{IUnknown, Interface};

/// An exported name. While this value lives, other processes can connect to the object by the name.
#[must_use = "the name disappears when this is dropped"]
pub struct Export {
    runtime: &'static Runtime,
    // Invariant: no other `Export` of this process has this name.
    name: String,
    // The listener of the name in the directory of this host; `None` for an export to networks
    // only.
    listener: Option<Arc<Listener>>,
}

impl Drop for Export {
    fn drop(&mut self) {
        // As soon as the listener is closed, another thread can export an object by the name. So
        // this export's entry is removed before the listener is closed.
        self.runtime.names().remove(&self.name);
        if let Some(listener) = &self.listener {
            listener.close();
        }
    }
}

/// Exports an object to other processes by a name.
///
/// Several threads call the object's methods at once, so the object must be thread-safe, as objects
/// of `#[obvia::object]` are. The name must be a legal file name without spaces.
///
/// # Errors
///
/// RPC_S_DUPLICATE_ENDPOINT when a live process serves the name, or when this process already
/// exports the name, even if only to networks; E_INVALIDARG when the text cannot be a name, such as
/// a string binding, which is for [`listen`](crate::listen).
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
    let runtime = process::runtime()?;
    registry::register_module(info);
    runtime.serve()?;
    let entry = Name::new(Agile::new(object)?, info);
    let listener = Arc::new(runtime.directory().bind(name)?);
    // If `accept_on` fails, the drop of the export removes the entry.
    let export = enter(runtime, name, entry, Some(Arc::clone(&listener)))?;
    accept_on(runtime.exporter(), listener)?;
    Ok(export)
}

/// Adds a name to the exported names of this process.
///
/// # Errors
///
/// RPC_S_DUPLICATE_ENDPOINT when the process exports the name already.
fn enter(runtime: &'static Runtime, name: &str, entry: Name, listener: Option<Arc<Listener>>) -> Result<Export> {
    if !runtime.names().add(name, entry) {
        return Err(Error::new(code::RPC_S_DUPLICATE_ENDPOINT, format!("this process exports `{name}` already")));
    }
    Ok(Export { runtime, name: name.to_owned(), listener })
}

/// Refuses a name that clients would read as a string binding.
fn check_name(name: &str) -> Result<()> {
    if !is_string_binding(name) {
        return Ok(());
    }
    let text = format!(
        "`{name}` is a string binding, not a name: export a name, and listen on the binding by \
            obvia::listen(\"{name}\")"
    );
    Err(Error::new(code::E_INVALIDARG, text))
}

/// Exports an object only to clients over a network. On this host the runtime in the program's own
/// language serves the name.
pub(crate) fn export_to_networks(name: &str, object: &IUnknown, info: &'static InterfaceInfo) -> Result<Export> {
    check_name(name)?;
    let runtime = process::runtime()?;
    registry::register_module(info);
    enter(runtime, name, Name::new(Agile::new(object)?, info), None)
}

/// Connects to the object that a process of this host exports by a name, or that a string binding
/// names.
///
/// A string binding is `ncacn_vi_udp:host[port,name=NAME]`; the name may be omitted where the
/// process exports only one name. In the exporting process itself the result is the object.
///
/// # Errors
///
/// RPC_S_SERVER_UNAVAILABLE when no process serves the name; E_ACCESSDENIED when the server denies
/// access or there are no credentials for it; E_NOINTERFACE when the object has no such interface;
/// RPC_E_VERSION_MISMATCH when the two sides describe the interface differently.
///
/// ```ignore
/// let calc: ICalc = obvia::connect("calc")?;
/// let there: ICalc = obvia::connect("ncacn_vi_udp:10.0.0.1[5555,name=calc]")?;
/// ```
pub fn connect<I: Remote>(name: &str) -> Result<I> {
    Ok(connect_object(name, I::INFO)?.cast()?)
}

/// Returns the directory in which this process serves its names and finds those of other processes.
///
/// # Errors
///
/// E_FAIL with the reason, if the directory cannot be made, or if other users can change it.
pub fn directory_of_names() -> Result<PathBuf> {
    Ok(process::runtime()?.directory().path().to_owned())
}

/// As [`connect`], for an interface that is known by its description only.
pub(crate) fn connect_object(name: &str, info: &'static InterfaceInfo) -> Result<IUnknown> {
    let runtime = process::runtime()?;
    registry::register_for_calls(info);
    if let Ok(own) = runtime.named(name) {
        return Ok(own.get().clone());
    }
    let resolve = || {
        let (link, name) = runtime.find(name)?;
        let any =
            own_target::resolve(&link, &name, info, Forms::All).map_err(|error| not_there(&link, &name, error))?;
        Ok::<_, Error>((link, any))
    };
    match deadline::for_all_steps(resolve)? {
        (_, Any::Custom { clsid, data, .. }) => unmarshal_custom(&clsid, data, info),
        (link, any) => with_handler(&any, runtime.adopt(&link, &ObjRef::from_any(&any)?, info)?, info),
    }
}

/// Returns an error that lists the names of a process that is reachable but does not export `name`.
pub(crate) fn not_there(link: &Link, name: &str, error: Error) -> Error {
    if error.code() != code::RPC_E_DISCONNECTED {
        return error;
    }
    // If the request for the list fails, too, the process is gone, as `error` says.
    let Ok(text) = own_target::list(link) else { return error };
    let names: Vec<&str> = text.lines().filter_map(|line| line.split('\t').next()).collect();
    if names.contains(&name) {
        return error;
    }
    let there = if names.is_empty() {
        "the process exports no names".to_owned()
    } else {
        format!("the exported names are: {}", names.join(", "))
    };
    let text = format!("nothing is exported as `{name}` at {}; {there}", link.binding());
    Error::new(code::RPC_S_SERVER_UNAVAILABLE, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::proxy::UNKNOWN_INFO;

    #[obvia::object()]
    struct Object;

    type Way = fn(&str, &IUnknown, &'static InterfaceInfo) -> Result<Export>;

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn a_name_is_exported_once_even_if_only_to_networks() {
        let (name, object) = (ground::fresh_name("name"), IUnknown::from(Object));
        let ways: [Way; 2] = [export_object, export_to_networks];
        for (first, second) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let earlier = ways[first](&name, &object, &UNKNOWN_INFO).unwrap();
            let refused = ways[second](&name, &object, &UNKNOWN_INFO).err().unwrap();
            assert_eq!(refused.code(), code::RPC_S_DUPLICATE_ENDPOINT, "{first}, then {second}: {refused}");
            let named = || process::runtime().unwrap().named(&name);
            assert!(named().is_ok(), "{first}, then {second}");
            drop(earlier);
            assert!(named().is_err(), "{first}, then {second}");
            drop(ways[second](&name, &object, &UNKNOWN_INFO).unwrap());
        }
    }
}
