//! The files that may contain `unsafe`, and the proofs that each use of `unsafe` needs.

use super::Finding;
use crate::repo::{File, Repo};
use crate::rust::{Kind, Token, tokens};
use std::fmt;

/// The files and folders that may contain `unsafe`, with the reason.
const ALLOWED: &[(&str, &str)] = &[
    ("crates/via/src/region.rs", "loads from memory that a peer may write"),
    ("crates/via/src/provider/", "maps, seals and shares memory"),
    ("crates/via/src/memory.rs", "maps memory that peers may reach"),
    ("crates/via/src/reliable/crc.rs", "calls an instruction that not every processor has"),
    ("crates/via/src/window", "builds and reads messages in mapped memory"),
    ("crates/capi/src/", "is called by C, with C's pointers"),
    ("crates/java/src/", "is called by Java, with C's pointers"),
    ("bindings/python/src/unchecked.rs", "promises that no generated code uses the package's interfaces"),
    ("crates/com/src/abi.rs", "is what bindings of other languages call, with their pointers"),
    ("crates/com/src/api/dynamic/served.rs", "makes objects whose vtables the runtime owns"),
    ("crates/com/src/types/agile.rs", "says of interface pointers that threads may share them"),
    ("crates/com/src/marshal/automation/", "has values in memory as C has them, and calls objects with these"),
    ("crates/com/src/services/dcom/factory.rs", "calls class factories, and is one, by COM's functions"),
    ("crates/com/src/services/dcom/library.rs", "calls shared libraries of classes, and is one, by COM's functions"),
    ("crates/com/src/marshal/elements.rs", "reads and writes arrays that others may write"),
    (
        "crates/com/src/api/events/",
        "has enumerators whose results say more than methods in Rust can, and sinks by their interface",
    ),
    ("crates/com/src/server/exports.rs", "keeps objects alive for peers through COM's binary interface"),
    ("crates/com/src/protocol/frame.rs", "turns checked frames into C arguments"),
    ("crates/com/src/marshal/graph/", "walks structures in memory by the compiler's tables"),
    ("crates/com/src/api/marshaling/", "is the marshaler of objects, through COM's binary interface"),
    ("crates/com/src/runtime/marshaling/", "calls marshalers, and is called by them, through COM's binary interface"),
    ("crates/com/src/marshal/parameters.rs", "walks C structures by their layout tables"),
    ("crates/com/src/types/memory.rs", "allocates for callers, and reads what their pointers lead to"),
    ("crates/com/src/types/utf8.rs", "copies strings to and from what callers' pointers lead to"),
    ("crates/com/src/client/proxy.rs", "makes objects whose vtables the runtime owns"),
    ("crates/com/src/client/proxy/known.rs", "takes interface pointers that are proxies for proxies"),
    ("crates/com/src/marshal/proxy_call.rs", "calls over the channel at hand, whose memory the transport lends"),
    ("crates/com/src/client/proxy/pointer.rs", "says of pointers to managers that threads may share them"),
    ("crates/com/src/client/proxy/unknown.rs", "describes IUnknown's proxies"),
    ("crates/com/src/marshal/reply.rs", "writes results to where C callers want them"),
    ("crates/com/src/types/object.rs", "makes objects with vtables and reference counts"),
    ("crates/macros/src/object.rs", "writes the calls of these functions"),
    ("crates/com/src/types/registry.rs", "says which vtables are an interface's"),
    ("crates/com/src/types/registry/proxies.rs", "looks at the vtables of interface pointers"),
    ("crates/com/src/types/registry/stubs.rs", "declares the functions that call objects by their vtables"),
    ("crates/com/src/types/registry/declared.rs", "follows a list of statics that are never taken out"),
    ("crates/com/src/rt.rs", "is what generated code calls, with C's types"),
    ("crates/com/src/runtime/references.rs", "takes the pointers that it imports for interface pointers"),
    ("crates/com/src/api/listen.rs", "owns the sockets that the process was started with"),
    ("crates/com/src/services/scm/launch.rs", "has a server end with the service that starts it"),
    ("crates/com/src/server/connection.rs", "lends connections to loops in other languages"),
    ("crates/com/src/server/context_handle.rs", "says that zeros are the null handle"),
    ("crates/com/src/server/caller.rs", "declares pthread_self, which is cheap in shared libraries"),
    ("crates/com/src/client/shared.rs", "reaches the hands of other threads"),
    ("crates/com/src/marshal/shared_memory.rs", "lends arrays of memory that others may write"),
    ("crates/com/src/marshal/stub.rs", "calls objects through their vtables"),
    ("crates/com/src/marshal/stub/lent.rs", "reads what a method lends, and writes the block before it"),
    ("crates/com/src/marshal/stub/referred.rs", "runs a stub again with its arguments"),
    ("crates/com/src/server/dispatch.rs", "calls stubs through pointers that it holds the objects of"),
    ("crates/com/src/server/dispatch/tests.rs", "has objects by hand, and calls as connections bring them"),
    ("crates/com/src/client/channels.rs", "keeps what belongs to a thread without locks"),
    ("crates/com/tests/", "tests of the binary interface"),
    ("crates/via/tests/", "tests of shared memory"),
    ("testing/hostile/tests/", "hostile peers write shared memory as they like"),
    ("examples/notes/tests/", "passes arguments by reference, as C does"),
    ("testing/matrix/tests/pairs/malformed_responses.rs", "has a stub whose responses no stub of the compiler sends"),
    ("testing/matrix/tests/pairs/utf8.rs", "passes strings that only C can pass"),
    ("bench/counted/src/callgrind.rs", "asks valgrind by instructions that it knows"),
    ("bench/src/goodput/tun.rs", "creates network interfaces by a request that only the kernel's types describe"),
    ("bench/src/raw.rs", "baselines share memory without the checks that obvia makes"),
    ("testing/soundness/src/numbers.rs", "has methods with pointers, which only programs of its process call"),
    ("testing/soundness/tests/runtime_checks/local_methods.rs", "calls methods with pointers"),
    ("testing/soundness/tests/strings_of_c.rs", "passes and returns strings that only C can have"),
    ("testing/soundness/tests/refused/foreign.rs", "declares an interface as windows-core does"),
    ("testing/torture/src/allocations.rs", "is a global allocator"),
    ("testing/torture/src/error_info.rs", "implements a COM interface whose methods take raw pointers"),
    ("testing/torture/src/lockdown.rs", "has the kernel filter the system calls of a thread"),
    ("testing/torture/src/usage.rs", "asks the kernel for a structure"),
    ("testing/torture/src/poll_path.rs", "makes a system call that is not allowed, on purpose"),
    ("testing/fuzz-targets/src/automation.rs", "makes values of arguments as generated stubs do"),
    ("testing/fuzz-targets/src/flat_check.rs", "looks at arguments as generated stubs do"),
    ("testing/fuzz-targets/src/flat_copies.rs", "frees arguments as methods do"),
    ("crates/cli/tests/cli/foreign.rs", "describes interfaces as the compiler does"),
    ("testing/fuzz/src/main.rs", "tells the leak sanitizer that expressions of plans are kept"),
    ("bench/src/reread/file.rs", "has the kernel read into memory that others may write"),
    ("bench/src/raw/", "baselines share memory without the checks that obvia makes"),
];

