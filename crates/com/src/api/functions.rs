//! Interfaces of functions, which have no objects: serving them in this process, and binding to
//! those of other processes. As in C706, a server registers the performer of an interface, for all
//! object UUIDs or for single ones. A client names the server, and optionally an object UUID, in a
//! string binding.

use crate::api::endpoints;
use crate::client::handshake;
use crate::client::link::{ForeignServer, Link};
use crate::client::own_target;
use crate::protocol::objref::ObjRef;
use crate::protocol::own_calls::Forms;
use crate::runtime::{Runtime, address_of, share_of};
use crate::server::functions::{Entry, Key, name_of};
use crate::services::process;
use crate::transport::network;
use crate::types::agile::Agile;
use crate::types::deadline;
use crate::types::error::{Error, Result, code};
use crate::types::registry::{self, InterfaceInfo, Remote};
use obvia_rpc::vi_call::TargetId;
use obvia_via::Deadline;
use std::sync::Arc;
use windows_core::{GUID, HRESULT, IUnknown, Interface};

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
/// Several threads call the functions at once, so the object must be thread-safe. Objects that
/// `#[obvia::object]` makes of `Sync` types are thread-safe. Callers reach only this interface of
/// the object.
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
    let runtime = process::runtime()?;
    registry::register_module(info);
    let performer = Agile::new(&crate::server::exports::query(object, info)?)?;
    let key = Key { interface: info.iid.to_u128(), major: info.version.0, object: uuid.to_u128() };
    let mut entries = runtime.functions().lock();
    if entries.contains_key(&key) {
        let text = format!("this process already serves interface {}", info.name);
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
/// `[endpoint]` attribute for the protocol sequence, or else the endpoint that the host's endpoint
/// mapper returns. The mapper is queried at port 135, or at the port in the option `mapper`:
/// `ncacn_ip_tcp:host[,mapper=1135]`. For `ncalrpc:`, the endpoint of this host's mapper is
/// `epmapper`, or the name in the option.
///
/// # Errors
///
/// E_INVALIDARG for an invalid string binding, and for an interface of objects, which needs
/// [`connect`](crate::connect); RPC_S_SERVER_UNAVAILABLE when no server is there;
/// EPT_S_NOT_REGISTERED when the endpoint mapper has no endpoint; E_ACCESSDENIED when the server
/// denies access, or there are no credentials for it; RPC_S_UNKNOWN_IF or E_NOINTERFACE when the
/// server does not perform the interface; RPC_E_VERSION_MISMATCH when the two sides describe the
/// interface differently.
pub fn bind<I: Remote>(binding: &str) -> Result<I> {
    Ok(bind_object(binding, I::INFO)?.cast()?)
}

/// As [`bind`], for an interface that is known by its description only.
pub(crate) fn bind_object(binding: &str, info: &'static InterfaceInfo) -> Result<IUnknown> {
    let (link, reference) = deadline::for_all_steps(|| reach(binding, info))?;
    registry::register_for_calls(info);
    process::runtime()?.import(&link, &reference, info)
}

/// Returns the link to the server at a string binding, and a reference to the performer of an
/// interface there.
pub(crate) fn reach(binding: &str, info: &'static InterfaceInfo) -> Result<(Arc<Link>, ObjRef)> {
    check(info)?;
    let located = endpoints::locate(network::parse(binding)?, info)?;
    let (object, binding) = (located.object, located.to_string());
    let runtime = process::runtime()?;
    // The datagrams of the next call may reach another process, so the server's identity is not
    // used.
    if network::has_no_connections(&located) {
        return reach_foreign(runtime, &binding, ForeignServer { object, info });
    }
    // Standard protocol sequences also lead to servers that are not obvia processes. The first
    // attempt has a shorter deadline, which leaves time for a second attempt with such a server.
    let is_standard = network::is_standard(&binding);
    let remaining = deadline::of_thread().start().remaining();
    let limit = if is_standard { remaining - share_of(remaining) } else { remaining };
    let link = match deadline::with(Deadline::Within(limit), || runtime.link_at(&binding)) {
        Ok(link) => link,
        Err(error) if is_standard && !SETTLED.contains(&error.code()) => {
            return reach_foreign(runtime, &binding, ForeignServer { object, info });
        }
        Err(error) => return Err(error),
    };
    let reference = ObjRef::from_any(&own_target::resolve(
        &link,
        &name_of(info, object.map_or(0, |uuid| uuid.0)),
        info,
        Forms::Standard,
    )?)?;
    Ok((link, reference))
}

/// The errors after which there is no second attempt: no server is there, authentication fails, the
/// server denies access, or the program has cancelled the call.
const SETTLED: [HRESULT; 5] = [
    code::RPC_E_CALL_CANCELED,
    code::RPC_S_SERVER_UNAVAILABLE,
    code::E_ACCESSDENIED,
    code::RPC_S_UNKNOWN_AUTHN_SERVICE,
    code::RPC_S_SEC_PKG_ERROR,
];

/// Returns the link to a server that is not an obvia process, and a reference to the performer
/// there.
fn reach_foreign(runtime: &'static Runtime, binding: &str, server: ForeignServer) -> Result<(Arc<Link>, ObjRef)> {
    let (address, _) = address_of(binding)?;
    let (local, deadline) = (runtime.local(), deadline::of_thread().start());
    let reached = handshake::connect_foreign(local, address, deadline)?;
    let link = Arc::new(Link::to_foreign(local, reached, server, deadline)?);
    // The server sends no reference, so this function makes one. The reference leads to the only
    // target of the link, and transfers no reference counts.
    let target = TargetId { index: 1, generation: 1 };
    let (bindings, securities) = (Vec::new(), Vec::new());
    let reference =
        ObjRef { iid: server.info.iid, public_refs: 0, oxid: link.oxid(), oid: 1, target, bindings, securities };
    Ok((link, reference))
}

/// Rejects interfaces of objects.
fn check(info: &InterfaceInfo) -> Result<()> {
    if info.plain {
        return Ok(());
    }
    let text =
        format!("interface {} belongs to objects: export the object by a name, and connect to that name", info.name);
    Err(Error::new(code::E_INVALIDARG, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::canceller::Canceller;
    use crate::client::proxy::{UNKNOWN_INFO, without_vtables};
    use crate::types::registry::Description;
    use std::io;
    use std::net::TcpListener;

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn a_cancelled_bind_makes_no_second_attempt() {
        let info: &'static _ = Box::leak(Box::new(without_vtables(Description { plain: true, ..*UNKNOWN_INFO })));
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let binding = format!("ncacn_ip_tcp:127.0.0.1[{}]", silent.local_addr().unwrap().port());
        silent.set_nonblocking(true).unwrap();
        let canceller = Canceller::new();
        std::thread::scope(|scope| {
            let bind = scope.spawn(|| canceller.run(|| reach(&binding, info).map(drop)));
            let _first = ground::poll("the first attempt begins", || silent.accept().ok());
            canceller.cancel();
            assert_eq!(bind.join().unwrap().unwrap_err().code(), code::RPC_E_CALL_CANCELED);
        });
        assert_eq!(silent.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }
}
