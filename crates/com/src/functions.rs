//! Interfaces of functions, which have no objects: serving them in this process, and binding to
//! those of another.
//!
//! As in C706, a server registers the performer of an interface, for all object UUIDs or for single
//! ones. A client names the server, and optionally an object UUID, in a string binding.

use crate::agile::Agile;
use crate::error::{Error, Result, code};
use crate::link::{Link, Stranger};
use crate::objref::ObjRef;
use crate::own_calls::{Forms, client};
use crate::registry::{self, InterfaceInfo, Remote};
use crate::runtime::{Runtime, address_of};
use crate::{endpoints, network, thread};
use obvia_rpc::vi_call::TargetId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use windows_core::{GUID, HRESULT, IUnknown, Interface};

/// The key of a registration: an interface in a major version, and an object UUID, or 0 for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    interface: u128,
    major: u16,
    object: u128,
}

struct Entry {
    performer: Agile<IUnknown>,
    info: &'static InterfaceInfo,
}

/// The interfaces of functions that this process performs.
#[derive(Default)]
pub(crate) struct Functions(Mutex<HashMap<Key, Entry>>);

impl Functions {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the performer of an interface for an object UUID, which is 0 where the caller names
    /// none. A registration for the object UUID precedes that for all. The minor version of the
    /// performer is at least the requested one (C706 4.2.4.5).
    ///
    /// # Errors
    ///
    /// RPC_S_UNKNOWN_IF where there is no such registration.
    pub(crate) fn find(
        &self,
        interface: u128,
        (major, minor): (u16, u16),
        object: u128,
    ) -> Result<(Agile<IUnknown>, &'static InterfaceInfo)> {
        let entries = self.lock();
        let mut keys = [object, 0].into_iter().map(|object| Key { interface, major, object });
        let found = keys.find_map(|key| entries.get(&key).filter(|entry| entry.info.version.1 >= minor));
        let found =
            found.ok_or_else(|| Error::new(code::RPC_S_UNKNOWN_IF, "the server does not perform the interface"))?;
        Ok((found.performer.clone(), found.info))
    }

    /// Returns all registrations with their object UUIDs, where 0 means all.
    pub(crate) fn all(&self) -> Vec<(&'static InterfaceInfo, u128)> {
        let mut all: Vec<_> = self.lock().iter().map(|(key, entry)| (entry.info, key.object)).collect();
        all.sort_by_key(|(info, object)| (info.name, info.iid.to_u128(), info.version, *object));
        all
    }

    /// Returns the registrations as text: one per line, with name, UUID, version and object UUID
    /// separated by tabs.
    pub(crate) fn list(&self) -> String {
        let line = |(info, object): (&InterfaceInfo, u128)| {
            let (major, minor) = info.version;
            format!("{}\t{:?}\t{major}.{minor}\t{:?}\n", info.name, info.iid, GUID::from_u128(object))
        };
        self.all().into_iter().map(line).collect()
    }

    /// Returns the performer for a name that [`name_of`] made.
    pub(crate) fn named(&self, name: &str) -> Result<Agile<IUnknown>> {
        let malformed = || Error::new(code::E_INVALIDARG, "the name of an interface is malformed");
        let mut words = name.split('/').map(|word| u128::from_str_radix(word, 16));
        let mut word = || words.next().and_then(std::result::Result::ok).ok_or_else(malformed);
        let (interface, version, object) = (word()?, word()?, word()?);
        let version = ((version >> 16) as u16, version as u16);
        Ok(self.find(interface, version, object)?.0)
    }
}

/// The prefix of names that stand for interfaces. Exported names never begin with it.
pub(crate) const PREFIX: char = '/';

/// Returns the name by which the performer of an interface is resolved.
fn name_of(info: &InterfaceInfo, object: u128) -> String {
    let version = u32::from(info.version.0) << 16 | u32::from(info.version.1);
    format!("{PREFIX}{:x}/{version:x}/{object:x}", info.iid.to_u128())
}

/// The registration of an interface, for as long as this value lives.
#[must_use = "the interface is no longer performed when this is dropped"]
pub struct Serving {
    runtime: &'static Runtime,
    key: Key,
}

impl Drop for Serving {
    fn drop(&mut self) {
        // The object's drop must not run under the lock.
        let removed = self.runtime.functions().lock().remove(&self.key);
        drop(removed);
    }
}

/// Registers an object as the performer of an interface without `[object]` in this process, for
/// every caller. [`crate::listen`] makes the process reachable.
///
/// Several threads call the functions at once, so the object must be thread-safe, as objects made
/// by `#[implement]` of `Sync` types are. Those callers reach only this interface of the object.
///
/// # Errors
///
/// E_INVALIDARG for an interface of objects, which can be [exported](crate::export);
/// RPC_S_TYPE_ALREADY_REGISTERED where a performer is registered already.
pub fn serve_interface<I: Remote>(object: I) -> Result<Serving> {
    serve_interface_for(GUID::zeroed(), object)
}

/// As [`serve_interface`], for callers whose binding names this object UUID.
///
/// # Errors
///
/// As for [`serve_interface`].
pub fn serve_interface_for<I: Remote>(uuid: GUID, object: I) -> Result<Serving> {
    serve_object(uuid, &object.cast()?, I::INFO)
}

