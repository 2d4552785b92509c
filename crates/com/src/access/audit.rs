//! The audit log of refused requests, one line for each. One caller can cause 16 lines at once, and
//! then one line a second.

use super::Caller;
use crate::types::registry;
use obvia_rpc::co::Denial;
use obvia_rpc::security::Authenticated;
use obvia_rpc::uuid::SyntaxId;
use obvia_via::window::Peer;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use windows_core::GUID;

/// The report of a refused request. Its [`Display`](fmt::Display) form is one line for a log,
/// without control characters even if the caller sent some.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The time of the refusal.
    pub time: SystemTime,
    /// The caller that was refused.
    pub caller: Caller,
    /// The refused request.
    pub refused: Refused,
    /// The number of earlier refusals that were not reported because of the limit on the lines for
    /// one caller.
    pub untold: u64,
}

/// A refused request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// A call of a method.
    Call {
        /// The called interface: an interface of an object, or an interface of functions.
        interface: String,
        /// The number of the method in the call. Methods of objects are numbered from 3, after
        /// those of IUnknown. Functions are numbered from 3 in FLAT, and from 0 in NDR. For an
        /// object, 0 means that the caller queried an interface, or passed a reference to the
        /// object as an argument.
        method: u16,
    },
    /// A connection whose client failed to authenticate.
    Entry,
    /// A connection that exceeds the limit on the number of connections.
    Connection,
    /// Memory for a long message that exceeds the limit on such memory. The sender then asks for
    /// less memory. Of several refusals in a row on one connection, only the first is reported.
    Memory,
    /// A proof of identity for this user, which was not checked because of too many wrong proofs.
    Guess(String),
    /// Access to an object exported by a name, or to an interface of functions.
    Name(String),
    /// The activation of a class, or access to its class object.
    Class(GUID),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call { interface, method } => write!(f, "method {method} of {interface}"),
            Self::Entry => f.write_str("a connection without proof of identity"),
            Self::Connection => f.write_str("a connection beyond the limit"),
            Self::Memory => f.write_str("memory for a long message, beyond the limit,"),
            Self::Guess(user) => write!(f, "a proof for the user {} after too many wrong ones", user.escape_debug()),
            Self::Name(name) => write!(f, "the object {}", name.escape_debug()),
            Self::Class(class) => write!(f, "objects of the class {{{class:?}}}"),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { time, caller: Caller { peer, authenticated }, refused, untold } = self;
        write!(f, "{} refused {refused} to {peer}", Utc(*time))?;
        if let Peer::Process { uid, .. } = peer {
            write!(f, " of user {uid}")?;
        }
        if let Some(known) = authenticated {
            let (domain, user) = (known.principal.domain.escape_debug(), known.principal.user.escape_debug());
            write!(f, ", {domain}\\{user} by {}", known.level)?;
        }
        if *untold > 0 { write!(f, ", after {untold} refusals that were not logged") } else { Ok(()) }
    }
}

/// A time in the format `2026-11-22T10:59:36Z`.
struct Utc(SystemTime);

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let (days, second) = (seconds / 86_400, seconds % 86_400);
        // Years begin in March, in eras of 400 years, so that the leap day is the last day of a
        // year. Day 0 is 1 March of the year 0.
        let days = days + 719_468;
        let (era, day) = (days / 146_097, days % 146_097);
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        let year = 400 * era + year + next;
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

type Audit = dyn Fn(&Refusal) + Send + Sync;

static AUDIT: RwLock<Option<Arc<Audit>>> = RwLock::new(None);

/// Sets the function that receives refused requests. The function runs on a thread that serves or
/// accepts connections, or on a thread that makes a call. If one caller is refused again and again,
/// not every refusal is reported; [`Refusal::untold`] counts the refusals that are not reported.
///
/// By default a line is written to the standard error.
pub fn set_audit(audit: impl Fn(&Refusal) + Send + Sync + 'static) {
    let before = AUDIT.write().unwrap_or_else(PoisonError::into_inner).replace(Arc::new(audit));
    // The previous function is dropped after the lock is released, because the drop can run code of
    // the program.
    drop(before);
}