/// The crate roots that forbid `unsafe`.
const FORBIDDEN_IN: &[&str] = &[
    "crates/cli/src/lib.rs",
    "crates/cli/src/main.rs",
    "crates/idl/src/lib.rs",
    "crates/ndr/src/lib.rs",
    "crates/rpc/src/lib.rs",
    "xtask/src/main.rs",
];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.rust() {
        let allowed = ALLOWED.iter().any(|(path, _)| file.path.starts_with(path));
        for place in places(&tokens(&file.text)) {
            if !allowed {
                let message = "unsafe is not allowed in this file; xtask/src/tidy/unsafety.rs says where it is";
                findings.push(Finding::new(file, place.line, message));
            }
            if place.wants_proof && !place.has_proof {
                let message = "unsafe without a comment `// SAFETY: ...` above that proves it";
                findings.push(Finding::new(file, place.line, message));
            }
        }
    }
    for path in FORBIDDEN_IN {
        if let Some(file) = repo.file(path).filter(|file| !forbids(file)) {
            findings.push(Finding::new(file, 1, "#![forbid(unsafe_code)] is missing"));
        }
    }
    for (path, _) in ALLOWED.iter().filter(|(path, _)| path.ends_with(".rs")) {
        if let Some(file) = repo.file(path).filter(|file| !is_unsafe(file)) {
            let message = "has no unsafe any more: take it off the list in xtask/src/tidy/unsafety.rs";
            findings.push(Finding::new(file, 1, message));
        }
    }
    findings
}

fn forbids(file: &File) -> bool {
    let tokens = tokens(&file.text);
    tokens.windows(3).any(|window| {
        let [forbid, open, what] = window else {
            return false;
        };
        forbid.is("forbid") && open.is("(") && what.is("unsafe_code")
    })
}

/// Whether a file contains unsafe code.
pub(crate) fn is_unsafe(file: &File) -> bool {
    file.is_rust() && !places(&tokens(&file.text)).is_empty()
}

