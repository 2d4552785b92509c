//! An object with a connection point, and sinks of its events.

#![expect(clippy::unit_arg, reason = "orders without a result of their own are answered all the same")]

use crate::answer::{Answer, done, number, word};
use obvia::events::{
    AnyPoint, Connection, ConnectionPoint, ConnectionPoints, IConnectionPoint, IConnectionPointContainer,
    IConnectionPointContainer_Impl as _, Limits,
};
use obvia::{ComObject, Interface, OwnedSlice, code};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

mod interfaces {
    obvia::include_idl!("events");
}

use interfaces::{CONNECTDATA, IAnnouncer, IAnnouncer_Impl, IEventSink, IEventSink_Impl};

/// Small limits that tests reach. Only the timeout is long, because no live sink may exceed it.
const LIMITS: Limits = Limits { sinks: 4, timeout: Duration::from_secs(25), unanswered: 2, queued: 3 };

/// The objects of earlier orders.
#[derive(Default)]
pub(crate) struct Events {
    announcer: Option<(ComObject<Announcer>, obvia::Export)>,
    source: Option<IAnnouncer>,
    connections: Arc<Mutex<Vec<Connection>>>,
    received: Arc<Mutex<Vec<i32>>>,
}

impl Events {
    fn own(&self) -> obvia::Result<&ConnectionPoint<IEventSink>> {
        Ok(self.announcer.as_ref().map(|(announcer, _)| &announcer.sinks).ok_or(code::E_POINTER)?)
    }

    fn source(&self) -> obvia::Result<&IAnnouncer> {
        Ok(self.source.as_ref().ok_or(code::E_POINTER)?)
    }
}

#[obvia::object(IAnnouncer, IConnectionPointContainer)]
struct Announcer {
    sinks: ConnectionPoint<IEventSink>,
}

impl ConnectionPoints for Announcer_Impl {
    fn connection_points(&self) -> Vec<&dyn AnyPoint> {
        vec![&self.sinks]
    }
}

impl IAnnouncer_Impl for Announcer_Impl {
    fn Announce(&self, value: i32) -> obvia::Result<u32> {
        Ok(self.sinks.fire(|sink| sink.Announced(value)) as u32)
    }

    fn Point(&self) -> obvia::Result<(IConnectionPoint, OwnedSlice<CONNECTDATA<'static>>)> {
        let point = self.FindConnectionPoint(&IEventSink::IID)?;
        let (connections, _) = point.EnumConnections()?.Next(self.sinks.sinks() as u32)?;
        Ok((point, connections))
    }
}

#[obvia::object(IEventSink)]
struct EventSink {
    received: Arc<Mutex<Vec<i32>>>,
    /// The connections of a sink. Each call of the sink ends the last connection in this list.
    ends: Option<Arc<Mutex<Vec<Connection>>>>,
    /// Whether the sink answers each call with RPC_E_TIMEOUT.
    fails: bool,
}

impl IEventSink_Impl for EventSink_Impl {
    fn Announced(&self, value: i32) -> obvia::Result<()> {
        if self.fails {
            return Err(code::RPC_E_TIMEOUT.into());
        }
        self.received.lock().unwrap().push(value);
        let ended = self.ends.as_ref().and_then(|connections| connections.lock().unwrap().pop());
        ended.map_or(Ok(()), Connection::unadvise)
    }
}

/// Exports an announcer under a name. The second word is the announcer's timeout in milliseconds.
pub(crate) fn announcer(events: &mut Events, words: &[&str]) -> Answer {
    let timeout = number(words, 1).map_or(LIMITS.timeout, Duration::from_millis);
    let announcer = ComObject::new(Announcer { sinks: ConnectionPoint::with_limits(Limits { timeout, ..LIMITS }) });
    let export = obvia::export(word(words, 0)?, announcer.to_interface::<IAnnouncer>())?;
    done(events.announcer = Some((announcer, export)))
}

