//! Tests of interfaces of functions, in one process and at servers.

use super::checks::{Check, checks, run_all};
use super::places::{DATAGRAMS, at_each, everywhere};
use super::server::Server;
use matrix::functions::{Echo, Keeper};
use matrix::{Account, Counters, Enum1, Enum1_32, Enum2, Enum3, IPeer, Info, Info5, Info7, Surrounding, Way, rpcecho};
use obvia::{ContextHandle, GUID, HRESULT, code, u16cstr};
use std::time::{Duration, Instant};

type Functions = fn(&rpcecho, &Counters);

const CHECKS: &[Check<Functions>] = checks![
    numbers_and_arrays_are_returned,
    union_results_have_the_requested_arm,
    unions_are_passed_in_both_directions,
    structures_with_a_trailing_array_can_grow,
    pointers_to_pointers_are_passed,
    functions_return_a_value_besides_their_results,
];

/// Checks of context handles, for which the runtime makes system calls that Miri does not support.
const OF_STATES: &[Check<Functions>] =
    if cfg!(miri) { &[] } else { checks![context_handles_keep_their_state_until_they_are_closed] };

/// The checks run on objects of this process, of another process, and over each network.
#[test]
fn functions_behave_the_same_at_every_server() {
    let checks = [CHECKS, OF_STATES].concat();
    run_all(&checks, "in this process", |check| check(&Echo.into(), &Keeper::default().into()));
    if cfg!(miri) {
        return;
    }
    at_each(everywhere(), |server| {
        let binding = server.binding();
        let place = format!("in {} at {binding}", server.language());
        run_all(&checks, &place, |check| check(&obvia::bind(&binding).unwrap(), &obvia::bind(&binding).unwrap()));
    });
}

fn numbers_and_arrays_are_returned(echo: &rpcecho, _: &Counters) {
    assert_eq!(echo.AddOne(41).unwrap(), 42);
    for length in [0, 1, 100, 70_000] {
        let data: Vec<u8> = (0..length).map(|at| (at * 7) as u8).collect();
        let mut back = vec![0; length];
        echo.EchoData(&data, &mut back).unwrap();
        assert_eq!(back, data);
        echo.SinkData(&data).unwrap();
        echo.SourceData(&mut back).unwrap();
        assert!(back.iter().enumerate().all(|(at, byte)| *byte == at as u8));
    }
    assert_eq!(echo.TestCall(u16cstr!("input")).unwrap().to_string_lossy(), "input");
    assert_eq!(echo.TestSleep(0).unwrap(), 0);
}

fn union_results_have_the_requested_arm(echo: &rpcecho, _: &Counters) {
    for level in 1..=7 {
        let (info, status) = echo.TestCall2(level).unwrap();
        assert_eq!((info.tag(), status), (level, 0));
    }
    assert!(matches!(echo.TestCall2(5).unwrap().0, Info::Info5(Info5 { v1: 50, v2: 60 })));
    assert!(matches!(echo.TestCall2(7).unwrap().0, Info::Info7(Info7 { v1: 80, .. })));
    assert_eq!(echo.TestCall2(8).unwrap_err().code(), code::E_INVALIDARG);
}

fn unions_are_passed_in_both_directions(echo: &rpcecho, _: &Counters) {
    let mut first = Enum1::ECHO_ENUM1;
    let mut second = Enum2 { e1: Enum1::ECHO_ENUM1, e2: Enum1_32::ECHO_ENUM1_32 };
    let mut third = Enum3::E1(Enum1::ECHO_ENUM1);
    echo.TestEnum(&mut first, &mut second, &mut third).unwrap();
    assert_eq!((first, second.e1), (Enum1::ECHO_ENUM1, Enum1::ECHO_ENUM2));
    assert!(matches!(third, Enum3::E1(Enum1::ECHO_ENUM2)));
    let failed = echo.TestEnum(&mut Enum1::ECHO_ENUM2.clone(), &mut second, &mut third).unwrap_err();
    assert_eq!(failed.code(), code::E_INVALIDARG, "the union has another arm");
    let inner = Enum2 { e1: Enum1::ECHO_ENUM1, e2: Enum1_32::ECHO_ENUM2_32 };
    let mut third = Enum3::E2(inner);
    echo.TestEnum(&mut Enum1::ECHO_ENUM2.clone(), &mut second, &mut third).unwrap();
    assert!(matches!(third, Enum3::E2(Enum2 { e1: Enum1::ECHO_ENUM2, e2: Enum1_32::ECHO_ENUM2_32 })));
}

