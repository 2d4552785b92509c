//! The register of the clients of a process, and of the processes that are expected as clients.

use super::Arrival;
use super::known::{Known, Lost, MarkNumber, Source};
use crate::orpc::ClientNumber;
use crate::protocol::place::{Fit, Origin, Place};
use crate::types::hosts::SourceGroup;
use crate::types::processes::have_ended;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::{Duration, Instant};

/// The greatest number of clients with one OXID for each user of this host; also the greatest
/// number of other hosts from which one OXID is claimed. A client beyond the limit enters only if a
/// process is expected at its place. If this process itself has given references to the expected
/// process, the client always enters. Each expected process that only peers have named raises the
/// limit by one.
pub(super) const SAME_OXID_MAX: usize = 16;
/// The greatest number of addresses of one other host from which the same OXID is claimed.
pub(super) const SAME_HOST_MAX: usize = 8;
/// The number of expected processes at which peers can name no further ones. A process counts once
/// for each place at which it is expected; there are at most [`SAME_OXID_MAX`] places for one OXID.
const EXPECTED_MAX: usize = 1 << 14;

/// The time for which references of an expected process are kept while clients at other places
/// claim its OXID. One of these clients may be the expected process, at an address that this
/// process does not know.
pub(super) const STRANGERS_PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// The greatest number of lost clients, in all.
pub(super) const LOST_MAX: usize = 1024;
/// The greatest number of lost clients of one [`SourceGroup`].
pub(super) const LOST_BY_GROUP_MAX: usize = 64;
/// The greatest number of references and states that are kept for all lost clients together: as
/// many interface pointers and states as a single client may have.
const KEPT_MAX: usize = 1 << 17;
/// The greatest number of references and states that are kept for the lost clients of one
/// [`SourceGroup`].
pub(super) const KEPT_BY_GROUP_MAX: usize = KEPT_MAX / 2;

/// The clients, and the processes that are expected as clients.
#[derive(Default)]
pub(super) struct Register {
    pub(super) known: HashMap<ClientNumber, Known>,
    pub(super) expected: HashMap<ClientNumber, Expected>,
    /// The client numbers by OXID.
    // Invariant: each number in `known` or `expected` is here once.
    numbers: HashMap<u64, Vec<ClientNumber>>,
    /// The last number that was used as a client number or a mark number.
    last: u64,
    /// The number of changes. After each change, a search can find another client.
    pub(super) changes: u64,
    /// The lost clients, ordered by the time from which their patience counts.
    pub(super) lost: BTreeSet<(Instant, ClientNumber)>,
}

/// A process that was given references before it has connected.
pub(super) struct Expected {
    pub(super) oxid: u64,
    pub(super) place: Place,
    /// The time at which the process was last given references.
    pub(super) used: Instant,
    /// Whether only peers have given references to the process. If this is true, the process raises
    /// the limits on clients by one. Otherwise clients at its place are admitted regardless of the
    /// limits.
    is_named: bool,
    /// The lost client for which the references of this process are kept, if any. Until that client
    /// ends, no other client gets these references.
    lost: Option<ClientNumber>,
}

/// The error for too many clients of one OXID.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

impl Register {
    /// Returns the client numbers of an OXID.
    fn numbers(&self, oxid: u64) -> impl Iterator<Item = ClientNumber> {
        self.numbers.get(&oxid).into_iter().flatten().copied()
    }

    /// Returns the clients of an OXID with their numbers.
    pub(super) fn of(&self, oxid: u64) -> impl Iterator<Item = (ClientNumber, &Known)> {
        self.numbers(oxid).filter_map(|number| Some((number, self.known.get(&number)?)))
    }

    /// Returns the clients of an OXID that have an admitted connection or are lost, with their
    /// numbers.
    fn entered(&self, oxid: u64) -> impl Iterator<Item = (ClientNumber, &Known)> {
        self.of(oxid).filter(|(_, known)| known.has_entered())
    }

    /// Returns the expected processes of an OXID with their numbers.
    fn expected_of(&self, oxid: u64) -> impl Iterator<Item = (ClientNumber, &Expected)> {
        self.numbers(oxid).filter_map(|number| Some((number, self.expected.get(&number)?)))
    }

    /// Returns the client of an OXID that fits a place best, or the process that is expected there,
    /// if any. Clients that have no admitted connection and are not lost do not count. Among
    /// clients that fit equally well, a connected client is preferred to a lost one, and then the
    /// lowest number is preferred. The process itself usually has a lower number than a stranger,
    /// since a stranger can know the OXID only after the process has used it.
    pub(super) fn at(&self, oxid: u64, place: &Place) -> Option<ClientNumber> {
        let rank = |number, known: &Known| Some((known.fit(place)?, known.lost.is_some(), number));
        let fits = self.entered(oxid).filter_map(|(number, known)| rank(number, known));
        let known = fits.filter(|(fit, ..)| *fit != Fit::OwnHost).min().map(|(.., number)| number);
        let expected = || self.expected_of(oxid).find(|(_, expected)| expected.place == *place);
        known.or_else(|| expected().map(|(number, _)| number))
    }

