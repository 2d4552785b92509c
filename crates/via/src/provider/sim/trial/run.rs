//! Running a trial: the clock goes from event to event, both sides do what they can, and the judge
//! checks.

use super::Summary;
use super::judge::Judge;
use super::mutant::{MutantPort, Mutation};
use super::plan::{Accident, Plan, Round};
use super::side::{Side, Stage};
use crate::provider::sim::net::{Clock, Net, SimLink};
use crate::provider::sim::port::{SimPort, nanoseconds};
use crate::provider::sim::{Core, Sim};
use crate::reliable::{Answer, Answering, Engine, Judged, Link, Requesting, Tokens};
use crate::spi::{Offer, Port, Provider};
use crate::wrap::Random;
use crate::{Error, Nic, Reliability};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// The maximum number of turns without an advance of the clock.
const TURNS_MAX: u32 = 20_000;
/// The maximum number of turns of a round.
const STEPS_MAX: u64 = 20_000_000;
/// The time for which a side requests a connection before it gives up.
const ASKS_FOR: Duration = Duration::from_secs(10);
/// The time for which the sides stay connected when everything is done. Nothing more may arrive
/// during this time.
const GRACE: Duration = Duration::from_millis(200);
/// The number of datagrams kept, of which some are sent again much later.
const RECENT_MAX: usize = 256;
/// The maximum length of datagrams after [`Accident::Shorten`], in bytes.
const SHORTENED: usize = 1250;
/// The maximum length of an operation, in bytes.
const MAX_TRANSFER: u32 = 1 << 20;

pub(super) struct Run {
    seed: u64,
    plan: Plan,
    mutation: Option<Mutation>,
    core: Arc<Core>,
    sides: [Side; 2],
    random: Random,
    summary: Summary,
    is_traced: bool,
}

/// The progress of a round.
struct Progress {
    wire: u64,
    began: Duration,
    had_accident: bool,
    resends: usize,
    /// The connection id of the requesting side.
    asker: u64,
    /// Whether the listening side answered a late request of an earlier round instead of this
    /// round's request.
    is_misled: bool,
    thinks: Duration,
    satisfied_since: Option<Duration>,
}

impl Run {
    pub(super) fn new(seed: u64, plan: Plan, mutation: Option<Mutation>, is_traced: bool) -> Result<Self, Error> {
        let core = Arc::new(Core::new(Net::new(Clock::ByHand), seed, &plan.conditions[0], plan.settings.clone()));
        core.net.record_datagrams(RECENT_MAX, is_traced);
        if let Some(mutation) = mutation.filter(|mutation| mutation.is_of_network()) {
            let mut random = Random::stream(seed, 0x666f_7267);
            core.net.forge_with(Box::new(move |datagram| mutation.forge(&mut random, datagram)));
        }
        let side = |number| {
            let provider: Box<dyn Provider> = Box::new(Sim::new(&core, number, false));
            Side::new(number, Nic::open(provider), plan.reliability)
        };
        let sides = [side(0)?, side(1)?];
        let random = Random::stream(seed, 0x7275_6e00);
        Ok(Self { seed, plan, mutation, core, sides, random, summary: Summary::default(), is_traced })
    }

    pub(super) fn summary(&self) -> Summary {
        Summary { trials: 1, datagrams: self.core.net.counts(), time: self.core.net.now(), ..self.summary.clone() }
    }

    pub(super) fn trace(&self) -> String {
        self.core.net.trace()
    }

    fn note(&self, text: impl FnOnce() -> String) {
        if self.is_traced {
            self.core.net.note(&text());
        }
    }

    pub(super) fn all(&mut self) -> Result<(), String> {
        // The rounds are taken out of the plan during the loop, because `round` borrows all of
        // `self`.
        let rounds = std::mem::take(&mut self.plan.rounds);
        rounds.iter().enumerate().try_for_each(|(number, round)| self.round(number as u64, round))
    }

