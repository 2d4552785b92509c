//! A server for those who judge the protection of calls: the first four methods of Samba's `rpcecho`, marshaled by hand, over TCP.
//! `echo_server PORT USER PASSWORD` says the port that it listens on, and then of each call who made it and how it was protected.

use obvia_rpc::ByteOrder;
use obvia_rpc::co::pdu::{Context, Outcome, UNKNOWN_INTERFACE};
use obvia_rpc::co::{IncomingCall, ServerAssociation, ServerEvent, ServerOptions};
use obvia_rpc::security::NtHash;
use obvia_rpc::security::context::NtlmAcceptor;
use obvia_rpc::security::credentials::AccountTable;
use obvia_rpc::security::ntlm::ServerNames;
use obvia_rpc::status::Status;
use obvia_rpc::uuid::{NDR, SyntaxId, Uuid};
use obvia_via::stream::{Stream, StreamListener};
use obvia_via::{Deadline, Error};
use std::sync::Arc;
use std::thread;

const RPCECHO: SyntaxId = SyntaxId { uuid: Uuid(0x60a1_5ec5_4de8_11d7_a637_0050_56a2_0182), version: 1 };
/// A client that says nothing for so long is left.
const SILENCE: Deadline = Deadline::after_secs(60);

type Outcomes<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcomes<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [port, user, password] = &arguments[..] else {
        return Err("usage: echo_server PORT USER PASSWORD".into());
    };
    let accounts = AccountTable::default().with(user, NtHash::of_password(password));
    let acceptor = NtlmAcceptor::new(ServerNames::of_host("server.example"), Arc::new(accounts));
    let listener = StreamListener::bind("127.0.0.1", port.parse()?)?;
    let secondary_address = listener.endpoint();
    println!("ready {secondary_address}");
    let options =
        ServerOptions { group: 1, secondary_address, acceptor: Some(Arc::new(acceptor)), ..ServerOptions::default() };
    loop {
        let stream = match listener.accept(Deadline::after_secs(3600)) {
            Ok(stream) => stream,
            Err(Error::TimedOut) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let options = options.clone();
        thread::spawn(move || {
            if let Err(error) = serve(&stream, options) {
                println!("{}: {error}", stream.peer());
            }
        });
    }
}

fn serve(stream: &Stream, options: ServerOptions) -> Outcomes<()> {
    let mut association = ServerAssociation::new(options);
    loop {
        let count = stream.receive(association.input.room(), SILENCE)?;
        association.input.filled(count);
        let outcome = answer_all(&mut association);
        stream.send(association.output(), SILENCE)?;
        association.output().clear();
        outcome?;
    }
}

/// Answers the calls that are there.
fn answer_all(association: &mut ServerAssociation) -> Outcomes<()> {
    while let Some(event) = association.poll(&mut judge)? {
        if let ServerEvent::Call(call) = event {
            let (id, opnum, answer) = (call.id, call.opnum, answer(&call));
            let maker = call.maker.map(|maker| (&maker.principal.user, maker.level));
            println!("opnum {opnum}, by {maker:?}");
            match answer {
                Some(stub) => association.respond(id, &stub)?,
                None => association.fault(id, Status::OP_RNG_ERROR, false)?,
            }
        }
    }
    Ok(())
}

fn judge(context: &Context) -> Outcome {
    if context.interface != RPCECHO {
        return Outcome::refused(UNKNOWN_INTERFACE);
    }
    Outcome::choose(context, &[NDR])
}

/// The results of a call, if there is such a method and these are arguments of it.
fn answer(call: &IncomingCall<'_>) -> Option<Vec<u8>> {
    let number = |at: usize| {
        let bytes = *call.stub.get(at..)?.first_chunk()?;
        Some(if call.order == ByteOrder::Little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    };
    let counted = |bytes: &[u8]| [&(bytes.len() as u32).to_le_bytes(), bytes].concat();
    match call.opnum {
        // AddOne
        0 => Some(number(0)?.wrapping_add(1).to_le_bytes().to_vec()),
        // EchoData: the count, and the array with its own.
        1 => Some(counted(call.stub.get(8..)?.get(..number(0)? as usize)?)),
        // SinkData
        2 => Some(Vec::new()),
        // SourceData
        3 => Some(counted(&(0..number(0)?.min(1 << 24)).map(|index| index as u8).collect::<Vec<_>>())),
        _ => None,
    }
}
