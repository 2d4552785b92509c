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
    /// The array; empty for calls without arguments.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, Fault};

    /// Returns the outcomes of the first check, after one call, and of the second check, after ten
    /// calls more.
    fn verified(fault: Fault, bytes: usize) -> [Result<u64, String>; 2] {
        let place = fault.place(bytes);
        let connection = Fake::connect(&place, 0).unwrap();
        let mut client = Checked { connection, payload: Payload::new(bytes).unwrap(), unverified: 0 };
        [1, 10].map(|calls| {
            (0..calls).for_each(|_| client.call().unwrap());
            client.verify().map_err(|error| error.to_string())
        })
    }

    #[test]
    fn each_word_of_the_array_is_checked_and_the_count_returned() {
        for bytes in [0, 64] {
            assert_eq!(verified(Fault::None, bytes), [Ok(1), Ok(11)]);
            // The caller of `verify` compares the count.
            assert_eq!(verified(Fault::LostCall, bytes), [Ok(1), Ok(10)]);
        }
        let [first, second] = verified(Fault::WrongWord, 64);
        assert_eq!(first, Ok(1));
        let error = second.unwrap_err();
        assert!(error.starts_with("wrong answer: a word of the array is "), "{error}");
    }
}