    fn round(&mut self, number: u64, round: &Round) -> Result<(), String> {
        let key = self.seed.wrapping_mul(2).wrapping_add(number);
        self.note(|| format!("round {number} begins"));
        let mut progress = self.begin(key, round).map_err(|error| format!("the round could not begin: {error}"))?;
        let planned = round
            .sides
            .iter()
            .flat_map(|work| work.operations.iter().map(|one| one.at).chain(work.receives.iter().map(|one| one.at)));
        let last = planned.chain(round.accident.map(|(at, _)| at)).max().unwrap_or_default();
        let until = progress.began + ASKS_FOR + last + self.plan.time_limit();
        let (mut turns, mut steps) = (0, 0_u64);
        loop {
            let judge = Judge { plan: &self.plan, round, key, had_accident: progress.had_accident };
            for side in 0..2 {
                Self::continue_handshake(&self.core, &mut self.sides, side, round, &mut progress, self.mutation)?;
                harvest(&judge, &mut self.sides, side, &self.core.net, self.is_traced)?;
            }
            if self.is_finished(&judge, &mut progress) {
                break;
            }
            let now = self.core.net.now();
            let planned = self.act(round, &mut progress)?;
            let is_waiting = |side: &Side| !side.is_connected() && !side.is_over();
            let gives_up = self.sides.iter().any(is_waiting).then(|| progress.began + ASKS_FOR);
            let is_quiet = progress.satisfied_since.map(|since| since + GRACE);
            let next = [self.core.net.next(), planned, is_quiet, gives_up];
            let next =
                next.into_iter().flatten().min().ok_or("the round is not over, and no event is pending")?.max(now);
            steps += 1;
            turns = if next > now { 0 } else { turns + 1 };
            if let Some(fault) = self.core.net.fault() {
                return Err(fault.to_owned());
            }
            if turns > TURNS_MAX || steps > STEPS_MAX {
                return Err(format!("the sides do not come to rest at {now:?}"));
            }
            if next > until {
                return Err(format!(
                    "the round is not over at {next:?}, but all its events were planned until {:?}",
                    progress.began + last
                ));
            }
            self.core.net.advance_to(next);
        }
        self.end(round, key, &progress)
    }

    fn begin(&mut self, key: u64, round: &Round) -> Result<Progress, Error> {
        for side in &mut self.sides {
            side.prepare(key, round)?;
        }
        let links = self.core.net.wire([0, 1], self.plan.conditions.clone(), self.plan.mtu)?;
        let wire = links[0].number();
        let asker = self.core.word().max(1);
        for (side, link) in links.into_iter().enumerate() {
            link.attach();
            self.sides[side].stage = if side == round.asks {
                let mut offer = offer(self.plan.reliability);
                if round.is_mismatched {
                    offer.reliability = match offer.reliability {
                        Reliability::Unreliable => Reliability::ReliableDelivery,
                        _ => Reliability::Unreliable,
                    };
                }
                let requesting = Requesting::new(&self.core.settings, asker, "trial", &offer)?;
                Stage::Asks(Box::new(requesting), link)
            } else {
                Stage::Listens(link)
            };
        }
        let thinks = Duration::from_micros(self.random.below(30_000));
        let began = self.core.net.now();
        Ok(Progress {
            wire,
            began,
            had_accident: false,
            resends: 0,
            asker,
            is_misled: false,
            thinks,
            satisfied_since: None,
        })
    }

    /// Continues the handshake of a side.
    fn continue_handshake(
        core: &Core,
        sides: &mut [Side; 2],
        side: usize,
        round: &Round,
        progress: &mut Progress,
        mutation: Option<Mutation>,
    ) -> Result<(), String> {
        let own = &mut sides[side];
        let now = core.net.now();
        let given_up = now >= progress.began + ASKS_FOR && !own.is_connected();
        let stage = std::mem::replace(&mut own.stage, Stage::Out);
        let connect = |own: &mut Side, engine: Box<Engine>, link: SimLink| {
            let mut port: Box<dyn Port> = Box::new(SimPort::new(engine, link));
            if let Some(mutation) = mutation.filter(|mutation| !mutation.is_of_network()) {
                let random = Random::stream(nanoseconds(now), side as u64);
                port = Box::new(MutantPort { inner: port, mutation, random });
            }
            own.stage = Stage::Connected(now);
            own.vi.core.connected(port, MAX_TRANSFER);
        };
        match stage {
            Stage::Out | Stage::Asks(..) | Stage::Listens(_) | Stage::Thinks(..) if given_up => {
                if !own.is_over() {
                    own.disconnect();
                }
            }
            Stage::Asks(mut requesting, mut link) => match ask(&mut requesting, &mut link, core)? {
                None => own.stage = Stage::Asks(requesting, link),
                Some(Answer::Accepted(engine, _)) => connect(own, engine, link),
                Some(Answer::Rejected(_)) if round.is_mismatched => own.disconnect(),
                Some(Answer::Rejected(why)) => return Err(format!("the request was rejected: {why}")),
            },
            Stage::Listens(mut link) => match listen(&mut link, &mut own.tokens, now)? {
                None => own.stage = Stage::Listens(link),
                Some(answering) => {
                    progress.is_misled |= answering.id() != progress.asker;
                    link.settle(Some(now + progress.thinks));
                    own.stage = Stage::Thinks(answering, link, now + progress.thinks);
                }
            },
            Stage::Thinks(answering, mut link, until) if now < until => {
                // Drops repetitions of the request.
                listen(&mut link, &mut own.tokens, now)?;
                link.settle(Some(until));
                own.stage = Stage::Thinks(answering, link, until);
            }
            Stage::Thinks(answering, mut link, _) => {
                let offer = offer(own.vi.core.reliability);
                match answering.accept(&core.settings, nanoseconds(now), core.word(), &offer, link.mtu()) {
                    Ok(engine) => connect(own, Box::new(engine), link),
                    Err(Error::BadState { what }) if round.is_mismatched => {
                        link.answer_always(answering.reject(what).into());
                        own.disconnect();
                    }
                    // The earlier round had another reliability level.
                    Err(Error::BadState { what }) if answering.id() != progress.asker => {
                        link.send(&answering.reject(what)).map_err(|error| error.to_string())?;
                        link.settle(None);
                        own.stage = Stage::Listens(link);
                    }
                    Err(error) => return Err(format!("the request could not be accepted: {error}")),
                }
            }
            stage => own.stage = stage,
        }
        Ok(())
    }

