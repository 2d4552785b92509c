//! The simulated network: wires between ends, and a virtual clock that advances when every end is
//! idle.

mod trial_hooks;

use crate::Error;
use crate::reliable::Link;
use crate::sync::lock;
use crate::wrap::{Capture, Channel, Conditions, Counts, Ends};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use trial_hooks::{TrialHooks, describe, fate};

/// A network. Clones refer to the same network.
#[derive(Clone, Debug)]
pub(super) struct Net {
    shared: Arc<Mutex<State>>,
}

/// The way by which the clock advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    /// The caller of [`Net::advance`] advances the clock.
    ByHand,
    /// The clock advances by itself when all attached ends have settled. The value is its maximum
    /// speed relative to real time.
    Settling(u32),
}

#[derive(Debug)]
struct State {
    clock: Clock,
    now: Duration,
    // The real time of the clock's last advance.
    moved: Instant,
    wires: BTreeMap<u64, Wire>,
    next_wire: u64,
    // The number of attached ends that have not settled.
    busy: usize,
    dead: Vec<usize>,
    past: Counts,
    capture: Option<Capture>,
    trial_hooks: TrialHooks,
}

/// Two ends, and the datagrams on their way. Channel 0 begins at end 0.
#[derive(Debug)]
struct Wire {
    nics: [usize; 2],
    channels: [Channel; 2],
    ends: [End; 2],
    // Whether one of the wire's NICs was killed. The wire then stays cut, even when the NIC is
    // restarted.
    is_dead: bool,
}

#[derive(Debug, Default)]
struct End {
    stage: Stage,
    // The time by which the end's user wants to be called.
    due: Option<Duration>,
    bell: Option<Arc<OwnedFd>>,
    // The datagram that answers every datagram to this end, after the end's user has gone: see
    // [`SimLink::answer_always`].
    answer: Option<Box<[u8]>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// The end has no user yet. Datagrams wait.
    #[default]
    Waiting,
    /// The end has a user that may have work to do.
    Busy,
    /// The end has a user that has done everything and waits.
    Settled,
    /// The end will never have a user again.
    Gone,
}

/// One end of a wire.
#[derive(Debug)]
pub(super) struct SimLink {
    net: Net,
    wire: u64,
    end: usize,
    bell: Arc<OwnedFd>,
    mtu: usize,
    peer: String,
}

impl Net {
    pub(super) fn new(clock: Clock) -> Self {
        let state = State {
            clock,
            now: Duration::ZERO,
            moved: Instant::now(),
            wires: BTreeMap::new(),
            next_wire: 0,
            busy: 0,
            dead: Vec::new(),
            past: Counts::default(),
            capture: None,
            trial_hooks: TrialHooks::default(),
        };
        Self { shared: Arc::new(Mutex::new(state)) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.shared)
    }

    /// Returns the virtual time since the network was made.
    pub(super) fn now(&self) -> Duration {
        self.state().now
    }

    pub(super) fn capture(&self, capture: Capture) {
        self.state().capture = Some(capture);
    }

    /// Lays a wire between two NICs. `conditions` are those of datagrams from end 0 and from end 1.
    ///
    /// # Errors
    ///
    /// An error of the system when the system has no file descriptor left.
    pub(super) fn wire(
        &self,
        nics: [usize; 2],
        conditions: [Conditions; 2],
        mtu: usize,
    ) -> Result<[SimLink; 2], Error> {
        let bell = || {
            let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
            eventfd(0, flags).map(Arc::new).map_err(Error::system("making an event counter"))
        };
        let bells = [bell()?, bell()?];
        let mut state = self.state();
        let wire = state.next_wire;
        state.next_wire += 1;
        let [there, back] = conditions;
        let channels = [Channel::new(there, 2 * wire), Channel::new(back, 2 * wire + 1)];
        let ends = bells.clone().map(|bell| End { bell: Some(bell), ..End::default() });
        state.wires.insert(wire, Wire { nics, channels, ends, is_dead: false });
        drop(state);
        let mut end = 0;
        Ok(bells.map(|bell| {
            let peer = format!("nic {} by wire {wire}", nics[1 - end]);
            end += 1;
            SimLink { net: self.clone(), wire, end: end - 1, bell, mtu, peer }
        }))
    }

