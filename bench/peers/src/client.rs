//! A client: a connection of any system, and the array that its calls carry.

use crate::system::{Connection, Place, System};
use obvia_bench::calls::{Caller, Client};
use obvia_bench::{Error, Payload};

/// Starts a thread that connects as the client `number` of a server.
pub(crate) fn start<S: System>(place: &Place, number: u32) -> Result<Caller, Error> {
    let place = place.clone();
    let connect = move || {
        let payload = Payload::new(place.bytes)?;
        Ok(Checked { connection: S::connect(&place, number)?, payload, unverified: 0 })
    };
    Caller::start(number, connect)
}

/// A client whose results are checked.
struct Checked<C> {
    connection: C,
    /// The array, without words for calls without arguments.
    payload: Payload,
    /// The number of calls with the array since the last check.
    unverified: u32,
}

impl<C: Connection> Client for Checked<C> {
    #[inline]
    fn call(&mut self) -> Result<(), Error> {
        if self.payload.words().is_empty() {
            return self.connection.null();
        }
        self.unverified += 1;
        self.connection.move_data(self.payload.words_mut())
    }

    fn verify(&mut self) -> Result<u64, Error> {
        if !self.payload.words().is_empty() {
            self.payload.verify(std::mem::take(&mut self.unverified))?;
        }
        self.connection.calls()
    }
}
