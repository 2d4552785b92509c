//! Client and server under callgrind. Each side writes two files for each case: one for the first
//! calls, and one for the counted calls.

use super::callgrind::Profile;
use super::read;
use crate::outcome::{Outcome, Problem, entries};
use crate::program::Program;
use crate::server::{Names, Server};
use std::fs;
use std::path::Path;

/// The number of a case's uncounted first calls, which set up lasting state.
const FIRST: u32 = 500;
/// The number of a case's counted calls.
pub(super) const COUNTED: u32 = 1000;
/// The client's function that calls the methods.
pub(super) const ENTRY: &str = "entry_client";

/// The common part of the names of an object's vtable functions in Rust.
pub(super) const ADAPTER: &str = "_Vtbl::new::";

/// One side of a call, and the functions that control counting. Functions are given by the ends of
/// their names, because names in Rust begin with paths.
pub(super) struct Side {
    pub(super) name: &'static str,
    /// The function that starts counting on entry and stops it on return.
    entry: Option<&'static str>,
    /// The functions that hand a call over to the transport or wait for a call, in Rust and in C.
    /// Counting stops on entry to them, and resumes on return.
    hand_overs: &'static [&'static str],
    /// Parts of the names, in Rust or C++, of functions that only one thread executes: the thread
    /// that makes or takes the calls.
    own: &'static [&'static str],
}

/// Both sides. The client is counted while it executes [`ENTRY`]. On the server, the last uncounted
/// call starts the counts of its thread, and the last counted call stops and writes them.
const SIDES: [Side; 2] = [
    Side {
        name: "client",
        entry: Some(ENTRY),
        hand_overs: &["channels::Calls::exchange", "obvia_exchange"],
        own: &[ENTRY],
    },
    Side {
        name: "server",
        entry: None,
        hand_overs: &["serve::next_call", "serve::ServerCall::publish", "obvia_reply_and_wait"],
        own: &[ADAPTER, "::Stubs::", "IStubs_Impl>::"],
    },
];

impl Side {
    /// Returns a program under callgrind. Callgrind numbers the output files.
    fn of(&self, binary: &Path, folder: &Path) -> Program {
        let valgrind = Program::new("valgrind", &["--quiet", "--tool=callgrind", "--dump-instr=yes"])
            .with(&["--collect-atstart=no", "--separate-threads=yes"])
            .argument(format!("--callgrind-out-file={}", folder.join(self.name).display()));
        let toggles = self.entry.iter().chain(self.hand_overs);
        let toggles = toggles.map(|function| format!("--toggle-collect=*{function}"));
        toggles.fold(valgrind, Program::argument).argument(binary.display().to_string())
    }

    /// Reads the counts of a case by its number, from 1 on. Exactly one thread must have counts of
    /// the case.
    fn profile(&self, folder: &Path, number: usize, case: &str) -> Outcome<Profile> {
        let beginning = format!("{}.{}-", self.name, 2 * number);
        let mut found = None;
        for path in entries(folder)? {
            if !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&beginning)) {
                continue;
            }
            let wrong = |why: String| Problem::Failed(format!("{}: {why}", path.display()));
            let profile = Profile::parse(&read(&path)?).map_err(wrong)?;
            // The waits of other threads are not part of a call.
            if profile.own(|(_, function)| self.is_own(function)) == 0 {
                continue;
            }
            self.check(&profile, case).map_err(wrong)?;
            if found.replace(profile).is_some() {
                return Err(wrong("a second thread has calls of the case".to_owned()));
            }
        }
        found.ok_or_else(|| Problem::Failed(format!("the {} has no counts of {case}", self.name)))
    }

    /// Checks that a profile belongs to a case, contains no hand-over, and has all counted calls.
    fn check(&self, profile: &Profile, case: &str) -> Result<(), String> {
        if profile.name != case {
            return Err(format!("has the counts of {:?}, not of {case:?}", profile.name));
        }
        let is_hand_over = |function: &str| self.hand_overs.iter().any(|end| function.ends_with(end));
        let count = profile.own(|(_, function)| is_hand_over(function));
        if count != 0 {
            return Err(format!("has {count} instructions of a hand-over"));
        }
        // On the server, the functions in `own` are the methods and their adapters.
        let methods = profile.functions.iter().filter(|((_, name), _)| self.entry.is_none() && self.is_own(name));
        // The first instruction of a function runs once for each call.
        match methods.filter_map(|(_, method)| method.own.values().next()).find(|calls| **calls != i64::from(COUNTED)) {
            Some(calls) => Err(format!("has {calls} calls instead of {COUNTED}")),
            None => Ok(()),
        }
    }

    fn is_own(&self, function: &str) -> bool {
        self.own.iter().any(|part| function.contains(part))
    }
}