/// Logs a refused request.
pub(super) fn log(caller: Caller, refused: Refused) {
    static LIMITS: LazyLock<Limits> = LazyLock::new(Limits::default);
    let Some(untold) = LIMITS.tell(&caller, Instant::now()) else { return };
    let refusal = Refusal { time: SystemTime::now(), caller, refused, untold };
    let audit = AUDIT.read().unwrap_or_else(PoisonError::into_inner).clone();
    // The caller is refused even if the report fails.
    match audit {
        Some(audit) => drop(catch_unwind(AssertUnwindSafe(|| audit(&refusal)))),
        None => drop(writeln!(std::io::stderr(), "obvia: {refusal}")),
    }
}

/// Logs the denial of a call or of an authentication.
pub(crate) fn log_denial(peer: &Peer, denial: Denial<'_>) {
    let caller = |maker: Option<&Authenticated>| Caller { peer: peer.clone(), authenticated: maker.cloned() };
    match denial {
        Denial::Call { interface, opnum, maker } => {
            let interface = interface.map_or_else(|| "no interface".to_owned(), name_of);
            log(caller(maker), Refused::Call { interface, method: opnum });
        }
        Denial::Proof => log(caller(None), Refused::Entry),
    }
}

/// Logs a connection of this peer that was refused because there are too many connections.
pub(crate) fn log_refused_connection(peer: Peer) {
    log(Caller { peer, authenticated: None }, Refused::Connection);
}

/// Logs that this peer was refused memory for a long message.
pub(crate) fn log_refused_memory(peer: Peer) {
    log(Caller { peer, authenticated: None }, Refused::Memory);
}

/// Logs a refused connection of a host, as [`log_refused_connection`] does.
pub(crate) fn log_refused_host(host: IpAddr) {
    log_refused_connection(Peer::Host(host.to_canonical().to_string()));
}

fn name_of(interface: SyntaxId) -> String {
    let iid = GUID::from_u128(interface.uuid.0);
    registry::find(&iid).map_or_else(|_| format!("{{{iid:?}}}"), |info| info.name.to_owned())
}

/// The greatest number of lines that one caller can cause at once.
const BURST: u32 = 16;
/// The time after which a caller can cause one more line.
const PER_LINE: Duration = Duration::from_secs(1);
/// The number of buckets over which callers are distributed.
const CALLERS: usize = 64;

/// The limits on the lines about each caller.
struct Limits {
    /// Chooses a caller's bucket in a way that callers cannot predict.
    hasher: RandomState,
    buckets: Mutex<[Bucket; CALLERS]>,
}

/// The number of lines that count against the limit for the callers of a bucket (`used`), and the
/// number of lines that were suppressed since the last written line (`untold`).
#[derive(Clone, Copy, Default)]
struct Bucket {
    used: u32,
    /// The time when `used` was last updated. Each second that passes reduces `used` by one.
    filled: Option<Instant>,
    untold: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { hasher: RandomState::new(), buckets: Mutex::new([Bucket::default(); CALLERS]) }
    }
}

impl Limits {
    /// Counts a line about this caller. Returns the number of lines that were suppressed since the
    /// last written line of the caller's bucket; `None` if this line is suppressed, too.
    fn tell(&self, Caller { peer, authenticated }: &Caller, now: Instant) -> Option<u64> {
        let principal = authenticated.as_ref().map(|known| &known.principal);
        // A user can start any number of processes, so all processes of a user share a bucket.
        let number = match peer {
            Peer::Process { uid, .. } => self.hasher.hash_one((uid, principal)),
            Peer::Host(host) => self.hasher.hash_one((host, principal)),
        };
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        buckets[number as usize % CALLERS].take(now)
    }
}

