//! A link: the connections and state that this process shares with one other process whose objects
//! it uses.
//!
//! A link has one home connection, over which references are requested and given back. The end of
//! this connection tells each side at once that the other side has ended or is unreachable. A link
//! also has a pool of channels, from which each calling thread takes one.

mod home;
mod process;
mod releases;

pub(crate) use releases::RELEASE_TIMEOUT;

use crate::access::Protection;
use crate::client::address::{Address, Terms};
use crate::client::canceller;
use crate::client::handshake::{Reached, for_home};
use crate::client::proxy::ManagerPointer;
use crate::protocol::binding;
use crate::protocol::binding::{Transfers, Welcome};
use crate::protocol::mark_proof::{MarkProof, place_of};
use crate::protocol::own_calls;
use crate::protocol::place::{FoundClient, Origin, Place};
use crate::transport::local::LocalProcess;
use crate::transport::network::{for_peers, protected};
use crate::types::deadline;
use crate::types::error::{Error, Result, code};
use crate::types::identity::local_binding;
use crate::types::processes::watch;
use crate::types::registry::{self, InterfaceInfo};
use crate::types::threads::lock;
use crate::types::upkeep;
use home::Home;
use obvia_rpc::co::relay::Routes as _;
use obvia_rpc::string_binding::StringBinding;
use obvia_rpc::uuid::Uuid;
use obvia_rpc::vi_call::{Channel, TargetId};
use obvia_via::Deadline;
use obvia_via::window::{Options, Peer};
use process::Process;
use std::collections::{HashMap, HashSet};
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use windows_core::GUID;

/// The greatest number of idle channels in a pool. Further channels are closed when their thread
/// ends.
const IDLE_MAX: usize = 32;

/// The greatest number of attempts at a connection while its association group changes. A server
/// that refuses each group must not occupy a client forever.
const CONNECT_MAX: u32 = 8;

/// The connections to one process.
pub(crate) struct Link {
    local_process: &'static LocalProcess,
    oxid: u64,
    address: Address,
    peer: Peer,
    local: Option<String>,
    options: Options,
    home: Home,
    idle: Mutex<Vec<Channel>>,
    /// The descriptor of a process of this host. `None` over networks, and where the kernel has no
    /// such descriptor for the process: the end of the home connection then counts as the end of
    /// the process.
    pidfd: Option<OwnedFd>,
    process: Arc<Process>,
    mark: Mutex<process::Mark>,
    found: FoundClient,
    /// Whether this process has proved to the server that it is the client of an earlier link.
    is_proved: bool,
    terms: Terms,
    /// The interface and object of a server that is not an obvia process; `None` for an obvia
    /// process.
    foreign: Option<ForeignServer>,
    /// The IIDs and fingerprints of those interfaces for which a check has shown that both sides
    /// describe them alike.
    bound: Mutex<HashSet<(u128, u128)>>,
}

/// A server that is not an obvia process.
#[derive(Clone, Copy)]
pub(crate) struct ForeignServer {
    /// The object UUID that calls of the server's functions carry, if any.
    pub(crate) object: Option<Uuid>,
    /// The interface of the server's functions.
    pub(crate) info: &'static InterfaceInfo,
}

impl Link {
    /// Opens the link to a server that performs an interface of functions. The server need not be
    /// an obvia process.
    pub(crate) fn to_foreign(
        local: &'static LocalProcess,
        reached: Reached,
        server: ForeignServer,
        deadline: Deadline,
    ) -> Result<Self> {
        let link = Self { foreign: Some(server), ..Self::of(local, reached)? };
        // Connects the channel that the first call will use, so that errors are reported now.
        link.return_channel(link.take_channel(deadline)?);
        Ok(link)
    }

    /// Whether the peer is a server that is not an obvia process. Such a server performs functions
    /// only.
    pub(crate) fn is_foreign(&self) -> bool {
        self.foreign.is_some()
    }

    fn transfers(&self) -> Transfers {
        self.terms.targets.as_ref().map_or(Transfers::FLAT, |targets| targets.transfers())
    }

    /// Makes the link to a process that was reached.
    pub(crate) fn of(local: &'static LocalProcess, reached: Reached) -> Result<Self> {
        let Reached { oxid, address, home, channel, terms } = reached;
        let peer = home.peer();
        let pidfd = match (&address, &peer) {
            (Address::Name(_), Peer::Process { pid, .. }) => watch(*pid)?,
            _ => None,
        };
        let link = Self {
            local_process: local,
            oxid,
            address,
            peer,
            local: home.local().map(str::to_owned),
            options: local.options(),
            home: Home::new(home),
            idle: Mutex::new(channel.into_iter().collect()),
            pidfd,
            process: Arc::default(),
            mark: Mutex::default(),
            found: FoundClient::default(),
            is_proved: false,
            terms,
            foreign: None,
            bound: Mutex::default(),
        };
        link.note_way();
        Ok(link)
    }

