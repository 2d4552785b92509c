//! Making and ending connections, and waiting on them.

use super::scene::{End, LEVELS, Place, SOON, attributes, connect, pair};
use obvia_via::window::{Options, OwnRegion};
use obvia_via::{
    Access, Deadline, Descriptor, Ended, Error, Nic, Queue, Reliability, State, Status, Vi, ViAttributes, Waiting,
};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};
use std::collections::HashMap;
use std::time::{Duration, Instant};

const MOMENT: Deadline = Deadline::Within(Duration::from_millis(50));

fn vi(nic: &Nic) -> Vi {
    nic.vi(ViAttributes::default(), &nic.protection_tag(), None, None).unwrap()
}

#[test]
fn requests_to_missing_listeners_are_not_found() {
    let place = Place::new();
    let nic = place.nic();
    let mut one = vi(&nic);
    assert!(matches!(one.request("nobody", b"", SOON), Err(Error::NotFound { .. })));
    assert!(matches!(one.request("a/b", b"", SOON), Err(Error::BadName { .. })));
    drop(nic.listen("gone").unwrap());
    assert!(matches!(one.request("gone", b"", SOON), Err(Error::NotFound { .. })));
    let _listener = nic.listen("taken").unwrap();
    assert!(matches!(place.nic().listen("taken"), Err(Error::NameInUse { .. })));
    assert_eq!(one.state(), State::Idle);
}

#[test]
fn window_names_and_descriptor_names_are_independent() {
    let place = Place::new();
    let (nic, directory) = (place.nic(), place.directory());
    let _windows = directory.bind("both").unwrap();
    let mut listener = nic.listen("both").unwrap();
    assert_eq!(listener.address(), "both");
    let names: Vec<_> = directory.list().unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["both"]);
    let outcome = directory.connect("both", &Options::default(), MOMENT);
    assert!(matches!(outcome, Err(Error::TimedOut)), "the window's listener does not answer: {outcome:?}");
    std::thread::scope(|scope| {
        scope.spawn(|| vi(&nic).request("both", b"", SOON));
        listener.wait(SOON).unwrap().accept(&mut vi(&nic), b"", SOON).unwrap();
    });
}

#[test]
fn a_region_beyond_the_share_of_its_connection_is_refused_alone() {
    let directory = Place::new().directory();
    let listener = directory.bind("regions").unwrap();
    let mut windows = [(); 2].map(|()| {
        std::thread::scope(|scope| {
            let connected = scope.spawn(|| directory.connect("regions", &Options::default(), SOON).unwrap());
            let accepted = listener.accept(SOON).unwrap().complete(&Options::default()).unwrap();
            (accepted, connected.join().unwrap())
        })
    });
    let [vast, half, rest, small] =
        [1 << 42, 1 << 40, 1 << 40, 1 << 20].map(|length| OwnRegion::new(length, false).unwrap());
    let mut pass = |connection: usize, number, region: &OwnRegion| {
        let (server, client) = &mut windows[connection];
        client.pass_region(number, region).unwrap();
        server.tx.admit_region(&mut server.regions, number)
    };
    let share = 1 << 41;
    let outcome = pass(0, 1, &vast);
    assert!(matches!(outcome, Err(Error::TooLong { limit, .. }) if limit == share), "{outcome:?}");
    pass(0, 2, &small).unwrap();
    pass(0, 3, &half).unwrap();
    let outcome = pass(0, 4, &rest);
    assert!(matches!(outcome, Err(Error::TooLong { limit, .. }) if limit == share / 2 - (1 << 20)), "{outcome:?}");
    pass(1, 4, &rest).unwrap();
}

#[test]
fn connecting_exchanges_private_data_and_negotiates_the_smaller_size() {
    let place = Place::new();
    let nic = place.nic();
    let mut listener = nic.listen("talk").unwrap();
    let tag = nic.protection_tag();
    let of = |max_transfer| {
        let attributes = ViAttributes { max_transfer, ..ViAttributes::default() };
        nic.vi(attributes, &tag, None, None).unwrap()
    };
    let (mut one, mut other) = (of(5000), of(3000));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let request = listener.wait(SOON).unwrap();
            assert_eq!(request.private(), [7; 240]);
            assert_eq!(request.reliability(), Reliability::ReliableDelivery);
            assert_eq!(request.peer(), format!("process {}", std::process::id()));
            request.accept(&mut other, b"welcome", SOON).unwrap();
        });
        assert_eq!(one.request("talk", &[7; 240], SOON).unwrap(), b"welcome");
    });
    assert_eq!((one.max_transfer(), other.max_transfer()), (3000, 3000));
}

