//! The runtime of a process: its identity, what it exports, and the processes that it is linked with.

pub(crate) mod data;
mod ending;
pub(crate) mod janitor;
mod links;
mod names;
mod specialised;
mod ways;

use crate::agile::Agile;
use crate::context::Contexts;
use crate::dcom::{Classes, Libraries, securities_for};
use crate::endpoints::OwnInterfaces;
use crate::error::{self, Error, Result, code};
use crate::exports::Exports;
use crate::functions::{self, Functions};
use crate::link::{Address, Link, endpoint_of};
use crate::marshaling::behind;
use crate::network::{self, Network, told};
use crate::objref::ObjRef;
use crate::orpc::Client;
use crate::proxy::{import, look_behind};
use crate::registry::{self, InterfaceInfo};
use crate::scm::Starter;
use crate::security::Rules;
use crate::server::{Clients, accept_on};
use crate::{system, thread};
pub use ending::{catch_signals, wait, wait_for_signal};
use links::{Links, Place};
pub use names::{Export, connect, export};
pub(crate) use names::{connect_object, export_object, export_to_networks, not_there};
use obvia_rpc::security::Principal;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_via::Waiting;
use obvia_via::provider::shm::{Directory, Listener};
use obvia_via::window::{Options, Peer};
use specialised::Detours;
use std::collections::HashMap;
use std::fmt::Write;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use windows_core::{IUnknown, Interface};

/// References that travel with an interface pointer, as DCOM has it.
const REFS_PER_POINTER: u32 = 5;

/// One exported name.
struct Name {
    object: Agile<IUnknown>,
    info: &'static InterfaceInfo,
    _listener: Option<Arc<Listener>>,
}

/// How long one of several ways to a process may take to come about: nobody waits for all of them where the first is barred.
const ATTEMPT: Duration = Duration::from_secs(3);

/// Where a name or a string binding leads, and which name is meant there, if it says so.
pub(crate) fn address_of(text: &str) -> Result<(Address, Option<String>)> {
    if !StringBinding::is_meant(text) {
        return Ok((Address::Name(text.to_owned()), Some(text.to_owned())));
    }
    let mut binding = network::parse(text)?;
    let name = binding.option("name").map(str::to_owned);
    if binding.protocol == ProtocolSequence::ViShm {
        let name = name.unwrap_or(if binding.endpoint.is_empty() { binding.address } else { binding.endpoint });
        return Ok((Address::Name(name.clone()), Some(name)));
    }
    binding.options.retain(|(option, _)| option != "name");
    // The object is what is asked for there.
    binding.object = None;
    Ok((Address::Binding(binding), name))
}

/// Whether a text is a string binding, rather than a name: `ncacn_vi_udp:host[5555]`.
pub fn is_string_binding(text: &str) -> bool {
    StringBinding::is_meant(text)
}

/// Bindings, the best first.
fn in_order(bindings: &[StringBinding]) -> impl Iterator<Item = &StringBinding> {
    let of = |protocol| bindings.iter().filter(move |binding| binding.protocol == protocol);
    ProtocolSequence::ALL.into_iter().flat_map(of)
}

