//! The requests that a listener knows: those that are being answered, whose number is limited, and
//! the last ones that were answered. All of them have come from proved addresses.

use super::TOKEN_LIFETIME;
use crate::host::Host;
use crate::spi::Revocation;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The maximum number of requests of one host that are being answered. A network of IPv6 with a
/// prefix of 64 bits counts as a host, because a host may use all of its addresses.
pub(crate) const PENDING_OF_HOST_MAX: usize = 128;
/// The maximum number of requests of all hosts that are being answered.
pub(super) const PENDING_MAX: usize = 256;
/// The time after which a request yields its place to a new one, if no place is free.
pub(crate) const YIELDS_AFTER: Duration = Duration::from_millis(750);
/// Half of the maximum number of answered requests that are remembered.
const ANSWERED_MAX: usize = 2048;

/// The reasons that peers are given for a refusal.
pub(crate) const TOO_MANY_OF_HOST: &str = "too many connections are being made from this host";
const TOO_MANY: &str = "too many connections are being made to this server";

/// The source of a request, and the connection id that the peer has chosen.
pub(super) type RequestName = (SocketAddr, u64);

/// The requests of a listener.
#[derive(Debug, Default)]
pub(super) struct Requests {
    pending: HashMap<RequestName, Pending>,
    // The answered requests, with their rejections. New ones enter the first table. When the
    // first table is full, or after `TOKEN_LIFETIME`, it replaces the second.
    answered: [HashMap<RequestName, Option<Arc<[u8]>>>; 2],
    turned: Option<Instant>,
}

/// A request that is being answered.
#[derive(Debug)]
struct Pending {
    host: Host,
    began: Instant,
    revocation: Arc<Revocation>,
}

/// The treatment of a request.
#[derive(Debug)]
pub(super) enum Treatment {
    /// The request is to be answered, unless it has to yield meanwhile.
    Answer(Arc<Revocation>),
    /// The request repeats an earlier one. `Some` has the rejection of the earlier one.
    Repeat(Option<Arc<[u8]>>),
    /// The request is refused for this reason, and not remembered.
    Refuse(&'static str),
}

impl Requests {
    /// Records a request.
    pub(super) fn arrived(&mut self, now: Instant, name: RequestName) -> Treatment {
        if self.pending.contains_key(&name) {
            return Treatment::Repeat(None);
        }
        if let Some(rejection) = self.answered.iter().find_map(|answered| answered.get(&name)) {
            return Treatment::Repeat(rejection.clone());
        }
        let host = Host::from(name.0.ip()).counted();
        if let Err(why) = self.make_place(now, host) {
            return Treatment::Refuse(why);
        }
        let revocation = Arc::<Revocation>::default();
        self.pending.insert(name, Pending { host, began: now, revocation: Arc::clone(&revocation) });
        Treatment::Answer(revocation)
    }

    /// Records the answer to a request: its rejection, or a connection.
    pub(super) fn answered(&mut self, now: Instant, name: RequestName, rejection: Option<Arc<[u8]>>) {
        self.pending.remove(&name);
        let age = now.saturating_duration_since(*self.turned.get_or_insert(now));
        if age >= TOKEN_LIFETIME || self.answered[0].len() >= ANSWERED_MAX {
            self.answered[1] = std::mem::take(&mut self.answered[0]);
            self.turned = Some(now);
        }
        self.answered[0].insert(name, rejection);
    }

    /// Makes a place for a request of this host. If no place is free, an older request yields its
    /// place.
    fn make_place(&mut self, now: Instant, host: Host) -> Result<(), &'static str> {
        let is_host_full = self.pending.values().filter(|pending| pending.host == host).count() >= PENDING_OF_HOST_MAX;
        if !is_host_full && self.pending.len() < PENDING_MAX {
            return Ok(());
        }
        let yields = |pending: &Pending| {
            (!is_host_full || pending.host == host) && now.saturating_duration_since(pending.began) >= YIELDS_AFTER
        };
        let why = if is_host_full { TOO_MANY_OF_HOST } else { TOO_MANY };
        let old = self.pending.iter().filter(|(_, pending)| yields(pending));
        let oldest = old.min_by_key(|(_, pending)| pending.began);
        let (&name, pending) = oldest.ok_or(why)?;
        pending.revocation.revoke_because(why);
        self.answered(now, name, None);
        Ok(())
    }