/// A case: a method with the number of its arrays' elements.
type Case = (&'static str, u32);
/// The client's and the server's counts of a case.
type Counts = [(&'static str, Profile); 2];

/// The number of consecutive measurements without usable counts for any case, after which counting
/// fails.
const ATTEMPTS: u32 = 5;

/// Makes the calls of all cases, and returns the counts of each. Measures a case again if its
/// counts cannot be used. On a busy machine a client can be silent for so long that the server's
/// connection goes on in another thread. The counts of that case are then in two threads, and
/// include hand-overs.
pub(super) fn count(binary: &Path, folder: &Path, cases: &[Case]) -> Outcome<Vec<Counts>> {
    let mut counts = Vec::new();
    let mut attempts = 0;
    while counts.len() < cases.len() {
        let before = counts.len();
        make_calls(binary, folder, &cases[before..])?;
        let wrong = read_counts(folder, &cases[before..], &mut counts);
        attempts = if counts.len() == before { attempts + 1 } else { 0 };
        match wrong {
            Err(why) if attempts < ATTEMPTS => println!("    {why}; counting again"),
            outcome => outcome?,
        }
    }
    Ok(counts)
}

/// Makes the calls of all cases under callgrind, which writes the counts to files of the folder.
fn make_calls(binary: &Path, folder: &Path, cases: &[Case]) -> Outcome {
    // Files of an earlier measurement must not be read.
    for path in entries(folder)? {
        fs::remove_file(&path).map_err(|error| Problem::at(&path, &error))?;
    }
    let [client, server] = SIDES;
    let names = Names::new()?;
    let plan = [FIRST.to_string(), COUNTED.to_string()];
    let program = |side: &Side, command: &str| {
        let program = names.see(side.of(binary, folder)).with(&[command, "icount"]);
        plan.iter().fold(program, Program::argument)
    };
    let mut serving = Server::start(&program(&server, "serve"))?;
    let named = cases.iter().map(|(method, words)| format!("{method}:{words}"));
    named.fold(program(&client, "call"), Program::argument).read()?;
    serving.end()
}

/// Adds the counts of the cases before the first case with wrong counts.
fn read_counts(folder: &Path, cases: &[Case], counts: &mut Vec<Counts>) -> Outcome {
    let [client, server] = SIDES;
    for (number, (method, _)) in (1..).zip(cases) {
        let of = |side: &Side| Ok((side.name, side.profile(folder, number, method)?));
        counts.push([of(&client)?, of(&server)?]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{COUNTED, SIDES};
    use crate::icount::callgrind::Profile;
    use crate::outcome::Problem;
    use crate::temporary::Folder;
    use std::fs;

    /// Returns a profile of the given functions, each of which executes one instruction in each
    /// call.
    fn text(case: &str, functions: &[&str]) -> String {
        let begin = format!("desc: Trigger: Client Request: {case}\npositions: instr line\nevents: Ir\nob=(1) p\n");
        functions
            .iter()
            .zip(1..)
            .fold(begin, |text, (name, id)| format!("{text}fn=({id}) {name}\n0x{id}0 1 {COUNTED}\n"))
    }

    #[test]
    fn instructions_of_the_connection_hand_over_are_not_counted() {
        let check = |functions: &[&str]| SIDES[1].check(&Profile::parse(&text("null", functions)).unwrap(), "null");
        assert_eq!(check(&["stub", "p::serve::next"]), Ok(()));
        assert_eq!(check(&["stub", "p::serve::next_call"]).unwrap_err(), "has 1000 instructions of a hand-over");
        assert_eq!(check(&["obvia_reply_and_wait"]).unwrap_err(), "has 1000 instructions of a hand-over");
    }

    #[test]
    fn only_the_serving_thread_is_counted() {
        let folder = Folder::new().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let profile = |number| SIDES[1].profile(folder.path(), number, "null");
        // The thread of another connection has polled, as often as the machine's load permitted.
        write("server.2-02", &text("null", &["p::serve::next_call", "p::Rx::sleep"]));
        assert!(profile(1).is_err());
        write("server.2-05", &text("null", &["stub", "(anonymous namespace)::Stubs::null()"]));
        write("server.1-05", &text("first", &["(anonymous namespace)::Stubs::null()"]));
        write("server.22-05", &text("null", &["(anonymous namespace)::Stubs::null()"]));
        write("client.2-01", &text("null", &["entry_client"]));
        assert_eq!(profile(1).unwrap().own(|_| true), 2 * i64::from(COUNTED));
        write("server.2-06", &text("null", &["p::IStubs_Vtbl::new::null"]));
        assert!(profile(1).is_err());
        write("server.4-05", &text("pfs_open", &["p::IStubs_Vtbl::new::pfs_open"]));
        assert!(profile(2).is_err());
        // The connection has moved to another thread, where the method of the last call starts the
        // counts.
        write("server.6-05", &text("null", &["p::IStubs_Vtbl::new::null"]));
        assert!(profile(3).is_ok());
        write("server.6-06", &text("null", &["<p::Stubs_Impl as p::IStubs_Impl>::null", "p::serve::next_call"]));
        let Err(Problem::Failed(why)) = profile(3) else { panic!("the counts are accepted") };
        assert!(why.ends_with("server.6-06: has 1000 instructions of a hand-over"), "{why}");
        // The connection has moved twice, the second time to a thread that has the number of its
        // first thread.
        write("server.8-05", &text("null", &["p::IStubs_Vtbl::new::null"]).replace("1 1000", "1 990"));
        let Err(Problem::Failed(why)) = profile(4) else { panic!("the counts are accepted") };
        assert!(why.ends_with("server.8-05: has 990 calls instead of 1000"), "{why}");
    }
}