    /// Returns the time of the next event: the arrival of a datagram, or the time by which the user
    /// of a wire's end wants to be called. `None` when no event is left.
    pub(super) fn next(&self) -> Option<Duration> {
        self.state().next()
    }

    /// Advances the clock to the next event. Returns `false` when no event is left.
    #[cfg(test)]
    pub(super) fn advance(&self) -> bool {
        let mut state = self.state();
        let Some(next) = state.next() else { return false };
        state.advance(next);
        true
    }

    /// Advances the clock to a time at which the caller has an event of its own.
    pub(super) fn advance_to(&self, time: Duration) {
        let mut state = self.state();
        let time = time.max(state.now);
        state.advance(time);
    }

    /// Kills a NIC: no datagram gets through on its existing and future wires.
    pub(super) fn kill(&self, nic: usize) {
        let mut state = self.state();
        if !state.dead.contains(&nic) {
            state.dead.push(nic);
        }
        for wire in state.wires.values_mut().filter(|wire| wire.nics.contains(&nic)) {
            wire.is_dead = true;
            wire.channels.iter_mut().for_each(|channel| {
                channel.set_cut(true);
                channel.clear();
            });
        }
    }

    /// Lets a killed NIC have new wires. Its earlier wires stay dead.
    pub(super) fn restart(&self, nic: usize) {
        self.state().dead.retain(|dead| *dead != nic);
    }

    pub(super) fn is_dead(&self, nic: usize) -> bool {
        self.state().dead.contains(&nic)
    }

    /// Cuts or restores all wires between two NICs.
    pub(super) fn set_cut(&self, nics: [usize; 2], is_cut: bool) {
        let other = [nics[1], nics[0]];
        let mut state = self.state();
        for wire in state.wires.values_mut().filter(|wire| wire.nics == nics || wire.nics == other) {
            wire.channels.iter_mut().for_each(|channel| channel.set_cut(is_cut || wire.is_dead));
        }
    }

    /// Sets the conditions of all wires, in both directions.
    pub(super) fn set_conditions(&self, conditions: &Conditions) {
        for channel in self.state().wires.values_mut().flat_map(|wire| &mut wire.channels) {
            channel.set_conditions(conditions.clone());
        }
    }

    /// Returns the counts of all datagrams.
    pub(super) fn counts(&self) -> Counts {
        let state = self.state();
        let all = state.wires.values().flat_map(|wire| &wire.channels).map(Channel::counts);
        all.fold(state.past, Counts::plus)
    }
}

impl State {
    fn next(&self) -> Option<Duration> {
        let of_wire = |wire: &Wire| (0..2).filter_map(|end| wire.next(end)).min();
        let next = self.wires.values().filter_map(of_wire).min()?;
        Some(next.max(self.now))
    }

    fn advance(&mut self, time: Duration) {
        self.now = time;
        self.moved = Instant::now();
        for wire in self.wires.values_mut() {
            for end in 0..2 {
                wire.reply(end, time);
                if wire.ends[end].stage == Stage::Settled && wire.next(end).is_some_and(|next| next <= time) {
                    wire.ends[end].stage = Stage::Busy;
                    self.busy += 1;
                    wire.ends[end].ring();
                }
            }
        }
    }

    /// Returns the real time from which the clock may advance, and the virtual time to which it
    /// advances. `None` while an end has work to do, or when no event is left.
    fn may_move(&self) -> Option<(Instant, Duration)> {
        let Clock::Settling(speed) = self.clock else { return None };
        if self.busy > 0 {
            return None;
        }
        let next = self.next()?;
        Some((self.moved + (next - self.now) / speed.max(1), next))
    }

    /// Advances the clock if all attached ends have settled and enough real time has passed.
    fn settle(&mut self) {
        if let Some((allowed, next)) = self.may_move()
            && Instant::now() >= allowed
        {
            self.advance(next);
        }
    }

    /// Handles the detachment of an end for which the clock may have waited. Sleeping users have
    /// computed the length of their sleep with that end attached, so they are woken.
    fn handle_detachment(&mut self) {
        self.settle();
        if self.busy == 0 && self.clock != Clock::ByHand {
            let ends = self.wires.values().flat_map(|wire| &wire.ends);
            ends.filter(|end| end.stage == Stage::Settled).for_each(End::ring);
        }
    }

