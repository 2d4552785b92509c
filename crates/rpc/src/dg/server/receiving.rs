//! A server's processing of received datagrams.

use super::activity::{Activity, State};
use super::{ANSWERED_WITHIN, CallKey, IncomingCall, Server, ServerEvent, UNUSED_MAX};
use crate::dg::conversation::{self, Answer, CONV, CONVC, WHO_ARE_YOU_2};
use crate::dg::pdu::{Cancel, CancelAck, Fack, Header, PduType, flags, read_status, write_status};
use crate::dg::receiving::{Added, Assembly};
use crate::dg::{FIRST_FRAGMENT, is_before};
use crate::status::Status;
use crate::uuid::Uuid;
use obvia_via::Reservation;
use obvia_via::datagram::Place;
use std::time::Instant;

impl Server {
    /// Processes a datagram. A malformed datagram has no effect.
    pub fn receive(&mut self, now: Instant, from: Place, datagram: &[u8]) {
        let Ok((header, body)) = Header::read(datagram) else { return };
        match header.kind {
            PduType::REQUEST => self.request(now, from, &header, body),
            PduType::PING => self.ping(now, from, &header),
            PduType::ACK => self.acknowledged(now, from, &header),
            PduType::FACK => self.fack(now, from, &header, body),
            PduType::CL_CANCEL => self.cancel(now, from, &header, body),
            PduType::RESPONSE | PduType::FAULT | PduType::REJECT => self.callback_answered(now, from, &header, body),
            // The server ignores other units about its callbacks.
            _ => {}
        }
    }

    /// Returns the activity of a unit if the unit comes from the activity's address and is about
    /// the activity's current call. Records that the client is alive.
    fn current(&mut self, now: Instant, from: Place, header: &Header) -> Option<&mut Activity> {
        let activity = self.activities.get_mut(&header.activity)?;
        let is_it = activity.place == from && activity.sequence == header.sequence;
        if is_it {
            activity.last_received = now;
        }
        is_it.then_some(activity)
    }