    /// Does what is planned for now. Returns the time of the next planned event.
    fn act(&mut self, round: &Round, progress: &mut Progress) -> Result<Option<Duration>, String> {
        let now = self.core.net.now();
        let mut next: Option<Duration> = None;
        let mut plan = |at: Duration| next = Some(next.map_or(at, |next| next.min(at)));
        for side in 0..2 {
            let [zero, one] = &mut self.sides;
            let (own, peer) = if side == 0 { (zero, &*one) } else { (one, &*zero) };
            let begins = match own.stage {
                Stage::Connected(since) => since,
                // Receives may be posted before there is a connection; sends may not.
                _ => progress.began,
            };
            let is_here = own.ended == Some(crate::error::Ended::Here);
            let work = &round.sides[side];
            while let Some(receive) = work.receives.get(own.receives).filter(|_| !is_here) {
                if begins + receive.at > now {
                    plan(begins + receive.at);
                    break;
                }
                own.post_receive(receive)?;
            }
            let (Stage::Connected(since), Some(peers)) = (&own.stage, &peer.memory) else { continue };
            let since = *since;
            while let Some(operation) = work.operations.get(own.posted).filter(|_| !is_here) {
                if since + operation.at > now {
                    plan(since + operation.at);
                    break;
                }
                own.post(operation, peers)?;
                self.summary.posted += 1;
            }
        }
        if let Some((at, accident)) = round.accident.filter(|_| !progress.had_accident) {
            if progress.began + at <= now {
                progress.had_accident = true;
                self.happen(accident);
                // The sides are checked once more, even if nothing else is planned.
                plan(now);
            } else {
                plan(progress.began + at);
            }
        }
        while let Some(at) = round.resends.get(progress.resends) {
            if progress.began + *at > now {
                plan(progress.began + *at);
                break;
            }
            progress.resends += 1;
            self.core.net.resend_recent(progress.wire, self.random.word());
        }
        Ok(next)
    }

    fn happen(&mut self, accident: Accident) {
        self.note(|| format!("{accident:?}"));
        match accident {
            Accident::Disconnect(side) => {
                if !self.sides[side].is_over() {
                    self.sides[side].stage = Stage::Out;
                    self.sides[side].disconnect();
                }
            }
            Accident::Kill(side) => self.core.net.kill(side),
            Accident::Cut => self.core.net.set_cut([0, 1], true),
            Accident::Shorten => self.core.net.shorten(SHORTENED),
        }
    }

    /// Whether the round has no outstanding event.
    fn is_finished(&self, judge: &Judge<'_>, progress: &mut Progress) -> bool {
        let is_back = |side: &Side| side.completed == side.posted && side.received == side.receives;
        if self.sides.iter().all(Side::is_over) {
            return self.sides.iter().all(is_back);
        }
        let is_planned = judge.round.accident.is_some() && !progress.had_accident;
        let is_severed =
            matches!(judge.round.accident, Some((_, Accident::Kill(_) | Accident::Cut))) && progress.had_accident;
        let goes_on = self.sides.iter().all(|side| side.is_connected() && !side.is_over());
        let is_satisfied =
            goes_on && !is_planned && !is_severed && (0..2).all(|side| judge.is_satisfied(&self.sides, side));
        if !is_satisfied {
            progress.satisfied_since = None;
            return false;
        }
        let now = self.core.net.now();
        now >= *progress.satisfied_since.get_or_insert(now) + GRACE
    }

