//! The runtime of a process: its identity, what it exports, and the processes that it is linked with.

pub(crate) mod janitor;

use crate::agile::Agile;
use crate::error::{Error, Result, code};
use crate::exports::{Client, Exports};
use crate::link::{Link, endpoint_of};
use crate::objref::ObjRef;
use crate::proxy::{import, look_behind};
use crate::registry::{self, InterfaceInfo, Remote};
use crate::server::{Clients, accept_on};
use crate::{system, thread};
use obvia_via::Waiting;
use obvia_via::provider::shm::{Directory, Listener, Options};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use windows_core::{IUnknown, Interface};

/// References that travel with an interface pointer, as DCOM has it.
const REFS_PER_POINTER: u32 = 5;

/// One exported name.
struct Name {
    object: Agile<IUnknown>,
    info: &'static InterfaceInfo,
    _listener: Arc<Listener>,
}

/// What a process has one of.
pub(crate) struct Runtime {
    oxid: u64,
    directory: Directory,
    exports: Exports,
    clients: Clients,
    links: Mutex<HashMap<u64, Arc<Link>>>,
    names: Mutex<HashMap<String, Name>>,
    endpoint: Mutex<Option<Arc<Listener>>>,
}

static RUNTIME: OnceLock<Result<Runtime>> = OnceLock::new();
static WAITING: AtomicU8 = AtomicU8::new(Waiting::Adaptive as u8);

