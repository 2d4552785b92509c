//! The calls between the runtimes of two processes: their target, their opnums, and the forms of
//! their requests and answers. The calls are for references, names, interfaces, activation and
//! shared regions.
//!
//! The calls go to a target that every process has. Their frames are blocks without objects, or
//! plain bytes.

use crate::orpc::CallContext;
use crate::types::deadline::{self, ThreadLimit};
use crate::types::error::{Result, code};
use crate::types::guid;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{CallError, Channel, Reply, ServerCall, TargetId};
use obvia_via::{Deadline, RegionView};
use std::net::IpAddr;
use std::time::Duration;
use windows_core::{GUID, HRESULT};

/// The target of the runtime's own calls. It is no object's target, since no entry of the object
/// table has generation 0.
pub(crate) const TARGET: TargetId = TargetId { index: 0, generation: 0 };

/// The number of references that one query returns: several, so that further copies of the pointer
/// need no call.
pub(crate) const REFS_PER_QUERY: u32 = 5;

pub(crate) const OP_QUERY: u16 = 3;
pub(crate) const OP_RELEASE: u16 = 4;
/// The opnum of the call that counts references for a third process. The request has the target,
/// the OXID of the third process and the count. The [place](super::place::Place) of the third
/// process may follow; without a place the third process runs on the caller's host.
pub(crate) const OP_TRANSFER: u16 = 5;
pub(crate) const OP_RESOLVE: u16 = 6;
pub(crate) const OP_LIST: u16 = 7;
pub(crate) const OP_DESCRIBE: u16 = 8;
pub(crate) const OP_INTERFACES: u16 = 9;
pub(crate) const OP_BINDINGS: u16 = 10;
pub(crate) const OP_REGIONS: u16 = 11;
pub(crate) const OP_FUNCTIONS: u16 = 12;
pub(crate) const OP_ACTIVATE: u16 = 13;
pub(crate) const OP_KEEP: u16 = 14;
pub(crate) const OP_UNMARSHAL: u16 = 15;
pub(crate) const OP_RELEASE_DATA: u16 = 16;
pub(crate) const OP_MARK: u16 = 17;
pub(crate) const OP_START: u16 = 20;
pub(crate) const OP_FORWARD: u16 = 21;
pub(crate) const OP_PROVE: u16 = 24;

/// The opnum of a one-way call with the [`CallContext`] of the next call on the connection.
pub(crate) const OP_CONTEXT: u16 = 25;

/// The opnum of a message that follows a one-way call and lists the references in that call, at
/// most 1024 in each message. A server that has refused the one-way call gives these references
/// back. The reason is that the server has not read the call's arguments, and that the client does
/// not learn of the refusal.
///
/// Opnum 27 is used only between Java virtual machines.
pub(crate) const OP_LISTED: u16 = 26;

/// The opnum of a call that lists the newest connections of the server. Only processes of the
/// server's user and of the superuser may make the call.
pub(crate) const OP_CONNECTIONS: u16 = 28;

/// The greatest number of connections that one answer lists.
pub(crate) const CONNECTIONS_MAX: usize = 4096;

/// The longest time for which the client waits until the connection has room for a message of
/// [`OP_LISTED`].
const LISTING_TIMEOUT: Duration = Duration::from_secs(1);

/// The greatest number of entries that one call releases. The exports are locked during the
/// release, so other calls wait.
pub(crate) const RELEASES_MAX: usize = 1024;

/// The greatest length of an answer to these calls, in bytes.
const ANSWER_MAX: usize = 1 << 20;

/// The forms of references that a client accepts for a named object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forms {
    /// The forms that contain a STDOBJREF: all forms except custom references.
    Standard,
    /// All forms, including custom references.
    All,
}

/// Makes a call, and returns its answer.
pub(crate) fn call(channel: &mut Channel, deadline: Deadline, opnum: u16, request: &[u8]) -> Result<Vec<u8>> {
    let length = put(channel, deadline, request)?;
    exchange(channel, deadline, opnum, length)
}

/// Makes a call as [`call`] does, and cancels it when `is_awaited` returns false.
pub(crate) fn call_while(
    channel: &mut Channel,
    deadline: Deadline,
    opnum: u16,
    request: &[u8],
    is_awaited: &dyn Fn() -> bool,
) -> Result<Vec<u8>> {
    let length = put(channel, deadline, request)?;
    answer_in(&channel.call_while(TARGET, opnum, length, deadline, is_awaited)?)
}

/// Writes a request to the channel, and returns the length of its frame.
fn put(channel: &mut Channel, deadline: Deadline, request: &[u8]) -> Result<usize> {
    let length = request.len().next_multiple_of(8);
    let frame = channel.request(length, 0, deadline)?;
    frame[..request.len()].copy_from_slice(request);
    frame[request.len()..].fill(0);
    Ok(length)
}

