//! The server's side of associations over streams: the identification of the client, and the access
//! to the exports of this process.

use crate::access;
use crate::orpc::{Client, ClientNumber};
use crate::protocol::binding::{self, Greeting, Introduction, Transfers};
use crate::protocol::objref;
use crate::protocol::own_calls;
use crate::server::presence::{Challenge, REASON_NOT_SPECIFIED, reason_of};
use crate::server::standing::Standing;
use crate::server::{Admitted, Exporter, GroupClient, Identity, Presence, services};
use crate::transport::routes::{OWN, interface_of};
use crate::types::identity;
use crate::types::registry;
use crate::types::scratch;
use crate::types::threads::lock;
use obvia_rpc::co::pdu::{Context, Outcome};
use obvia_rpc::co::relay::{Attribution, Interface, Interfaces};
use obvia_rpc::co::{Budget, Denial, DenialObserver, Group, IncomingCall, Joined, Joins};
use obvia_rpc::dg::relay::Clients;
use obvia_rpc::security::{Authenticated, Level, Principal};
use obvia_rpc::status::Status;
use obvia_rpc::uuid::{SyntaxId, Uuid};
use obvia_rpc::vi_call::TargetId;
use obvia_via::Deadline;
use obvia_via::datagram::{DatagramSocket, Host};
use obvia_via::stream::Stream;
use obvia_via::window::{Peer, Window};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;
use windows_core::GUID;

/// The greatest number of authenticated users of an association: as many as its security contexts.
const USERS_MAX: usize = 2000;

/// The users of a client that has not introduced itself. Each user counts as a client with its own
/// client number.
#[derive(Default)]
struct Users {
    /// The user that has called first.
    first: Option<Identity>,
    anonymous: Option<Presence>,
    named: HashMap<Arc<Principal>, Presence>,
}

impl Users {
    fn find(&self, user: Option<&Arc<Principal>>) -> Option<&Presence> {
        user.map_or(self.anonymous.as_ref(), |user| self.named.get(user))
    }

    /// Adds a user at the user's first call, and returns the user's client number.
    ///
    /// # Errors
    ///
    /// [`Status::REMOTE_NO_MEMORY`] when there are too many users; the errors of `enter`.
    fn add(
        &mut self,
        user: Option<&Arc<Principal>>,
        enter: impl FnOnce() -> Result<Presence, Status>,
    ) -> Result<ClientNumber, Status> {
        if user.is_some() && self.named.len() >= USERS_MAX {
            return Err(Status::REMOTE_NO_MEMORY);
        }
        let presence = enter()?;
        let number = presence.number();
        self.first.get_or_insert_with(|| presence.identity(true));
        match user {
            Some(user) => drop(self.named.insert(Arc::clone(user), presence)),
            None => self.anonymous = Some(presence),
        }
        Ok(number)
    }

    fn presences(&self) -> impl Iterator<Item = &Presence> {
        self.anonymous.iter().chain(self.named.values())
    }

    fn note_loss(&self) {
        self.presences().for_each(Presence::note_loss);
    }
}

/// A client that has introduced itself.
struct Introduced {
    presence: Presence,
    /// The principal of the client's first call, and whether this principal owns the process that
    /// the client claims to be.
    first: OnceLock<(Option<Arc<Principal>>, bool)>,
}

