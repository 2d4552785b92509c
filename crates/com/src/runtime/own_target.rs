//! The server's half of the calls between runtimes.

pub(crate) mod data;

use crate::orpc::{Client, Refs};
use crate::protocol::own_calls::{
    CONNECTIONS_MAX, OP_BINDINGS, OP_CONNECTIONS, OP_DESCRIBE, OP_FUNCTIONS, OP_INTERFACES, OP_KEEP, OP_LIST, OP_MARK,
    OP_QUERY, OP_REGIONS, OP_RELEASE, OP_RELEASE_DATA, OP_RESOLVE, OP_TRANSFER, OP_UNMARSHAL, REFS_PER_QUERY,
    guid_from, releases_in, target_from,
};
use crate::protocol::place::Place;
use crate::runtime::{OwnCall, Runtime, response};
use crate::server::connections::Progress;
use crate::server::own_call::{answer, block, current_caller, frame, serve};
use crate::types::error::{Error, code};
use crate::types::identity::is_of_own_user;
use crate::types::registry;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, ServerCall};
use obvia_via::window::{Peer, REGIONS_MAX};

/// Performs a call of [the runtime's own target](crate::protocol::own_calls::TARGET).
pub(crate) fn perform(call: &mut ServerCall<'_>) -> Answer {
    let method: OwnCall = match call.opnum() {
        OP_QUERY => serve_query,
        OP_RELEASE => serve_release,
        OP_TRANSFER => serve_transfer,
        OP_RESOLVE => serve_resolve,
        OP_LIST => serve_list,
        OP_DESCRIBE => serve_describe,
        OP_INTERFACES => serve_interfaces,
        OP_BINDINGS => serve_bindings,
        OP_REGIONS => serve_regions,
        OP_FUNCTIONS => serve_functions,
        OP_KEEP => data::serve_keep,
        OP_UNMARSHAL => data::serve_unmarshal,
        OP_RELEASE_DATA => data::serve_release,
        OP_MARK => serve_mark,
        OP_CONNECTIONS => serve_connections,
        other => match Runtime::made().and_then(|runtime| runtime.own_call(other)) {
            Some(method) => method,
            None => return Answer::fault(Status::OP_RNG_ERROR),
        },
    };
    serve(call, method)
}

fn serve_query(call: &mut ServerCall<'_>) -> std::result::Result<Answer, Status> {
    let frame = block(call, 24)?;
    let (through, iid) = (target_from(frame, 0)?, guid_from(frame, 8)?);
    let caller = current_caller()?;
    let outcome = (|| {
        caller.check_named(through)?;
        let exports = caller.exporter.exports();
        let object = exports.get(through)?.object;
        let info = registry::find(&iid).map_err(|_| code::E_NOINTERFACE)?;
        let found = exports.add(object.get(), info, caller.holder(), REFS_PER_QUERY.into())?;
        caller.note_sent(found.target, REFS_PER_QUERY.into());
        Ok(found.target.word().to_le_bytes().to_vec())
    })();
    answer(call, outcome)
}

fn serve_release(call: &mut ServerCall<'_>) -> std::result::Result<Answer, Status> {
    let batch = releases_in(frame(call, 0)?)?;
    let caller = current_caller()?;
    caller.exporter.exports().release(caller.holder(), batch);
    answer(call, Ok(Vec::new()))
}