/// Connects to an announcer.
pub(crate) fn source(events: &mut Events, words: &[&str]) -> Answer {
    done(events.source = Some(obvia::connect(word(words, 0)?)?))
}

/// Connects a sink to the announcer. With the argument `once`, each call of the sink ends a
/// connection; with `fails`, each call fails with RPC_E_TIMEOUT.
pub(crate) fn advise(events: &mut Events, words: &[&str]) -> Answer {
    let has = |option| words.first() == Some(&option);
    let ends = has("once").then(|| Arc::clone(&events.connections));
    let sink: IEventSink = EventSink { received: Arc::clone(&events.received), ends, fails: has("fails") }.into();
    let connection = obvia::events::advise(events.source()?, &sink)?;
    done(events.connections.lock().unwrap().push(connection))
}

/// Ends all connections.
pub(crate) fn unadvise(events: &mut Events) -> Answer {
    let connections = std::mem::take(&mut *events.connections.lock().unwrap());
    connections.into_iter().try_for_each(Connection::unadvise).map(done)?
}

/// Ends a connection, with a deadline that has already passed.
pub(crate) fn unadvise_late(events: &mut Events) -> Answer {
    let connection = events.connections.lock().unwrap().pop().ok_or(code::E_UNEXPECTED)?;
    obvia::with_deadline(Instant::now(), || connection.unadvise()).map(done)?
}

/// Returns the announcements since the last query.
pub(crate) fn received(events: &Events) -> Answer {
    let received = std::mem::take(&mut *events.received.lock().unwrap());
    Ok(received.iter().map(i32::to_string).collect::<Vec<_>>().join(" "))
}

/// Calls the sinks of this process's announcer, or makes the connected announcer call its sinks.
/// Returns the number of successful calls.
pub(crate) fn announce(events: &Events, words: &[&str]) -> Answer {
    let value = number(words, 0)?;
    match &events.announcer {
        Some((announcer, _)) => Ok(announcer.sinks.fire(|sink| sink.Announced(value)).to_string()),
        None => Ok(events.source()?.Announce(value)?.to_string()),
    }
}

/// Posts a call to the sinks of this process's announcer. Returns the number of sinks whose queues
/// dropped a posted call, for example because they were full.
pub(crate) fn post(events: &Events, words: &[&str]) -> Answer {
    let value = number(words, 0)?;
    Ok(events.own()?.post(move |sink| sink.Announced(value)).to_string())
}

/// Returns the number of sinks of this process's announcer.
pub(crate) fn sinks(events: &Events) -> Answer {
    Ok(events.own()?.sinks().to_string())
}

/// Returns the numbers of the connection points and of the connections of the connected announcer.
/// Queries them in all ways, and compares the answers.
pub(crate) fn points(events: &Events) -> Answer {
    let source = events.source()?;
    let all = source.cast::<IConnectionPointContainer>()?.EnumConnectionPoints()?;
    let (points, count) = all.Next(10)?;
    let found: Vec<IConnectionPoint> = points.with(|points| points.iter().flatten().cloned().collect());
    let is_sink_interface =
        found.iter().all(|point| point.GetConnectionInterface().is_ok_and(|iid| iid == IEventSink::IID));
    let (point, data) = source.Point()?;
    let returned = data.with(|data| data.iter().map(CONNECTDATA::dwCookie).collect::<Vec<_>>());
    let (data, number) = point.EnumConnections()?.Next(10)?;
    let enumerated = data.with(|data| data.iter().map(CONNECTDATA::dwCookie).take(number as usize).collect::<Vec<_>>());
    // The container of a connection point is the object itself.
    let is_its_own = point.GetConnectionPointContainer()?.cast::<IAnnouncer>()? == *source;
    let is_right = is_sink_interface && is_its_own && found.len() == count as usize && returned == enumerated;
    Ok(format!("{count} {number}{}", if is_right { "" } else { ", but they differ" }))
}