fn structures_with_a_trailing_array_can_grow(echo: &rpcecho, _: &Counters) {
    let mut data = Surrounding::new(&[1, 2, 3]).unwrap();
    echo.TestSurrounding(&mut data).unwrap();
    assert_eq!(data.with(|data| (data.x(), data.surrounding().to_vec())), (6, vec![1, 2, 3, 1, 2, 3]));
    echo.TestSurrounding(&mut data).unwrap();
    assert_eq!(data.with(|data| data.surrounding().len()), 12);
    let mut none = Surrounding::new(&[]).unwrap();
    echo.TestSurrounding(&mut none).unwrap();
    assert_eq!(none.with(|none| none.x()), 0);
}

fn pointers_to_pointers_are_passed(echo: &rpcecho, _: &Counters) {
    assert_eq!(echo.TestDoublePointer(&Some(&Some(&7))).unwrap(), 7);
    assert_eq!(echo.TestDoublePointer(&Some(&None)).unwrap(), 0);
    assert_eq!(echo.TestDoublePointer(&None).unwrap(), 0);
}

fn functions_return_a_value_besides_their_results(_: &rpcecho, counters: &Counters) {
    assert_eq!(counters.Turn(Way::UP).unwrap(), Way::DOWN);
    assert_eq!(counters.Open(-1).unwrap(), (ContextHandle::NULL, 22));
    counters.Tell(5).unwrap();
    // The call is one-way, so the method may run after the call has returned.
    wait_until(|| counters.Told().unwrap() == 5);
    counters.Fail(HRESULT(1)).unwrap();
    let failure = HRESULT(0x8123_4567_u32.cast_signed());
    assert_eq!(counters.Fail(failure).unwrap_err().code(), failure);
    assert_eq!(counters.Fault(failure).unwrap_err().code(), failure);
}