    /// Judges the end of a round, and cleans up.
    fn end(&mut self, round: &Round, key: u64, progress: &Progress) -> Result<(), String> {
        let judge = Judge { plan: &self.plan, round, key, had_accident: progress.had_accident };
        judge.finally(&self.sides)?;
        let is_severed =
            progress.had_accident || progress.is_misled || round.is_mismatched || self.plan.may_seem_silent();
        if self.sides.iter().all(Side::is_connected) {
            self.summary.connections += 1;
        } else if !is_severed {
            return Err("there was no connection".to_owned());
        }
        for side in 0..2 {
            let own = &mut self.sides[side];
            own.ended.into_iter().for_each(|why| self.summary.end(why));
            self.summary.done += own.failed.map_or(own.completed, |(failed, _)| failed) as u64;
            self.summary.received += std::mem::take(&mut own.messages);
            own.stage = Stage::Out;
            own.disconnect();
            while own.vi.send.done().is_some() || own.vi.receive.done().is_some() {}
            if let Some(Accident::Kill(side)) = round.accident.map(|(_, accident)| accident) {
                self.core.net.restart(side);
            }
        }
        Ok(())
    }
}

fn offer(reliability: Reliability) -> Offer {
    Offer { reliability, max_transfer: MAX_TRANSFER, private: b"trial".to_vec() }
}

fn ask(requesting: &mut Requesting, link: &mut SimLink, core: &Core) -> Result<Option<Answer>, String> {
    let now = nanoseconds(core.net.now());
    let mut datagram = vec![0; link.mtu()];
    while let Some(length) = link.receive(&mut datagram).map_err(|error| error.to_string())? {
        if let Some(answer) = requesting.handle(now, &datagram[..length], link.mtu()) {
            return Ok(Some(answer));
        }
    }
    if let Some(request) = requesting.transmit(now) {
        link.send(request).map_err(|error| error.to_string())?;
    }
    link.settle(Some(Duration::from_nanos(requesting.due())));
    Ok(None)
}

/// Answers requests without a token, and returns the first that has one.
fn listen(link: &mut SimLink, tokens: &mut Tokens, now: Duration) -> Result<Option<Answering>, String> {
    // A wire has only one peer, so any address identifies that peer.
    let peer = SocketAddr::from(([10, 0, 0, 1], 1));
    let mut datagram = vec![0; link.mtu()];
    while let Some(length) = link.receive(&mut datagram).map_err(|error| error.to_string())? {
        match tokens.judge(nanoseconds(now), peer, &datagram[..length]) {
            Some(Judged::Proved(answering)) => return Ok(Some(answering)),
            Some(Judged::Unproved(retry)) => {
                link.send(&retry).map_err(|error| error.to_string())?;
            }
            None => {}
        }
    }
    link.settle(None);
    Ok(None)
}

/// Takes every completed descriptor from a side's send queue, and has it judged.
fn harvest(judge: &Judge<'_>, sides: &mut [Side; 2], side: usize, net: &Net, is_traced: bool) -> Result<(), String> {
    loop {
        look(judge, sides, net, is_traced)?;
        let sent = sides[side].vi.send.done();
        let is_sent = sent.is_some();
        if let Some(descriptor) = sent {
            // The peer may have received the operation in the same turn.
            look(judge, sides, net, is_traced)?;
            if is_traced {
                let (index, status) = (descriptor.context, descriptor.status());
                net.note(&format!("{side}: operation {index} {status}, {} bytes", descriptor.length()));
            }
            judge.sent(sides, side, &descriptor)?;
        }
        if !is_sent {
            return look(judge, sides, net, is_traced);
        }
    }
}

/// Takes note of ended connections and received descriptors of both sides. All of them are taken
/// before any is judged, because events at one side explain events at the other.
fn look(judge: &Judge<'_>, sides: &mut [Side; 2], net: &Net, is_traced: bool) -> Result<(), String> {
    let (mut ended, mut received) = (Vec::new(), Vec::new());
    loop {
        let before = ended.len() + received.len();
        for (number, side) in sides.iter_mut().enumerate() {
            ended.extend(side.look().map(|why| (number, why)));
            while let Some(descriptor) = side.vi.receive.done() {
                received.push((number, descriptor));
            }
        }
        if ended.len() + received.len() == before {
            break;
        }
    }
    for (side, descriptor) in received {
        if is_traced {
            let (index, status) = (descriptor.context, descriptor.status());
            net.note(&format!("{side}: receive {index} {status}, {} bytes", descriptor.length()));
        }
        judge.received(sides, side, &descriptor)?;
    }
    for (side, why) in ended {
        if is_traced {
            net.note(&format!("{side}: {why}"));
        }
        judge.ended(sides, side, why).map_err(|what| format!("side {side}: {what}"))?;
    }
    Ok(())
}
