//! A system for tests whose server makes a mistake. Server and client are the same value.

use crate::system::{Connection, Place, Ready, System, count};
use obvia_bench::{Error, Wait};

/// The number of the call with the fault. The first call connects the client.
const FAULTY: u64 = 5;

/// The fault of a server. The server's [`Place`] has the name of the fault.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fault {
    None,
    WrongWord,
    LostCall,
    Silence,
}

impl Fault {
    const ALL: [Self; 4] = [Self::None, Self::WrongWord, Self::LostCall, Self::Silence];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::WrongWord => "wrong-word",
            Self::LostCall => "lost-call",
            Self::Silence => "silence",
        }
    }

    /// Returns the place of a server with this fault.
    pub(crate) fn place(self, bytes: usize) -> Place {
        Place { socket: self.name().into(), wait: Wait::Block, clients: 1, bytes }
    }
}

pub(crate) struct Fake {
    fault: Fault,
    calls: u64,
    executed: u64,
}

impl System for Fake {
    type Connection = Self;

    fn serve(_place: &Place, _ready: Ready<'_>) -> Result<(), Error> {
        unreachable!("clients serve themselves")
    }

    fn connect(place: &Place, _number: u32) -> Result<Self, Error> {
        let fault = Fault::ALL.into_iter().find(|fault| fault.name() == place.name()).unwrap();
        Ok(Self { fault, calls: 0, executed: 0 })
    }
}

impl Connection for Fake {
    fn null(&mut self) -> Result<(), Error> {
        self.move_data(&mut [0, 0])
    }

    fn move_data(&mut self, words: &mut [u32]) -> Result<(), Error> {
        self.calls += 1;
        let fault = if self.calls == FAULTY { self.fault } else { Fault::None };
        if fault == Fault::Silence {
            loop {
                std::thread::park();
            }
        }
        self.executed += u64::from(fault != Fault::LostCall);
        count(words);
        words[1] += u32::from(fault == Fault::WrongWord);
        Ok(())
    }

    fn calls(&mut self) -> Result<u64, Error> {
        Ok(self.executed)
    }
}
