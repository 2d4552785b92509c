//! Functions of a server that was made without the runtime: it has units and stub data, and knows one interface.

use matrix::rpcecho;
use obvia::{Remote as _, code};
use obvia_rpc::co::pdu::{Context, Outcome, UNKNOWN_INTERFACE};
use obvia_rpc::co::{ServerAssociation, ServerEvent, ServerOptions};
use obvia_rpc::status::Status;
use obvia_rpc::uuid::{NDR, Uuid};
use obvia_via::Deadline;
use obvia_via::stream::{Stream, StreamListener};

const PATIENCE: Deadline = Deadline::after_secs(60);

/// Answers AddOne, opnum 0, until the client ends.
fn serve(stream: &Stream) -> Result<(), Box<dyn std::error::Error>> {
    let mut association = ServerAssociation::new(ServerOptions { group: 1, ..ServerOptions::default() });
    let mut judge = |context: &Context| {
        if context.interface.uuid == Uuid(rpcecho::INFO.iid.to_u128()) {
            Outcome::choose(context, &[NDR])
        } else {
            Outcome::refused(UNKNOWN_INTERFACE)
        }
    };
    loop {
        while let Some(event) = association.poll(&mut judge)? {
            let ServerEvent::Call(call) = event else { continue };
            let (id, answer) = match (call.opnum, call.stub, call.object) {
                (0, [a, b, c, d], None) => (call.id, Ok(u32::from_le_bytes([*a, *b, *c, *d]) + 1)),
                (0, [..], Some(object)) => (call.id, Ok(object.0 as u32)),
                _ => (call.id, Err(Status::OP_RNG_ERROR)),
            };
            match answer {
                Ok(number) => association.respond(id, &number.to_le_bytes())?,
                Err(status) => association.fault(id, status, false)?,
            }
        }
        stream.send(association.output(), PATIENCE)?;
        association.output().clear();
        let count = stream.receive(association.input.room(), PATIENCE)?;
        association.input.filled(count);
    }
}

#[test]
#[cfg_attr(miri, ignore = "connects by TCP")]
fn functions_of_a_server_without_the_runtime_are_called() {
    let listener = StreamListener::bind("127.0.0.1", 0).unwrap();
    let binding = format!("ncacn_ip_tcp:127.0.0.1[{}]", listener.endpoint());
    std::thread::spawn(move || {
        while let Ok(stream) = listener.accept(PATIENCE) {
            std::thread::spawn(move || serve(&stream).map_err(|error| error.to_string()));
        }
    });
    let echo: rpcecho = obvia::bind(&binding).unwrap();
    assert_eq!(echo.AddOne(41).unwrap(), 42);
    assert_eq!(echo.SinkData(&[1]).unwrap_err().code(), code::RPC_E_SERVERFAULT, "it has no other function");
    assert_eq!(echo.AddOne(1).unwrap(), 2);
    let named: rpcecho = obvia::bind(&format!("00000000-0000-0000-0000-000000000007@{binding}")).unwrap();
    assert_eq!(named.AddOne(41).unwrap(), 7, "the object is named");
    let Err(error) = obvia::bind::<matrix::Counters>(&binding) else { panic!("it has another interface") };
    assert_eq!(error.code(), code::E_NOINTERFACE);
}
