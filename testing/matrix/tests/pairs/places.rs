//! The places of the objects under test: in Rust, C++ and C, and Java; in a process of this host,
//! and over each network.

use super::java;
use super::server::Server;
use std::fmt;
use std::thread::Builder;

/// The language of the objects.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Rust,
    /// C++ and C.
    Native,
    Java,
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rust => "Rust",
            Self::Native => "C++ and C",
            Self::Java => "Java",
        })
    }
}

/// The language and the bindings of a server to start.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) language: Language,
    /// The bindings at which the server listens; empty for a server that only this host reaches.
    pub(crate) bindings: &'static [&'static str],
}

impl Place {
    /// Whether calls transfer the proxies' frames unchanged, without a check of their contents.
    pub(crate) fn takes_frames(&self) -> bool {
        self.bindings.iter().all(|binding| !binding.contains("transfer=ndr") && *binding != DATAGRAMS)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.bindings.is_empty() { "this host".to_owned() } else { self.bindings.join(" ") };
        write!(f, "{} at {at}", self.language)
    }
}

/// Starts a server at each place, runs the work on it, and returns the results. Each place has a
/// thread of its own, because the work mostly waits. The thread has the name of the place, so that
/// a panic shows it.
pub(crate) fn at_each<R: Send>(places: impl Iterator<Item = Place>, work: impl Fn(Server) -> R + Sync) -> Vec<R> {
    std::thread::scope(|scope| {
        let begin = |place: Place| {
            let work = &work;
            let work = move || Server::start_at(place).map(work);
            (place, Builder::new().name(place.to_string()).spawn_scoped(scope, work).unwrap())
        };
        let (mut results, mut failed) = (Vec::new(), Vec::new());
        for (place, thread) in places.map(begin).collect::<Vec<_>>() {
            match thread.join() {
                Ok(result) => results.extend(result),
                Err(_) => failed.push(place.to_string()),
            }
        }
        assert!(failed.is_empty(), "these have failed: {failed:#?}");
        results
    })
}

/// Returns all places except the places in Java, because Java lacks some interfaces.
pub(crate) fn everywhere() -> impl Iterator<Item = Place> {
    in_rust().chain(in_native())
}

pub(crate) fn in_rust() -> impl Iterator<Item = Place> {
    in_language(Language::Rust)
}

pub(crate) fn in_native() -> impl Iterator<Item = Place> {
    in_language(Language::Native)
}

/// Returns the places in Java. A virtual machine starts slowly, so one server listens on all
/// networks.
pub(crate) fn in_java() -> impl Iterator<Item = Place> {
    [&[][..], &java::NETWORKS].into_iter().map(|bindings| Place { language: Language::Java, bindings })
}

fn in_language(language: Language) -> impl Iterator<Item = Place> {
    std::iter::once(&[][..]).chain(NETWORKS.chunks(1)).map(move |bindings| Place { language, bindings })
}

/// The binding for datagrams. Its servers run dead clients down after a short time.
pub(crate) const DATAGRAMS: &str = "ncadg_ip_udp:127.0.0.1[,rundown=20]";

/// The bindings of servers that are reached over one network only, with the transfer syntax of the
/// calls.
const NETWORKS: [&str; 7] = [
    "ncacn_vi_udp:127.0.0.1",
    "ncacn_ip_tcp:127.0.0.1",
    "ncacn_ip_tcp:127.0.0.1[,transfer=ndr]",
    "ncacn_ip_tcp:127.0.0.1[,transfer=ndr64]",
    "ncacn_ip_tcp:127.0.0.1[,transfer=ndr,security=privacy]",
    "ncalrpc:[,transfer=ndr]",
    DATAGRAMS,
];