/// A function that serves a further window of an association.
pub(crate) type ServeLane = fn(&'static Exporter, Window, Arc<AssociationClient>, Attribution);

/// The server's side of an association over a stream: it identifies the client, and gives the
/// association access to the exports of this process.
pub(crate) struct AssociationClient {
    exporter: &'static Exporter,
    serve_lane: ServeLane,
    transfers: Transfers,
    peer: Peer,
    local: Option<String>,
    /// The client, once it has introduced itself.
    introduced: OnceLock<Introduced>,
    /// The client to which a later proof of a mark has assigned the association, if any.
    assigned: OnceLock<Introduced>,
    challenge: Challenge,
    users: Mutex<Users>,
    /// The group of the association.
    group: OnceLock<Arc<Group<GroupClient>>>,
    state: services::AssociationState,
    admitted: Admitted,
    /// The standing of the stream. An association over datagrams has no connection, and so is not
    /// counted.
    standing: Standing,
    is_bound: AtomicBool,
    /// Whether a client that has bound must also authenticate before its stream's standing counts
    /// the client as bound.
    needs_proof: bool,
}

impl AssociationClient {
    /// Makes the server side for a client that has not introduced itself. Its calls use one of
    /// these transfer syntaxes, and must be protected at the level `least`, if there is one.
    pub(crate) fn new(
        exporter: &'static Exporter,
        serve_lane: ServeLane,
        stream: &Stream,
        standing: Standing,
        transfers: Transfers,
        least: Option<Level>,
    ) -> Self {
        let (peer, local) = (stream.peer().clone(), stream.local_host().map(str::to_owned));
        let needs_proof = least.is_some();
        Self { standing, needs_proof, ..Self::from(exporter, serve_lane, peer, local, transfers) }
    }

    fn from(
        exporter: &'static Exporter,
        serve_lane: ServeLane,
        peer: Peer,
        local: Option<String>,
        transfers: Transfers,
    ) -> Self {
        let (introduced, assigned, challenge, group, state) = Default::default();
        let (users, admitted) = (Mutex::default(), Admitted::default());
        Self {
            exporter,
            serve_lane,
            transfers,
            peer,
            local,
            introduced,
            assigned,
            challenge,
            users,
            group,
            state,
            admitted,
            standing: Standing::Uncounted,
            is_bound: AtomicBool::new(false),
            needs_proof: false,
        }
    }

    /// Returns the host name by which the client reaches this process, if known.
    pub(crate) fn local(&self) -> Option<&str> {
        self.local.as_deref()
    }

    /// Whether the client has bound an interface.
    pub(crate) fn is_bound(&self) -> bool {
        self.is_bound.load(Ordering::Acquire)
    }

    fn note_bind(&self) {
        self.is_bound.store(true, Ordering::Release);
        if !self.needs_proof {
            self.standing.is_bound();
        }
    }

    fn users(&self) -> MutexGuard<'_, Users> {
        lock(&self.users)
    }

    /// Returns the client, if it has introduced itself.
    fn named(&self) -> Option<&Introduced> {
        self.assigned.get().or_else(|| self.introduced.get())
    }

    fn presence(&self) -> Option<&Presence> {
        self.named().map(|named| &named.presence)
    }

    /// Whether the client has not introduced itself, and one of its principals has called.
    fn is_foreign(&self) -> bool {
        self.presence().is_none() && self.users().first.is_some()
    }

    /// Returns the client process if it has introduced itself. Otherwise returns the first of the
    /// client's principals that has called, if any.
    pub(crate) fn client(&self) -> Option<Identity> {
        let introduced = self.presence().map(|presence| presence.identity(false));
        introduced.or_else(|| self.users().first)
    }

    /// Records that the connection of a lane has ended because the network failed.
    pub(crate) fn note_loss(&self) {
        self.introduced.get().into_iter().chain(self.assigned.get()).for_each(|client| client.presence.note_loss());
        self.users().note_loss();
    }

    /// Returns the client's number if the client has introduced itself. Otherwise returns the
    /// number of the user who makes the call. The user gets the number at the first call of this
    /// function. This number is valid in the association's group, or only in the association if it
    /// has no group. Giving a number to the user takes the lock of the clients, under which clients
    /// also leave.
    pub(crate) fn number_for(&self, caller: Option<&Authenticated>) -> Result<ClientNumber, Status> {
        // The guard is held from the look-up to the insertion, since the first calls of a user may
        // arrive over two lanes at once.
        let mut users = self.users();
        if let Some(presence) = self.presence() {
            return Ok(presence.number());
        }
        let user = caller.map(|caller| &caller.principal);
        if let Some(presence) = users.find(user) {
            return Ok(presence.number());
        }
        let group = self.group.get();
        let draw = || match group {
            Some(group) => group.shared().oxid_for(user),
            None => identity::draw().map_err(|_| Status::REMOTE_NO_MEMORY),
        };
        users.add(user, || Presence::unnamed(self.exporter, draw, &self.peer, self.local.as_deref(), group))
    }

    /// Returns the target of a plain interface: the object that performs the interface. The
    /// reference to this object is counted for the client. A client that has not introduced itself
    /// gets a client number for this purpose.
    fn find_function(
        &self,
        object: Option<Uuid>,
        syntax: SyntaxId,
        caller: Option<&Authenticated>,
    ) -> Result<(TargetId, Interface), Status> {
        let version = (syntax.version as u16, (syntax.version >> 16) as u16);
        let found = self.exporter.functions().find(syntax.uuid.0, version, object.map_or(0, |uuid| uuid.0));
        let not_found = if object.is_some() { Status::OBJECT_NOT_FOUND } else { Status::UNK_IF };
        let (performer, info) = found.map_err(|_| not_found)?;
        // The performing object is exported for the lifetime of the client.
        let holder = Client::Process(self.number_for(caller)?);
        let exported = self.exporter.exports().add(performer.get(), info, holder, 1);
        let target = exported.map_err(|error| Status(error.code().0.cast_unsigned()))?.target;
        Ok((target, interface_of(info, registry::plan(info))))
    }

    /// Rejects a client that claims the process of another principal. Also rejects calls of any
    /// principal but the principal of the first call.
    fn prove(&self, caller: Option<&Authenticated>) -> Result<(), Status> {
        // A client that has not introduced itself claims no process. Each of its principals has a
        // client number of its own.
        let Some(client) = self.named() else { return Ok(()) };
        let principal = caller.map(|caller| &caller.principal);
        let prove = || (principal.cloned(), client.presence.prove(&self.peer, self.local(), principal));
        let (first, is_proved) = client.first.get_or_init(prove);
        if *is_proved && first.as_ref() == principal {
            return Ok(());
        }
        access::log_denial(&self.peer, Denial::Proof);
        Err(Status::ACCESS_DENIED)
    }

    /// Identifies the client's process by its introduction, and returns the answer. A client keeps
    /// its first identity: an OXID, or its users once one of them has called. A client over
    /// datagrams has no further connection, so a later proof on the association may assign the
    /// association to another client with the same OXID.
    fn identify(&self, client: Introduction) -> Greeting {
        if client.asks {
            return self.challenge.greeting();
        }
        let users = self.users();
        let known = self.presence();
        let (place, is_due) = match known {
            None => (&self.introduced, users.first.is_none()),
            Some(known) => (&self.assigned, client.proof.is_some() && !known.is_proved()),
        };
        let mut refusal = REASON_NOT_SPECIFIED;
        let mut unused = None;
        if is_due && known.is_none_or(|known| known.oxid() == client.oxid) {
            match Presence::introduced(self.exporter, client, &self.challenge, &self.peer, self.local.as_deref()) {
                // No other thread sets the presence while this thread holds the guard of the users.
                Ok(presence) if known.is_none() || presence.is_proved() => {
                    unused = place.set(Introduced { presence, first: OnceLock::new() }).err();
                }
                Ok(presence) => unused = Some(Introduced { presence, first: OnceLock::new() }),
                Err(status) => refusal = reason_of(status),
            }
        }
        drop(users);
        // The end of a presence can drop objects, whose code must not run under the users' lock.
        drop(unused);
        let presence = self.presence().filter(|presence| presence.oxid() == client.oxid);
        presence.map_or(Greeting::Refused(refusal), |presence| presence.greeting(client))
    }
}