    /// Returns the number of requests that are being answered or are remembered.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.pending.len() + self.answered.iter().map(HashMap::len).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(host: &str, count: u64) -> impl Iterator<Item = RequestName> {
        let ip = host.parse::<std::net::IpAddr>().unwrap();
        (1..=count).map(move |number| (SocketAddr::new(ip, 1000), number))
    }

    fn is_answered(treatment: &Treatment) -> bool {
        matches!(treatment, Treatment::Answer(_))
    }

    #[test]
    fn repeated_requests_are_recognized_while_their_tokens_last() {
        let (mut requests, now) = (Requests::default(), Instant::now());
        let [accepted, rejected] = [1, 2].map(|number| (SocketAddr::from(([10, 0, 0, 1], 7)), number));
        assert!(is_answered(&requests.arrived(now, accepted)) && is_answered(&requests.arrived(now, rejected)));
        assert!(matches!(requests.arrived(now, accepted), Treatment::Repeat(None)));
        requests.answered(now, accepted, None);
        requests.answered(now, rejected, Some([5].as_slice().into()));
        let other = (SocketAddr::from(([10, 0, 0, 1], 8)), 1);
        assert!(is_answered(&requests.arrived(now, other)), "the port is part of the source");
        for later in [now, now + TOKEN_LIFETIME] {
            requests.answered(later, other, None);
            assert!(matches!(requests.arrived(later, accepted), Treatment::Repeat(None)));
            let repeated = requests.arrived(later, rejected);
            assert!(matches!(&repeated, Treatment::Repeat(Some(bytes)) if **bytes == [5]), "{repeated:?}");
        }
        requests.answered(now + 2 * TOKEN_LIFETIME, other, None);
        assert!(is_answered(&requests.arrived(now + 2 * TOKEN_LIFETIME, accepted)));
    }

    #[test]
    fn answered_requests_are_limited() {
        let (mut requests, now) = (Requests::default(), Instant::now());
        for name in names("10.0.0.1", 5 * ANSWERED_MAX as u64) {
            assert!(is_answered(&requests.arrived(now, name)));
            requests.answered(now, name, None);
        }
        assert!(requests.pending.is_empty());
        assert!(requests.answered.iter().all(|answered| answered.len() <= ANSWERED_MAX));
    }

    #[test]
    fn requests_being_answered_are_limited_by_host_and_by_network_of_ipv6() {
        let (mut requests, now) = (Requests::default(), Instant::now());
        for (number, name) in names("10.0.0.1", PENDING_OF_HOST_MAX as u64 + 1).enumerate() {
            let treatment = requests.arrived(now, name);
            assert_eq!(is_answered(&treatment), number < PENDING_OF_HOST_MAX, "{number}: {treatment:?}");
        }
        let one_more = (SocketAddr::from(([10, 0, 0, 1], 2)), 1);
        let refused = requests.arrived(now, one_more);
        assert!(matches!(refused, Treatment::Refuse(TOO_MANY_OF_HOST)), "{refused:?}");
        for number in 0..PENDING_OF_HOST_MAX as u64 + 1 {
            let address = format!("[2001:db8::{number:x}:1]:9").parse().unwrap();
            assert_eq!(is_answered(&requests.arrived(now, (address, 1))), number < PENDING_OF_HOST_MAX as u64);
        }
        let other = ("[2001:db8:0:1::1]:9".parse().unwrap(), 1);
        let refused = requests.arrived(now, other);
        assert!(matches!(refused, Treatment::Refuse(TOO_MANY)), "{refused:?}");
        // An answer frees a place at once.
        requests.answered(now, (SocketAddr::from(([10, 0, 0, 1], 1000)), 1), None);
        assert!(is_answered(&requests.arrived(now, other)));
    }

    #[test]
    fn old_requests_yield_their_places_and_young_ones_keep_them() {
        let (mut requests, now) = (Requests::default(), Instant::now());
        let revocations: Vec<_> = names("10.0.0.1", PENDING_OF_HOST_MAX as u64)
            .map(|name| match requests.arrived(now, name) {
                Treatment::Answer(revocation) => revocation,
                other => panic!("{other:?}"),
            })
            .collect();
        let revoked = || revocations.iter().filter_map(|revocation| revocation.reason()).collect::<Vec<_>>();
        let late = (SocketAddr::from(([10, 0, 0, 1], 1)), 1);
        let soon = now + YIELDS_AFTER - Duration::from_millis(1);
        assert!(matches!(requests.arrived(soon, late), Treatment::Refuse(TOO_MANY_OF_HOST)));
        assert!(revoked().is_empty());
        // A host without free places takes no place from another host.
        assert!(is_answered(&requests.arrived(now + YIELDS_AFTER, (SocketAddr::from(([10, 0, 0, 2], 1)), 1))));
        assert!(revoked().is_empty());
        assert!(is_answered(&requests.arrived(now + YIELDS_AFTER, late)));
        assert_eq!(revoked(), [TOO_MANY_OF_HOST]);
        assert_eq!(requests.pending.len(), PENDING_OF_HOST_MAX + 1);
    }
}
