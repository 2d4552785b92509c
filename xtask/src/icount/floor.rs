//! The layers, and the layer of an instruction.

use std::fmt;

/// The part of a call to which an instruction belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Floor {
    /// The proxy and stub that the IDL compiler has generated.
    Generated,
    Com,
    Rpc,
    Ndr,
    /// The adapter between a vtable's method and the language's own method, which in Rust returns a
    /// `Result` in place of the HRESULT. Not counted, because other languages' adapters are not
    /// counted either.
    Wrapper,
    /// The transport's work outside of the hand-over, such as the places of frames, and regions.
    /// Not counted.
    Via,
    /// The caller's and the method's own code. Not counted.
    User,
    /// All code of the program, in a build whose instructions have no source lines.
    Whole,
}

impl Floor {
    /// Whether the layer's instructions count as the cost of a call. The transport, the method and
    /// the adapters do not count.
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
            Self::Whole => "whole",
        })
    }
}

/// The layers by parts of their source files' paths.
const FLOORS: &[(&str, Floor)] = &[
    ("/crates/com/", Floor::Com),
    ("/crates/ndr/", Floor::Ndr),
    ("/crates/rpc/", Floor::Rpc),
    ("/crates/via/", Floor::Via),
    ("/windows-core-", Floor::Com),
    ("/out/icount.rs", Floor::Generated),
    ("/bench/counted/src/", Floor::User),
];

/// Returns the layer of an instruction that was inlined from `files`, the innermost file first.
///
/// The innermost file that has a layer decides. For example, a load of the standard library within
/// a check of `ndr` belongs to `ndr`.
pub(super) fn of<'a>(files: impl IntoIterator<Item = &'a str>) -> Option<Floor> {
    let floor = |file: &str| FLOORS.iter().find(|(part, _)| file.contains(part));
    files.into_iter().find_map(floor).map(|&(_, floor)| floor)
}

#[cfg(test)]
mod tests {
    use super::{Floor, of};

    #[test]
    fn instructions_belong_to_the_innermost_floor() {
        let std = "/rustc/59807616/library/core/src/num/mod.rs";
        assert_eq!(of([std, "/x/crates/ndr/src/flat.rs", "/x/crates/com/src/stub.rs"]), Some(Floor::Ndr));
        assert_eq!(of([std, "/x/crates/via/src/wait.rs", "/x/crates/rpc/src/vi_call.rs"]), Some(Floor::Via));
        assert_eq!(of(["/x/target/release/build/obvia-bench-1/out/icount.rs"]), Some(Floor::Generated));
        assert_eq!(of([std]), None);
        assert_eq!(of([]), None);
    }
}
