//! Tests of the state that the links to one process share, and of the proofs by which links join
//! it.

use super::{Link, Mark, PATIENCE};
use crate::client::address::Address;
use crate::protocol::binding::{self, Welcome};
use crate::protocol::mark_proof::{MarkProof, place_of};
use crate::protocol::own_calls;
use crate::server::accept_on;
use crate::services::process::runtime;
use crate::transport::network::parse;
use crate::types::deadline;
use crate::types::error::code;
use crate::types::threads::lock;
use obvia_rpc::vi_call::Channel;
use obvia_via::Deadline;
use std::cell::Cell;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_thread_waiting_for_the_process_mark_holds_no_lock() {
    let link = &Link::to_itself();
    let (tell, number) = channel();
    std::thread::scope(|scope| {
        let look = || {
            let asks = scope.spawn(move || {
                tell.send(ground::thread_number()).unwrap();
                link.mark()
            });
            let number = number.recv().unwrap();
            ground::until("the thread waits", || ground::is_asleep(number) || asks.is_finished());
            Ok(link.mark.try_lock().is_ok())
        };
        // While this thread uses the home connection, the thread that `look` starts waits for it.
        assert!(link.with_home(|_, _| look()).unwrap());
    });
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_process_without_mark_does_not_block_new_links() {
    let (first, second) = (Arc::new(Link::to_itself()), &mut Link::to_itself());
    let silent = Arc::clone(&first);
    // While this thread uses the home connection of `first`, the thread that joins waits for it.
    let joined = first.with_home(|_, _| {
        let join = || {
            let others = [silent];
            let mut join = || deadline::with_timeout(Duration::from_millis(50), || second.join(&others));
            let early = join();
            lock(&others[0].mark).asked = Instant::now().checked_sub(PATIENCE);
            [early, join()]
        };
        Ok(std::thread::scope(|scope| scope.spawn(join).join().unwrap()))
    });
    let [early, late] = joined.unwrap();
    assert_eq!(early.unwrap_err().code(), code::RPC_E_TIMEOUT);
    late.unwrap();
    assert!(!second.leads_where(&first));
}

fn limit() -> Deadline {
    Deadline::Within(ground::LATEST)
}

/// Returns a link to this process itself over a network.
fn over(network: &str) -> Link {
    Link::to_itself_at(Address::Binding(parse(&crate::listen(network).unwrap()).unwrap()))
}

/// Returns a link to this process itself by a name. The link has a channel for the first call.
fn by_name() -> Link {
    let runtime = runtime().unwrap();
    runtime.serve().unwrap();
    let name = format!("links-{}", std::process::id());
    accept_on(runtime.exporter(), Arc::new(runtime.directory().bind(&name).unwrap())).unwrap();
    let link = Link::to_itself_at(Address::Name(name));
    assert_eq!(lock(&link.idle).len(), 1);
    link
}

const NETWORKS: [&str; 3] = ["ncacn_ip_tcp:127.0.0.1", "ncacn_vi_udp:127.0.0.1", "ncadg_ip_udp:127.0.0.1"];

/// Joins a link by memory and a link by a network. The later link proves that it leads to the
/// process of the earlier one. Each test needs a process of its own. Otherwise an earlier test's
/// connection may have proved the client's mark already, and the links of this test would need no
/// proof.
fn links_lead_to_one_process(network: &str, is_late_by_memory: bool) {
    let (near, far) = (by_name(), over(network));
    assert_ne!(near.mark().unwrap(), far.mark().unwrap(), "{network}");
    let [mut late, early] = if is_late_by_memory { [near, far] } else { [far, near] };
    let early = Arc::new(early);
    late.join(&[Arc::clone(&early)]).unwrap();
    assert!(late.leads_where(&early), "{network}");
    // All new connections belong to the early link's client, including the activities of datagrams
    // that the late link used before its proof. The channel from before the proof is not used any
    // more.
    let mut further = [(); 3].map(|()| late.take_channel(limit()).unwrap());
    for channel in &mut further {
        assert_eq!(mark_over(channel), early.mark().unwrap(), "{network}");
    }
}

macro_rules! links_lead_to_one_process {
    ($($name:ident: $network:expr, $is_late_by_memory:expr;)*) => {$(
        #[test]
        #[cfg_attr(miri, ignore = "opens sockets")]
        fn $name() {
            links_lead_to_one_process($network, $is_late_by_memory);
        }
    )*};
}

links_lead_to_one_process! {
    a_link_by_tcp_and_a_later_one_by_memory_lead_to_one_process: NETWORKS[0], true;
    a_link_by_memory_and_a_later_one_by_tcp_lead_to_one_process: NETWORKS[0], false;
    a_link_by_vi_and_a_later_one_by_memory_lead_to_one_process: NETWORKS[1], true;
    a_link_by_memory_and_a_later_one_by_vi_lead_to_one_process: NETWORKS[1], false;
    a_link_by_datagrams_and_a_later_one_by_memory_lead_to_one_process: NETWORKS[2], true;
    a_link_by_memory_and_a_later_one_by_datagrams_lead_to_one_process: NETWORKS[2], false;
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_false_proof_changes_nothing() {
    let (near, limit) = (Link::to_itself(), Deadline::Within(ground::LATEST));
    let key = key_of(&near);
    for network in NETWORKS {
        let mut far = over(network);
        let own = far.mark().unwrap();
        assert!(!far.prove_process(key.wrapping_add(1), limit).unwrap(), "{network}");
        // The proof is made for a server at another address, as if that server had relayed the
        // proof to this server.
        let relayed = |challenge| MarkProof::new(key, challenge, far.oxid, "ncacn_ip_tcp:127.0.0.1[1]");
        let (mut channel, welcome) = introduced(&far, relayed);
        assert_eq!(welcome, Welcome::Process(far.oxid), "{network}");
        assert_eq!(mark_over(&mut channel), own, "{network}");
    }
}

/// A client at 127.0.0.1 that reaches this process at 127.0.0.2 seems to run on another host.
#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn the_mark_of_confidential_links_goes_over_no_other_network() {
    let near = Arc::new(Link::to_itself());
    let mut far = over("ncacn_ip_tcp:127.0.0.2");
    far.join(&[Arc::clone(&near)]).unwrap();
    assert!(far.leads_where(&near));
    let mut further = far.connect(&far.options, limit()).unwrap();
    let (in_clear, key) = own_calls::mark(&mut further, limit()).unwrap();
    assert!(key.is_none() && near.mark().unwrap().is_some_and(|mark| mark != in_clear));
    // A server can send a mark that it has read on the network. This server must not count as the
    // process that was reached by memory.
    let stranger = over("ncacn_ip_tcp:127.0.0.2");
    lock(&stranger.mark).known = Some(in_clear);
    let mut near = Link::to_itself();
    let stranger = Arc::new(stranger);
    near.join(&[Arc::clone(&stranger)]).unwrap();
    assert!(!near.leads_where(&stranger));
}

/// Returns the key of the mark of a link's process.
fn key_of(link: &Link) -> u128 {
    link.mark().unwrap();
    lock(&link.mark).key.unwrap()
}

/// Returns the mark of the client of a connection.
fn mark_over(channel: &mut Channel) -> Option<u64> {
    own_calls::mark(channel, limit()).ok().map(|(mark, _)| mark)
}

/// Returns a connection with this proof, and the server's answer.
fn introduced(link: &Link, prove: impl Fn(u128) -> MarkProof) -> (Channel, Welcome) {
    let limit = Deadline::Within(ground::LATEST);
    let own = link.local_process.oxid();
    let greet = |channel: &mut Channel| binding::introduce_with(channel, own, &prove, limit);
    link.address.connect(link.local_process, &link.terms, &link.options, limit, greet).unwrap()
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_proof_is_not_valid_on_another_connection() {
    let near = Link::to_itself();
    let (mark, key) = (near.mark().unwrap().unwrap(), key_of(&near));
    // Datagrams are left out, because all connections of a datagram client share one challenge.
    for network in &NETWORKS[..2] {
        let far = over(network);
        let Address::Binding(binding) = &far.address else { panic!("a network link has a binding") };
        let place = place_of(far.oxid, Some(binding), &far.peer);
        let (seen, proof) = (Cell::new(0), Cell::new(None));
        let prove = |challenge| {
            seen.set(challenge);
            let made = MarkProof::new(key, challenge, far.oxid, &place);
            proof.set(Some(made));
            made
        };
        let (_first, welcome) = introduced(&far, prove);
        assert_eq!(welcome, Welcome::Confirmed, "{network}");
        let replay = |challenge| {
            assert_ne!(challenge, seen.get(), "{network}");
            proof.get().unwrap()
        };
        let (mut second, welcome) = introduced(&far, replay);
        assert_eq!(welcome, Welcome::Process(far.oxid), "{network}");
        assert_ne!(mark_over(&mut second), Some(mark), "{network}");
    }
}

/// Different addresses of this host serve as the addresses of a client that moves.
#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_network_client_at_another_address_stays_one_client() {
    if TcpListener::bind("[::1]:0").is_err() {
        return;
    }
    let (before, after) = (over("ncacn_ip_tcp:127.0.0.1"), over("ncacn_ip_tcp:::1"));
    // Without encryption, a link does not ask for the mark in advance.
    assert!(!before.wants_mark());
    let (known, key) = (before.mark().unwrap(), Some(key_of(&before)));
    assert!(after.mark().unwrap() != known);
    *lock(&after.mark) = Mark { known, key, ..Mark::default() };
    let mut further = after.connect(&after.options, limit()).unwrap();
    assert_eq!(mark_over(&mut further), known);
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_connection_of_a_client_that_the_server_has_given_up_fails_once() {
    for network in NETWORKS {
        let link = over(network);
        let own = link.mark().unwrap();
        // The server refuses the proof by the wrong key, but still counts this process as the same
        // client.
        lock(&link.mark).key = Some(0);
        assert!(link.connect(&link.options, limit()).is_ok(), "{network}");
        // By the changed mark, the link finds that the server counts this process as another client
        // than before, as after the loss of all connections.
        lock(&link.mark).known = own.map(|mark| !mark);
        let refused = link.connect(&link.options, limit()).err().map(|error| error.code());
        assert_eq!(refused, Some(code::RPC_E_DISCONNECTED), "{network}");
        // The next connection is one of the new client.
        assert!(link.connect(&link.options, limit()).is_ok(), "{network}");
        assert_eq!(link.mark().unwrap(), own, "{network}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_link_whose_client_the_server_has_given_up_makes_no_connection() {
    for network in NETWORKS {
        let early = Arc::new(Link::to_itself());
        let mut late = over(network);
        late.join(&[Arc::clone(&early)]).unwrap();
        assert!(late.connect(&late.options, limit()).is_ok(), "{network}");
        // The server does not know this mark, as after the loss of all connections.
        lock(&late.mark).key = Some(0);
        let refused = late.connect(&late.options, limit()).err().map(|error| error.code());
        assert_eq!(refused, Some(code::RPC_E_DISCONNECTED), "{network}");
    }
}