fn serve_transfer(call: &mut ServerCall<'_>) -> std::result::Result<Answer, Status> {
    let frame = frame(call, 24)?;
    let target = target_from(frame, 0)?;
    let to = frame.load_u64(8).ok_or(Status::BAD_STUB_DATA)?;
    let refs = frame.load_u64(16).ok_or(Status::BAD_STUB_DATA)?;
    let caller = current_caller()?;
    let (exports, clients) = (caller.exporter.exports(), caller.exporter.clients());
    if refs == 0 {
        // If no references are transferred, the receiver must not be added to the expected
        // processes.
        return answer(call, Ok(Vec::new()));
    }
    if let Err(error) = caller.check_named(target) {
        return answer(call, Err(error));
    }
    let refs = Refs::public(refs.min(1 << 20));
    if caller.process() == Some(to) {
        return answer(call, exports.add_to(target, caller.holder(), refs).map(|()| Vec::new()));
    }
    let giver = caller.giver();
    let mut place = vec![0; frame.len() - 24];
    if place.len() > Place::LENGTH_MAX {
        return Err(Status::BAD_STUB_DATA);
    }
    frame.copy_to(24, &mut place).ok_or(Status::BAD_STUB_DATA)?;
    let place = Place::read(&place).ok_or(Status::BAD_STUB_DATA)?.seen_by(&caller.peer, caller.local());
    let outcome = clients.pass_on(to, &place, |number, is_connected| {
        let holder = Client::Process(number);
        if is_connected { exports.add_to(target, holder, refs) } else { exports.pass_on(target, (giver, holder), refs) }
    });
    answer(call, outcome.map(|()| Vec::new()))
}

fn serve_resolve(call: &mut ServerCall<'_>) -> std::result::Result<Answer, Status> {
    let frame = frame(call, 24)?;
    let iid = guid_from(frame, 0)?;
    let word = frame.load_u64(16).ok_or(Status::BAD_STUB_DATA)?;
    let (length, forms) = (word as u32, word >> 32);
    if length > 255 || forms > 1 {
        return Err(Status::BAD_STUB_DATA);
    }
    let mut name = vec![0; length as usize];
    frame.copy_to(24, &mut name).ok_or(Status::BAD_STUB_DATA)?;
    let name = String::from_utf8(name).map_err(|_| Status::BAD_STUB_DATA)?;
    let caller = current_caller()?;
    let outcome = (|| {
        let runtime = Runtime::current()?;
        let object = runtime.named(&name)?;
        caller.exporter.rules().check_name(&name, object.get(), || caller.shown())?;
        let info = registry::find(&iid).map_err(|_| code::E_NOINTERFACE)?;
        if forms == 1
            && let Some(reference) = response::specialised(&caller, object.get(), info)?
        {
            return Ok(reference);
        }
        let handler = runtime.handler_class_of(object.get(), caller.holder());
        runtime.marshal_own(object.get(), info, caller.holder())?.to_wire_with(0, handler)
    })();
    answer(call, outcome)
}

fn serve_list(call: &mut ServerCall<'_>) -> std::result::Result<Answer, Status> {
    answer(call, Runtime::current().map(|runtime| runtime.names().list().into_bytes()))
}

fn serve_describe(call: &mut ServerCall<'_>) -> std::result::Result<Answer, Status> {
    let iid = guid_from(block(call, 16)?, 0)?;
    let found = registry::find(&iid).map(|info| info.idl.as_bytes().to_vec());
    answer(call, found.map_err(|_| code::E_NOINTERFACE.into()))
}

fn serve_interfaces(call: &mut ServerCall<'_>) -> std::result::Result<Answer, Status> {
    let mut lines: Vec<String> =
        registry::known().iter().map(|info| format!("{}\t{:?}\n", info.name, info.iid)).collect();
    lines.sort();
    answer(call, Ok(lines.concat().into_bytes()))
}

fn serve_bindings(call: &mut ServerCall<'_>) -> std::result::Result<Answer, Status> {
    let caller = current_caller()?;
    answer(call, Runtime::current().map(|runtime| runtime.list_bindings(caller.number).into_bytes()))
}

fn serve_functions(call: &mut ServerCall<'_>) -> std::result::Result<Answer, Status> {
    let caller = current_caller()?;
    answer(call, Ok(caller.exporter.functions().list().into_bytes()))
}