impl Bucket {
    fn take(&mut self, now: Instant) -> Option<u64> {
        let filled = *self.filled.get_or_insert(now);
        let more = now.saturating_duration_since(filled).as_secs() / PER_LINE.as_secs();
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        self.used = self.used.saturating_sub(more);
        if more > 0 || self.used == 0 {
            self.filled = Some(now);
        }
        if self.used == BURST {
            self.untold += 1;
            return None;
        }
        self.used += 1;
        Some(std::mem::take(&mut self.untold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use obvia_rpc::security::{AuthType, Authenticated, Level, Principal};

    fn caller(uid: u32, pid: u32) -> Caller {
        Caller { peer: Peer::Process { pid, uid, serial: pid.into() }, authenticated: None }
    }

    #[test]
    fn audit_lines_have_time_operation_and_caller() {
        let time = UNIX_EPOCH + Duration::from_secs(1_795_345_176);
        let refused = Refused::Call { interface: "ICounter".to_owned(), method: 5 };
        let refusal = Refusal { time, caller: caller(1000, 7), refused, untold: 0 };
        assert_eq!(refusal.to_string(), "2026-11-22T10:59:36Z refused method 5 of ICounter to process 7 of user 1000");
        let principal = Principal { domain: "D\n".to_owned(), user: "an\u{1b}na".to_owned() };
        let authenticated =
            Some(Authenticated { principal: Arc::new(principal), kind: AuthType::NTLM, level: Level::Privacy });
        let caller = Caller { peer: Peer::Host("10.0.0.1".to_owned()), authenticated };
        let refusal = Refusal { time, caller, refused: Refused::Name("a\r\nb".to_owned()), untold: 3 };
        assert_eq!(
            refusal.to_string(),
            "2026-11-22T10:59:36Z refused the object a\\r\\nb to host 10.0.0.1, D\\n\\an\\u{1b}na by privacy, after 3 refusals that were not logged"
        );
    }

    #[test]
    fn refused_connections_are_logged_with_their_host() {
        let caller = Caller { peer: Peer::Host("10.0.0.1".to_owned()), authenticated: None };
        let refusal = Refusal { time: UNIX_EPOCH, caller, refused: Refused::Connection, untold: 0 };
        let line = "1970-01-01T00:00:00Z refused a connection beyond the limit to host 10.0.0.1";
        assert_eq!(refusal.to_string(), line);
    }

    #[test]
    fn audit_times_are_formatted_as_dates() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (68_169_600, "1972-02-29T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (1_767_225_599, "2025-12-31T23:59:59Z"),
        ] {
            assert_eq!(Utc(UNIX_EPOCH + Duration::from_secs(seconds)).to_string(), text);
        }
    }

    #[test]
    fn the_audit_log_limits_lines_per_caller() {
        let (limits, start) = (Limits::default(), Instant::now());
        // Each call comes from another process.
        let lines = (0..1000).filter(|&pid| limits.tell(&caller(1, pid), start).is_some()).count();
        assert_eq!(lines, BURST as usize);
        let others = (2..40).filter(|&uid| limits.tell(&caller(uid, 1), start).is_some()).count();
        assert!(others > 30, "{others} of 38");
    }

    #[test]
    fn suppressed_audit_lines_are_counted_in_the_next_line() {
        let (mut bucket, start) = (Bucket::default(), Instant::now());
        let mut told = |times: u32, now| (0..times).filter_map(|_| bucket.take(now)).collect::<Vec<_>>();
        assert_eq!(told(1000, start), [0; BURST as usize]);
        assert_eq!(told(1, start + PER_LINE / 2), []);
        let later = start + 3 * PER_LINE;
        assert_eq!(told(10, later), [1001 - u64::from(BURST), 0, 0]);
        assert_eq!(told(100, later + 1000 * PER_LINE).len(), BURST as usize);
    }
}
