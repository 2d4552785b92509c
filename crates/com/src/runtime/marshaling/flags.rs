//! The destination of a reference, and the manner in which it is unmarshaled.

use crate::orpc::Client;
use crate::server::exports::Keeping;
use std::ops::BitOr;

/// The destination of a reference (MSHCTX).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Context {
    /// Another process of this host.
    Local = 0,
    /// Another process of this host that shares no memory with this process: this process must
    /// [listen](crate::listen).
    NoSharedMemory = 1,
    /// Another host: this process must [listen](crate::listen) on a network.
    DifferentMachine = 2,
    /// The same process.
    InProcess = 3,
    /// Another COM context of this process. There are no such contexts here, so the value equals
    /// `InProcess`.
    CrossContext = 4,
}

impl Context {
    /// Returns the context with this number, if there is one.
    pub fn from_number(number: u32) -> Option<Self> {
        let all = [Self::Local, Self::NoSharedMemory, Self::DifferentMachine, Self::InProcess, Self::CrossContext];
        all.into_iter().find(|context| *context as u32 == number)
    }
}

/// The manner in which a reference is unmarshaled (MSHLFLAGS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags(u32);

impl Flags {
    /// The reference is unmarshaled once. If it is neither unmarshaled nor released, it expires
    /// like an object without pings.
    pub const NORMAL: Self = Self(0);
    /// The reference is unmarshaled any number of times until it is released. It keeps the object
    /// alive.
    pub const TABLE_STRONG: Self = Self(1);
    /// The reference is unmarshaled any number of times until it is released. It does not keep the
    /// object alive.
    pub const TABLE_WEAK: Self = Self(2);
    /// A flag that is added to one of the other flags: holders of the reference do not ping the
    /// object, and the reference does not expire without pings.
    pub const NO_PING: Self = Self(4);

    /// Returns the flags with this number; `None` for unknown flags, or flags that contradict each
    /// other.
    pub fn from_number(number: u32) -> Option<Self> {
        (number <= 6 && number & 3 != 3).then_some(Self(number))
    }

    /// Returns COM's number for the flags.
    pub fn number(self) -> u32 {
        self.0
    }

    pub(crate) fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) fn is_table(self) -> bool {
        self.0 & 3 != 0
    }

    /// Returns the manner in which the export table keeps the reference.
    pub(crate) fn keeping(self) -> Keeping {
        match self.0 & 3 {
            0 if self.contains(Self::NO_PING) => Keeping::Once(Client::Table),
            0 => Keeping::Once(Client::NOBODY),
            1 => Keeping::Table,
            _ => Keeping::Weak,
        }
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marshaling_contexts_and_flags_have_coms_numbers() {
        for number in 0..5 {
            assert_eq!(Context::from_number(number).map(|context| context as u32), Some(number));
        }
        assert_eq!(Context::from_number(5), None);
        let legal: Vec<u32> = (0..16).filter(|&number| Flags::from_number(number).is_some()).collect();
        assert_eq!(legal, [0, 1, 2, 4, 5, 6]);
        assert_eq!((Flags::TABLE_WEAK | Flags::NO_PING).number(), 6);
    }
}
