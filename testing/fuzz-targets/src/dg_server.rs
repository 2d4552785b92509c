//! Fuzzes a server and a client of the connectionless protocol with datagrams and the passing of
//! time: they stay within their limits.
//!
//! The input is cut into datagrams. The two bytes before a datagram give its length. The upper bits
//! of these bytes say how much time passes, and whether the client gets the datagram, too.

use obvia_rpc::dg::pdu::{Header, PduType};
use obvia_rpc::dg::{Activity, Limits, OutgoingCall, Semantics, Server, ServerEvent, ServerOptions};
use obvia_rpc::uuid::{SyntaxId, Uuid};
use std::time::{Duration, Instant};

const MESSAGE_MAX: usize = 16 << 10;
const HELD_MAX: usize = 64 << 10;

pub fn run(bytes: &[u8]) {
    let limits = Limits { message_max: MESSAGE_MAX, held_max: HELD_MAX, activities_max: 8, ..Limits::default() };
    let mut server = Server::new(ServerOptions { limits: limits.clone(), boot: 1, secret: [7; 16] });
    let mut client = Activity::new(Uuid(0), Uuid(7), limits, false);
    let from = "10.0.0.1:7".parse().unwrap();
    let (mut now, mut bytes) = (Instant::now(), bytes);
    while let Some((length, rest)) = bytes.split_first_chunk() {
        let word = u16::from_le_bytes(*length);
        let (datagram, rest) = rest.split_at(rest.len().min(usize::from(word & 0x0fff)));
        bytes = rest;
        now += Duration::from_millis(u64::from(word >> 13) * 300);
        if word & 0x1000 != 0 {
            let call = OutgoingCall {
                interface: SyntaxId { uuid: Uuid(1), version: 1 },
                opnum: 0,
                object: None,
                semantics: [Semantics::AtMostOnce, Semantics::Idempotent][usize::from(word & 1)],
                stub: datagram,
            };
            let _ = client.call(now, &call);
            client.receive(now, datagram);
        }
        server.receive(now, from, datagram);
        // The client confirms the server's callbacks.
        let asked: Vec<Vec<u8>> = server.output().iter().map(|(_, bytes)| bytes.to_vec()).collect();
        server.output().clear();
        for question in asked {
            let (header, body) = Header::read(&question).unwrap();
            if header.kind == PduType::REQUEST {
                let answer = [&[1, 0, 0, 0], &body[..16], &[0; 4]].concat();
                let mut said = Vec::new();
                Header { kind: PduType::RESPONSE, ..header }.write(&mut said, &answer);
                server.receive(now, from, &said);
            }
        }
        while let Some(event) = server.next_event() {
            if let ServerEvent::Call(call) = event {
                assert!(call.stub.len() <= MESSAGE_MAX);
                server.respond(now, call.key, vec![7; usize::from(call.opnum)]);
            }
        }
        server.tick(now);
        client.tick(now);
        client.keep(now);
        client.output().clear();
        assert!(server.held() <= HELD_MAX && server.activities() <= 8);
    }
}