    /// Returns the client or the process as [`Self::at`] does, for the place to which a link of
    /// this process leads. A client of this host that has connected over a network is found, too.
    pub(super) fn behind(&self, oxid: u64, place: &Place) -> Option<ClientNumber> {
        let is_on_host = |(_, known): &(_, &Known)| known.fit(place) == Some(Fit::OwnHost);
        self.at(oxid, place).or_else(|| self.entered(oxid).find(is_on_host).map(|(number, _)| number))
    }

    /// Returns the OXID of the client or the expected process with a number, if there is one.
    pub(super) fn oxid_of(&self, number: ClientNumber) -> Option<u64> {
        let known = self.known.get(&number).map(|known| known.oxid);
        known.or_else(|| self.expected.get(&number).map(|expected| expected.oxid))
    }

    /// Whether a client is lost.
    pub(super) fn is_lost(&self, number: ClientNumber) -> bool {
        self.known.get(&number).is_some_and(|known| known.lost.is_some())
    }

    /// Whether the references under a number must be kept: the number is that of a client, or of an
    /// expected process that was given references recently.
    pub(super) fn keeps(&self, number: ClientNumber, now: Instant, patience: Duration) -> bool {
        let is_recent = |expected: &Expected| {
            let is_claimed = self.of(expected.oxid).next().is_some();
            let patience = if is_claimed { patience.max(STRANGERS_PATIENCE) } else { patience };
            now.saturating_duration_since(expected.used) < patience
        };
        self.known.contains_key(&number) || self.expected.get(&number).is_some_and(is_recent)
    }

    /// Returns a number that no client has had.
    fn next_number(&mut self, oxid: u64) -> ClientNumber {
        self.last += 1;
        self.changes += 1;
        let number = ClientNumber::new(self.last);
        self.numbers.entry(oxid).or_default().push(number);
        number
    }

    /// Returns the number of the client at a place that a peer has named, or of the process that is
    /// expected there from now on. `None` if too many processes are expected. For a lost client,
    /// returns the number of an expected process instead, whose references expire separately:
    /// otherwise a peer could keep the client's references for ever by passing more references.
    pub(super) fn expect_named(&mut self, oxid: u64, place: &Place) -> Option<ClientNumber> {
        let found = self.at(oxid, place);
        let lost = found.filter(|number| self.is_lost(*number));
        let of_lost = || self.expected_of(oxid).filter(|(_, expected)| lost.is_some() && expected.lost == lost);
        let waiting = of_lost().find(|(_, expected)| expected.place == *place).map(|(number, _)| number);
        let found = if lost.is_some() { waiting } else { found };
        // The first process that is expected in the stead of a lost client does not count towards
        // the limit on expected processes of one OXID.
        let is_first = lost.is_some() && of_lost().next().is_none();
        let is_one_too_many = !is_first && self.expected_of(oxid).count() >= SAME_OXID_MAX;
        let is_full = is_one_too_many || self.expected.len() >= EXPECTED_MAX;
        found.or_else(|| (!is_full).then(|| self.expect_at(oxid, place, lost)))
    }

    /// Returns the number of the client at the place to which a link leads, even if the client is
    /// lost. If there is no client, a process is expected there from now on, and its number is
    /// returned. Records that this client or process is given references.
    pub(super) fn expect_behind(&mut self, oxid: u64, place: &Place) -> ClientNumber {
        let number = self.behind(oxid, place).unwrap_or_else(|| self.expect_at(oxid, place, None));
        self.note_given_here(number)
    }

    /// Records references as [`Self::note_given`] does, when this process itself gives them.
    pub(super) fn note_given_here(&mut self, number: ClientNumber) -> ClientNumber {
        if let Some(expected) = self.expected.get_mut(&number) {
            expected.is_named = false;
        }
        self.note_given(number)
    }

    /// Records that the client or the expected process with this number is given references.
    pub(super) fn note_given(&mut self, number: ClientNumber) -> ClientNumber {
        let now = Instant::now();
        if let Some(expected) = self.expected.get_mut(&number) {
            expected.used = now;
        } else if let Some(known) = self.known.get_mut(&number) {
            known.given = Some(now);
            // If the client is a lost process of this host, the time for which it is kept begins
            // anew.
            let is_process = known.is_process();
            if let Some(lost) = known.lost.as_mut().filter(|_| is_process) {
                self.lost.remove(&(lost.since, number));
                lost.since = now;
                self.lost.insert((now, number));
            }
        }
        number
    }