/// What a process has one of.
pub(crate) struct Runtime {
    oxid: u64,
    directory: Directory,
    exports: Exports,
    /// Makes numbers of peers.
    peers: RandomState,
    /// Makes marks for other processes.
    marks: RandomState,
    clients: Clients,
    links: Links,
    network: Network,
    names: Mutex<HashMap<String, Name>>,
    endpoint: Mutex<Option<Arc<Listener>>>,
    /// Further names in the directory that this process is reached by.
    endpoints: Mutex<Vec<Arc<Listener>>>,
    functions: Functions,
    own_interfaces: OwnInterfaces,
    classes: Classes,
    starter: Starter,
    libraries: Libraries,
    contexts: Contexts,
    rules: Rules,
    detours: Detours,
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

/// A number that no other process draws: its identity.
pub(crate) fn draw() -> Result<u64> {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(|error| Error::new(code::E_FAIL, format!("drawing a process identity: {error}")))?;
    Ok(u64::from_le_bytes(bytes))
}

/// Draws of an identifier for a ping set, at most, until one is free.
pub(crate) const DRAWS: usize = 16;

/// What a ping set is to be called. Some clients in the field send it as a number of 16 bits.
pub(crate) fn draw_set() -> Result<u64> {
    Ok((draw()? & u64::from(u16::MAX)).max(1))
}

impl Runtime {
    /// The runtime of this process, made at first use.
    pub(crate) fn of_process() -> Result<&'static Self> {
        let made = RUNTIME.get_or_init(|| {
            obvia_rpc::vi_call::set_words(error::words_for_caller);
            let oxid = draw()?;
            Ok(Self {
                oxid,
                directory: Directory::of_user()?,
                exports: Exports::new(oxid),
                peers: RandomState::new(),
                marks: RandomState::new(),
                clients: Clients::default(),
                links: Links::default(),
                network: Network::default(),
                names: Mutex::default(),
                endpoint: Mutex::default(),
                endpoints: Mutex::default(),
                functions: Functions::default(),
                own_interfaces: OwnInterfaces::default(),
                classes: Classes::default(),
                starter: Starter::default(),
                libraries: Libraries::default(),
                contexts: Contexts::default(),
                rules: Rules::default(),
                detours: Detours::default(),
            })
        });
        made.as_ref().map_err(Clone::clone)
    }