    fn end(&mut self, wire: u64, end: usize) -> Option<&mut End> {
        self.wires.get_mut(&wire).map(|wire| &mut wire.ends[end])
    }

    fn set_stage(&mut self, wire: u64, end: usize, stage: Stage) {
        let Some(end) = self.end(wire, end) else { return };
        let before = std::mem::replace(&mut end.stage, stage);
        self.busy -= usize::from(before == Stage::Busy);
        self.busy += usize::from(stage == Stage::Busy);
    }
}

impl Wire {
    /// Returns the time of an end's next event, if there is one.
    fn next(&self, end: usize) -> Option<Duration> {
        let arrives = self.channels[1 - end].due();
        match self.ends[end].stage {
            Stage::Busy | Stage::Settled => [arrives, self.ends[end].due].into_iter().flatten().min(),
            Stage::Gone if self.ends[end].answer.is_some() => arrives,
            Stage::Waiting | Stage::Gone => None,
        }
    }

    /// Sends an end's standing answer for each datagram that has arrived at the end. If the end has
    /// no standing answer, drops the datagrams. Has no effect while the end may get a user.
    fn reply(&mut self, end: usize, now: Duration) {
        if self.ends[end].stage != Stage::Gone {
            return;
        }
        while let Some(datagram) = self.channels[1 - end].take(now) {
            self.channels[1 - end].recycle(datagram);
            if let Some(answer) = &self.ends[end].answer {
                self.channels[end].offer(now, answer);
            }
        }
    }
}

impl End {
    fn ring(&self) {
        if let Some(bell) = &self.bell {
            // The write fails only when the bell is readable already.
            let _ = rustix::io::write(&**bell, &1_u64.to_ne_bytes());
        }
    }
}

impl SimLink {
    pub(super) fn net(&self) -> &Net {
        &self.net
    }

    /// Returns the number of the wire.
    pub(super) fn number(&self) -> u64 {
        self.wire
    }

    /// Attaches a user to the end. The clock waits until that user settles.
    pub(super) fn attach(&self) {
        self.net.state().set_stage(self.wire, self.end, Stage::Busy);
    }

    /// Detaches the user of this end. The clock no longer waits for this end, and datagrams that
    /// arrive here are kept for its next user.
    pub(super) fn detach(&self) {
        let mut state = self.net.state();
        state.set_stage(self.wire, self.end, Stage::Waiting);
        state.handle_detachment();
    }

    /// Whether the other end is gone.
    pub(super) fn is_alone(&self) -> bool {
        self.net.state().end(self.wire, 1 - self.end).is_none_or(|end| end.stage == Stage::Gone)
    }

    /// Declares that this end's user has done everything and wants to be called at `due` at the
    /// latest. The clock may advance.
    pub(super) fn settle(&self, due: Option<Duration>) {
        let mut guard = self.net.state();
        let state = &mut *guard;
        let now = state.now;
        let Some(wire) = state.wires.get_mut(&self.wire) else { return };
        wire.ends[self.end].due = due;
        let is_settled = wire.next(self.end).is_none_or(|next| next > now);
        state.set_stage(self.wire, self.end, if is_settled { Stage::Settled } else { Stage::Busy });
        state.settle();
    }

    /// Returns `None` if this end has work to do. Otherwise returns the real time from which the
    /// clock may advance by itself; that is `None` while another end has work to do, or when no
    /// event is left.
    pub(super) fn settled(&self) -> Option<Option<Instant>> {
        let mut state = self.net.state();
        state.settle();
        let is_settled = state.end(self.wire, self.end).is_some_and(|end| end.stage == Stage::Settled);
        is_settled.then(|| state.may_move().map(|(allowed, _)| allowed))
    }

    /// Returns the file that wakes a sleeping user. It is readable until [`Self::clear_bell`].
    pub(super) fn bell(&self) -> &Arc<OwnedFd> {
        &self.bell
    }

    pub(super) fn clear_bell(&self) {
        let mut count = [0; 8];
        // The read fails when the bell was not rung.
        let _ = rustix::io::read(&*self.bell, &mut count);
    }