impl fmt::Debug for AssociationClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AssociationClient").field("client", &self.client()).finish_non_exhaustive()
    }
}

impl Interfaces for AssociationClient {
    fn judge(&self, context: &Context) -> Outcome {
        self.note_bind();
        if let Some(outcome) = self.exporter.services().judge(context) {
            return outcome;
        }
        let greeting = Introduction::in_context(context).map_or(Greeting::Process, |client| self.identify(client));
        binding::judge(context, self.exporter.oxid(), self.transfers, greeting)
    }

    fn find(
        &self,
        object: Option<Uuid>,
        interface: SyntaxId,
        caller: Option<&Authenticated>,
    ) -> Result<(TargetId, Interface), Status> {
        if interface == binding::RUNTIME {
            return Ok((own_calls::TARGET, OWN));
        }
        if let Some(found) = self.exporter.services().find(object, interface) {
            self.number_for(caller)?;
            return found;
        }
        let (target, oxid) = objref::split_ipid(&GUID::from_u128(object.map_or(0, |object| object.0)));
        if oxid != self.exporter.oxid() {
            return self.find_function(object, interface, caller);
        }
        self.number_for(caller)?;
        let info = self.exporter.exports().interface(target).ok_or(Status::OBJECT_NOT_FOUND)?;
        // The arguments are translated by the description of the presentation context's interface.
        // The target must therefore have this interface.
        if info.iid.to_u128() == interface.uuid.0 {
            Ok((target, interface_of(info, registry::plan(info))))
        } else {
            Err(Status::UNK_IF)
        }
    }