    /// Returns the OXID of the process at the other end.
    #[inline]
    pub(crate) fn oxid(&self) -> u64 {
        self.oxid
    }

    /// Returns the binding by which this process reaches the peer, in the form for other processes.
    pub(crate) fn binding(&self) -> StringBinding {
        match &self.address {
            Address::Name(endpoint) => local_binding(endpoint),
            Address::Binding(binding) => for_peers(binding.clone()),
        }
    }

    /// Returns the known bindings of the peer: the link's own, those of other links, and those that
    /// the peer sent itself.
    pub(crate) fn bindings(&self) -> Vec<StringBinding> {
        let mut known = vec![self.binding()];
        let others = [&self.process.others, &self.process.ways].map(|others| lock(others).clone());
        // Bindings that would reach the peer with less protection than this link's are left out.
        let least = self.terms.protection().map(Protection::level);
        for other in others.into_iter().flatten().filter_map(|other| protected(other, least)) {
            if !known.contains(&other) {
                known.push(other);
            }
        }
        known
    }

    /// Whether the link uses shared memory, where the kernel vouches for the peer.
    fn is_private(&self) -> bool {
        matches!(self.address, Address::Name(_))
    }

    /// Records the bindings that the peer itself has sent.
    pub(crate) fn learn(&self, bindings: &[StringBinding]) {
        *lock(&self.process.others) = bindings.iter().cloned().map(for_peers).collect();
    }

    /// Returns the host name by which the peer reaches this process over a network, if any.
    pub(crate) fn local(&self) -> Option<&str> {
        self.local.as_deref()
    }

    /// Whether calls over this link state the interface of their target, as those of associations
    /// do. The server then refuses calls of another interface.
    pub(crate) fn sends_interfaces(&self) -> bool {
        self.terms.targets.is_some()
    }

    /// Registers a target before calls of it are made.
    pub(crate) fn note_target(&self, target: TargetId, info: &'static InterfaceInfo) {
        match (&self.terms.targets, self.foreign) {
            (Some(targets), None) => targets.insert(target, info, registry::plan(info)),
            (Some(targets), Some(ForeignServer { object, .. })) => targets.insert_functions(target, object, info),
            (None, _) => {}
        }
    }

    /// Registers a target for calls by frames, which need only the identity of its interface.
    pub(crate) fn note_frames(&self, target: TargetId, info: &InterfaceInfo) {
        if let Some(targets) = &self.terms.targets {
            targets.insert(target, info, None);
        }
    }

    /// Unregisters a target that is no longer called.
    pub(crate) fn forget_target(&self, target: TargetId) {
        if let Some(targets) = &self.terms.targets {
            targets.remove(target);
        }
    }

    /// Returns the proxy managers for objects of the process, by OID.
    pub(crate) fn managers(&self) -> &Mutex<HashMap<u64, ManagerPointer>> {
        &self.process.managers
    }

    /// Whether the home connection has ended. Over a network the process may still live.
    pub(crate) fn is_dead(&self) -> bool {
        self.home.is_ended()
    }

    /// Takes a channel from the pool, or connects a new one.
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

    /// Opens a connection. An association joins the existing group, or a new group where the server
    /// no longer knows the existing one.
    fn connect(&self, options: &Options, deadline: Deadline) -> Result<Channel> {
        let deadline = deadline.start();
        let group = || self.terms.targets.as_ref().map(|targets| targets.group().load(Ordering::Acquire));
        let mut joined = group();
        for _ in 1..CONNECT_MAX {
            let outcome = self.connect_once(options, deadline);
            let now = group();
            // A further attempt helps only if the server has refused the group, or if another
            // thread has joined a group since the last attempt. An interface that the server lacks
            // is missing in every group.
            let is_over = outcome.as_ref().map_or_else(|error| error.code() != code::E_FAIL, |_| true);
            if is_over || std::mem::replace(&mut joined, now) == now || deadline.is_over() {
                return outcome;
            }
        }
        self.connect_once(options, deadline)
    }

    fn connect_once(&self, options: &Options, deadline: Deadline) -> Result<Channel> {
        let greet = |channel: &mut Channel| match self.foreign {
            Some(ForeignServer { info, .. }) => binding::alter(channel, info, self.transfers(), deadline),
            None => self.introduce_further(channel, deadline),
        };
        let connected = self.address.connect(self.local_process, &self.terms, options, deadline, greet);
        match connected {
            Ok((channel, ())) => Ok(channel),
            Err(error) if error.code() == code::RPC_S_SERVER_UNAVAILABLE => {
                let (ended, why) = (self.process_ended(), error.detail().unwrap_or_default());
                let refuses = |ended: &str| format!("{ended}, or refuses a further connection: {why}");
                // The error has the server's reason over networks only.
                Err(if matches!(self.peer, Peer::Host(_)) { ended.with_detail(refuses) } else { ended })
            }
            Err(error) => Err(error),
        }
    }

