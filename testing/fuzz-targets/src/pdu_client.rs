//! Fuzzes the client's side of an association that waits for the answer to its bind or for
//! responses: the client accepts the bytes as answers or ends the association, and stays within its
//! limits.

use obvia_rpc::co::pdu::{Context, Outcome};
use obvia_rpc::co::{
    ClientAssociation, ClientEvent, ClientOptions, Limits, OutgoingCall, ServerAssociation, ServerOptions,
};
use obvia_rpc::uuid::{FLAT, NDR};

const MESSAGE_MAX: usize = 16 << 10;

/// Returns a client that waits for the responses to three calls, or to its bind.
fn waiting(is_bound: bool) -> ClientAssociation {
    let limits = Limits { message_max: MESSAGE_MAX, calls_max: 4, ..Limits::default() };
    let mut client = ClientAssociation::new(ClientOptions { limits });
    client.bind(vec![Context { id: 0, interface: FLAT, transfers: vec![NDR] }], None).unwrap();
    if !is_bound {
        return client;
    }
    let mut server = ServerAssociation::new(ServerOptions::default());
    server.input.push(client.output());
    server.poll(&mut |context| Outcome::choose(context, &[NDR])).unwrap();
    client.input.push(server.output());
    assert!(matches!(client.poll(), Ok(Some(ClientEvent::Bound(..)))));
    for opnum in 0..3 {
        let call =
            OutgoingCall { context_id: 0, opnum, object: None, is_maybe: false, security: None, stub: b"arguments" };
        client.call(&call).unwrap();
    }
    client
}

pub fn run(bytes: &[u8]) {
    let Some((&piece, bytes)) = bytes.split_first() else { return };
    let mut client = waiting(piece % 4 != 0);
    for piece in bytes.chunks(usize::from(piece) + 1) {
        client.input.push(piece);
        loop {
            match client.poll() {
                Ok(Some(ClientEvent::Response(response))) => assert!(response.stub.len() <= MESSAGE_MAX.max(1 << 16)),
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
}
