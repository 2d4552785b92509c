//! Relays between windows and calls as datagrams. [`crate::co::relay`] has the relays for
//! associations.
//!
//! The protocol has no negotiation: calls are marshalled in NDR 2.0, and each unit names its
//! interface and object. Two obvia processes nevertheless exchange the contents of binds, namely
//! the identities of the processes and the versions of their interfaces, by calls of a separate
//! interface.

mod client;
mod keeper;
mod server;

pub use client::client;
pub use keeper::Keeper;
pub use server::{Clients, Endpoint, EndpointOptions};

use super::{Limits, Output};
use crate::uuid::Uuid;
use obvia_via::Error as ViError;
use obvia_via::datagram::DatagramSocket;
use obvia_via::window::Options;
use rustix::rand::{GetRandomFlags, getrandom};

/// The opnum of the method of [`Routes::bind_interface`](crate::co::relay::Routes::bind_interface)
/// that exchanges binds. The stub data of its request is a bind or an alter_context. The stub data
/// of its response is the unit by which a server of the connection-oriented protocol would answer.
const BIND: u16 = 0;
/// The longest message, in bytes. The 16-bit numbers of fragments suffice for this length even if
/// the fragments are as short as the protocol allows.
const MESSAGE_MAX: usize = 64 << 20;
/// The least window for a socket with a small buffer, in bytes.
const WINDOW_LEAST: usize = 16 << 10;

fn limits(options: &Options, socket: &DatagramSocket) -> Limits {
    // Stub data in NDR is less than twice as long as its frame. All fragments of a window have to
    // fit the socket's buffer.
    let message_max = options.max_frame.saturating_mul(2).min(MESSAGE_MAX);
    let window = (socket.room() / 3).clamp(WINDOW_LEAST, 256 << 10);
    let defaults = Limits::default();
    Limits {
        message_max,
        held_max: message_max.saturating_mul(2),
        window,
        near_fragment: defaults.near_fragment.min(window),
        ..defaults
    }
}

/// Returns an unpredictable UUID (RFC 9562, version 4).
///
/// # Errors
///
/// [`ViError::System`] if the system provides no random numbers.
pub fn draw() -> Result<Uuid, ViError> {
    let mut bytes = [0; 16];
    getrandom(&mut bytes, GetRandomFlags::empty())
        .map_err(|errno| ViError::System { doing: "drawing a UUID", source: errno.into() })?;
    let random = u128::from_ne_bytes(bytes);
    Ok(Uuid(random & !(0xf << 76) & !(0b11 << 62) | 4 << 76 | 0b10 << 62))
}

/// Sends the output to the socket's peer. A datagram that the system rejects counts as lost.
/// Returns false if a datagram was rejected, or if the system reported that the peer is
/// unreachable.
fn flush(socket: &DatagramSocket, output: &mut Output<()>) -> bool {
    let mut is_there = true;
    for ((), datagram) in output.iter() {
        is_there &= socket.send(datagram, None).unwrap_or(false);
    }
    output.clear();
    is_there
}
