//! Many of everything: connections, greetings, introductions and calls.

use crate::peer::{AREA, AREA_LENGTH, Peer, connect, send};
use crate::scene::Scene;
use crate::segment::Segment;
use crate::wire::{self, Frame};
use rustix::fd::AsFd;

#[test]
fn thousands_of_connections_that_say_nothing_and_go() {
    let scene = Scene::new();
    let path = scene.directory.socket("victim");
    for _ in 0..3000 {
        drop(connect(&path));
    }
    scene.assert_unharmed();
}

#[test]
fn hundreds_of_connections_that_say_nothing_and_stay() {
    let scene = Scene::new();
    let path = scene.directory.socket("victim");
    let silent: Vec<_> = (0..300).map(|_| connect(&path)).collect();
    // Newcomers are served meanwhile.
    let (mut peer, object) = scene.bound();
    peer.assert_good(object);
    drop((silent, peer));
    scene.assert_unharmed();
}

#[test]
fn thousands_of_greetings_without_a_word_after_them() {
    let scene = Scene::new();
    let path = scene.directory.socket("victim");
    let (_, fd) = Segment::create(AREA + AREA_LENGTH);
    for _ in 0..2000 {
        let socket = connect(&path);
        send(&socket, &wire::greeting(AREA_LENGTH as u64), &[fd.as_fd()]).unwrap();
    }
    scene.assert_unharmed();
}

#[test]
fn hundreds_of_clients_that_leave_what_they_held() {
    let scene = Scene::new();
    for number in 0..200 {
        let (mut peer, object) = scene.bound();
        peer.good(object, 15, &Frame::block(4).u32(0, number).bytes);
    }
    let peers: Vec<Peer> = (0..50).map(|_| scene.bound().0).collect();
    drop(peers);
    scene.assert_unharmed();
}

#[test]
fn one_way_calls_without_end_keep_only_their_own_connection_busy() {
    let scene = Scene::new();
    let (mut peer, object) = scene.bound();
    for code in 0..20_000 {
        peer.post(wire::ONEWAY, 19, object, &Frame::block(4).u32(0, code).bytes);
    }
    drop(peer);
    scene.assert_unharmed();
}

/// Connections that open one after another do not use up the directory's queue for good.
#[test]
fn a_full_queue_empties_again() {
    let scene = Scene::new();
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
