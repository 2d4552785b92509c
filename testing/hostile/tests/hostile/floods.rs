//! Tests of floods: connections, greetings, binds and calls.

use crate::peer::{AREA, AREA_LENGTH, Peer, connect, send};
use crate::scene::{Scene, Server, against_every_server};
use crate::segment::Segment;
use crate::wire::{self, Frame};
use rustix::fd::AsFd;

against_every_server! {
    thousands_of_connections_that_say_nothing_and_go,
    hundreds_of_connections_that_say_nothing_and_stay,
    thousands_of_greetings_without_a_word_after_them,
    hundreds_of_clients_that_leave_what_they_held,
    one_way_calls_without_end_keep_only_their_own_connection_busy,
    a_full_queue_empties_again,
}

fn thousands_of_connections_that_say_nothing_and_go(server: Server) {
    let scene = Scene::of(server);
    let path = scene.directory.socket("victim");
    for _ in 0..3000 {
        drop(connect(&path));
    }
    scene.assert_unharmed();
}

fn hundreds_of_connections_that_say_nothing_and_stay(server: Server) {
    let scene = Scene::of(server);
    let path = scene.directory.socket("victim");
    let silent: Vec<_> = (0..300).map(|_| connect(&path)).collect();
    // New clients are served meanwhile.
    let (mut peer, object) = scene.bound();
    peer.assert_good(object);
    drop((silent, peer));
    scene.assert_unharmed();
}

fn thousands_of_greetings_without_a_word_after_them(server: Server) {
    let scene = Scene::of(server);
    let path = scene.directory.socket("victim");
    let (_, fd) = Segment::create(AREA + AREA_LENGTH);
    for _ in 0..2000 {
        let socket = connect(&path);
        send(&socket, &wire::greeting(AREA_LENGTH as u64), &[fd.as_fd()]).unwrap();
    }
    scene.assert_unharmed();
}

fn hundreds_of_clients_that_leave_what_they_held(server: Server) {
    let scene = Scene::of(server);
    for number in 0..200 {
        let (mut peer, object) = scene.bound();
        peer.good(object, 15, &Frame::block(4).u32(0, number).bytes);
    }
    let peers: Vec<Peer> = (0..50).map(|_| scene.bound().0).collect();
    drop(peers);
    scene.assert_unharmed();
}

fn one_way_calls_without_end_keep_only_their_own_connection_busy(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    for code in 0..20_000 {
        peer.post(wire::ONEWAY, 19, object, &Frame::block(4).u32(0, code).bytes);
    }
    drop(peer);
    scene.assert_unharmed();
}

/// Many connections at once fill the listener's queue only for a while.
fn a_full_queue_empties_again(server: Server) {
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