    /// Introduces this process on a connection. If there is a key, this process also proves the
    /// mark that the server has sent to it. Returns whether the server has accepted a proof.
    fn introduce(&self, channel: &mut Channel, key: Option<u128>, deadline: Deadline) -> Result<bool> {
        let own = self.local_process.oxid();
        let welcome = match key {
            None => Welcome::Process(binding::introduce(channel, own, deadline)?),
            Some(key) => {
                let binding = if let Address::Binding(binding) = &self.address { Some(binding) } else { None };
                let place = place_of(self.oxid, binding, &self.peer);
                let prove = |challenge| MarkProof::new(key, challenge, self.oxid, &place);
                binding::introduce_with(channel, own, prove, deadline)?
            }
        };
        match welcome {
            Welcome::Confirmed => Ok(true),
            Welcome::Process(oxid) if oxid == self.oxid => Ok(false),
            // Another process listens at the address now. Its objects can have the same numbers.
            Welcome::Process(_) => Err(self.process_ended()),
        }
    }

    /// Introduces this process on a further connection. Over a network, and on a link with
    /// `is_proved`, this process proves the mark again if it has the mark's key. The server then
    /// recognises this process at another address, too.
    fn introduce_further(&self, channel: &mut Channel, deadline: Deadline) -> Result<()> {
        let (known, key) = {
            let mark = lock(&self.mark);
            (mark.known, mark.key.filter(|_| self.is_proved || !self.is_private()))
        };
        if self.introduce(channel, key, deadline)? || key.is_none() {
            return Ok(());
        }
        if !self.is_proved {
            // Behind address translation (NAT) the server refuses the proof, but may still know
            // this process by its address.
            if Some(own_calls::mark(channel, deadline)?.0) == known {
                return Ok(());
            }
            // The server counts the next connection as that of a new client, so the old mark is
            // forgotten.
            *lock(&self.mark) = process::Mark::default();
        }
        // Calls over the channel would count as calls of another client, which owns none of the
        // references.
        let text = "the server no longer knows this process as the client that it was, and has dropped its references";
        Err(Error::new(code::RPC_E_DISCONNECTED, text))
    }

    /// Proves on a new connection that this process has received the key of a mark over another
    /// link. If the server knows the key and accepts the proof, the new connection becomes the home
    /// connection. Returns whether the server has accepted the proof.
    fn prove_process(&mut self, key: u128, deadline: Deadline) -> Result<bool> {
        let greet = |channel: &mut Channel| self.introduce(channel, Some(key), deadline);
        let options = for_home(&self.options);
        let (home, is_accepted) = self.address.connect(self.local_process, &self.terms, &options, deadline, greet)?;
        if is_accepted {
            self.home = Home::new(home);
            // Calls over the idle channels would count as calls of another client.
            self.idle.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
            self.is_proved = true;
        }
        Ok(is_accepted)
    }

    fn process_ended(&self) -> Error {
        let text = match &self.peer {
            Peer::Process { pid, .. } => format!("the process {pid} that had the object has ended"),
            Peer::Host(host) => format!("the process at {host} that had the object has ended"),
        };
        Error::new(code::RPC_E_DISCONNECTED, text)
    }

    /// Returns a channel to the pool.
    pub(crate) fn return_channel(&self, channel: Channel) {
        let mut idle = lock(&self.idle);
        if !channel.is_closed() && idle.len() < IDLE_MAX {
            idle.push(channel);
        }
    }

    /// Performs a call of the runtime's own that can take long. The call uses a channel of the
    /// pool, because the home connection is for calls that return at once. The thread's cancellers
    /// end the call.
    pub(crate) fn long_call(&self, opnum: u16, request: &[u8]) -> Result<Vec<u8>> {
        self.on_channel(|channel, deadline| own_calls::call(channel, deadline, opnum, request))
    }

    /// As [`Self::long_call`], but calls `is_awaited` at intervals, and ends the call when
    /// `is_awaited` returns false.
    pub(crate) fn long_call_while(&self, opnum: u16, request: &[u8], is_awaited: &dyn Fn() -> bool) -> Result<Vec<u8>> {
        self.on_channel(|channel, deadline| own_calls::call_while(channel, deadline, opnum, request, is_awaited))
    }

    fn on_channel<R>(&self, call: impl FnOnce(&mut Channel, Deadline) -> Result<R>) -> Result<R> {
        let deadline = deadline::of_thread().start();
        let mut channel = self.take_channel(deadline)?;
        let (answer, is_rung) = canceller::interruptible(channel.alarm(), || {
            deadline::check_in_time(deadline)?;
            call(&mut channel, deadline)
        });
        if !is_rung {
            self.return_channel(channel);
        }
        answer
    }

