//! Fuzzes the tables of references with the operations of hostile clients: the limits hold, and no
//! reference is left in the end.

use obvia::GUID;
use obvia::orpc::object_exporter::ComplexPing;
use obvia::orpc::{Client, ClientNumber, Limits, Pinging, References, Refs, SourcedClient};
use std::time::{Duration, Instant};

const LIMITS: Limits = Limits {
    objects: 5,
    clients: 4,
    receivers: 3,
    receivers_per_client: 1,
    receivers_per_source: 2,
    interfaces_per_client: 4,
    sets: 5,
    sets_per_client: 2,
    sets_per_source: 3,
    pinged_per_client: 6,
};

fn client(number: u8) -> Client {
    let is_process = number.is_multiple_of(2);
    if is_process { Client::Process(ClientNumber::new(number.into())) } else { Client::Peer(number.into()) }
}

/// Returns the host of a client. `None` for this host.
fn source(number: u8) -> Option<u64> {
    (number > 1).then(|| u64::from(number / 2))
}

pub fn run(bytes: &[u8]) {
    let mut now = Instant::now();
    let mut tables = References::new(Pinging::default(), LIMITS);
    let mut fresh = 1000;
    for order in bytes.chunks_exact(4) {
        let [what, who, which, count] = [order[0] % 11, 1 + order[1] % 5, order[2] % 16, order[3]];
        let (client, oid) = (client(who), u64::from(which / 2));
        let ipid = GUID::from_u128(which.into());
        let refs = Refs { public: (count & 15).into(), private: (count >> 4).into() };
        match what {
            0 => drop(tables.hand_out(oid, ipid, client, refs, now)),
            1 => drop(tables.add(&ipid, client, refs, now)),
            2 => drop(tables.release(&ipid, client, refs)),
            3 => drop(tables.drop_client(client, now)),
            4 => {
                tables.simple_ping(1000 + u64::from(which), now);
            }
            5 => {
                let set = if count & 1 == 0 { 0 } else { 1000 + u64::from(which) };
                let added = (0..8).filter(|bit| count & (1 << bit) != 0).collect();
                let removed = (0..8).filter(|bit| which & (1 << bit) != 0).collect();
                let ping = ComplexPing { set, sequence: count.into(), added, removed };
                let answer = tables.complex_ping(&ping, SourcedClient { client, source: source(who) }, fresh, now);
                fresh += u64::from(answer.set == fresh);
            }
            6 => tables.note_call(&ipid, now),
            7 => {
                let giver = SourcedClient { client, source: source(who) };
                let _ = tables.pass_on(&ipid, (giver, self::client(1 + count % 5)), refs, now);
            }
            8 => tables.connected(client),
            9 => {
                tables.merge(client, self::client(1 + count % 5), now);
            }
            _ => {
                now += Duration::from_secs(count.into());
                drop(tables.collect(now));
            }
        }
    }
    // The ping sets expire after the ping timeout, and the references of the peers that ping are
    // released with their sets. The references of processes last until the processes are dropped.
    let end = now + Pinging::default().patience();
    drop(tables.collect(end));
    (1..=5).for_each(|who| drop(tables.drop_client(client(who), end)));
    assert!(tables.is_empty() && tables.due().is_none());
}
