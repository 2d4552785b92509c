//! A server's processing of received datagrams.

use super::activity::{Activity, State};
use super::{CallKey, IncomingCall, Server, ServerEvent};
use crate::dg::conversation::{self, Answer, CONV, CONVC};
use crate::dg::is_before;
use crate::dg::pdu::{Cancel, CancelAck, Fack, Header, PduType, flags, read_status, write_status};
use crate::dg::receiving::{Added, Assembly};
use crate::status::Status;
use crate::uuid::Uuid;
use obvia_via::datagram::Place;
use std::time::Instant;

/// The arguments that are kept before the client has identified itself, in bytes: those of the
/// first fragments.
const UNKNOWN_MAX: usize = 8 << 10;

impl Server {
    /// Processes a datagram. A malformed one has no effect.
    pub fn receive(&mut self, now: Instant, from: Place, datagram: &[u8]) {
        let Ok((header, body)) = Header::read(datagram) else { return };
        match header.kind {
            PduType::REQUEST => self.request(now, from, &header, body),
            PduType::PING => self.ping(now, from, &header),
            PduType::ACK => self.acknowledged(now, from, &header),
            PduType::FACK => self.fack(now, from, &header, body),
            PduType::CL_CANCEL => self.cancel(now, from, &header, body),
            PduType::RESPONSE | PduType::FAULT | PduType::REJECT => self.callback_answered(now, from, &header, body),
            // A client's answer to a callback needs no further units.
            _ => {}
        }
    }

    /// Returns the activity of a unit if the unit is about its current call.
    fn current(&mut self, now: Instant, from: Place, header: &Header) -> Option<&mut Activity> {
        let activity = self.activities.get_mut(&header.activity)?;
        let is_it = activity.place == from && activity.sequence == header.sequence;
        if is_it {
            activity.last_received = now;
        }
        is_it.then_some(activity)
    }

    fn request(&mut self, now: Instant, from: Place, header: &Header, body: &[u8]) {
        if header.auth != 0 {
            return self.reject(from, header, Status::UNSUPPORTED_AUTHENTICATION);
        }
        if header.boot != 0 && header.boot != self.options.boot {
            return self.reject(from, header, Status::WRONG_BOOT_TIME);
        }
        if header.interface == CONVC {
            return self.events.extend(conversation::read_indy(header, body).map(ServerEvent::Alive));
        }
        if !self.is_awaited(now, from, header) {
            return;
        }
        let (room, message_max) = (self.hosts.room(from.host()), self.options.limits.message_max);
        let added = self.change(header.activity, |activity| {
            activity.last_received = now;
            let is_known = activity.is_known;
            let State::Arriving(assembly) = &mut activity.state else { return None };
            // The host's remaining share does not contain the bytes that this assembly holds
            // already, so they are added.
            let most = if is_known { message_max } else { UNKNOWN_MAX };
            let added = assembly.add(header, body, most.min(assembly.held() + room));
            // Fragments of an unidentified client beyond the limit are dropped. The client
            // retransmits them.
            (is_known || added == Added::Taken).then_some(added)
        });
        match added.flatten() {
            Some(Added::Taken) => self.arrived(now, header),
            Some(Added::TooLong) => {
                self.change(header.activity, |activity| activity.state = State::Performed);
                let key = CallKey { activity: header.activity, sequence: header.sequence };
                self.fault(now, key, Status::REMOTE_NO_MEMORY, false);
            }
            None => {}
        }
    }

    /// Whether the server waits for a fragment: its call's arguments are incomplete. Begins a call
    /// if the fragment is the first of a new one.
    fn is_awaited(&mut self, now: Instant, from: Place, header: &Header) -> bool {
        let Some(activity) = self.activities.get_mut(&header.activity) else {
            return self.begin(now, from, header);
        };
        let is_repeated = activity.sequence == header.sequence;
        if is_before(header.sequence, activity.sequence) || is_repeated && activity.place != from {
            return false;
        }
        if !is_repeated {
            self.next(now, from, header);
            return true;
        }
        activity.last_received = now;
        match &mut activity.state {
            State::Arriving(_) => return true,
            State::Performed => self.send_unit(from, header, PduType::WORKING),
            State::Answered(sending) => sending.repeat(from, &mut self.output),
            // An idempotent call is executed again.
            State::Over if header.has(flags::IDEMPOTENT) && !header.has(flags::MAYBE) => {
                self.next(now, from, header);
                return true;
            }
            State::Over => {}
        }
        false
    }

    /// Begins an activity. Returns false if there is no room for it.
    fn begin(&mut self, now: Instant, from: Place, header: &Header) -> bool {
        if !self.hosts.has_place(from.host()) && !self.make_place(from) {
            self.reject(from, header, Status::SERVER_TOO_BUSY);
            return false;
        }
        self.hosts.enter(from.host());
        let mut activity = Activity::new(from, *header, self.options.limits.window, now);
        // The client of a call without response does not wait for a callback, so it is not asked.
        activity.is_known = header.has(flags::MAYBE);
        let is_known = activity.is_known;
        self.activities.insert(header.activity, activity);
        if is_known {
            self.note_due(now + self.options.limits.silence_max)
        } else {
            self.ask(header.activity, now)
        }
        true
    }