    /// Performs a call of the runtime's own on the home connection. The thread's cancellers end the
    /// call. One deadline holds for the wait for the connection, for making a new connection, and
    /// for the call. Nothing is sent after the deadline, because a call whose response is not
    /// awaited would break the connection.
    pub(crate) fn with_home<R>(&self, work: impl FnOnce(&mut Channel, Deadline) -> Result<R>) -> Result<R> {
        let deadline = deadline::of_thread().start();
        self.home.lend(deadline, |home| {
            // Over a network the connection may have ended although the process lives.
            if home.channel.is_ended() && self.is_private() {
                return Err(self.process_ended());
            }
            // The channel can be closed because the connection has ended, or because a call has
            // timed out. The new connection is made before the old one closes, so that the server
            // does not consider this client gone.
            if home.is_spent || home.channel.is_closed() {
                deadline::check_in_time(deadline)?;
                *home = self.connect(&for_home(&self.options), deadline)?.into();
            }
            deadline::check_in_time(deadline)?;
            let (outcome, is_rung) =
                canceller::interruptible(home.channel.alarm(), || work(&mut home.channel, deadline));
            home.is_spent = is_rung;
            outcome
        })
    }

    /// Verifies, once for each interface, that both sides describe the interface alike.
    pub(crate) fn bind(&self, info: &InterfaceInfo) -> Result<()> {
        self.bind_once(info, || self.with_home(|home, deadline| binding::alter(home, info, self.transfers(), deadline)))
    }

    /// As [`Self::bind`], but over a channel of the pool instead of the home connection.
    pub(crate) fn bind_aside(&self, info: &InterfaceInfo) -> Result<()> {
        let alter = |channel: &mut Channel, deadline| binding::alter(channel, info, self.transfers(), deadline);
        self.bind_once(info, || self.on_channel(alter))
    }

    fn bind_once(&self, info: &InterfaceInfo, bind: impl FnOnce() -> Result<()>) -> Result<()> {
        let key = (info.iid.to_u128(), info.fingerprint);
        if lock(&self.bound).contains(&key) {
            return Ok(());
        }
        bind()?;
        lock(&self.bound).insert(key);
        Ok(())
    }

    /// Returns the fingerprint of an interface that has been verified for both sides; `None` for
    /// any other interface.
    pub(crate) fn fingerprint(&self, iid: &GUID) -> Option<u128> {
        lock(&self.bound).iter().find(|(bound, _)| *bound == iid.to_u128()).map(|(_, fingerprint)| *fingerprint)
    }

    /// Returns the place of the process at the other end.
    pub(crate) fn place(&self) -> Place {
        // The place of a process that the kernel has identified needs no bindings.
        let ways = if let Peer::Host(_) = self.peer { self.ways() } else { Vec::new() };
        Place::of([(&Origin::of(&self.peer), self.local())]).reached_by(ways)
    }

    /// Returns the record of the client that the last search found at [`Self::place`].
    pub(crate) fn found(&self) -> &FoundClient {
        &self.found
    }

    /// Wakes the janitor to look at the links, if a call failed because the peer is gone.
    #[cold]
    pub(crate) fn note_failure(error: &Error) {
        if error.code() == code::RPC_E_DISCONNECTED {
            upkeep::wake();
        }
    }
}

#[cfg(test)]
impl Link {
    /// Returns a link to this process itself.
    pub(crate) fn to_itself() -> Self {
        let runtime = crate::services::process::runtime().unwrap();
        runtime.serve().unwrap();
        Self::to_itself_at(Address::Name(crate::types::identity::endpoint_of(runtime.oxid())))
    }

    /// Returns a link to this process itself by one of its addresses.
    pub(crate) fn to_itself_at(address: Address) -> Self {
        use crate::client::address::Destination;
        use crate::client::handshake;

        let local = crate::services::process::runtime().unwrap().local();
        let limit = Deadline::Within(ground::LATEST);
        match handshake::reach(local, Destination::of_program(address), limit, |_| None::<Self>).unwrap() {
            handshake::Outcome::New(reached) => Self::of(local, *reached).unwrap(),
            handshake::Outcome::Known(link) => link,
        }
    }

    /// Returns a link to this process itself. By `oxid`, the link counts as a link to another
    /// process.
    pub(crate) fn to_another(oxid: u64) -> Self {
        let itself = Self::to_itself();
        // The pool gets a connection now, because a connection that is made after the change of
        // `oxid` would fail: the peer still has its own OXID.
        itself.on_channel(|_, _| Ok(())).unwrap();
        Self { oxid, ..itself }
    }
}