    fn expect_at(&mut self, oxid: u64, place: &Place, lost: Option<ClientNumber>) -> ClientNumber {
        let number = self.next_number(oxid);
        let (place, used) = (place.clone(), Instant::now());
        self.expected.insert(number, Expected { oxid, place, used, is_named: true, lost });
        number
    }

    /// Whether the limits permit no further client of the group `sources` that claims an OXID.
    /// `expected` is the number of processes that are expected at the client's place because peers
    /// have named them. Each of them raises the limit by one.
    fn is_full(&self, oxid: u64, sources: &SourceGroup, expected: usize) -> bool {
        let is_user = |sources: &SourceGroup| matches!(sources, SourceGroup::User(_));
        let beside = self.of(oxid).filter(|(_, known)| *known.source_group() == *sources).count();
        if is_user(sources) || beside > 0 {
            return beside >= expected + if is_user(sources) { SAME_OXID_MAX } else { SAME_HOST_MAX };
        }
        let hosts: HashSet<_> =
            self.of(oxid).map(|(_, known)| known.source_group()).filter(|sources| !is_user(sources)).collect();
        hosts.len() >= expected + SAME_OXID_MAX
    }

    /// Returns the number of the client to which a connection belongs: the client whose mark the
    /// connection has proved, the client to which the connection belongs without a proof, or a new
    /// client.
    pub(super) fn enter(&mut self, oxid: u64, arrival: &Arrival<'_>) -> Result<ClientNumber, Full> {
        let origin = Origin::of(arrival.peer);
        let proved = self.of(oxid).find(|(_, known)| arrival.proved == Some(known.mark));
        let found = proved.or_else(|| self.of(oxid).find(|(_, known)| known.needs_no_proof(&origin)));
        match found {
            Some((number, _)) => Ok(number),
            None => self.add(oxid, arrival),
        }
    }

    /// Returns the expected processes whose references a connection gets. They are expected at the
    /// connection's source, or their references are kept for `client`. `client` is the client of
    /// the connection; `None` for a new client.
    fn meant(
        &self,
        oxid: u64,
        client: Option<ClientNumber>,
        arrival: &Arrival<'_>,
    ) -> impl Iterator<Item = (ClientNumber, &Expected)> {
        let (origin, local) = (Origin::of(arrival.peer), arrival.local);
        self.expected_of(oxid).filter(move |(_, expected)| match expected.lost {
            Some(lost) => client == Some(lost),
            None => expected.place.admits(&origin, local),
        })
    }

    /// Adds a client.
    fn add(&mut self, oxid: u64, arrival: &Arrival<'_>) -> Result<ClientNumber, Full> {
        let sources = SourceGroup::of(arrival.peer);
        // `named` is `None` if this process itself has given references to one of the expected
        // processes.
        let mut meant = self.meant(oxid, None, arrival);
        let named = meant.try_fold(0, |count, (_, expected)| expected.is_named.then_some(count + 1));
        drop(meant);
        if named.is_some_and(|named| self.is_full(oxid, &sources, named)) {
            return Err(Full);
        }
        let number = self.next_number(oxid);
        let known = Known::new(oxid, MarkNumber(number.get()), sources, Source::of(arrival));
        self.known.insert(number, known);
        Ok(number)
    }

    /// Admits a connection of a client. The client is not lost any more. The client gets the
    /// references of processes that are expected at the connection's source: `merge` moves the
    /// references of their numbers, unless there are too many.
    pub(super) fn admit(
        &mut self,
        number: ClientNumber,
        arrival: &Arrival<'_>,
        merge: &dyn Fn(ClientNumber, ClientNumber) -> bool,
    ) {
        let Some(known) = self.known.get_mut(&number) else { return };
        known.group = arrival.group.cloned();
        let is_first = known.admitted == 0;
        let (oxid, lost) = (known.oxid, known.lost.take());
        let has_moved = known.open(Source::of(arrival));
        if let Some(Lost { since, .. }) = lost {
            self.lost.remove(&(since, number));
        }
        self.changes += u64::from(has_moved || is_first);
        let meant = self.meant(oxid, Some(number), arrival).map(|(other, expected)| (other, expected.used));
        for (other, used) in meant.collect::<Vec<_>>() {
            if merge(other, number) {
                self.remove(other);
                if let Some(known) = self.known.get_mut(&number) {
                    known.given = known.given.max(Some(used));
                }
            }
        }
    }

    /// Gives up each of the clients and expected processes with these numbers, as [`Self::give_up`]
    /// does. Returns the results of `end_client` for each of them.
    pub(super) fn give_up_each<R>(
        &mut self,
        numbers: Vec<ClientNumber>,
        end_client: impl Fn(ClientNumber) -> R,
    ) -> Vec<R> {
        let give_up = |number| {
            self.give_up(number);
            end_client(number)
        };
        numbers.into_iter().map(give_up).collect()
    }

