//! A link: what this process shares with one other process whose objects it uses.
//!
//! It has one connection of its own, over which references are asked for and given back, and which tells each side at once
//! when the other ends; and a pool of channels, from which every thread that makes calls takes one.

mod process;

use crate::binding::Transfers;
use crate::error::{Error, Result, code};
use crate::network::{proof_of, protected, targets_of, told};
use crate::presentation::Targets;
use crate::proxy::ManagerPointer;
use crate::registry::{self, InterfaceInfo};
use crate::runtime::{self, Runtime, janitor};
use crate::security::Protection;
use crate::{binding, system, thread, trace};
use obvia_rpc::co::relay::Routes as _;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_rpc::uuid::Uuid;
use obvia_rpc::vi_call::{Channel, TargetId};
use obvia_via::window::{Options, Peer, Window};
use obvia_via::{Deadline, Waiting};
use process::Process;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use windows_core::GUID;

/// Channels that a pool keeps; further ones are closed when their thread ends.
const IDLE_MAX: usize = 32;

/// Attempts at a connection while its association group changes: a server that refuses each group must not keep a client at it.
const CONNECT_MAX: u32 = 8;

/// How long one process may keep the janitor from giving references back to others.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(1);

/// The connections to one process.
pub(crate) struct Link {
    oxid: u64,
    address: Address,
    peer: Peer,
    local: Option<String>,
    options: Options,
    home: Mutex<Channel>,
    idle: Mutex<Vec<Channel>>,
    has_failed: AtomicBool,
    process: Arc<Process>,
    mark: Mutex<Option<u64>>,
    /// What associations with it have to know; over memory nothing.
    targets: Option<Arc<Targets>>,
    /// How this process proves who it is on each connection, where those are virtual interfaces over a network.
    proof: Option<Protection>,
    /// Where it is no process of obvia's, which has functions and nothing else: what calls of them name.
    stranger: Option<Stranger>,
    /// Interfaces that both sides are known to mean the same by, with their fingerprints.
    bound: Mutex<HashSet<(u128, u128)>>,
}

/// A process that was reached, with the connection that it was reached by.
pub(crate) struct Reached {
    pub(crate) oxid: u64,
    pub(crate) home: Channel,
    targets: Option<Arc<Targets>>,
    proof: Option<Protection>,
}

impl Reached {
    /// How calls are protected, if they are.
    pub(crate) fn protection(&self) -> Option<&Protection> {
        self.targets.as_ref().map_or(self.proof.as_ref(), |targets| targets.protection())
    }
}

/// A server that knows nothing of obvia.
#[derive(Clone, Copy)]
pub(crate) struct Stranger {
    /// The object UUID that calls of its functions name, if any.
    pub(crate) object: Option<Uuid>,
    /// The interface of its functions.
    pub(crate) info: &'static InterfaceInfo,
}

/// Where a process is reached.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Address {
    /// In the directory of this host, by this name.
    Name(String),
    /// Over a network.
    Binding(StringBinding),
}

impl Address {
    /// A connection, on which this process has proved who it is where it has to.
    fn connect(
        &self,
        runtime: &'static Runtime,
        (targets, proof): (Option<&Arc<Targets>>, Option<&Protection>),
        options: &Options,
        deadline: Deadline,
    ) -> Result<Channel> {
        let mut channel = Channel::new(self.open(runtime, targets, options, deadline)?);
        if let Some(proof) = proof {
            system::prove(&mut channel, proof)?;
        }
        Ok(channel)
    }

    fn open(
        &self,
        runtime: &'static Runtime,
        targets: Option<&Arc<Targets>>,
        options: &Options,
        deadline: Deadline,
    ) -> Result<Window> {
        match (self, targets) {
            (Self::Name(name), _) => {
                trace::note_shared_memory();
                Ok(runtime.directory().connect(name, options, deadline)?)
            }
            (Self::Binding(binding), None) => runtime.network().connect(binding, options, deadline),
            (Self::Binding(binding), Some(targets)) => {
                runtime.network().associate(runtime, binding, targets, options, deadline)
            }
        }
    }

    /// What associations with it have to know, where connections are such.
    fn targets(&self) -> Result<Option<Arc<Targets>>> {
        match self {
            Self::Name(_) => Ok(None),
            Self::Binding(binding) => Ok(targets_of(binding)?.map(Arc::new)),
        }
    }