/// The number of proofs, for the summary.
pub(super) struct Count {
    places: usize,
    proofs: usize,
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} unsafe places have their proof", self.proofs, self.places)
    }
}

/// Counts the places that need a proof, and the places that have a proof.
pub(super) fn count(repo: &Repo) -> Count {
    let places: Vec<Place> =
        repo.rust().flat_map(|file| places(&tokens(&file.text))).filter(|place| place.wants_proof).collect();
    Count { places: places.len(), proofs: places.iter().filter(|place| place.has_proof).count() }
}

/// An occurrence of `unsafe`. Declarations of unsafe functions need no proof here, because clippy
/// checks that their contract is documented.
struct Place {
    line: usize,
    wants_proof: bool,
    has_proof: bool,
}

fn places(tokens: &[Token<'_>]) -> Vec<Place> {
    let keywords = tokens.iter().enumerate().filter(|(_, token)| token.is("unsafe"));
    let places = keywords.filter_map(|(at, token)| {
        let next = tokens.get(at + 1)?;
        // `unsafe(no_mangle)` and `unsafe extern "C" { }` need a proof, too. The type `unsafe
        // extern "C" fn()` needs none. A function or static whose name has one of libobvia's
        // prefixes needs none, because such a name is unique.
        let is_type = next.is("fn")
            || tokens
                .get(at + 1..at + 4)
                .is_some_and(|next| next[0].is("extern") && next.iter().any(|token| token.is("fn")));
        let wants_proof = !is_type && !next.is("trait") && !names_our_own(&tokens[at + 1..]);
        Some(Place { line: token.line, wants_proof, has_proof: is_proved(&tokens[..at]) })
    });
    places.collect()
}

/// Whether the tokens are `(no_mangle)` before a function or static whose name has one of
/// libobvia's prefixes.
fn names_our_own(tokens: &[Token<'_>]) -> bool {
    let [open, what, ..] = tokens else { return false };
    let name = tokens.iter().skip_while(|token| !token.is("fn") && !token.is("static")).nth(1);
    open.is("(")
        && what.is("no_mangle")
        && name.is_some_and(|name| ["obvia_", "IID_"].iter().any(|prefix| name.text.starts_with(prefix)))
}

/// Whether the last comment before or within the statement at the end of `before` is a proof.
fn is_proved(before: &[Token<'_>]) -> bool {
    for (at, token) in before.iter().enumerate().rev() {
        if token.kind == Kind::Comment {
            let comments = before[..=at].iter().rev().take_while(|token| token.is_comment());
            return comments.into_iter().any(|comment| comment.text.contains("SAFETY:"));
        }
        if token.is(";") || token.is("{") || token.is("}") {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::said;
    use super::check;

    const PATH: &str = "crates/via/src/provider/x.rs";

    #[test]
    fn unsafe_outside_the_listed_files_is_found() {
        let text = "fn f() {\n    // SAFETY: x\n    unsafe { g() }\n}\n";
        assert_eq!(said(check, &[(PATH, text)]), [""; 0]);
        assert_eq!(
            said(check, &[("crates/com/src/client/link.rs", text)]),
            [
                "crates/com/src/client/link.rs:3: error: unsafe is not allowed in this file; xtask/src/tidy/unsafety.rs says where it is"
            ]
        );
    }

    #[test]
    fn unsafe_blocks_without_a_proof_are_found() {
        let text = "/// Does.\nunsafe impl Send for X {}\nfn f() {\n    // Trust me.\n    unsafe { g() };\n    // SAFETY: a\n    \
                    // long one.\n    let x = h(unsafe { g() });\n    unsafe { g() }\n}\n/// # Safety\nunsafe fn i() {}\n\
                    type T = unsafe extern \"C\" fn();\n// \"unsafe {\" is no code, nor is /* unsafe { */\n";
        let lines: Vec<_> =
            said(check, &[(PATH, text)]).iter().map(|said| said.split(':').nth(1).unwrap().to_owned()).collect();
        assert_eq!(lines, ["2", "5", "9"]);
    }

    #[test]
    fn crates_without_unsafe_must_forbid_it() {
        let found = said(check, &[("crates/ndr/src/lib.rs", "//! x\n#![deny(unsafe_code)]\n")]);
        assert_eq!(found, ["crates/ndr/src/lib.rs:1: error: #![forbid(unsafe_code)] is missing"]);
        let found = said(check, &[("crates/ndr/src/lib.rs", "//! x\n#![forbid(unsafe_code)]\n")]);
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn unneeded_unsafe_permissions_are_found() {
        let found = said(check, &[("crates/com/src/marshal/stub.rs", "//! x\n")]);
        assert!(found[0].contains("has no unsafe any more"), "{found:?}");
    }
}