    /// The runtime of this process, where it has one.
    pub(crate) fn made() -> Option<&'static Self> {
        RUNTIME.get()?.as_ref().ok()
    }

    pub(crate) fn oxid(&self) -> u64 {
        self.oxid
    }

    pub(crate) fn network(&self) -> &Network {
        &self.network
    }

    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }

    pub(crate) fn exports(&self) -> &Exports {
        &self.exports
    }

    /// A peer that is no process of obvia's, as one who holds references: by its host, or its process on this one, and who it has proved
    /// to be.
    pub(crate) fn peer(&self, peer: &Peer, principal: Option<&Principal>) -> Client {
        let number = match peer {
            Peer::Host(host) => self.peers.hash_one((host, principal)),
            Peer::Process { pid, .. } => self.peers.hash_one((pid, principal)),
        };
        Client::Peer(number.max(1))
    }

    /// By what another process recognises this one, by whichever way it reaches it.
    pub(crate) fn mark_for(&self, process: u64) -> u64 {
        self.marks.hash_one(process)
    }

    pub(crate) fn functions(&self) -> &Functions {
        &self.functions
    }

    pub(crate) fn own_interfaces(&self) -> &OwnInterfaces {
        &self.own_interfaces
    }

    pub(crate) fn classes(&self) -> &Classes {
        &self.classes
    }

    pub(crate) fn starter(&self) -> &Starter {
        &self.starter
    }

    pub(crate) fn libraries(&self) -> &Libraries {
        &self.libraries
    }

    pub(crate) fn contexts(&self) -> &Contexts {
        &self.contexts
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(crate) fn clients(&self) -> &Clients {
        &self.clients
    }

    /// A client is gone. Drop what is returned where no lock is held: that runs programs' own code.
    pub(crate) fn end_client(&self, oxid: u64) -> impl Sized + use<> {
        (self.exports.drop_client(oxid), self.contexts.end_client(oxid))
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
            // Whoever has clients has somebody to look after what they leave.
            janitor::wake();
        }
        Ok(())
    }

    /// Whether other processes can reach this one by its own name.
    pub(crate) fn is_served(&self) -> bool {
        lock(&self.endpoint).is_some()
    }

    /// Has this process be reached by a further name in the directory of this host, as long as it lives.
    pub(crate) fn listen_by_name(&'static self, name: &str) -> Result<()> {
        lock(&self.endpoints).push(self.bind_name(name)?);
        Ok(())
    }

    /// The same, until the listener is closed.
    pub(crate) fn bind_name(&'static self, name: &str) -> Result<Arc<Listener>> {
        self.serve()?;
        let listener = Arc::new(self.directory.bind(name)?);
        accept_on(self, Arc::clone(&listener))?;
        Ok(listener)
    }

    /// The link to the process behind a name or an address.
    pub(crate) fn link_by_address(&'static self, address: Address) -> Result<Arc<Link>> {
        let reached = Link::reach(self, &address, thread::deadline())?;
        let key = (reached.oxid, Place::of(&address, &reached));
        if let Some(known) = self.links.known(&key) {
            return Ok(known);
        }
        let (link, is_fresh) = self.links.add(key, Link::open(self, address, reached, thread::deadline())?);
        if is_fresh {
            // Who has links has somebody to close them.
            janitor::wake();
        }
        Ok(link)
    }

    /// The link to the process that a reference leads to: one that is there, or by the best binding that works.
    pub(crate) fn link_to(&'static self, oxid: u64, bindings: &[StringBinding]) -> Result<Arc<Link>> {
        let mut over_network = in_order(bindings).filter(|binding| binding.protocol != ProtocolSequence::ViShm);
        let known = |binding: &StringBinding| self.links.known_by(oxid, binding);
        // Whoever chose a network for this process stays with it.
        if let Some(known) = over_network.find_map(known) {
            return Ok(known);
        }
        let others = || Error::new(code::RPC_E_INVALID_OBJREF, "the reference's endpoint is another process's");
        let mut outcome = Err(Error::new(code::RPC_E_INVALID_OBJREF, "the reference has no binding"));
        let mut left = bindings.len();
        for binding in in_order(bindings) {
            left -= 1;
            let address = if binding.protocol == ProtocolSequence::ViShm {
                if let Some(known) = self.links.known(&(oxid, None)) {
                    return Ok(known);
                }
                // Before anything is connected: whoever makes up a reference does not say whom this process talks to.
                if binding.address != endpoint_of(oxid) {
                    return Err(others());
                }
                Address::Name(binding.address.clone())
            } else {
                // Whoever sends a reference has no say in what is this process's own affair.
                Address::Binding(told(binding.clone()))
            };
            let limit = if left == 0 { Duration::MAX } else { ATTEMPT };
            let limit = thread::deadline().start().remaining().min(limit);
            outcome = thread::with_timeout(limit, || self.link_by_address(address));
            match &outcome {
                Ok(link) if link.oxid() == oxid => return outcome,
                Ok(_) => return Err(others()),
                // Of another host, or out of reach this way.
                Err(_) => {}
            }
        }
        outcome
    }

    /// The process that is meant by a name or a string binding.
    pub(crate) fn link_at(&'static self, text: &str) -> Result<Arc<Link>> {
        self.link_by_address(address_of(text)?.0)
    }

    /// The process that is meant by a name or a string binding, and the name that it exports.
    pub(crate) fn find(&'static self, text: &str) -> Result<(Arc<Link>, String)> {
        let (address, wanted) = address_of(text)?;
        let link = self.link_by_address(address)?;
        if let Some(name) = wanted {
            return Ok((link, name));
        }
        let names = system::list(&link)?;
        let mut names = names.lines().filter_map(|line| line.split('\t').next());
        match (names.next(), names.next()) {
            (Some(only), None) => Ok((link, only.to_owned())),
            (None, _) => Err(Error::new(code::RPC_S_SERVER_UNAVAILABLE, format!("nothing is exported at {text}"))),
            (Some(one), Some(two)) => {
                let rest: String = names.map(|name| format!(", {name}")).collect();
                let text = format!("{one}, {two}{rest} are exported there: say which by [...,name={one}]");
                Err(Error::new(code::E_INVALIDARG, text))
            }
        }
    }

    /// Every link, for the janitor.
    pub(crate) fn links(&self) -> Vec<Arc<Link>> {
        self.links.all()
    }

    /// Closes links that nobody has in hand and that are of no use.
    pub(crate) fn close_links(&self, is_useless: impl Fn(&Link) -> bool) {
        drop(self.links.take_unused(is_useless));
    }

    /// The object exported by a name, or that performs an interface by that interface's name.
    pub(crate) fn named(&self, name: &str) -> Result<Agile<IUnknown>> {
        if let Some(interface) = name.strip_prefix(functions::PREFIX) {
            return self.functions.named(interface);
        }
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
        client: Client,
    ) -> Result<ObjRef> {
        self.serve()?;
        registry::register_module(info);
        let found = self.exports.add(object, info, client, REFS_PER_POINTER.into())?;
        Ok(ObjRef {
            iid: info.iid,
            public_refs: REFS_PER_POINTER,
            oxid: self.oxid,
            oid: found.oid,
            target: found.target,
            bindings: self.bindings_for(client),
            securities: securities_for(client),
        })
    }

    /// A reference to an object, wherever it is, for `client`.
    pub(crate) fn marshal(
        &'static self,
        object: &IUnknown,
        info: &'static InterfaceInfo,
        client: Client,
    ) -> Result<ObjRef> {
        let interface = crate::exports::query(&behind(object), info)?;
        // Strangers cannot be told of to other processes, so what is there goes through this one.
        let (Some(imported), Client::Process(process)) = (look_behind(&interface), client) else {
            return self.marshal_own(&interface, info, client);
        };
        let mut public_refs = 0;
        if process != imported.link.oxid() {
            system::transfer(&imported.link, imported.target, process, REFS_PER_POINTER)?;
            public_refs = REFS_PER_POINTER;
        }
        Ok(ObjRef {
            iid: info.iid,
            public_refs,
            oxid: imported.link.oxid(),
            oid: imported.oid,
            target: imported.target,
            bindings: imported.link.bindings(),
            securities: Vec::new(),
        })
    }

    /// The interface pointer that a reference stands for: a proxy, or the object itself when it is of this process.
    pub(crate) fn unmarshal(&'static self, reference: &ObjRef, info: &'static InterfaceInfo) -> Result<IUnknown> {
        registry::register_module(info);
        if reference.oxid == self.oxid {
            // None came with it where its sender waits until this process has it.
            if reference.public_refs > 0 {
                thread::note_return(reference.target, reference.public_refs.into());
            }
            let object = self.exports.get(reference.target)?.object;
            return crate::exports::query(object.get(), info);
        }
        let link = self.link_to(reference.oxid, &reference.bindings)?;
        self.import(&link, reference, info)
    }

    /// The interface pointer that a reference stands for which came over a link: by the way that was asked for, even if there is a better one.
    pub(crate) fn adopt(
        &'static self,
        link: &Arc<Link>,
        reference: &ObjRef,
        info: &'static InterfaceInfo,
    ) -> Result<IUnknown> {
        if reference.oxid != link.oxid() {
            return self.unmarshal(reference, info);
        }
        link.learn(&reference.bindings);
        self.import(link, reference, info)
    }

    /// The proxy for a reference to an object of the process behind a link.
    pub(crate) fn import(
        &self,
        link: &Arc<Link>,
        reference: &ObjRef,
        info: &'static InterfaceInfo,
    ) -> Result<IUnknown> {
        // A reference that came without counts of its own: the sender knew that the receiver is the object's home.
        let carrier = if reference.iid == info.iid { info } else { registry::find(&reference.iid)? };
        let pointer = import(link, reference.oid, reference.target, reference.public_refs, carrier);
        // SAFETY: `import` returns a counted interface pointer, which begins with IUnknown's methods.
        let proxy = unsafe { IUnknown::from_raw(pointer.as_ptr()) };
        if reference.iid == info.iid { Ok(proxy) } else { crate::exports::query(&proxy, info) }
    }
}
