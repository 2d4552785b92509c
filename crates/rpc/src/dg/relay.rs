//! Relays between windows and calls as datagrams, as those of [`crate::co::relay`] for associations.
//!
//! There is nothing to agree on: calls go in NDR 2.0, and interface and object are in each unit. What two processes of this program's settle
//! in binds all the same, who they are and whether they mean the same by an interface, goes in calls of an interface of its own.

mod client;
mod keeper;
mod server;

pub use client::client;
pub use keeper::Keeper;
pub use server::{Clients, Endpoint, EndpointOptions};

use super::{Limits, Output};
use crate::uuid::Uuid;
use obvia_via::Error as ViError;
use obvia_via::datagram::{DatagramSocket, Place};
use obvia_via::window::Options;
use rustix::rand::{GetRandomFlags, getrandom};

/// The method of [`Routes::settler`](crate::co::relay::Routes::settler) whose parameters are a bind or an alter_context, and whose results are what a server with contexts answers.
const BIND: u16 = 0;
/// The longest message that fragments of the shortest length can make up, with what their numbers leave to spare.
const MESSAGE_MAX: usize = 64 << 20;
/// Bytes that may be under way to a socket with little room.
const WINDOW_LEAST: usize = 16 << 10;

fn limits(options: &Options, socket: &DatagramSocket) -> Limits {
    // NDR is longer than a frame by less than its length. Of several fragments under way none is to find no room.
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

/// A UUID that nobody can guess (RFC 9562, version 4).
///
/// # Errors
///
/// Where the system has no random numbers.
pub fn draw() -> Result<Uuid, ViError> {
    let mut bytes = [0; 16];
    getrandom(&mut bytes, GetRandomFlags::empty())
        .map_err(|errno| ViError::System { doing: "drawing a UUID", source: errno.into() })?;
    let random = u128::from_ne_bytes(bytes);
    Ok(Uuid(random & !(0xf << 76) & !(0b11 << 62) | 4 << 76 | 0b10 << 62))
}

/// Sends what is to be sent; `place` says where it goes. What the system does not take is lost, as it might be on the way. Whether nobody has
/// said that nobody is there.
fn flush<T: Copy>(socket: &DatagramSocket, output: &mut Output<T>, place: impl Fn(T) -> Option<Place>) -> bool {
    let mut is_there = true;
    for (to, datagram) in output.iter() {
        is_there &= socket.send(datagram, place(to)).unwrap_or(false);
    }
    output.clear();
    is_there
}