    /// How this process proves who it is there.
    fn proof(&self) -> Result<Option<Protection>> {
        match self {
            Self::Name(_) => Ok(None),
            Self::Binding(binding) => proof_of(binding),
        }
    }
}

/// The name of a process's endpoint in the directory.
pub(crate) fn endpoint_of(oxid: u64) -> String {
    format!("oxid-{oxid:016x}")
}

/// The process whose endpoint has this name in the directory.
pub(crate) fn oxid_of(endpoint: &str) -> Option<u64> {
    let oxid = u64::from_str_radix(endpoint.strip_prefix("oxid-")?, 16).ok()?;
    (endpoint_of(oxid) == endpoint).then_some(oxid)
}

/// How processes of this host get to an endpoint in the directory.
pub(crate) fn local_binding(endpoint: impl Into<String>) -> StringBinding {
    StringBinding::new(ProtocolSequence::ViShm, endpoint, "")
}

/// The options of a link's own connection: it is seldom used, and not by who measures latency.
fn for_home(options: &Options) -> Options {
    Options { waiting: Waiting::Adaptive, quiet: true, ..options.clone() }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link {
    /// Connects to an address: an exported name, the endpoint of a process, or a binding. Finds out who is there, too.
    pub(crate) fn reach(runtime: &'static Runtime, address: &Address, deadline: Deadline) -> Result<Reached> {
        let (targets, proof) = (address.targets()?, address.proof()?);
        let options = for_home(&runtime.options());
        let mut home = address.connect(runtime, (targets.as_ref(), proof.as_ref()), &options, deadline)?;
        let oxid = binding::introduce(&mut home, runtime.oxid(), deadline)?;
        if let Some(targets) = &targets {
            targets.set_process(oxid);
            // Whether the server took the proof shows in its answer to a call, and not always before.
            if targets.protection().is_some() {
                system::settle(&mut home)?;
            }
        }
        Ok(Reached { oxid, home, targets, proof })
    }

    /// A server that may know nothing of obvia, and that performs an interface of functions.
    pub(crate) fn to_stranger(
        runtime: &'static Runtime,
        address: Address,
        stranger: Stranger,
        deadline: Deadline,
    ) -> Result<Self> {
        let (targets, proof) = (address.targets()?, address.proof()?);
        let home = address.connect(runtime, (targets.as_ref(), proof.as_ref()), &runtime.options(), deadline)?;
        let reached = Reached { oxid: runtime::draw()?, home, targets, proof };
        let link = Self { stranger: Some(stranger), ..Self::open(runtime, address, reached, deadline)? };
        // It is the first one that calls use.
        link.give_back(link.take_channel(deadline)?);
        Ok(link)
    }

    fn transfers(&self) -> Transfers {
        self.targets.as_ref().map_or(Transfers::FLAT, |targets| targets.transfers())
    }

    /// The link to the process that was reached by `address`.
    ///
    /// What a name's server says of itself proves nothing. So the link goes by the endpoint, which is the process's own: who
    /// claims to be another process gets none of the calls to it. Over a network the address is all that there is, and the link is
    /// one to that process at that host.
    pub(crate) fn open(
        runtime: &'static Runtime,
        address: Address,
        reached: Reached,
        deadline: Deadline,
    ) -> Result<Self> {
        let Reached { oxid, home, targets, proof } = reached;
        let endpoint = Address::Name(endpoint_of(oxid));
        let (address, home) = if address == endpoint || matches!(address, Address::Binding(_)) {
            (address, home)
        } else {
            drop(home);
            let found = Self::reach(runtime, &endpoint, deadline)?;
            if found.oxid != oxid {
                return Err(Error::new(code::RPC_E_INVALID_DATA, "an endpoint leads to another process"));
            }
            (endpoint, found.home)
        };
        let link = Self {
            oxid,
            address,
            peer: home.peer(),
            local: home.local().map(str::to_owned),
            options: runtime.options(),
            home: Mutex::new(home),
            idle: Mutex::default(),
            has_failed: AtomicBool::new(false),
            process: Arc::default(),
            mark: Mutex::default(),
            targets,
            proof,
            stranger: None,
            bound: Mutex::default(),
        };
        link.note_way();
        Ok(link)
    }

    /// How calls are protected, if they are.
    pub(crate) fn protection(&self) -> Option<&Protection> {
        self.targets.as_ref().map_or(self.proof.as_ref(), |targets| targets.protection())
    }

    /// The process at the other end.
    #[inline]
    pub(crate) fn oxid(&self) -> u64 {
        self.oxid
    }

    /// How this process gets to it, as others are told.
    pub(crate) fn binding(&self) -> StringBinding {
        match &self.address {
            Address::Name(endpoint) => local_binding(endpoint),
            Address::Binding(binding) => told(binding.clone()),
        }
    }

    /// Every way to it that is known for certain: this process's own, and what it said itself.
    pub(crate) fn bindings(&self) -> Vec<StringBinding> {
        let mut known = vec![self.binding()];
        let others = [&self.process.others, &self.process.ways].map(|others| lock(others).clone());
        // Who protects calls hands on no way on which nobody would.
        let least = self.protection().map(Protection::level);
        for other in others.into_iter().flatten().filter_map(|other| protected(other, least)) {
            if !known.contains(&other) {
                known.push(other);
            }
        }
        known
    }

    /// Whether the kernel says who is at the other end.
    fn is_private(&self) -> bool {
        matches!(self.address, Address::Name(_))
    }

    /// The process itself said how to get to it.
    pub(crate) fn learn(&self, bindings: &[StringBinding]) {
        *lock(&self.process.others) = bindings.iter().cloned().map(told).collect();
    }

    /// The host that this process is, as the other one reaches it over a network.
    pub(crate) fn local(&self) -> Option<&str> {
        self.local.as_deref()
    }

    /// Calls of a target are going to be made.
    pub(crate) fn note_target(&self, target: TargetId, info: &'static InterfaceInfo) {
        match (&self.targets, self.stranger) {
            (Some(targets), None) => targets.insert(target, info, registry::plan(info)),
            (Some(targets), Some(Stranger { object, .. })) => targets.insert_functions(target, object, info),
            (None, _) => {}
        }
    }

    /// The same, where nothing but the interface's identity is known.
    pub(crate) fn note_frames(&self, target: TargetId, info: &InterfaceInfo) {
        if let Some(targets) = &self.targets {
            targets.insert(target, info, None);
        }
    }

    /// Whoever noted a target calls it no more.
    pub(crate) fn forget_target(&self, target: TargetId) {
        if let Some(targets) = &self.targets {
            targets.remove(target);
        }
    }

    /// The proxy managers for objects of the process, by object.
    pub(crate) fn managers(&self) -> &Mutex<HashMap<u64, ManagerPointer>> {
        &self.process.managers
    }

    /// Whether the process at the other end is gone.
    pub(crate) fn is_dead(&self) -> bool {
        // A channel in use is alive, or its user finds out.
        self.home.try_lock().is_ok_and(|home| home.is_ended())
    }

    /// Whether nobody needs it: proxies that go by it have it in hand.
    pub(crate) fn is_unused(&self) -> bool {
        lock(&self.process.releases).is_empty()
    }

    /// A channel from the pool, or a new one.
    pub(crate) fn take_channel(&self, deadline: Deadline) -> Result<Channel> {
        let mut idle = lock(&self.idle);
        while let Some(channel) = idle.pop() {
            if !channel.is_closed() {
                return Ok(channel);
            }
        }
        drop(idle);
        self.connect(&self.options, deadline)
    }

    /// A new connection. An association joins the group of those before it, or a new group where the server no longer knows that one.
    fn connect(&self, options: &Options, deadline: Deadline) -> Result<Channel> {
        let deadline = deadline.start();
        let group = || self.targets.as_ref().map(|targets| targets.group().load(Ordering::Acquire));
        let mut joined = group();
        for _ in 1..CONNECT_MAX {
            let outcome = self.connect_once(options, deadline);
            let now = group();
            // Only a server that refuses a group, or another thread that has joined one, makes a further attempt worth it: an interface that is not
            // there is not there in any group.
            let is_over = outcome.as_ref().map_or_else(|error| error.code() != code::E_FAIL, |_| true);
            if is_over || std::mem::replace(&mut joined, now) == now || deadline.is_over() {
                return outcome;
            }
        }
        self.connect_once(options, deadline)
    }

    fn connect_once(&self, options: &Options, deadline: Deadline) -> Result<Channel> {
        let runtime = Runtime::of_process()?;
        let mut channel = self
            .address
            .connect(runtime, (self.targets.as_ref(), self.proof.as_ref()), options, deadline)
            .map_err(|error| if error.code() == code::RPC_S_SERVER_UNAVAILABLE { self.gone() } else { error })?;
        match self.stranger {
            Some(Stranger { info, .. }) => binding::alter(&mut channel, info, self.transfers(), deadline)?,
            // There may be another process by now, whose objects have the same numbers.
            None if binding::introduce(&mut channel, runtime.oxid(), deadline)? != self.oxid => return Err(self.gone()),
            None => {}
        }
        Ok(channel)
    }

    fn gone(&self) -> Error {
        let text = match &self.peer {
            Peer::Process { pid, .. } => format!("the process {pid} that had the object has ended"),
            Peer::Host(host) => format!("the process at {host} that had the object has ended"),
        };
        Error::new(code::RPC_E_DISCONNECTED, text)
    }

    /// Puts a channel back that its thread no longer needs.
    pub(crate) fn give_back(&self, channel: Channel) {
        let mut idle = lock(&self.idle);
        if !channel.is_closed() && idle.len() < IDLE_MAX {
            idle.push(channel);
        }
    }

    /// Makes a call of the runtime's own over the link's own connection.
    pub(crate) fn with_home<R>(&self, work: impl FnOnce(&mut Channel) -> Result<R>) -> Result<R> {
        let mut home = lock(&self.home);
        // Over a network the connection may have ended, and not the process.
        if home.is_ended() && self.is_private() {
            return Err(self.gone());
        }
        // It may also be that a call on it timed out. The new connection is there before the old one goes, so that
        // the server does not take this client for gone.
        if home.is_closed() {
            *home = self.connect(&for_home(&self.options), thread::deadline())?;
        }
        work(&mut home)
    }

    /// Makes sure, once for each interface, that both sides mean the same by it.
    pub(crate) fn bind(&self, info: &InterfaceInfo) -> Result<()> {
        let key = (info.iid.to_u128(), info.fingerprint);
        if lock(&self.bound).contains(&key) {
            return Ok(());
        }
        self.with_home(|home| binding::alter(home, info, self.transfers(), thread::deadline()))?;
        lock(&self.bound).insert(key);
        Ok(())
    }

    /// The fingerprint that an interface is known by on both sides.
    pub(crate) fn fingerprint(&self, iid: &GUID) -> Option<u128> {
        lock(&self.bound).iter().find(|(bound, _)| *bound == iid.to_u128()).map(|(_, fingerprint)| *fingerprint)
    }

    /// Gives references back to the server, soon, together with others.
    pub(crate) fn release_later(&self, target: TargetId, refs: u32) {
        lock(&self.process.releases).push((target, refs));
        janitor::wake();
    }

    /// A call failed. Where the peer is gone, it may not have come to take the references in the call.
    #[cold]
    pub(crate) fn note_failure(&self, error: &Error) {
        if error.code() == code::RPC_E_DISCONNECTED {
            self.has_failed.store(true, Ordering::Release);
            janitor::wake();
        }
    }

    /// Whether that happened, and the process at the other end is gone indeed.
    pub(crate) fn take_failure(&self) -> bool {
        self.is_dead() && self.has_failed.swap(false, Ordering::AcqRel)
    }

    /// Gives back what has been collected. Whether nothing is left.
    pub(crate) fn flush_releases(&self) -> bool {
        let batch = std::mem::take(&mut *lock(&self.process.releases));
        let mut parts = batch.chunks(system::RELEASES_MAX);
        while let Some(part) = parts.next() {
            let mut is_sent = false;
            // What was sent is done, also where the answer is late. A server that has ended has dropped the references.
            let outcome = thread::with_timeout(RELEASE_TIMEOUT, || system::release(self, part, &mut is_sent));
            if outcome.is_err() && !is_sent && !self.is_dead() {
                let unsent = part.iter().chain(parts.flatten());
                lock(&self.process.releases).extend(unsent);
                return false;
            }
        }
        true
    }
}