    /// Ends the state of a client or an expected process, and removes it if it has no connection.
    /// Connections that are not admitted keep its client number, and get a new mark.
    pub(super) fn give_up(&mut self, number: ClientNumber) {
        self.free_waiting(number);
        let Some(known) = self.known.get_mut(&number).filter(|known| known.count > 0) else {
            return self.remove(number);
        };
        self.last += 1;
        if let Some(Lost { since, .. }) = known.end(MarkNumber(self.last)) {
            self.lost.remove(&(since, number));
        }
        self.changes += 1;
    }

    /// Ends the reservation of references for a lost client. From now on, any client that is
    /// admitted at the place of the expected process gets the references.
    fn free_waiting(&mut self, lost: ClientNumber) {
        let Some(known) = self.known.get(&lost) else { return };
        for number in self.numbers.get(&known.oxid).into_iter().flatten() {
            if let Some(expected) = self.expected.get_mut(number).filter(|expected| expected.lost == Some(lost)) {
                expected.lost = None;
            }
        }
    }

    /// Removes a client or an expected process.
    pub(super) fn remove(&mut self, number: ClientNumber) {
        let Some(oxid) = self.oxid_of(number) else { return };
        self.changes += 1;
        self.expected.remove(&number);
        if let Some(known) = self.known.remove(&number) {
            if let Some(Lost { since, .. }) = &known.lost {
                self.lost.remove(&(*since, number));
            }
            if let Some(group) = known.group {
                group.shared().forget(oxid);
            }
        }
        if let Entry::Occupied(mut numbers) = self.numbers.entry(oxid) {
            numbers.get_mut().retain(|other| *other != number);
            if numbers.get().is_empty() {
                numbers.remove();
            }
        }
    }

    /// Returns the lost clients that end now: those whose patience is over, and those whose process
    /// has ended. If the process of a lost client has ended, the expected processes whose
    /// references wait for this client end, too.
    pub(super) fn over(&self, now: Instant, patience: Duration) -> Vec<ClientNumber> {
        let process_of = |number| self.known.get(&number)?.lost.as_ref()?.process.as_ref();
        let watched = self.lost.iter().filter_map(|(_, number)| Some((*number, process_of(*number)?)));
        let (numbers, processes): (Vec<_>, Vec<_>) = watched.unzip();
        let ended = numbers.into_iter().zip(have_ended(&processes));
        let ended: HashSet<_> = ended.filter_map(|(number, has_ended)| has_ended.then_some(number)).collect();
        let is_over = |(since, number): &&(Instant, ClientNumber)| *since + patience <= now || ended.contains(number);
        let over = self.lost.iter().filter(is_over).map(|(_, number)| *number);
        let is_ended = |expected: &Expected| expected.lost.is_some_and(|lost| ended.contains(&lost));
        let waiting = self.expected.iter().filter(|(_, expected)| is_ended(expected)).map(|(number, _)| *number);
        over.chain(waiting).collect()
    }

    /// Whether this process watches the process of any lost client, whose end would end the client.
    pub(super) fn awaits_processes(&self) -> bool {
        let mut lost = self.lost.iter().filter_map(|(_, number)| self.known.get(number)?.lost.as_ref());
        lost.any(|lost| lost.process.is_some())
    }

    /// Returns the lost clients beyond the limits. First the limits of each group of sources apply,
    /// and then, to the remaining clients, the limits of all groups together. The clients that
    /// would be kept longest stay. `kept` returns the number of references and states of each
    /// client.
    pub(super) fn surplus(&self, kept: impl Fn(ClientNumber) -> usize) -> Vec<ClientNumber> {
        let (mut of_groups, mut all) = (HashMap::<_, (usize, usize)>::new(), (0, 0));
        let add_exceeds = |sum: &mut (usize, usize), kept, (count_max, kept_max)| {
            *sum = (sum.0 + 1, sum.1.saturating_add(kept));
            sum.0 > count_max || sum.1 > kept_max
        };
        // The surplus clients of a group do not count towards the limits of all groups.
        let is_surplus = |number: &ClientNumber| {
            let (group, kept) = (self.known.get(number).map(Known::source_group), kept(*number));
            add_exceeds(of_groups.entry(group).or_default(), kept, (LOST_BY_GROUP_MAX, KEPT_BY_GROUP_MAX))
                || add_exceeds(&mut all, kept, (LOST_MAX, KEPT_MAX))
        };
        let mut surplus: Vec<_> = self.lost.iter().rev().map(|(_, number)| *number).filter(is_surplus).collect();
        surplus.reverse();
        surplus
    }
}