/// Publishes the request that was written last, and returns its answer.
fn exchange(channel: &mut Channel, deadline: Deadline, opnum: u16, length: usize) -> Result<Vec<u8>> {
    answer_in(&channel.call(TARGET, opnum, length, deadline)?)
}

/// Returns the answer in a reply.
fn answer_in(reply: &Reply<'_>) -> Result<Vec<u8>> {
    let result = HRESULT(reply.status.cast_signed());
    if result.is_err() {
        return Err(result.into());
    }
    if reply.frame.len() > ANSWER_MAX {
        return Err(code::RPC_E_INVALID_DATA.into());
    }
    let mut answer = vec![0; reply.frame.len()];
    reply.frame.copy_to(0, &mut answer).ok_or(code::RPC_E_INVALID_DATA)?;
    Ok(answer)
}

/// Reads the target at the offset `at` of a frame.
pub(crate) fn target_from(frame: RegionView<'_>, at: usize) -> std::result::Result<TargetId, Status> {
    frame.load_u64(at).map(TargetId::from_word).ok_or(Status::BAD_STUB_DATA)
}

/// Reads the GUID at the offset `at` of a frame.
pub(crate) fn guid_from(frame: RegionView<'_>, at: usize) -> std::result::Result<GUID, Status> {
    let mut bytes = [0; 16];
    frame.copy_to(at, &mut bytes).ok_or(Status::BAD_STUB_DATA)?;
    Ok(guid::from_wire(bytes))
}

/// Converts an answer to a text, without the zeros that pad the answer.
pub(crate) fn text(mut bytes: Vec<u8>) -> Result<String> {
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    bytes.truncate(end);
    String::from_utf8(bytes).map_err(|_| code::RPC_E_INVALID_DATA.into())
}

/// Returns the request that lists references: for each reference, the target and the count.
fn put_releases(batch: impl Iterator<Item = (TargetId, u64)>) -> Vec<u8> {
    batch.flat_map(|(target, refs)| [target.word(), refs]).flat_map(u64::to_le_bytes).collect()
}

/// Reads a request that [`put_releases`] has made.
pub(crate) fn releases_in(frame: RegionView<'_>) -> std::result::Result<Vec<(TargetId, u64)>, Status> {
    if frame.len() > RELEASES_MAX * 16 {
        return Err(Status::BAD_STUB_DATA);
    }
    let read = |at| Ok((target_from(frame, at)?, frame.load_u64(at + 8).ok_or(Status::BAD_STUB_DATA)?));
    (0..frame.len()).step_by(16).map(read).collect()
}

/// Sends the context of the next call to the peer.
pub(crate) fn say_context(channel: &mut Channel, context: &CallContext) -> Result<()> {
    let length = context.length();
    context.write(channel.request(length, 0, ThreadLimit)?);
    channel.oneway(TARGET, OP_CONTEXT, length);
    Ok(())
}

/// Returns the context of the next call if this call carries one: `Some(None)` where its frame is
/// malformed, `None` for any other call.
pub(crate) fn context_in(call: &ServerCall<'_>) -> Option<Option<CallContext>> {
    if call.target() != TARGET.word() || call.opnum() != OP_CONTEXT {
        return None;
    }
    let mut bytes = [0; CallContext::LENGTH_MAX];
    let context = bytes.get_mut(..call.frame.len()).and_then(|bytes| call.frame.copy_to(0, bytes).map(|()| &*bytes));
    Some(context.and_then(CallContext::read))
}

/// Sends the list of the references in the one-way call that was sent last. If the server does not
/// read, the function waits only briefly for room, since the one-way call itself has been sent.
pub(crate) fn list_references(channel: &mut Channel, given: &[(TargetId, u64)]) -> Result<()> {
    let limit = Deadline::Within(deadline::of_thread().start().remaining().min(LISTING_TIMEOUT)).start();
    for part in given.chunks(RELEASES_MAX) {
        let request = put_releases(part.iter().copied());
        channel.request(request.len(), 0, limit)?.copy_from_slice(&request);
        channel.oneway(TARGET, OP_LISTED, request.len());
    }
    Ok(())
}

/// Whether a call is an [`OP_LISTED`], which lists the references in the one-way call before it.
pub(crate) fn lists_references(call: &ServerCall<'_>) -> bool {
    call.target() == TARGET.word() && call.opnum() == OP_LISTED
}

/// Releases references at the server. Sets `is_sent` if the server may have performed the request,
/// so that the caller must not send the request again. A server that answers that it is too busy
/// has not performed the request.
pub(crate) fn release(
    home: &mut Channel,
    deadline: Deadline,
    batch: &[(TargetId, u32)],
    is_sent: &mut bool,
) -> Result<()> {
    let request = put_releases(batch.iter().map(|(target, refs)| (*target, u64::from(*refs))));
    let length = put(home, deadline, &request)?;
    *is_sent = true;
    let answer = home.call(TARGET, OP_RELEASE, length, deadline);
    *is_sent = !matches!(&answer, Err(CallError::Fault(status)) if *status == Status::SERVER_TOO_BUSY);
    answer_in(&answer?).map(drop)
}