fn context_handles_keep_their_state_until_they_are_closed(_: &rpcecho, counters: &Counters) {
    let (mut one, _) = counters.Open(10).unwrap();
    let (other, _) = counters.Open(20).unwrap();
    assert_ne!(one, other);
    assert_eq!([one, one, other, one].map(|counter| counters.Next(counter).unwrap()), [10, 11, 20, 12]);
    // Other checks leave no counters behind.
    assert_eq!(counters.Alive().unwrap(), 2);
    let before = one;
    assert_eq!(counters.Close(&mut one).unwrap(), Account { first: 10, steps: 3 });
    assert!(one.is_null() && counters.Alive().unwrap() == 1);
    for gone in [one, before, ContextHandle::from_wire(1, other.to_wire().1)] {
        assert_eq!(counters.Next(gone).unwrap_err().code(), code::RPC_X_SS_CONTEXT_MISMATCH);
    }
    assert_eq!(counters.Close(&mut { before }).unwrap_err().code(), code::RPC_X_SS_CONTEXT_MISMATCH);
    assert_eq!(counters.Close(&mut { other }).unwrap().steps, 1);
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn context_handles_belong_to_their_client_and_end_with_it() {
    at_each(everywhere(), |server| {
        let counters: Counters = obvia::bind(&server.binding()).unwrap();
        let (mine, _) = counters.Open(1).unwrap();
        let mut client = server.start_client("hold", &mine);
        assert_eq!(client.line(), format!("{:?}", code::RPC_X_SS_CONTEXT_MISMATCH), "another's handle");
        assert_eq!(client.line(), "holding");
        assert_eq!(counters.Alive().unwrap(), 3, "it has two of its own");
        client.kill();
        // Over virtual interfaces of a network, the server does not learn of the client's end at
        // once, and keeps the client's handles in case the client returns. Tests in `torture` wait
        // for the rundown.
        let is_missed =
            !["ncacn_vi_udp", "ncacn_vi_xdp", "ncacn_vi_fabric"].iter().any(|far| server.binding().starts_with(far));
        if is_missed {
            wait_until(|| counters.Alive().unwrap() == 1);
        }
        assert_eq!(counters.Next(mine).unwrap(), 1, "and mine is still there");
    });
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn binding_to_unserved_interfaces_is_refused() {
    let server = Server::start();
    let binding = server.binding();
    let failed = |outcome: obvia::Result<()>| outcome.unwrap_err().code();
    assert_eq!(failed(obvia::bind::<IPeer>(&binding).map(drop)), code::E_INVALIDARG, "it has objects");
    assert_eq!(failed(obvia::bind::<rpcecho>("nowhere").map(drop)), code::E_INVALIDARG);
    assert_eq!(
        failed(obvia::bind::<rpcecho>("ncacn_vi_shm:[nobody-is-there]").map(drop)),
        code::RPC_S_SERVER_UNAVAILABLE
    );
    // The test's process knows the interface, but does not serve it.
    obvia::register(&[<rpcecho as obvia::Remote>::INFO]);
    let here = ground::fresh_name("functions");
    assert_eq!(obvia::listen(&format!("ncacn_vi_shm:[{here}]")).unwrap(), format!("ncacn_vi_shm:[{here}]"));
    let own = format!("ncacn_vi_shm:[{here}]");
    assert_eq!(failed(obvia::bind::<rpcecho>(&own).map(drop)), code::RPC_S_UNKNOWN_IF);
    let keeper: Counters = Keeper::default().into();
    let serving = obvia::serve_interface(keeper.clone()).unwrap();
    let twice = obvia::serve_interface(keeper).map(drop);
    assert_eq!(failed(twice), code::RPC_S_TYPE_ALREADY_REGISTERED);
    // The functions that are served for one object UUID get no calls for other UUIDs. Those calls
    // go to the functions that are served without a UUID.
    let uuid = GUID::from_u128(0x0d4f_4c52_0a34_4ac4_8d6c_2c9f_3a1f_7a10);
    let other: Counters = Keeper::default().into();
    other.Tell(7).unwrap();
    let for_one = obvia::serve_interface_for(uuid, other).unwrap();
    let told = |object: &str| obvia::bind::<Counters>(&format!("{object}{own}")).and_then(|counters| counters.Told());
    let named = "0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a10@";
    let unknown = "0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a11@";
    assert_eq!([told("").unwrap(), told(named).unwrap(), told(unknown).unwrap()], [0, 7, 0]);
    drop(for_one);
    assert_eq!(told(named).unwrap(), 0);
    drop(serving);
    assert_eq!(told(named).unwrap_err().code(), code::RPC_S_UNKNOWN_IF);
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn datagrams_carry_calls_of_many_threads() {
    let server = Server::start_elsewhere(DATAGRAMS);
    let binding = server.binding();
    // The threads make several calls at a time, each call by an activity of its own.
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let sleep = || {
            let slept = obvia::bind::<rpcecho>(&binding).unwrap().TestSleep(3).unwrap();
            (slept, begun.elapsed())
        };
        let all = [(); 6].map(|()| scope.spawn(sleep)).map(|one| one.join().unwrap());
        assert!(all.iter().all(|(slept, _)| *slept == 3));
        // Serial calls would end at least fifteen seconds apart.
        let [first, last] = [all.iter().min_by_key(|one| one.1), all.iter().max_by_key(|one| one.1)];
        let apart = last.unwrap().1 - first.unwrap().1;
        assert!(apart < Duration::from_secs(15), "they ended {apart:?} apart: {all:?}");
    });
    // After a timeout, the client's later calls use another activity.
    let echo: rpcecho = obvia::bind(&binding).unwrap();
    let given_up = obvia::with_timeout(Duration::from_millis(300), || echo.TestSleep(3).unwrap_err().code());
    assert_eq!(given_up, code::RPC_E_TIMEOUT);
    assert_eq!(echo.AddOne(1).unwrap(), 2);
    // Datagrams need no bind, so that a missing interface is reported by the call.
    let unknown = "0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a10@";
    assert_eq!(obvia::bind::<Counters>(&format!("{unknown}{binding}")).unwrap().Told().unwrap(), 0);
    let Err(error) = obvia::listen("ncadg_ip_udp:127.0.0.1[0,rundown=soon]") else { panic!("it is no number") };
    assert_eq!(error.code(), code::E_INVALIDARG);
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn a_killed_datagram_server_is_detected_and_its_successor_is_called() {
    let server = Server::start_elsewhere(DATAGRAMS);
    let binding = server.binding();
    let echo: rpcecho = obvia::bind(&binding).unwrap();
    assert_eq!(echo.AddOne(1).unwrap(), 2);
    const SLEEP: u32 = 600;
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let other: rpcecho = obvia::bind(&binding).unwrap();
        other.AddOne(1).unwrap();
        let sleeping = scope.spawn(|| obvia::bind::<rpcecho>(&binding).unwrap().TestSleep(SLEEP).unwrap_err().code());
        // The server is killed after this pause. The call may or may not have arrived by that time.
        std::thread::sleep(Duration::from_millis(200));
        server.kill();
        let missed = sleeping.join().unwrap();
        assert!([code::RPC_E_DISCONNECTED, code::RPC_S_SERVER_UNAVAILABLE].contains(&missed), "{missed:?}");
    });
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(SLEEP.into()), "the network has said so, not the end of the sleep: {took:?}");
    assert_eq!(echo.AddOne(1).unwrap_err().code(), code::RPC_S_SERVER_UNAVAILABLE);
    let next = Server::start_elsewhere(&binding);
    assert_eq!(next.binding(), binding);
    assert_eq!(echo.AddOne(1).unwrap_err().code(), code::RPC_E_DISCONNECTED, "it is not the server that was called");
    assert_eq!(echo.AddOne(1).unwrap(), 2);
}

fn wait_until(is_so: impl Fn() -> bool) {
    ground::until("it comes about", is_so);
}
