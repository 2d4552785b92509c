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
    /// The transport's work before and after it is handed a call: places for frames, regions. Not counted.
    Via,
    /// The caller's and the method's own. Not counted.
    User,
}

impl Floor {
    /// Whether its instructions are what a call costs beside transport and method.
    pub(super) fn is_counted(self) -> bool {
        !matches!(self, Self::Wrapper | Self::Via | Self::User)
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
            Self::Via => "via",
            Self::User => "user",
        })
    }
}

/// What stands in the path of a floor's source.
const FLOORS: &[(&str, Floor)] = &[
    ("/crates/com/", Floor::Com),
    ("/crates/ndr/", Floor::Ndr),
    ("/crates/rpc/", Floor::Rpc),
    ("/crates/via/", Floor::Via),
    ("/windows-core-", Floor::Com),
    ("/out/icount.rs", Floor::Generated),
    ("/bench/counted/src/", Floor::User),
];

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
        assert_eq!(of([std, "/x/crates/via/src/wait.rs", "/x/crates/rpc/src/vi_call.rs"]), Some(Floor::Via));
        assert_eq!(of(["/x/target/release/build/obvia-bench-1/out/icount.rs"]), Some(Floor::Generated));
        assert_eq!(of([std]), None);
        assert_eq!(of([]), None);
    }
}
