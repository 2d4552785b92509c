//! VIs over UDP fulfil the statements of the conformance suite, on the loopback device and over a
//! bad network.

mod relay;

use obvia_conformance::{Faults, Fixture, MissingFeature, Side, Wire, conformance, one_test, tasks};
use obvia_via::provider::udp;
use obvia_via::{Listener, Nic};
use relay::NetworkConditions;
use std::net::UdpSocket;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// The maximum silence of a peer. A live peer must not count as dead, so the time is longer than
/// any wait of a thread on a busy machine.
const SILENCE: Duration = Duration::from_secs(10);

fn nic() -> Nic {
    udp::open(&udp::Options { silence: SILENCE, ..udp::Options::default() }).expect("UDP is there")
}

struct Udp;

impl Fixture for Udp {
    const MISSING: &'static [MissingFeature] = &[];
    const SILENCE: Duration = SILENCE;
    const CROSSES_PROCESSES: bool = true;

    fn new() -> Self {
        Self
    }

    fn nic(&self, _: Side) -> Nic {
        nic()
    }

    fn discriminator(&self) -> String {
        "127.0.0.1:0".to_owned()
    }
}

/// UDP with a relay between the two sides.
struct Relayed {
    conditions: Arc<NetworkConditions>,
    relays: Mutex<Vec<JoinHandle<()>>>,
}

impl Fixture for Relayed {
    const MISSING: &'static [MissingFeature] = &[];
    const SILENCE: Duration = SILENCE;
    const CROSSES_PROCESSES: bool = true;

    fn new() -> Self {
        Self { conditions: Arc::default(), relays: Mutex::default() }
    }

    fn nic(&self, _: Side) -> Nic {
        nic()
    }

    fn discriminator(&self) -> String {
        "127.0.0.1:0".to_owned()
    }

    fn address(&self, listener: &Listener) -> String {
        let listener = listener.address().parse().expect("the address is one of the Internet");
        let (address, thread) = relay::start(listener, &self.conditions);
        self.relays.lock().unwrap().push(thread);
        address.to_string()
    }

    fn wire(&self) -> Option<&dyn Wire> {
        Some(self)
    }
}

impl Wire for Relayed {
    fn disturb(&self, faults: Faults) {
        self.conditions.disturb(faults);
    }

    fn cut(&self) {
        self.conditions.cut();
    }
}

impl Drop for Relayed {
    fn drop(&mut self) {
        self.conditions.end();
        for relay in self.relays.lock().unwrap().drain(..) {
            let _ = relay.join();
        }
    }
}

conformance!(direct, Udp);

/// UDP over a network that is always bad: the provider's option for faults is set at both ends.
struct Faulty;

impl Fixture for Faulty {
    const MISSING: &'static [MissingFeature] = &[];
    // The time is long, because many VIs share a machine and a bad network. No test waits
    // that long, because no peer dies in these tests.
    const SILENCE: Duration = Duration::from_secs(60);
    const CROSSES_PROCESSES: bool = true;
    const IS_STEADY: bool = false;

    fn new() -> Self {
        Self
    }

    fn nic(&self, _: Side) -> Nic {
        let fault = "loss=1%,dup=1%,reorder=1%,corrupt=0.5%,seed=49".parse().expect("these are conditions");
        let options = udp::Options { silence: Self::SILENCE, fault: Some(fault), ..udp::Options::default() };
        udp::open(&options).expect("UDP is there")
    }

    fn discriminator(&self) -> String {
        "127.0.0.1:0".to_owned()
    }
}

/// The statements with much data or many connections.
mod faulty {
    use super::*;

    one_test!(s34_reliable_messages_arrive_once_and_in_order_over_a_bad_wire, Faulty);
    one_test!(s48_many_vis_are_served_fairly, Faulty);
    one_test!(s49_large_volumes_of_data_arrive_unchanged, Faulty);
    obvia_conformance::in_full!(Faulty);
}

/// The statements that depend on the network.
mod relayed {
    use super::*;

    one_test!(s34_reliable_messages_arrive_once_and_in_order_over_a_bad_wire, Relayed);
    one_test!(s36_unreliable_messages_arrive_at_most_once, Relayed);
    one_test!(s43_dead_peers_are_detected, Relayed);

    #[test]
    fn task_of_another_process() {
        tasks::main::<Relayed>();
    }

    #[test]
    fn the_test_relay_loses_doubles_delays_and_corrupts_datagrams() {
        let (sender, receiver) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        receiver.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let conditions = Arc::new(NetworkConditions::default());
        conditions.disturb(Faults { lost: 100, doubled: 100, delayed: 100, corrupted: 100 });
        let (address, thread) = relay::start(receiver.local_addr().unwrap(), &conditions);
        let mut arrived = Vec::new();
        let mut buffer = [0; 64];
        for number in 0..500_u32 {
            sender.send_to(&[number.to_le_bytes(); 4].concat(), address).unwrap();
            if number % 50 == 49 {
                while let Ok(length) = receiver.recv(&mut buffer) {
                    arrived.push(buffer[..length].to_vec());
                }
            }
        }
        let intact: Vec<_> = arrived.iter().filter(|one| one[..8] == one[8..] && one[..4] == one[4..8]).collect();
        let mut kinds = intact.clone();
        kinds.sort();
        kinds.dedup();
        assert!(kinds.len() < 480 && kinds.len() > 300, "some are lost: {}", kinds.len());
        assert!(intact.len() > kinds.len() + 10, "some are doubled: {}", intact.len());
        assert!(arrived.len() > intact.len() + 10, "some are corrupted: {}", arrived.len());
        let first_bytes = |one: &[u8]| u32::from_le_bytes([one[0], one[1], one[2], one[3]]);
        assert!(!intact.is_sorted_by_key(|one| first_bytes(one)), "some are late");
        conditions.cut();
        sender.send_to(&[1], address).unwrap();
        assert!(receiver.recv(&mut buffer).is_err(), "a cut wire brings nothing");
        conditions.end();
        thread.join().unwrap();
    }
}