/// Chooses how this process waits on connections that are made from now on, in calls and for calls.
///
/// Adaptive where this is not called: it polls for some tens of microseconds, then sleeps.
pub fn set_waiting(waiting: Waiting) {
    WAITING.store(waiting as u8, Ordering::Relaxed);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Runtime {
    /// The runtime of this process, made at first use.
    pub(crate) fn of_process() -> Result<&'static Self> {
        let made = RUNTIME.get_or_init(|| {
            let mut bytes = [0; 8];
            rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
                .map_err(|error| Error::new(code::E_FAIL, format!("drawing a process identity: {error}")))?;
            Ok(Self {
                oxid: u64::from_le_bytes(bytes),
                directory: Directory::of_user()?,
                exports: Exports::default(),
                clients: Clients::default(),
                links: Mutex::default(),
                names: Mutex::default(),
                endpoint: Mutex::default(),
            })
        });
        made.as_ref().map_err(Clone::clone)
    }

    pub(crate) fn oxid(&self) -> u64 {
        self.oxid
    }

    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }

    pub(crate) fn exports(&self) -> &Exports {
        &self.exports
    }

    pub(crate) fn clients(&self) -> &Clients {
        &self.clients
    }

    pub(crate) fn options(&self) -> Options {
        let waiting = match WAITING.load(Ordering::Relaxed) {
            poll if poll == Waiting::Poll as u8 => Waiting::Poll,
            block if block == Waiting::Block as u8 => Waiting::Block,
            _ => Waiting::Adaptive,
        };
        Options { waiting, ..Options::default() }
    }

    /// Makes sure that other processes can reach this one.
    fn serve(&'static self) -> Result<()> {
        let mut endpoint = lock(&self.endpoint);
        if endpoint.is_none() {
            let listener = Arc::new(self.directory.bind(&endpoint_of(self.oxid))?);
            accept_on(self, Arc::clone(&listener))?;
            *endpoint = Some(listener);
        }
        Ok(())
    }

    /// The link to the process behind a name or an endpoint.
    pub(crate) fn link_by_name(&self, name: &str) -> Result<Arc<Link>> {
        let (oxid, home) = Link::reach(self, name, thread::deadline())?;
        let known = |links: &HashMap<u64, Arc<Link>>| links.get(&oxid).filter(|known| !known.is_dead()).cloned();
        if let Some(known) = known(&lock(&self.links)) {
            return Ok(known);
        }
        let fresh = Link::open(self, name, oxid, home, thread::deadline())?;
        // Another thread may have been faster.
        let mut links = lock(&self.links);
        Ok(known(&links).unwrap_or_else(|| {
            let fresh = Arc::new(fresh);
            links.insert(oxid, Arc::clone(&fresh));
            // Who has links has somebody to close them.
            janitor::wake();
            fresh
        }))
    }

    pub(crate) fn link_by_oxid(&self, oxid: u64, endpoint: &str) -> Result<Arc<Link>> {
        let known = lock(&self.links).get(&oxid).filter(|known| !known.is_dead()).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let others = || Error::new(code::RPC_E_INVALID_OBJREF, "the reference's endpoint is another process's");
        // Before anything is connected: whoever makes up a reference does not say whom this process talks to.
        if endpoint != endpoint_of(oxid) {
            return Err(others());
        }
        let link = self.link_by_name(endpoint)?;
        if link.oxid() == oxid { Ok(link) } else { Err(others()) }
    }

    /// Every link, for the janitor.
    pub(crate) fn links(&self) -> Vec<Arc<Link>> {
        lock(&self.links).values().cloned().collect()
    }

    /// Closes links that nobody has in hand and that are of no use.
    pub(crate) fn close_links(&self, is_useless: impl Fn(&Link) -> bool) {
        // One: the table's. A user's would make it more.
        let unused = |link: &Arc<Link>| Arc::strong_count(link) == 1 && is_useless(link);
        let closed: Vec<_> = {
            let mut links = lock(&self.links);
            let keys: Vec<_> = links.iter().filter(|(_, link)| unused(link)).map(|(&oxid, _)| oxid).collect();
            keys.iter().filter_map(|oxid| links.remove(oxid)).collect()
        };
        drop(closed);
    }

    /// The object exported by a name.
    pub(crate) fn named(&self, name: &str) -> Result<Agile<IUnknown>> {
        let names = lock(&self.names);
        Ok(names.get(name).ok_or(code::RPC_E_DISCONNECTED)?.object.clone())
    }

    /// What is exported by name: a line each.
    pub(crate) fn list_names(&self) -> String {
        let mut text = String::new();
        let names = lock(&self.names);
        let mut sorted: Vec<_> = names.iter().collect();
        sorted.sort_by_key(|(name, _)| *name);
        for (name, what) in sorted {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{name}\t{}\t{:?}", what.info.name, what.info.iid);
        }
        text
    }

    /// A reference to an object of this process, with references counted for `client`.
    pub(crate) fn marshal_own(
        &'static self,
        object: &IUnknown,
        info: &'static InterfaceInfo,
        client: u64,
    ) -> Result<ObjRef> {
        self.serve()?;
        registry::register_module(info);
        let found = self.exports.add(object, info, Client(client), REFS_PER_POINTER.into())?;
        Ok(ObjRef {
            iid: info.iid,
            public_refs: REFS_PER_POINTER,
            oxid: self.oxid,
            oid: found.oid,
            target: found.target,
            endpoint: endpoint_of(self.oxid),
        })
    }

    /// A reference to an object, wherever it is, for `client`.
    pub(crate) fn marshal(
        &'static self,
        object: &IUnknown,
        info: &'static InterfaceInfo,
        client: u64,
    ) -> Result<ObjRef> {
        let interface = crate::exports::query(object, info)?;
        let Some(imported) = look_behind(&interface) else {
            return self.marshal_own(&interface, info, client);
        };
        let mut public_refs = 0;
        if client != imported.link.oxid() {
            system::transfer(&imported.link, imported.target, client, REFS_PER_POINTER)?;
            public_refs = REFS_PER_POINTER;
        }
        Ok(ObjRef {
            iid: info.iid,
            public_refs,
            oxid: imported.link.oxid(),
            oid: imported.oid,
            target: imported.target,
            endpoint: imported.link.endpoint().to_owned(),
        })
    }

    /// The interface pointer that a reference stands for: a proxy, or the object itself when it is of this process.
    pub(crate) fn unmarshal(&self, reference: &ObjRef, info: &'static InterfaceInfo) -> Result<IUnknown> {
        registry::register_module(info);
        if reference.oxid == self.oxid {
            // None came with it where its sender waits until this process has it.
            if reference.public_refs > 0 {
                thread::note_return(reference.target, reference.public_refs.into());
            }
            let object = self.exports.get(reference.target)?.object.ok_or(code::RPC_E_INVALID_OBJREF)?;
            return crate::exports::query(object.get(), info);
        }
        let link = self.link_by_oxid(reference.oxid, &reference.endpoint)?;
        // A reference that came without counts of its own: the sender knew that the receiver is the object's home.
        let carrier = if reference.iid == info.iid { info } else { registry::find(&reference.iid)? };
        let pointer = import(&link, reference.oid, reference.target, reference.public_refs, carrier);
        // SAFETY: `import` returns a counted interface pointer, which begins with IUnknown's methods.
        let proxy = unsafe { IUnknown::from_raw(pointer.as_ptr()) };
        if reference.iid == info.iid { Ok(proxy) } else { crate::exports::query(&proxy, info) }
    }
}

