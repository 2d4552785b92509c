//! Fuzzes the server's side of an association, with one piece of the input at a time: the server
//! answers or ends the association, and stays within its limits.

use obvia_rpc::co::pdu::Outcome;
use obvia_rpc::co::{Limits, ServerAssociation, ServerEvent, ServerOptions};
use obvia_rpc::uuid::{FLAT, NDR};

const MESSAGE_MAX: usize = 16 << 10;

pub fn run(bytes: &[u8]) {
    let Some((&piece, bytes)) = bytes.split_first() else { return };
    let limits = Limits { message_max: MESSAGE_MAX, calls_max: 4, ..Limits::default() };
    let mut server = ServerAssociation::new(ServerOptions { limits, ..ServerOptions::default() });
    for piece in bytes.chunks(usize::from(piece) + 1) {
        server.input.push(piece);
        loop {
            let id = match server.poll(&mut |context| Outcome::choose(context, &[FLAT, NDR])) {
                Ok(Some(ServerEvent::Call(call))) => {
                    assert!(call.stub.len() <= MESSAGE_MAX);
                    call.id
                }
                Ok(Some(_)) => continue,
                Ok(None) => break,
                Err(_) => return,
            };
            // Every second call stays unanswered.
            if id % 2 == 0 {
                let _ = server.respond(id, &[7; 100]);
            }
            assert!(server.pending() <= 4);
            server.output().clear();
        }
    }
}