    fn admit(&self, target: TargetId, opnum: u16, maker: Option<&Authenticated>) -> Result<(), Status> {
        self.prove(maker)?;
        if self.is_foreign() {
            self.exporter.exports().note_call(target);
        }
        self.admitted.admit(self.exporter, (target, opnum), maker, &self.peer)?;
        // An anonymous call of a service does not secure the connection's place at the entrance,
        // since some services permit anonymous calls even where authentication is required.
        if maker.is_some() || target.generation != 0 || target == own_calls::TARGET {
            return self.standing.note_call();
        }
        Ok(())
    }

    fn perform(&self, call: &IncomingCall<'_>) -> Option<Result<Vec<u8>, Status>> {
        // As in `admit`, an anonymous call does not secure the connection's place.
        let note = || if call.maker.is_some() { self.standing.note_call() } else { Ok(()) };
        self.exporter.services().perform(call, (&self.peer, self.local.as_deref()), &self.state, &note)
    }

    fn answer_bind(&self, interface: SyntaxId, bind: &[u8]) -> Option<Vec<u8>> {
        if interface != binding::RUNTIME {
            return None;
        }
        let greeting = Introduction::in_bind(bind).map_or(Greeting::Process, |client| self.identify(client));
        binding::answer(bind, self.exporter.oxid(), self.transfers, greeting)
    }

    fn is_dispensable(&self) -> bool {
        let numbers = || self.users().presences().map(Presence::number).collect::<Vec<_>>();
        let has_begun = self.presence().is_some() || self.challenge.is_drawn();
        !has_begun && numbers().into_iter().all(|number| self.exporter.kept_for(number) == 0)
    }

    fn rest(&self) {
        scratch::give_back();
    }

    fn serve(self: Arc<Self>, lane: Window, attribution: Attribution) {
        (self.serve_lane)(self.exporter, lane, self, attribution);
    }
}

impl Joins for AssociationClient {
    fn join(&self, wanted: u32) -> Option<Joined> {
        let group = self.exporter.clients().join(wanted, &self.peer)?;
        // An association is bound only once.
        let group = self.group.get_or_init(|| group);
        Some(Joined { number: group.number(), place: Arc::clone(group) as Arc<_> })
    }
}

impl Budget for AssociationClient {
    fn take(&self, bytes: usize) -> bool {
        self.standing.held().is_none_or(|held| held.messages.take(bytes))
    }

    fn give_back(&self, bytes: usize) {
        self.standing.held().into_iter().for_each(|held| held.messages.give_back(bytes));
    }
}

impl DenialObserver for AssociationClient {
    fn proved(&self) {
        self.standing.is_bound();
    }

    fn denied(&self, denial: Denial<'_>) {
        access::log_denial(&self.peer, denial);
    }
}

/// The clients of an endpoint for datagrams. They have no connections.
#[derive(Clone)]
pub(crate) struct DatagramClients {
    exporter: &'static Exporter,
    serve_lane: ServeLane,
    local: Option<String>,
}

impl DatagramClients {
    /// Makes the value by which clients of an endpoint for datagrams are admitted. `local` is the
    /// address at which the clients reach the endpoint, if known.
    pub(crate) fn new(exporter: &'static Exporter, serve_lane: ServeLane, local: Option<String>) -> Self {
        Self { exporter, serve_lane, local }
    }
}

