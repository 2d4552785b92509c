//! Which floor an instruction belongs to.

use std::fmt;

/// What part of a call an instruction does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Floor {
    /// Proxy and stub, as the IDL compiler wrote them.
    Generated,
    Com,
    Rpc,
    Ndr,
    /// What makes the vtable's method look like the language's own: in Rust a `Result` of the HRESULT. Not counted, as no other
    /// language's is.
    Wrapper,
    /// Sending, receiving, waiting. Not counted.
    Transport,
    /// The caller's and the method's own. Not counted.
    User,
}

impl Floor {
    /// Whether its instructions are what a call costs beside transport and method.
    pub(super) fn is_counted(self) -> bool {
        !matches!(self, Self::Wrapper | Self::Transport | Self::User)
    }
}

impl fmt::Display for Floor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Generated => "generated",
            Self::Com => "com",
            Self::Rpc => "rpc",
            Self::Ndr => "ndr",
            Self::Wrapper => "wrapper",
            Self::Transport => "transport",
            Self::User => "user",
        })
    }
}

/// What stands in the path of a floor's source.
const FLOORS: &[(&str, Floor)] = &[
    ("/crates/com/", Floor::Com),
    ("/crates/ndr/", Floor::Ndr),
    ("/crates/rpc/", Floor::Rpc),
    ("/crates/via/", Floor::Transport),
    ("/windows-core-", Floor::Com),
    // System calls, and what surrounds them.
    ("/rustix-", Floor::Transport),
    ("/out/icount.rs", Floor::Generated),
    ("/bench/src/", Floor::User),
];

/// Where a call is handed over to the transport, and where that waits, which takes the longer the busier the machine is: what these
/// functions do is the transport's, whatever it was made from. `check` is all of a name that are the same to the linker.
const HAND_OVER: &[&str] = &[
    "channels::Calls::exchange",
    "serve::next_call",
    "serve::ServerCall::publish",
    "rx::Rx::await_slot",
    "rx::Rx::sleep",
    "relay::Relay>::check",
];

/// Whether a function is where a call is handed over to the transport.
pub(super) fn is_hand_over(function: &str) -> bool {
    HAND_OVER.iter().any(|name| function.ends_with(name))
}

/// The floor of an instruction that was inlined from these files, the innermost first.
///
/// The innermost that belongs to a floor has it: a load of the standard library in a check of `ndr` is `ndr`'s.
pub(super) fn of<'a>(files: impl IntoIterator<Item = &'a str>) -> Option<Floor> {
    let floor = |file: &str| FLOORS.iter().find(|(part, _)| file.contains(part));
    files.into_iter().find_map(floor).map(|&(_, floor)| floor)
}

#[cfg(test)]
mod tests {
    use super::{Floor, of};

    #[test]
    fn the_innermost_floor_has_it() {
        let std = "/rustc/59807616/library/core/src/num/mod.rs";
        assert_eq!(of([std, "/x/crates/ndr/src/flat.rs", "/x/crates/com/src/stub.rs"]), Some(Floor::Ndr));
        assert_eq!(of([std, "/x/crates/via/src/wait.rs", "/x/crates/rpc/src/vi_call.rs"]), Some(Floor::Transport));
        assert_eq!(of(["/x/target/release/build/obvia-bench-1/out/icount.rs"]), Some(Floor::Generated));
        assert_eq!(of([std]), None);
        assert_eq!(of([]), None);
    }
}