    /// Forgets the activity that has been idle for the longest time, if there is one. Considers the
    /// activities of the host if the host has its maximum, otherwise all activities. A client whose
    /// activity was forgotten is asked again at its next call. Returns whether an activity was
    /// forgotten.
    fn make_place(&mut self, from: Place) -> bool {
        let is_host_full = self.hosts.is_full(from.host());
        let may_go = |known: &Activity| known.is_idle() && (!is_host_full || known.place.host() == from.host());
        let idle = self.activities.iter().filter(|(_, known)| may_go(known));
        let oldest = idle.min_by_key(|(_, known)| known.last_received).map(|(id, _)| *id);
        if let Some(id) = oldest {
            self.forget(id);
        }
        oldest.is_some()
    }

    /// Begins an activity's next call. The previous call is over: its response has arrived, or the
    /// client no longer waits for it.
    fn next(&mut self, now: Instant, from: Place, header: &Header) {
        let window = self.options.limits.window;
        let key = |activity: &Activity| CallKey { activity: header.activity, sequence: activity.sequence };
        let begun = self.change(header.activity, |activity| {
            let orphan = matches!(activity.state, State::Performed).then(|| key(activity));
            // A request from another address may be forged. An address is trusted once a callback
            // to it was answered.
            let is_known = header.has(flags::MAYBE) || activity.client.is_some() && activity.place == from;
            activity.state = State::Arriving(Assembly::new(window));
            (activity.sequence, activity.head, activity.last_received) = (header.sequence, *header, now);
            activity.is_known = is_known;
            activity.is_cancelled = false;
            (orphan, is_known)
        });
        let Some((orphan, is_known)) = begun else { return };
        self.events.extend(orphan.map(ServerEvent::Cancelled));
        self.move_to(header.activity, from);
        if is_known {
            self.note_due(now + self.options.limits.silence_max);
        } else {
            self.ask(header.activity, now);
        }
    }

    /// Moves an activity to another address. The activity holds no bytes at this moment.
    fn move_to(&mut self, id: Uuid, place: Place) {
        let Some(activity) = self.activities.get_mut(&id).filter(|activity| activity.place != place) else { return };
        self.hosts.leave(activity.place.host());
        self.hosts.enter(place.host());
        activity.place = place;
        if let Some(callback) = activity.callback.take() {
            self.callbacks.remove(&callback.own_activity);
        }
    }

    /// Acknowledges an arrived fragment if the client asks for it, and executes the call once it is
    /// complete.
    fn arrived(&mut self, now: Instant, header: &Header) {
        let Some(activity) = self.activities.get(&header.activity).filter(|activity| activity.is_known) else { return };
        let State::Arriving(assembly) = &activity.state else { return };
        if header.has(flags::FRAGMENT) && !header.has(flags::NO_FACK) {
            let head = self.about(header, PduType::FACK);
            let (header, fack) = assembly.fack(head, &self.options.limits, activity.is_near());
            self.output.put(activity.place, |bytes| fack.write(bytes, &header));
        }
        if assembly.is_whole() {
            self.perform(now, header.activity);
        }
    }

    fn perform(&mut self, now: Instant, id: Uuid) {
        let taken = self.change(id, |activity| {
            // A call without response leaves no state.
            let next = if activity.head.has(flags::MAYBE) { State::Over } else { State::Performed };
            match std::mem::replace(&mut activity.state, next) {
                State::Arriving(assembly) => Some((activity.head, activity.place, activity.client, assembly.take())),
                before => {
                    activity.state = before;
                    None
                }
            }
        });
        let Some((head, from, client, stub)) = taken.flatten() else { return };
        self.note_due(now + self.options.limits.silence_max);
        self.events.push_back(ServerEvent::Call(IncomingCall {
            key: CallKey { activity: id, sequence: head.sequence },
            from,
            client,
            interface: head.interface,
            object: Some(head.object).filter(|object| object.0 != 0),
            opnum: head.opnum,
            is_maybe: head.has(flags::MAYBE),
            order: head.order,
            stub,
        }));
    }

    fn ping(&mut self, now: Instant, from: Place, header: &Header) {
        if header.boot != 0 && header.boot != self.options.boot {
            return self.reject(from, header, Status::WRONG_BOOT_TIME);
        }
        let is_old = |known: &Activity| known.place != from || is_before(header.sequence, known.sequence);
        if self.activities.get(&header.activity).is_some_and(is_old) {
            return;
        }
        let nocall = self.about(header, PduType::NOCALL);
        if self.current(now, from, header).is_none() {
            return self.send_unit(from, header, PduType::NOCALL);
        }
        let Self { activities, output, options, .. } = self;
        let Some(activity) = activities.get_mut(&header.activity) else { return };
        let is_near = activity.is_near();
        match &mut activity.state {
            State::Arriving(assembly) if !assembly.is_whole() => {
                let (header, fack) = assembly.fack(nocall, &options.limits, is_near);
                output.put(from, |bytes| fack.write(bytes, &header));
            }
            State::Arriving(_) | State::Performed => self.send_unit(from, header, PduType::WORKING),
            State::Answered(sending) => sending.repeat(from, output),
            State::Over if activity.head.has(flags::IDEMPOTENT) => self.send_unit(from, header, PduType::NOCALL),
            // The call was executed, but its response was kept for the maximum time without being
            // fetched.
            State::Over => {
                let fault = self.about(header, PduType::FAULT);
                self.output.put(from, |bytes| fault.write(bytes, &write_status(Status::COMM_FAILURE)));
            }
        }
    }