impl fmt::Debug for DatagramClients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatagramClients").field("local", &self.local).finish_non_exhaustive()
    }
}

impl Clients for DatagramClients {
    fn admit(&self, host: Host) -> Option<Arc<dyn Interfaces>> {
        let host = host.to_string();
        // An endpoint on all addresses answers from the address by which the system reaches the
        // client's host. Connecting a socket to the host shows this address, and sends no packet.
        // The connection needs no time, since the host is an address and is not looked up.
        let none = Deadline::Within(Duration::ZERO);
        let routed = || DatagramSocket::connect(&host, 1, none).ok()?.local_host().map(|local| local.to_string());
        let local = self.local.clone().or_else(routed);
        Some(Arc::new(AssociationClient::from(self.exporter, self.serve_lane, Peer::Host(host), local, Transfers::NDR)))
    }

    fn note_refusal(&self, host: Host) {
        access::log_refused_connection(Peer::Host(host.to_string()));
    }
}

#[cfg(test)]
mod tests {
    use super::{AssociationClient, USERS_MAX, Users};
    use crate::protocol::binding::{self, Introduction, Transfers};
    use crate::protocol::own_calls;
    use crate::server::Presence;
    use crate::server::entrance::NetworkWindow;
    use crate::server::local_setups::{LocalSetups, MAX};
    use crate::server::standing::Standing;
    use crate::services::process;
    use crate::types::identity::draw;
    use obvia_rpc::co::pdu::Context;
    use obvia_rpc::co::relay::Interfaces as _;
    use obvia_rpc::co::{Budget as _, DenialObserver as _, IncomingCall, Presentation};
    use obvia_rpc::mgmt;
    use obvia_rpc::octets::ByteOrder;
    use obvia_rpc::security::{AuthType, Authenticated, Level, Principal};
    use obvia_rpc::status::Status;
    use obvia_rpc::uuid::NDR;
    use obvia_via::window::Peer;
    use std::sync::Arc;

