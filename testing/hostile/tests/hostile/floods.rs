//! Tests of floods: connections, greetings, binds and calls.

use crate::peer::{AREA, AREA_LENGTH, Peer, connect, send};
use crate::scene::{Scene, Server, against_every_server};
use crate::segment::Segment;
use crate::wire::{self, Frame};
use rustix::fd::AsFd;

against_every_server! {
    thousands_of_silent_short_connections_do_no_harm,
    hundreds_of_silent_open_connections_do_no_harm,
    thousands_of_greetings_without_calls_do_no_harm,
    references_of_hundreds_of_ended_clients_are_dropped,
    endless_one_way_calls_occupy_only_their_own_connection,
    a_full_accept_queue_is_drained,
}

fn thousands_of_silent_short_connections_do_no_harm(server: Server) {
    let scene = Scene::of(server);
    let path = scene.directory.socket("victim");
    for _ in 0..3000 {
        drop(connect(&path));
    }
    scene.assert_unharmed();
}

fn hundreds_of_silent_open_connections_do_no_harm(server: Server) {
    let scene = Scene::of(server);
    let path = scene.directory.socket("victim");
    let silent: Vec<_> = (0..300).map(|_| connect(&path)).collect();
    // New clients are served during the flood.
    let (mut peer, object) = scene.bound();
    peer.assert_good(object);
    drop((silent, peer));
    scene.assert_unharmed();
}

fn thousands_of_greetings_without_calls_do_no_harm(server: Server) {
    let scene = Scene::of(server);
    let path = scene.directory.socket("victim");
    let (_, fd) = Segment::create(AREA + AREA_LENGTH);
    for _ in 0..2000 {
        let socket = connect(&path);
        send(&socket, &wire::greeting(AREA_LENGTH as u64), &[fd.as_fd()]).unwrap();
    }
    scene.assert_unharmed();
}

fn references_of_hundreds_of_ended_clients_are_dropped(server: Server) {
    let scene = Scene::of(server);
    for number in 0..200 {
        let (mut peer, object) = scene.bound();
        peer.good(object, 15, &Frame::block(4).u32(0, number).bytes);
    }
    let peers: Vec<Peer> = (0..50).map(|_| scene.bound().0).collect();
    drop(peers);
    scene.assert_unharmed();
}

fn endless_one_way_calls_occupy_only_their_own_connection(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    for code in 0..20_000 {
        peer.post(wire::ONEWAY, 19, object, &Frame::block(4).u32(0, code).bytes);
    }
    drop(peer);
    scene.assert_unharmed();
}

/// Many connections that arrive together fill the listener's queue only for a while.
fn a_full_accept_queue_is_drained(server: Server) {
    let scene = Scene::of(server);
    let path = scene.directory.socket("victim");
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || (0..200).map(|_| connect(&path)).for_each(drop))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    scene.assert_unharmed();
}