/// An exported name. While it lives, other processes can connect to the object by the name.
#[must_use = "the name disappears when this is dropped"]
pub struct Export {
    runtime: &'static Runtime,
    name: String,
    listener: Arc<Listener>,
}

impl Drop for Export {
    fn drop(&mut self) {
        self.listener.close();
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
/// RPC_S_DUPLICATE_ENDPOINT when a live process serves the name; E_INVALIDARG when it cannot be a name.
pub fn export<I: Remote>(name: &str, object: I) -> Result<Export> {
    let runtime = Runtime::of_process()?;
    registry::register_module(I::INFO);
    runtime.serve()?;
    let listener = Arc::new(runtime.directory.bind(name)?);
    let object: IUnknown = object.cast()?;
    let entry = Name { object: Agile::new(&object)?, info: I::INFO, _listener: Arc::clone(&listener) };
    lock(&runtime.names).insert(name.to_owned(), entry);
    accept_on(runtime, Arc::clone(&listener))?;
    Ok(Export { runtime, name: name.to_owned(), listener })
}

/// Connects to the object that a process of this host exports by a name.
///
/// In the process that exports it the result is the object itself.
///
/// # Errors
///
/// RPC_S_SERVER_UNAVAILABLE when nobody serves the name; E_NOINTERFACE when the object has no such interface;
/// RPC_E_VERSION_MISMATCH when the interface is described differently on the two sides.
pub fn connect<I: Remote>(name: &str) -> Result<I> {
    let runtime = Runtime::of_process()?;
    registry::register_module(I::INFO);
    if let Ok(own) = runtime.named(name) {
        return Ok(own.get().cast()?);
    }
    let link = runtime.link_by_name(name)?;
    let reference = system::resolve(&link, name, I::INFO)?;
    let unknown = runtime.unmarshal(&reference, I::INFO)?;
    Ok(unknown.cast()?)
}

/// Serves until the process is told to end. A server's main function calls it last.
pub fn wait() -> ! {
    loop {
        std::thread::park();
    }
}

/// A name that a process of this host exports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name.
    pub name: String,
    /// The process.
    pub pid: Option<u32>,
    /// The interface that it was exported by, where the process could be asked.
    pub interface: Option<String>,
    /// That interface's IID.
    pub iid: Option<String>,
}

/// What the processes of this user export by name.
///
/// # Errors
///
/// When the directory of names cannot be read. A process that does not answer is listed without its interface.
pub fn list() -> Result<Vec<Listed>> {
    let runtime = Runtime::of_process()?;
    let entries = runtime.directory.list()?;
    let own_endpoints = |name: &str| name.starts_with("oxid-");
    let names = entries.into_iter().filter(|entry| !own_endpoints(&entry.name));
    Ok(names
        .map(|entry| {
            let told = ask(runtime, &entry.name).ok().flatten();
            let (interface, iid) = told.map_or((None, None), |(interface, iid)| (Some(interface), Some(iid)));
            Listed { name: entry.name, pid: entry.pid, interface, iid }
        })
        .collect())
}

fn ask(runtime: &Runtime, name: &str) -> Result<Option<(String, String)>> {
    let text = if lock(&runtime.names).contains_key(name) {
        runtime.list_names()
    } else {
        system::list(&runtime.link_by_name(name)?.clone())?
    };
    Ok(text.lines().find_map(|line| {
        let mut parts = line.split('\t');
        (parts.next() == Some(name)).then(|| Some((parts.next()?.to_owned(), parts.next()?.to_owned())))?
    }))
}

/// The IDL text of the interface that a name is exported by, from the running server.
///
/// # Errors
///
/// As [`connect`].
pub fn describe(name: &str) -> Result<String> {
    let runtime = Runtime::of_process()?;
    let link = runtime.link_by_name(name)?;
    let text = system::list(&link)?;
    let iid = text.lines().find_map(|line| {
        let mut parts = line.split('\t');
        (parts.next() == Some(name)).then(|| parts.nth(1))?
    });
    let iid = iid.ok_or(code::RPC_E_DISCONNECTED)?;
    let digits: String = iid.chars().filter(char::is_ascii_hexdigit).collect();
    let iid = u128::from_str_radix(&digits, 16).map_err(|_| code::RPC_E_INVALID_DATA)?;
    system::describe(&link, &windows_core::GUID::from_u128(iid))
}