    fn acknowledged(&mut self, now: Instant, from: Place, header: &Header) {
        let is_answered =
            self.current(now, from, header).is_some_and(|known| matches!(known.state, State::Answered(_)));
        if is_answered {
            self.change(header.activity, |activity| activity.state = State::Over);
        }
    }

    fn fack(&mut self, now: Instant, from: Place, header: &Header, body: &[u8]) {
        let Ok(fack) = Fack::read(header, body) else { return };
        if self.current(now, from, header).is_none() {
            return;
        }
        let Self { activities, output, options, .. } = self;
        let Some(activity) = activities.get_mut(&header.activity) else { return };
        let is_near = activity.is_near();
        let State::Answered(sending) = &mut activity.state else { return };
        let receiver = (&mut activity.receiver, &options.limits);
        sending.acknowledged((header.fragment, fack.as_ref()), receiver, now, (from, is_near, output));
        let (has_arrived, due) = (sending.has_arrived(), sending.due());
        if has_arrived {
            self.change(header.activity, |activity| activity.state = State::Over);
        }
        if let Some(due) = due {
            self.note_due(due);
        }
    }

    fn cancel(&mut self, now: Instant, from: Place, header: &Header, body: &[u8]) {
        let Ok(cancel) = Cancel::read(header, body) else { return };
        let Some(activity) = self.current(now, from, header) else { return };
        let is_performed = matches!(activity.state, State::Performed);
        let is_first = is_performed && !activity.is_cancelled;
        activity.is_cancelled |= is_performed;
        let answer = CancelAck { id: cancel.id, is_accepted: is_performed };
        let head = self.about(header, PduType::CANCEL_ACK);
        self.output.put(from, |bytes| answer.write(bytes, &head));
        if is_first {
            let key = CallKey { activity: header.activity, sequence: header.sequence };
            self.events.push_back(ServerEvent::Cancelled(key));
        }
    }

    /// Processes a client's answer to a callback.
    fn callback_answered(&mut self, now: Instant, from: Place, header: &Header, body: &[u8]) {
        let Some(id) = self.callbacks.get(&header.activity).copied().filter(|_| header.interface == CONV) else {
            return;
        };
        let Some(activity) = self.activities.get_mut(&id).filter(|activity| activity.place == from) else { return };
        let sequence = activity.sequence;
        let answer = if header.kind == PduType::RESPONSE {
            Answer::read(header, body).ok()
        } else {
            match (read_status(header, body), &mut activity.callback) {
                // The client implements only the older operation.
                (Ok(Status::OP_RNG_ERROR), Some(callback)) if !callback.is_simple => {
                    callback.is_simple = true;
                    return self.ask(id, now);
                }
                _ => None,
            }
        };
        activity.callback = None;
        self.callbacks.remove(&header.activity);
        match answer {
            Some(Answer { sequence: made, client, status: Status(0) }) if made == sequence => {
                // A client that does not name its address space counts as a client with only this
                // activity.
                activity.client = client.or(Some(id));
                activity.is_known = true;
                let (last, place) = (activity.head, activity.place);
                self.note_due(now + self.options.limits.silence_max);
                self.catch_up(now, &last, place);
            }
            // The request was a duplicate of an earlier call's, and the client no longer waits for
            // that call.
            Some(Answer { status: Status(0), .. }) => self.forget(id),
            answer => {
                // YOU_CRASHED says that the client called the previous instance of this server.
                let is_before = answer.is_some_and(|answer| answer.status == Status::YOU_CRASHED);
                let status = if is_before { Status::WRONG_BOOT_TIME } else { Status::WHO_ARE_YOU_FAILED };
                let head = activity.head;
                self.reject(from, &head, status);
                self.forget(id);
            }
        }
    }

    /// Acknowledges the fragments that arrived before the client was identified.
    fn catch_up(&mut self, now: Instant, head: &Header, place: Place) {
        let Some(Activity { state: State::Arriving(assembly), .. }) = self.activities.get(&head.activity) else {
            return;
        };
        if assembly.is_whole() {
            return self.perform(now, head.activity);
        }
        let about = self.about(head, PduType::FACK);
        let (header, fack) = assembly.fack(about, &self.options.limits, place.host().is_loopback());
        self.output.put(place, |bytes| fack.write(bytes, &header));
    }
}