    fn request(&mut self, now: Instant, from: Place, header: &Header, body: &[u8]) {
        // Callbacks are for clients, and a server ignores them. If servers answered callbacks, a
        // request with the forged source address of another server could make the two servers
        // answer each other without end.
        if header.interface.uuid == CONV.uuid {
            return;
        }
        if header.auth != 0 {
            return self.reject(from, header, Status::UNSUPPORTED_AUTHENTICATION);
        }
        if header.boot != 0 && header.boot != self.options.boot {
            return self.reject(from, header, Status::WRONG_BOOT_TIME);
        }
        if header.interface == CONVC {
            return self.events.extend(conversation::read_indy(header, body).map(ServerEvent::Alive));
        }
        if !self.is_awaited(now, from, header, body) {
            return;
        }
        let (room, message_max) = (self.hosts.room_for_arguments(from.host()), self.options.limits.message_max);
        let added = self.change(header.activity, |activity| {
            activity.last_received = now;
            let State::Arriving(assembly) = &mut activity.state else { return None };
            if assembly.is_empty() {
                activity.head = *header;
            }
            // `room` is the room for further bytes. The limit for the whole message also includes
            // the bytes that have already arrived. Arguments that fit one short unit are accepted
            // even if the share is used up.
            let room = (assembly.held() + room).max(FIRST_FRAGMENT);
            Some(assembly.add(header, body, message_max.min(room)))
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

    /// Whether the server waits for a fragment: its activity is known, and its call's arguments are
    /// incomplete. Begins a call if the fragment is the first fragment of a new call.
    fn is_awaited(&mut self, now: Instant, from: Place, header: &Header, body: &[u8]) -> bool {
        let Some(activity) = self.activities.get_mut(&header.activity) else {
            self.unidentified(now, from, header, body);
            return false;
        };
        let is_repeated = activity.sequence == header.sequence;
        if is_before(header.sequence, activity.sequence) || is_repeated && activity.place != from {
            return false;
        }
        // Either the client has moved to another address, or the source is forged. The server
        // trusts an address only after a callback to it was answered.
        if activity.place != from {
            self.unidentified(now, from, header, body);
            return false;
        }
        if !is_repeated {
            self.next(now, header);
            return true;
        }
        activity.last_received = now;
        match &mut activity.state {
            State::Arriving(_) => return true,
            State::Performed => self.send_unit(from, header, PduType::WORKING),
            State::Answered(sending) => sending.repeat(from, &mut self.output),
            // An idempotent call is executed again.
            State::Over if header.has(flags::IDEMPOTENT) && !header.has(flags::MAYBE) => {
                self.next(now, header);
                return true;
            }
            State::Over => {}
        }
        false
    }

    /// Processes a fragment from an address at which no client has confirmed a call of the
    /// activity. The server keeps nothing of the fragment. Fragments other than the first are
    /// ignored, because a client that gets no answer retransmits the first fragment.
    fn unidentified(&mut self, now: Instant, from: Place, header: &Header, body: &[u8]) {
        if header.fragment != 0 {
            return;
        }
        // The client of a call without response does not wait for a callback, so the server sends
        // none. A duplicate of such a call is executed again, because calls without response are
        // idempotent in C706.
        if !header.has(flags::MAYBE) {
            self.ask(now, from, header.activity, false);
        } else if header.is_last() {
            self.call(header, from, None, (body.to_vec(), None));
        }
    }

    /// Creates the activity of a client that has confirmed its current call, and tells the client
    /// to send the request again.
    fn identified(&mut self, now: Instant, from: Place, id: Uuid, answer: Answer) {
        let head = Header::new(PduType::REQUEST, id, answer.sequence);
        let known = self.activities.get(&id);
        // For a known activity, the answer is a duplicate, unless the activity has moved to this
        // address and makes its next call.
        if known.is_some_and(|known| known.place == from || !is_before(known.sequence, answer.sequence)) {
            return;
        }
        let has_performed = known.is_some_and(|known| known.has_performed);
        let has_place = match known {
            Some(known) if known.place.host().counted() == from.host().counted() => true,
            Some(_) => !self.hosts.is_full(from.host()),
            None => self.hosts.has_place(from.host()),
        };
        if !has_place && !self.make_place(now, from) {
            return self.reject(from, &head, Status::SERVER_TOO_BUSY);
        }
        let orphan = self.activities.get(&id).filter(|known| matches!(known.state, State::Performed));
        self.events.extend(orphan.map(|known| ServerEvent::Cancelled(known.key())));
        self.forget(id);
        self.hosts.enter(from.host());
        // A client that does not name its address space counts as a client with only this activity.
        let client = answer.client.unwrap_or(id);
        let activity = Activity::new(from, client, head, self.options.limits.window, has_performed, now);
        self.activities.insert(id, activity);
        self.note_due(now + self.options.limits.silence_max);
        self.send_unit(from, &head, PduType::NOCALL);
    }

    /// Forgets an activity that may yield. Returns whether an activity was forgotten. If the host
    /// has its maximum number of activities, only an activity of this host may yield. Activities of
    /// which no call has been executed yield first. Among equals, the activity that has been silent
    /// for the longest time yields. If a forgotten activity makes another call, its client gets
    /// another callback. An activity with an executed call is kept as long as an old answer to a
    /// callback could still be accepted. Otherwise, duplicates of the answer and of the request
    /// could have the call executed again.
    fn make_place(&mut self, now: Instant, from: Place) -> bool {
        let is_host_full = self.hosts.is_full(from.host());
        let host = from.host().counted();
        // A client that waits for a response sends pings, so its activity is not silent for
        // `silence_max`. If the activity were forgotten, the client would confirm the call again,
        // and the call would be executed again.
        let silence_max = self.options.limits.silence_max;
        let may_go = |known: &Activity| {
            let kept_for = match known.has_performed {
                false => UNUSED_MAX,
                true if known.may_wait() => silence_max,
                true => ANSWERED_WITHIN,
            };
            known.may_yield()
                && now.saturating_duration_since(known.last_received) > kept_for
                && (!is_host_full || known.place.host().counted() == host)
        };
        let silent = self.activities.iter().filter(|(_, known)| may_go(known));
        let oldest = silent.min_by_key(|(_, known)| (known.has_performed, known.last_received)).map(|(id, _)| *id);
        if let Some(id) = oldest {
            self.forget(id);
        }
        oldest.is_some()
    }

    /// Begins an activity's next call. The previous call is over for the client: its response has
    /// arrived, or the client no longer waits for it.
    fn next(&mut self, now: Instant, header: &Header) {
        let window = self.options.limits.window;
        let orphan = self.change(header.activity, |activity| {
            let orphan = matches!(activity.state, State::Performed).then(|| activity.key());
            activity.state = State::Arriving(Assembly::new(window));
            (activity.sequence, activity.head, activity.last_received) = (header.sequence, *header, now);
            activity.is_cancelled = false;
            orphan
        });
        self.events.extend(orphan.flatten().map(ServerEvent::Cancelled));
        self.note_due(now + self.options.limits.silence_max);
    }

    /// Acknowledges an arrived fragment if the client asks for it, and executes the call once all
    /// fragments have arrived.
    fn arrived(&mut self, now: Instant, header: &Header) {
        let Some(activity) = self.activities.get(&header.activity) else { return };
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
            // For the server, a call without response is over when its execution begins.
            let next = if activity.head.has(flags::MAYBE) { State::Over } else { State::Performed };
            match std::mem::replace(&mut activity.state, next) {
                State::Arriving(assembly) => {
                    activity.has_performed = true;
                    Some((activity.head, activity.place, activity.client, assembly.take()))
                }
                before => {
                    activity.state = before;
                    None
                }
            }
        });
        let Some((head, from, client, stub)) = taken.flatten() else { return };
        self.note_due(now + self.options.limits.silence_max);
        // Arguments that are short enough for one unit are not counted.
        let is_long = stub.len() > self.options.limits.near_fragment;
        let memory = if is_long { self.hosts.reserve(from.host(), stub.len()) } else { None };
        self.call(&head, from, Some(client), (stub, memory));
    }

    /// Queues the event that has a call executed, with its arguments and the reservation of their
    /// memory.
    fn call(
        &mut self,
        head: &Header,
        from: Place,
        client: Option<Uuid>,
        (stub, memory): (Vec<u8>, Option<Reservation>),
    ) {
        self.events.push_back(ServerEvent::Call(IncomingCall {
            key: CallKey { activity: head.activity, sequence: head.sequence },
            from,
            client,
            interface: head.interface,
            object: Some(head.object).filter(|object| object.0 != 0),
            opnum: head.opnum,
            is_maybe: head.has(flags::MAYBE),
            order: head.order,
            stub,
            memory,
        }));
    }

    fn ping(&mut self, now: Instant, from: Place, header: &Header) {
        if header.boot != 0 && header.boot != self.options.boot {
            return self.reject(from, header, Status::WRONG_BOOT_TIME);
        }
        // A ping about a later call than the known one may come from an activity that has moved.
        let is_old = |known: &Activity| {
            is_before(header.sequence, known.sequence) || known.place != from && known.sequence == header.sequence
        };
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
            // The call was executed, but its response was not acknowledged within the maximum time,
            // and is not kept any more.
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
        let Some(id) = self.callbacks.activity(now, from, header) else { return };
        if header.kind != PduType::RESPONSE {
            // The client implements only the older operation, so the server sends another callback
            // by that operation.
            let is_older = header.opnum == WHO_ARE_YOU_2 && read_status(header, body) == Ok(Status::OP_RNG_ERROR);
            if is_older {
                self.ask(now, from, id, true);
            }
            return;
        }
        match Answer::read(header, body) {
            Ok(answer) if answer.status == Status(0) => self.identified(now, from, id, answer),
            // The client has made the call to the previous instance of this server.
            Ok(answer) if answer.status == Status::YOU_CRASHED => {
                let head = Header::new(PduType::REQUEST, id, answer.sequence);
                self.reject(from, &head, Status::WRONG_BOOT_TIME);
            }
            // The client does not confirm the call: the request was a duplicate of an earlier
            // call's request, and the client no longer waits for that call.
            _ => {}
        }
    }
}