/// Returns the server's mark for this process. Over a confidential link, also returns the key of
/// the mark's [proof](super::mark_proof::MarkProof). The server has two marks for a process: one
/// for the links that the server takes for confidential, and another one for all other links. No
/// two processes have the same mark.
pub(crate) fn mark(home: &mut Channel, deadline: Deadline) -> Result<(u64, Option<u128>)> {
    let answer = call(home, deadline, OP_MARK, &[])?;
    let (mark, rest) = answer.split_first_chunk().ok_or(code::RPC_E_INVALID_DATA)?;
    Ok((u64::from_le_bytes(*mark), rest.first_chunk().map(|key| u128::from_le_bytes(*key))))
}

/// Asks the server to unmap the regions with the numbers `ended`, and then to map the region that
/// was sent under the number `new`. Returns whether the server has mapped the region.
///
/// # Errors
///
/// If the call fails. It is then unknown whether the server has received the region.
pub(crate) fn regions(channel: &mut Channel, new: u16, ended: &[u16]) -> Result<bool> {
    let words = [new].into_iter().chain(ended.iter().copied());
    let request: Vec<u8> = words.flat_map(|number| u64::from(number).to_le_bytes()).collect();
    let limit = deadline::of_thread().start();
    let length = put(channel, limit, &request)?;
    let reply = channel.call(TARGET, OP_REGIONS, length, limit)?;
    Ok(HRESULT(reply.status.cast_signed()).is_ok())
}

/// Waits until the server has processed all earlier messages of a channel.
pub(crate) fn settle(channel: &mut Channel, deadline: Deadline) -> Result<()> {
    call(channel, deadline, OP_LIST, &[]).map(drop)
}

/// Returns the name by which an authentication denotes a host. Client and server get the same name
/// even if they write the host's address differently.
pub(crate) fn place_of(host: &str) -> String {
    let (address, _zone) = host.split_once('%').unwrap_or((host, ""));
    address.parse::<IpAddr>().map_or_else(|_| host.to_owned(), |address| address.to_canonical().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use obvia_rpc::vi_call::{Answer, Service, serve};
    use obvia_via::provider::shm::{self, Directory, NicOptions};
    use obvia_via::window::{self, Options, Window};

    const LIMIT: Deadline = Deadline::Within(ground::LATEST);

    /// Makes a connection. Returns the client's end and the server's.
    fn connected() -> (Channel, Window) {
        let folder = ground::Folder::new("com-releases");
        let directory = Directory::at(folder.path()).unwrap();
        let nic = shm::open(&NicOptions { directory: Some(directory), ..NicOptions::default() }).unwrap();
        let mut listener = nic.listen("server").unwrap();
        let address = listener.address();
        std::thread::scope(|scope| {
            let connected = scope.spawn(|| window::connect(&nic, &address, &Options::default(), LIMIT).unwrap());
            let request = listener.wait(LIMIT).unwrap();
            let server = window::accept(&nic, request, &Options::default(), LIMIT).unwrap();
            (Channel::new(connected.join().unwrap()), server)
        })
    }

    /// A server that refuses all calls with a status.
    struct Refuses(Status);

    impl Service for Refuses {
        fn dispatch(&mut self, _: &mut ServerCall<'_>) -> Answer {
            Answer::fault(self.0)
        }

        fn answer_pdu(&mut self, _: &[u8]) -> Option<Vec<u8>> {
            None
        }

        fn abandoned(&mut self) {}

        fn tidy(&mut self) {}
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn a_release_that_a_busy_server_refuses_counts_as_not_sent() {
        for (status, counts) in [(Status::SERVER_TOO_BUSY, false), (Status::OP_RNG_ERROR, true)] {
            let (mut channel, mut window) = connected();
            std::thread::scope(|scope| {
                scope.spawn(move || serve(&mut window, &mut Refuses(status)));
                let mut is_sent = false;
                assert!(release(&mut channel, LIMIT, &[(TARGET, 1)], &mut is_sent).is_err());
                assert_eq!(is_sent, counts, "{status:?}");
                // The end of the connection ends the server's thread.
                drop(channel);
            });
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn a_release_is_not_sent_without_room_for_its_request() {
        for has_room in [true, false] {
            let (mut channel, _silent) = connected();
            while !has_room && channel.request_slot().is_some() {
                channel.inline_request(LIMIT).unwrap();
                channel.oneway(TARGET, OP_LIST, 0);
            }
            let mut is_sent = false;
            let brief = Deadline::Within(Duration::from_millis(20)).start();
            assert!(release(&mut channel, brief, &[(TARGET, 1)], &mut is_sent).is_err());
            assert_eq!(is_sent, has_room);
        }
    }
}