    fn client() -> AssociationClient {
        let exporter = process::runtime().unwrap().exporter();
        let peer = Peer::Host("10.0.0.1".to_owned());
        AssociationClient::from(exporter, |_, _, _, _| {}, peer, None, Transfers::NDR)
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn calls_of_services_do_not_run_if_their_connection_has_yielded() {
        let setups: &'static LocalSetups = Box::leak(Box::default());
        let enter = |user| Standing::local(setups.enter(u32::MAX - user, NetworkWindow::default()).unwrap());
        let first = enter(7);
        let _others: Vec<_> = (1..MAX).map(|_| enter(7)).collect();
        // The newcomer takes the place of the oldest connection of the user who has the most
        // connections.
        let newcomer = enter(8);
        let principal = Arc::new(Principal { domain: "A".to_owned(), user: "anna".to_owned() });
        let maker = Authenticated { principal, kind: AuthType::NTLM, level: Level::Privacy };
        let perform = |client: &AssociationClient, maker| {
            // The method inq_stats has opnum 1.
            let (presentation, opnum) = (Presentation { id: 0, interface: mgmt::INTERFACE, transfer: NDR }, 1);
            let (object, order, security) = (None, ByteOrder::Little, None);
            let stub = &4_u32.to_le_bytes();
            let call =
                IncomingCall { id: 1, presentation, opnum, object, order, is_maybe: false, security, maker, stub };
            client.perform(&call).unwrap()
        };
        let [yielded, newcomer] = [first, newcomer].map(|standing| AssociationClient { standing, ..client() });
        assert_eq!(perform(&yielded, Some(&maker)), Err(Status::SERVER_TOO_BUSY));
        assert!(perform(&newcomer, Some(&maker)).is_ok());
        // An anonymous call is still performed, as long as the connection has not ended.
        assert!(perform(&yielded, None).is_ok());
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn a_client_that_has_to_authenticate_yields_its_place_until_it_has_done_so() {
        let setups: &'static LocalSetups = Box::leak(Box::default());
        let enter = |user| Standing::local(setups.enter(u32::MAX - user, NetworkWindow::default()).unwrap());
        let bound = [true, true, false].map(|needs_proof| {
            let bound = AssociationClient { standing: enter(7), needs_proof, ..client() };
            bound.judge(&Context { id: 0, interface: mgmt::INTERFACE, transfers: vec![NDR] });
            assert!(bound.is_bound());
            bound
        });
        bound[1].proved();
        let _others: Vec<_> = (1..MAX).map(|_| enter(7)).collect();
        let _newcomer = enter(8);
        assert_eq!(bound.map(|bound| bound.standing.note_call().is_ok()), [false, true, true]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn the_incomplete_calls_of_another_local_user_are_limited() {
        const HALF: usize = 1 << 29;
        let setups: &'static LocalSetups = Box::leak(Box::default());
        let [one, same, other] = [7, 7, 8].map(|user| {
            let setup = setups.enter(u32::MAX - user, NetworkWindow::default()).unwrap();
            AssociationClient { standing: Standing::local(setup), ..client() }
        });
        assert!(one.take(HALF) && !same.take(1) && other.take(1));
        one.give_back(HALF);
        assert!(same.take(1));
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn clients_are_dispensable_until_they_have_state_or_begin_to_introduce_themselves() {
        let (caller, newcomer) = (client(), client());
        let number = caller.number_for(None).unwrap();
        assert!(caller.is_dispensable() && newcomer.is_dispensable());
        caller.exporter.contexts().lock().entry(Some(number)).or_default().insert(1, Arc::new(()));
        newcomer.identify(Introduction { oxid: 7, asks: true, proof: None });
        assert!(!caller.is_dispensable() && !newcomer.is_dispensable());
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn an_association_of_an_introduced_client_has_one_user() {
        let user = |user: &str| {
            let principal = Arc::new(Principal { domain: "A".to_owned(), user: user.to_owned() });
            Authenticated { principal, kind: AuthType::NTLM, level: Level::Privacy }
        };
        let (anna, berta) = (user("anna"), user("berta"));
        let introduced = || {
            let client = client();
            client.identify(Introduction { oxid: draw().unwrap(), asks: false, proof: None });
            client
        };
        let call = |client: &AssociationClient, maker: Option<&Authenticated>| {
            // The relay caches the target that it has found for another principal.
            client.find(None, binding::RUNTIME, maker).unwrap();
            client.admit(own_calls::TARGET, 0, maker)
        };
        for (first, other) in [(Some(&anna), Some(&berta)), (Some(&anna), None), (None, Some(&berta))] {
            let client = introduced();
            assert_eq!(call(&client, first), Ok(()));
            assert_eq!(call(&client, other), Err(Status::ACCESS_DENIED));
            assert_eq!(call(&client, first), Ok(()));
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn an_association_has_a_limited_number_of_users() {
        let exporter = process::runtime().unwrap().exporter();
        let mut users = Users::default();
        let user = |number: usize| Arc::new(Principal { domain: format!("A{number}"), user: "anna".to_owned() });
        let draw = || draw().map_err(|_| Status::REMOTE_NO_MEMORY);
        let enter = || Presence::unnamed(exporter, draw, &Peer::Host("far".to_owned()), None, None);
        let numbers: Vec<_> = (0..USERS_MAX).map(|number| users.add(Some(&user(number)), enter).unwrap()).collect();
        assert_eq!(users.add(Some(&user(USERS_MAX)), enter), Err(Status::REMOTE_NO_MEMORY));
        // The known users stay, and anonymous calls are still accepted.
        let found = |users: &Users, user: Option<&Arc<Principal>>| users.find(user).map(Presence::number);
        assert_eq!(found(&users, Some(&user(7))), Some(numbers[7]));
        assert_eq!(found(&users, Some(&user(USERS_MAX))), None);
        let anonymous = users.add(None, enter).unwrap();
        assert_eq!((found(&users, None), users.first.unwrap().number), (Some(anonymous), Some(numbers[0])));
        drop(users);
        assert!(numbers.iter().all(|number| !exporter.clients().has(*number)));
    }
}