#[test]
fn refused_vis_learn_the_reason_and_can_be_connected_again() {
    let place = Place::new();
    let nic = place.nic();
    let mut listener = nic.listen("picky").unwrap();
    let mut one = vi(&nic);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            listener.wait(SOON).unwrap().reject("not today");
            drop(listener.wait(SOON).unwrap());
            let mut other =
                nic.vi(attributes(Reliability::Unreliable, Waiting::Poll), &nic.protection_tag(), None, None);
            let outcome = listener.wait(SOON).unwrap().accept(other.as_mut().unwrap(), b"", SOON);
            assert!(matches!(outcome, Err(Error::Refused { .. })));
            listener.wait(SOON).unwrap().accept(&mut vi(&nic), b"", SOON).unwrap();
        });
        let whys: Vec<_> = (0..3)
            .map(|_| match one.request("picky", b"", SOON) {
                Err(Error::Refused { why }) => why,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(whys[0], "not today");
        assert!(whys[2].contains("unreliable delivery") && whys[2].contains("reliable delivery"), "{whys:?}");
        assert_eq!(one.state(), State::Idle);
        one.request("picky", b"", SOON).unwrap();
    });
}

#[test]
fn unanswered_connection_requests_time_out() {
    let place = Place::new();
    let nic = place.nic();
    let mut listener = nic.listen("slow").unwrap();
    assert!(matches!(listener.wait(MOMENT), Err(Error::TimedOut)));
    let mut one = vi(&nic);
    assert!(matches!(one.request("slow", b"", MOMENT), Err(Error::TimedOut)));
    assert_eq!(one.state(), State::Idle);
    assert!(matches!(listener.wait(MOMENT), Err(Error::TimedOut)), "nobody is there any more");
    std::thread::scope(|scope| {
        scope.spawn(|| listener.wait(SOON).unwrap().accept(&mut vi(&nic), b"", SOON).unwrap());
        one.request("slow", b"", SOON).unwrap();
    });
}

#[test]
fn silent_or_malformed_peers_do_not_delay_others() {
    let place = Place::new();
    let nic = place.nic();
    let mut listener = nic.listen("busy").unwrap();
    let address = SocketAddrUnix::new(place.path().join("busy.vi-sock")).unwrap();
    let strangers: Vec<_> = (0..40_u8)
        .map(|number| {
            let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
            rustix::net::connect(&socket, &address).unwrap();
            if number % 2 == 0 {
                rustix::io::write(&socket, &vec![number; 1 + usize::from(number) * 10]).unwrap();
            }
            socket
        })
        .collect();
    std::thread::scope(|scope| {
        scope.spawn(|| listener.wait(SOON).unwrap().accept(&mut vi(&nic), b"", SOON).unwrap());
        vi(&nic).request("busy", b"", SOON).unwrap();
    });
    drop(strangers);
}

#[track_caller]
fn await_end(end: &mut End) -> State {
    let deadline = SOON.start();
    while end.vi.state() == State::Connected && !deadline.is_over() {
        std::thread::yield_now();
    }
    end.vi.state()
}

#[test]
fn disconnected_vis_are_flushed_and_can_be_connected_again() {
    let place = Place::new();
    let nic = place.nic();
    for level in LEVELS {
        let (mut one, mut other) = pair(&nic, &attributes(level, Waiting::Adaptive), 4096);
        for round in 0..3 {
            one.post_receive(0, 8);
            other.post_receive(0, 8);
            other.post_receive(0, 8);
            one.post_send(0, 8);
            assert_eq!(other.received(), (Status::Done, 8, None), "round {round}");
            assert_eq!(one.sent(), (Status::Done, 8));
            one.vi.disconnect();
            assert_eq!(one.received(), (Status::Flushed, 0, None));
            assert_eq!(one.vi.state(), State::Idle);
            assert_eq!(other.received(), (Status::Flushed, 0, None));
            assert_eq!(other.vi.state(), State::Broken(Ended::ByPeer));
            other.post_send(0, 8);
            assert_eq!(other.sent(), (Status::Flushed, 0));
            assert!(matches!(other.vi.request("again", b"", SOON), Err(Error::BadState { .. })));
            other.vi.disconnect();
            assert_eq!(other.vi.state(), State::Idle);
            connect(&mut one.vi, &nic, &mut other.vi);
        }
    }
}

#[test]
fn messages_sent_before_a_disconnect_arrive() {
    let place = Place::new();
    let nic = place.nic();
    let (mut one, mut other) = pair(&nic, &attributes(Reliability::Unreliable, Waiting::Block), 4096);
    for _ in 0..10 {
        other.post_receive(0, 8);
    }
    for _ in 0..5 {
        one.post_send(0, 8);
    }
    one.vi.disconnect();
    let statuses: Vec<_> = (0..10).map(|_| other.received().0).collect();
    assert_eq!(statuses, [[Status::Done; 5], [Status::Flushed; 5]].concat());
    assert_eq!(await_end(&mut other), State::Broken(Ended::ByPeer));
}

/// Each queue of one VI has a thread. Both sleep at the same time, while messages go both ways in
/// bursts.
#[test]
fn two_threads_can_sleep_on_one_vi() {
    let place = Place::new();
    let (mut one, mut other) = pair(&place.nic(), &attributes(Reliability::ReliableDelivery, Waiting::Block), 1 << 16);
    let count = 3000_u32;
    for end in [&mut one, &mut other] {
        for _ in 0..count {
            end.post_receive(0, 64);
        }
    }
    let work = |end: &mut End| {
        let region = &end.region;
        let (send, receive) = end.vi.queues();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..count {
                    assert_eq!(receive.wait(SOON).unwrap().immediate(), Some(number));
                }
            });
            for number in 0..count {
                send.post(Descriptor::send().with_segment(region, 0, 8).with_immediate(number)).unwrap();
                if number % 3 == 0 {
                    while send.posted() > 0 {
                        assert_eq!(send.wait(SOON).unwrap().status(), Status::Done);
                    }
                }
            }
        });
    };
    std::thread::scope(|scope| {
        scope.spawn(|| work(&mut one));
        work(&mut other);
    });
}