/// Lists the connections for processes of this user and of the superuser. The first line has the
/// number of all connections. One line follows for each of the newest connections. The fields of
/// these lines are separated by tabs: the connection's number; the process and the user of a client
/// on this host; the host of any other client; 1 if the caller is the client, otherwise 0; the
/// number of messages.
fn serve_connections(call: &mut ServerCall<'_>) -> std::result::Result<Answer, Status> {
    let caller = current_caller()?;
    if !is_of_own_user(&caller.peer) {
        return answer(call, Err(code::E_ACCESSDENIED.into()));
    }
    let (total, newest) = caller.exporter.connections().newest(CONNECTIONS_MAX);
    let lines = newest.iter().map(|progress| connection_line(progress, &caller.peer));
    let text: String = std::iter::once(format!("{total}\n")).chain(lines).collect();
    answer(call, Ok(text.into_bytes()))
}

/// Returns the line of a connection. The field of a process id or user id that is not known here is
/// empty.
fn connection_line(progress: &Progress, asker: &Peer) -> String {
    let Progress { number, peer, messages } = progress;
    let is_own = u8::from(peer == asker);
    match peer {
        Peer::Process { pid, uid, .. } => {
            let pid = if *pid == 0 { String::new() } else { pid.to_string() };
            let uid = if *uid == Peer::NOBODY { String::new() } else { uid.to_string() };
            format!("{number}\t{pid}\t{uid}\t\t{is_own}\t{messages}\n")
        }
        Peer::Host(host) => format!("{number}\t\t\t{host}\t{is_own}\t{messages}\n"),
    }
}

fn serve_mark(call: &mut ServerCall<'_>) -> std::result::Result<Answer, Status> {
    let caller = current_caller()?;
    let (clients, number) = (caller.exporter.clients(), caller.number.ok_or(Status::PROTOCOL_ERROR)?);
    let outcome = (|| {
        let mark = clients.mark_of(number)?;
        if !caller.is_confidential() {
            return Ok(clients.clear_mark(mark)?.to_le_bytes().to_vec());
        }
        Ok([&clients.mark(mark)?.to_le_bytes()[..], &clients.mark_key(mark)?.to_le_bytes()].concat())
    })();
    answer(call, outcome)
}

fn serve_regions(call: &mut ServerCall<'_>) -> std::result::Result<Answer, Status> {
    let frame = frame(call, 8)?;
    if frame.len() > (REGIONS_MAX + 1) * 8 {
        return Err(Status::BAD_STUB_DATA);
    }
    let number = |at: usize| {
        let word = frame.load_u64(at).ok_or(Status::BAD_STUB_DATA)?;
        u16::try_from(word).map_err(|_| Status::BAD_STUB_DATA)
    };
    for at in (8..frame.len()).step_by(8) {
        call.forget_region(number(at)?);
    }
    let outcome = match number(0)? {
        0 => Ok(()),
        new => call.admit_region(new).map_err(Error::from),
    };
    answer(call, outcome.map(|()| Vec::new()))
}

#[cfg(test)]
mod tests {
    use super::connection_line;
    use crate::server::connections::Progress;
    use obvia_via::window::Peer;

    #[test]
    fn connections_are_the_askers_own_by_process_and_not_by_id() {
        let process = |pid, uid, serial| Peer::Process { pid, uid, serial };
        let asker = process(7, 1000, 70);
        let line = |peer| connection_line(&Progress { number: 3, peer, messages: 9 }, &asker);
        assert_eq!(line(process(7, 1000, 70)), "3\t7\t1000\t\t1\t9\n");
        // A process of another PID namespace can have the same id.
        assert_eq!(line(process(7, 1000, 71)), "3\t7\t1000\t\t0\t9\n");
        assert_eq!(line(process(0, Peer::NOBODY, 5)), "3\t\t\t\t0\t9\n");
        assert_eq!(line(Peer::Host("10.0.0.1".to_owned())), "3\t\t\t10.0.0.1\t0\t9\n");
    }
}
