//! The resources and the activity of a process, from /proc.

use crate::Error;
use std::time::Duration;

/// The unit of processor time in /proc/PID/stat, which is the same on all systems: USER_HZ.
const TICK: Duration = Duration::from_millis(10);
/// The beginning of the names that segments and regions have in /proc/PID/maps.
const SEGMENT: &str = "/memfd:obvia";
/// The names of two kinds of threads: those that serve new connections, and those that serve
/// connections that were parked.
const SERVING: &str = "obvia-serve";
const POOL: &str = "obvia-pool";
/// The number of threads named [`POOL`] that wait for parked connections instead of serving one.
const WAITING: u64 = 2;

/// The resources that a process has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    /// The proportional set size: memory that several processes share counts in equal parts for
    /// each of them. Files do not count, because the clients' processes run the same program.
    pub(super) memory_kib: u64,
    pub(super) descriptors: u64,
    pub(super) segments: u64,
    pub(super) threads: u64,
}

impl Usage {
    pub(super) fn of(process: u32) -> Result<Self, Error> {
        let rollup = read(process, "smaps_rollup")?;
        Ok(Self {
            memory_kib: ["Pss_Anon:", "Pss_Shmem:"].iter().map(|name| number(field(&rollup, name))).sum(),
            descriptors: entries(process, "fd")?.count() as u64,
            segments: read(process, "maps")?.lines().filter(|line| line.contains(SEGMENT)).count() as u64,
            threads: entries(process, "task")?.count() as u64,
        })
    }

    /// Describes the resources, apart from memory, that the process has in addition to those in
    /// `before`.
    pub(super) fn beyond(&self, before: &Self) -> Vec<String> {
        let counts = [
            ("descriptors", self.descriptors, before.descriptors),
            ("mappings", self.segments, before.segments),
            ("threads", self.threads, before.threads),
        ];
        let more = counts.iter().filter(|(_, now, before)| now > before);
        more.map(|(what, now, before)| format!("{} {what} of the server", now - before)).collect()
    }
}

/// The activity of a process since its start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Activity {
    pub(super) threads: u64,
    /// The number of threads that serve a connection.
    pub(super) serving: u64,
    /// The number of times that the existing threads have slept (`voluntary_ctxt_switches`).
    pub(super) wakeups: u64,
    /// The processor time, including the time of ended threads.
    pub(super) processor: Duration,
}

impl Activity {
    pub(super) fn of(process: u32) -> Result<Self, Error> {
        let stat = read(process, "stat")?;
        // The name of the program may contain spaces and ends with the last parenthesis.
        let fields: Vec<_> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |index: usize| number(fields.get(index).copied());
        let processor = TICK * (ticks(11) + ticks(12)) as u32;
        let (mut activity, mut pool) = (Self { threads: 0, serving: 0, wakeups: 0, processor }, 0_u64);
        for thread in entries(process, "task")? {
            // The thread may have ended since the folder was read.
            let status = std::fs::read_to_string(thread.join("status")).unwrap_or_default();
            activity.wakeups += number(field(&status, "voluntary_ctxt_switches:"));
            activity.threads += 1;
            let name = field(&status, "Name:");
            activity.serving += u64::from(name == Some(SERVING));
            pool += u64::from(name == Some(POOL));
        }
        activity.serving += pool.saturating_sub(WAITING);
        Ok(activity)
    }
}

fn read(process: u32, file: &str) -> Result<String, Error> {
    std::fs::read_to_string(format!("/proc/{process}/{file}")).map_err(Error::system("reading a process's resources"))
}

fn entries(process: u32, folder: &str) -> Result<impl Iterator<Item = std::path::PathBuf> + use<>, Error> {
    let entries = std::fs::read_dir(format!("/proc/{process}/{folder}"));
    Ok(entries.map_err(Error::system("reading a process's resources"))?.filter_map(|entry| Some(entry.ok()?.path())))
}

/// Returns the first word of the line that begins with `name`.
pub(super) fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()
}

fn number(word: Option<&str>) -> u64 {
    word.and_then(|word| word.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn a_process_has_more_while_it_has_more_open_files_and_no_more_afterwards() {
        let own = std::process::id();
        let before = Usage::of(own).unwrap();
        let files: Vec<_> = (0..1000).map(|_| File::open("/proc/self/exe").unwrap()).collect();
        let with = Usage::of(own).unwrap();
        assert!(with.descriptors >= before.descriptors + 900, "{with:?} {before:?}");
        assert!(with.beyond(&before)[0].ends_with(" descriptors of the server"), "{:?}", with.beyond(&before));
        drop(files);
        assert_eq!(before.beyond(&with), [""; 0]);
        assert!(before.memory_kib > 100 && before.threads > 0);
    }

    #[test]
    fn threads_that_serve_are_told_from_those_that_wait_for_parked_connections() {
        let serving = || Activity::of(std::process::id()).unwrap().serving;
        let before = serving();
        let start = |name: &str| {
            let (end, ended) = std::sync::mpsc::channel::<()>();
            let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || ended.recv()).unwrap();
            (end, thread)
        };
        let threads = [SERVING, POOL, POOL, POOL].map(start);
        ground::until("two threads serve", || serving() == before + 2);
        for (end, thread) in threads {
            drop(end);
            thread.join().unwrap().unwrap_err();
        }
        ground::until("none serves", || serving() == before);
    }

    #[test]
    fn a_process_that_sleeps_wakes_and_one_that_computes_takes_time() {
        let own = std::process::id();
        let before = Activity::of(own).unwrap();
        ground::until("the process has slept and computed", || {
            std::thread::sleep(Duration::from_millis(1));
            let now = Activity::of(own).unwrap();
            now.wakeups >= before.wakeups + 10 && now.processor > before.processor
        });
    }
}