/// As [`serve_interface_for`], for an interface that is known by its description only.
pub(crate) fn serve_object(uuid: GUID, object: &IUnknown, info: &'static InterfaceInfo) -> Result<Serving> {
    check(info)?;
    let runtime = Runtime::of_process()?;
    registry::register_module(info);
    let performer = Agile::new(&crate::exports::query(object, info)?)?;
    let key = Key { interface: info.iid.to_u128(), major: info.version.0, object: uuid.to_u128() };
    let mut entries = runtime.functions().lock();
    if entries.contains_key(&key) {
        let text = format!("interface {} is performed in this process already", info.name);
        return Err(Error::new(code::RPC_S_TYPE_ALREADY_REGISTERED, text));
    }
    entries.insert(key, Entry { performer, info });
    Ok(Serving { runtime, key })
}

/// Binds to an interface without `[object]` of the server at a string binding:
/// `ncacn_vi_udp:host[5555]`, or with an object UUID
/// `6b29fc40-ca47-1067-b31d-00dd010662da@ncacn_vi_shm:[name]`.
///
/// A binding without endpoint, such as `ncacn_ip_tcp:host`, uses the endpoint in the interface's
/// `[endpoint]` attribute for the protocol sequence, or else the one that the host's endpoint
/// mapper returns. The mapper is queried at port 135, or at the one in the option `mapper`:
/// `ncacn_ip_tcp:host[,mapper=1135]`. On this host, for `ncalrpc:`, its name is `epmapper`.
///
/// # Errors
///
/// E_INVALIDARG for an invalid string binding, and for an interface of objects, to which one
/// [connects](crate::connect); RPC_S_SERVER_UNAVAILABLE when no server is there;
/// EPT_S_NOT_REGISTERED when the endpoint mapper has no endpoint; E_ACCESSDENIED when the server
/// denies access, or there are no credentials for it; RPC_S_UNKNOWN_IF or E_NOINTERFACE when the
/// server does not perform the interface; RPC_E_VERSION_MISMATCH when the two sides describe it
/// differently.
pub fn bind<I: Remote>(binding: &str) -> Result<I> {
    Ok(bind_object(binding, I::INFO)?.cast()?)
}

/// As [`bind`], for an interface that is known by its description only.
pub(crate) fn bind_object(binding: &str, info: &'static InterfaceInfo) -> Result<IUnknown> {
    let (link, reference) = reach(binding, info)?;
    registry::register_module(info);
    Runtime::of_process()?.import(&link, &reference, info)
}

/// Returns the link to the server at a string binding, and a reference to the performer of an
/// interface there.
pub(crate) fn reach(binding: &str, info: &'static InterfaceInfo) -> Result<(Arc<Link>, ObjRef)> {
    check(info)?;
    let located = endpoints::locate(network::parse(binding)?, info)?;
    let (object, binding) = (located.object, located.to_string());
    let runtime = Runtime::of_process()?;
    // Datagrams may reach another process at the next call, so the server's identity is not used.
    if network::has_no_connections(&located) {
        return reach_stranger(runtime, &binding, Stranger { object, info });
    }
    let link = match runtime.link_at(&binding) {
        Ok(link) => link,
        // Standard protocol sequences also lead to servers that are no obvia processes.
        Err(error) if network::is_standard(&binding) && !SETTLED.contains(&error.code()) => {
            return reach_stranger(runtime, &binding, Stranger { object, info });
        }
        Err(error) => return Err(error),
    };
    let reference = ObjRef::from_any(&client::resolve(
        &link,
        &name_of(info, object.map_or(0, |uuid| uuid.0)),
        info,
        Forms::Standard,
    )?)?;
    Ok((link, reference))
}

/// The errors that a second attempt would not change: no server is there, or it denies access.
const SETTLED: [HRESULT; 4] = [
    code::RPC_S_SERVER_UNAVAILABLE,
    code::E_ACCESSDENIED,
    code::RPC_S_UNKNOWN_AUTHN_SERVICE,
    code::RPC_S_SEC_PKG_ERROR,
];

/// Returns the link and the reference for a server that is no obvia process.
fn reach_stranger(runtime: &'static Runtime, binding: &str, stranger: Stranger) -> Result<(Arc<Link>, ObjRef)> {
    let (address, _) = address_of(binding)?;
    let link = Arc::new(Link::to_stranger(runtime.local(), address, stranger, thread::deadline())?);
    // The reference that such a server would send: there is one target, whose references are not
    // counted.
    let target = TargetId { index: 1, generation: 1 };
    let (bindings, securities) = (Vec::new(), Vec::new());
    let reference =
        ObjRef { iid: stranger.info.iid, public_refs: 0, oxid: link.oxid(), oid: 1, target, bindings, securities };
    Ok((link, reference))
}

/// Rejects interfaces of objects.
fn check(info: &InterfaceInfo) -> Result<()> {
    if info.plain {
        return Ok(());
    }
    let text = format!("interface {} is one of objects, which are exported and connected to by name", info.name);
    Err(Error::new(code::E_INVALIDARG, text))
}