    /// Drops the end's user. From now on `answer` is sent for every datagram that arrives at the
    /// end.
    pub(super) fn answer_always(self, answer: Box<[u8]>) {
        let mut state = self.net.state();
        let now = state.now;
        if let Some(wire) = state.wires.get_mut(&self.wire) {
            // The answer to the datagram that has been received already is sent now.
            wire.channels[self.end].offer(now, &answer);
            wire.ends[self.end].answer = Some(answer);
        }
    }
}

impl Drop for SimLink {
    fn drop(&mut self) {
        let mut state = self.net.state();
        state.set_stage(self.wire, self.end, Stage::Gone);
        if let Some(wire) = state.wires.get_mut(&self.wire) {
            wire.ends[self.end].bell = None;
            if wire.ends.iter().all(|end| end.stage == Stage::Gone)
                && let Some(wire) = state.wires.remove(&self.wire)
            {
                state.past = wire.channels.iter().map(Channel::counts).fold(state.past, Counts::plus);
            }
        }
        state.handle_detachment();
    }
}

impl Link for SimLink {
    fn mtu(&self) -> usize {
        self.mtu
    }

    fn send(&mut self, datagram: &[u8]) -> Result<bool, Error> {
        if datagram.len() > self.mtu {
            return Err(Error::TooLong { length: datagram.len() as u64, limit: self.mtu as u64 });
        }
        let mut guard = self.net.state();
        let state = &mut *guard;
        let forged = state.trial_hooks.forger.as_mut().and_then(|forge| forge(datagram));
        let datagram = forged.as_deref().filter(|forged| forged.len() <= self.mtu).unwrap_or(datagram);
        if state.trial_hooks.longest.is_some_and(|longest| datagram.len() > longest) {
            state.note(|| format!("{} -> {} bytes  (too long)", self.end, datagram.len()));
            return Ok(true);
        }
        let Some(wire) = state.wires.get_mut(&self.wire) else { return Ok(true) };
        let now = state.now;
        let before = wire.channels[self.end].counts();
        let is_sent = wire.channels[self.end].offer(now, datagram);
        if state.trial_hooks.trace.is_some() {
            let (end, fate) = (self.end, fate(before, wire.channels[self.end].counts()));
            let (length, packet) = (datagram.len(), describe(datagram));
            state.note(|| format!("{end} -> {length} bytes, {packet}{fate}"));
        }
        if state.trial_hooks.recent_max > 0 && is_sent {
            if state.trial_hooks.recent.len() == state.trial_hooks.recent_max {
                state.trial_hooks.recent.pop_front();
            }
            state.trial_hooks.recent.push_back((self.end, datagram.to_vec()));
        }
        let Some(wire) = state.wires.get_mut(&self.wire) else { return Ok(is_sent) };
        if let Some(capture) = state.capture.as_ref().filter(|_| is_sent) {
            let nics = [wire.nics[self.end], wire.nics[1 - self.end]].map(|nic| nic as u16);
            capture.sent(now, &Ends::numbered(nics[0], nics[1]), datagram);
        }
        let other = 1 - self.end;
        wire.reply(other, now);
        if wire.ends[other].stage == Stage::Settled && wire.channels[self.end].due().is_some_and(|due| due <= now) {
            wire.ends[other].ring();
            state.set_stage(self.wire, other, Stage::Busy);
        }
        Ok(is_sent)
    }

    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Error> {
        let mut guard = self.net.state();
        let state = &mut *guard;
        let Some(wire) = state.wires.get_mut(&self.wire) else { return Ok(None) };
        let channel = &mut wire.channels[1 - self.end];
        let Some(datagram) = channel.take(state.now) else { return Ok(None) };
        let length = datagram.len().min(into.len());
        into[..length].copy_from_slice(&datagram[..length]);
        channel.recycle(datagram);
        if state.trial_hooks.trace.is_some() {
            let (end, packet) = (self.end, describe(&into[..length]));
            state.note(|| format!("{end} <- {length} bytes, {packet}"));
        }
        Ok(Some(length))
    }

    fn file(&self) -> Option<Arc<OwnedFd>> {
        Some(Arc::clone(&self.bell))
    }

    fn peer(&self) -> String {
        self.peer.clone()
    }
}

#[cfg(test)]
mod tests;
