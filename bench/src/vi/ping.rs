//! Message round trips by descriptors.

use super::{Ask, End, failed, first_word, post, set_first_word, start, wait};
use crate::payload::count_call;
use crate::{Error, Exchange, Parent, Payload, Placement, ServerProcess};
use obvia_via::{Access, Descriptor, MemoryRegion, WorkQueue};
use std::convert::Infallible;

/// The client. It sends from one region and receives into another, because a buffer belongs to the
/// provider while it is sent.
///
/// Each message begins with the first word of the last reply. The word thus shows how often the
/// server has incremented it.
pub(super) struct Ping {
    end: End,
    send: MemoryRegion,
    receive: MemoryRegion,
    // The two descriptors while no call uses them.
    idle: Option<(Box<Descriptor>, Box<Descriptor>)>,
    payload: Payload,
    server: ServerProcess,
}

impl Ping {
    pub(super) fn start(ask: Ask, placement: Placement) -> Result<Self, Error> {
        let payload = Payload::new(ask.bytes)?;
        let regions =
            |end: &mut End| Ok((end.region(ask.bytes, Access::LOCAL)?, end.region(ask.bytes, Access::LOCAL)?));
        let (end, (send, receive), _, server) = start(ask, placement, regions)?;
        let whole = ask.bytes as u32;
        let descriptors =
            (Descriptor::send().with_segment(&send, 0, whole), Descriptor::receive().with_segment(&receive, 0, whole));
        let mut ping = Self { end, send, receive, idle: Some(descriptors), payload, server };
        ping.fill()?;
        Ok(ping)
    }

    /// Writes the payload into the send region, and its first word into the receive region.
    fn fill(&mut self) -> Result<(), Error> {
        for (index, word) in (0_u64..).zip(self.payload.words()) {
            self.send.memory().write(4 * index, &word.to_le_bytes()).ok_or_else(too_small)?;
        }
        set_first_word(self.receive.memory(), first_word(self.send.memory()));
        Ok(())
    }
}

impl Exchange for Ping {
    #[inline]
    fn call(&mut self) -> Result<(), Error> {
        let Some((send, receive)) = self.idle.take() else {
            return Err(Error::Failed { message: "an earlier call failed".to_owned() });
        };
        let bytes = self.payload.words().len() * 4;
        set_first_word(self.send.memory(), first_word(self.receive.memory()));
        post(&mut self.end.vi.receive, receive)?;
        post(&mut self.end.vi.send, send)?;
        let receive = wait(&mut self.end.vi.receive, bytes, &mut self.server)?;
        let send = wait(&mut self.end.vi.send, bytes, &mut self.server)?;
        self.idle = Some((send, receive));
        Ok(())
    }

    fn verify(&mut self, calls: u32) -> Result<(), Error> {
        if calls == 0 {
            return Ok(());
        }
        let mut word = [0; 4];
        for (index, place) in (0_u64..).zip(self.payload.words_mut()) {
            self.receive.memory().read(4 * index, &mut word).ok_or_else(too_small)?;
            *place = u32::from_le_bytes(word);
        }
        self.payload.verify(calls)?;
        self.fill()
    }

    fn server(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.server)
    }
}

#[cold]
fn too_small() -> Error {
    Error::Failed { message: "a region is shorter than asked for".to_owned() }
}

/// A region of the server, with its descriptors while they are not posted.
struct Place {
    region: MemoryRegion,
    send: Option<Box<Descriptor>>,
    receive: Option<Box<Descriptor>>,
}

/// Runs the server, which returns each message from the region into which it was received. Before
/// the reply is sent, the other region is posted for the next message.
pub(super) fn serve(ask: Ask, mut end: End, address: &str, mut parent: Parent) -> Result<Infallible, Error> {
    let place = || {
        let region = end.region(ask.bytes, Access::LOCAL)?;
        let send = Some(Descriptor::send().with_segment(&region, 0, ask.bytes as u32));
        let receive = Some(Descriptor::receive().with_segment(&region, 0, ask.bytes as u32));
        Ok(Place { region, send, receive })
    };
    let (mut now, mut next) = (place()?, place()?);
    post_if_there(&mut end.vi.receive, now.receive.take())?;
    end.vi.request(address, &[], super::PATIENCE).map_err(failed)?;
    parent.ready()?;
    loop {
        let received = wait(&mut end.vi.receive, ask.bytes, &mut parent)?;
        now.receive = Some(received);
        if next.send.is_none() {
            // The last reply has completed: the client's next message shows that the client has
            // received the reply.
            next.send = Some(wait(&mut end.vi.send, ask.bytes, &mut parent)?);
        }
        post_if_there(&mut end.vi.receive, next.receive.take())?;
        set_first_word(now.region.memory(), count_call(first_word(now.region.memory())));
        post_if_there(&mut end.vi.send, now.send.take())?;
        std::mem::swap(&mut now, &mut next);
    }
}

fn post_if_there(queue: &mut WorkQueue, descriptor: Option<Box<Descriptor>>) -> Result<(), Error> {
    descriptor.map_or(Ok(()), |descriptor| post(queue, descriptor))
}