/// A sleeping thread is woken even when another thread that slept on the same VI ended long ago.
#[test]
fn a_sleeping_thread_is_woken_after_another_sleeper_left() {
    let place = Place::new();
    let nic = place.nic();
    for round in 0..10_u64 {
        let end = || End::new(&nic, attributes(Reliability::ReliableDelivery, Waiting::Block), 4096, Access::LOCAL);
        let (mut one, mut other) = (end(), end());
        connect(&mut one.vi, &nic, &mut other.vi);
        for end in [&mut one, &mut other] {
            (0..20).for_each(|_| end.post_receive(0, 64));
        }
        let region = &one.region;
        let (send, receive) = one.vi.queues();
        std::thread::scope(|scope| {
            let (tell, number) = std::sync::mpsc::channel();
            scope.spawn(move || {
                tell.send(ground::thread_number()).unwrap();
                assert_eq!(receive.wait(SOON).unwrap().status(), Status::Done);
            });
            let number = number.recv().unwrap();
            ground::until("it sleeps", || ground::is_asleep(number));
            // The main thread sleeps, too, until the NIC of the other side has taken each message.
            for _ in 0..10 {
                send.post(Descriptor::send().with_segment(region, 0, 8)).unwrap();
                assert_eq!(send.wait(SOON).unwrap().status(), Status::Done);
            }
            std::thread::sleep(Duration::from_millis(20 + 5 * round));
            other.post_send(0, 8);
        });
        assert_eq!(other.sent(), (Status::Done, 8));
    }
}

#[test]
fn one_sleep_waits_for_completions_of_many_vis() {
    let place = Place::new();
    let nic = place.nic();
    for waiting in [Waiting::Block, Waiting::Adaptive, Waiting::Poll] {
        let mut queue = nic.completion_queue(1024).with_waiting(waiting);
        let tag = nic.protection_tag();
        let region = nic.register(nic.memory(4096).unwrap(), &tag, Access::LOCAL).unwrap();
        let receive = || Descriptor::receive().with_segment(&region, 0, 64);
        let mut servers = HashMap::new();
        let mut clients: Vec<End> = Vec::new();
        for _ in 0..24 {
            let mut server = nic.vi(ViAttributes::default(), &tag, Some(&queue), Some(&queue)).unwrap();
            server.receive.post(receive()).unwrap();
            let attributes = attributes(Reliability::ReliableDelivery, Waiting::Block);
            let mut client = End::new(&nic, attributes, 4096, Access::LOCAL);
            connect(&mut client.vi, &nic, &mut server);
            servers.insert(server.id(), server);
            clients.push(client);
        }
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 0..10_u64 {
                    std::thread::sleep(Duration::from_millis(round));
                    for client in &mut clients {
                        client.post_receive(0, 64);
                        client.post_send(0, 16);
                    }
                    for client in &mut clients {
                        assert_eq!((client.sent(), client.received().0), ((Status::Done, 16), Status::Done));
                    }
                }
            });
            // Each message causes two completions at the server: of its receive, and of the send of
            // the answer.
            for _ in 0..2 * 10 * 24 {
                let completion = queue.wait(SOON).unwrap();
                let server = servers.get_mut(&completion.vi).unwrap();
                match completion.queue {
                    Queue::Receive => {
                        assert_eq!(server.receive.done().unwrap().status(), Status::Done);
                        server.receive.post(receive()).unwrap();
                        server.send.post(Descriptor::send().with_segment(&region, 0, 16)).unwrap();
                    }
                    Queue::Send => assert_eq!(server.send.done().unwrap().status(), Status::Done),
                }
            }
        });
    }
}

/// A waiting thread of an idle process sleeps, and does not wake at intervals.
#[test]
fn an_idle_vi_uses_no_processor_time() {
    let place = Place::new();
    let (mut one, other) = pair(&place.nic(), &attributes(Reliability::ReliableDelivery, Waiting::Block), 4096);
    one.post_receive(0, 64);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let switches = || {
                let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
                let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches")).unwrap();
                line.split_whitespace().last().unwrap().parse::<u64>().unwrap()
            };
            let (before, began) = (switches(), Instant::now());
            let outcome = one.vi.receive.wait(Deadline::Within(Duration::from_millis(600)));
            assert!(matches!(outcome, Err(Error::TimedOut)));
            let took = began.elapsed();
            assert!(took >= Duration::from_millis(600));
            (switches() - before, took)
        });
        let (slept, took) = waiter.join().unwrap();
        assert!(u128::from(slept) < took.as_millis() / 30, "it woke {slept} times in {took:?}");
    });
    drop(other);
}
