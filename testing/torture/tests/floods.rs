//! Tests of servers that receive packets from made-up addresses.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use torture::process::{Directory, LATEST};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");

/// Returns a request of an unknown activity (C706 12.5.1), with arguments of 1000 bytes.
fn request(number: u32, flags: u8) -> Vec<u8> {
    let mut bytes = vec![0; 80 + 1000];
    bytes[..8].copy_from_slice(&[4, 0, flags, 0, 0x10, 0, 0, 0]);
    // The interface, and the activity.
    bytes[24] = 9;
    bytes[40..44].copy_from_slice(&number.to_le_bytes());
    // The length of the arguments.
    bytes[74..76].copy_from_slice(&1000_u16.to_le_bytes());
    bytes
}

/// The flag that ends a flood, set when this value is dropped.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sends requests from loopback addresses until the flag is set. The answers are not received.
fn flood(server: SocketAddr, part: u8, is_over: &AtomicBool, count: &AtomicU32) {
    // Non-idempotent, idempotent and maybe requests, and first fragments.
    let all_flags = [0, 0x20, 0x30, 0x04];
    for round in 0.. {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let [.., second, third] = u32::to_be_bytes(round % 25_000);
        let address = Ipv4Addr::new(127, part, second, third);
        let Ok(socket) = UdpSocket::bind((address, 0)) else { continue };
        for (number, flags) in (0..).zip(all_flags) {
            let _ = socket.send_to(&request(round * 4 + number + (u32::from(part) << 24), flags), server);
            count.fetch_add(1, Ordering::Relaxed);
        }
        // The server's socket has to have room for the client's packets.
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn datagram_floods_from_made_up_addresses_keep_no_client_out() {
    let directories = [Directory::new(), Directory::new()];
    let mut server = directories[0].start(PROGRAM, &[]);
    server.good("export there");
    let binding = server.good("listen ncadg_ip_udp:127.0.0.1").replace(']', ",name=there]");
    let port = binding.split(['[', ',']).nth(1).unwrap().parse().unwrap();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let (is_over, count) = (AtomicBool::new(false), AtomicU32::new(0));
    let memory = server.resident_kib();
    thread::scope(|scope| {
        for part in [77, 78] {
            let (is_over, count) = (&is_over, &count);
            scope.spawn(move || flood(address, part, is_over, count));
        }
        // A failed assertion ends the flood, too.
        let end = End(&is_over);
        let began = Instant::now();
        while count.load(Ordering::Relaxed) < 100_000 && began.elapsed() < LATEST {
            thread::sleep(Duration::from_millis(5));
        }
        let mut client = directories[1].start(PROGRAM, &[]);
        client.good(&format!("connect {binding}"));
        client.good("make 1");
        assert_eq!(client.number("add 3"), 3);
        drop(end);
    });
    // The unknown callers of calls without response share 16 threads.
    assert!(server.threads() < 60, "{} threads", server.threads());
    let grown = server.resident_kib().saturating_sub(memory);
    assert!(grown < 64 << 10, "the server has grown by {grown} KiB");
}
