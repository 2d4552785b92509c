//! One side of a security context, controlled over standard input and output, for programs that
//! check its tokens: `tokens accept KIND LEVEL USER PASSWORD` or `tokens initiate KIND LEVEL USER
//! PASSWORD`, where KIND is 9 for SPNEGO and 10 for NTLM.
//!
//! Each line of input is a command with bytes in hexadecimal (`-` for none). The answer to each
//! command is one line:
//!
//! - `step TOKEN`: `more TOKEN` or `done TOKEN`
//! - `protect PDU START END`: `ok PDU SIGNATURE`
//! - `unprotect PDU START END SIGNATURE`: `ok PDU`
//! - `who`: `ok DOMAIN USER`
//!
//! The answer to a command that failed is `error` and the reason.

use obvia_rpc::security::context::{NtlmAcceptor, initiate};
use obvia_rpc::security::credentials::{AccountTable, Credential};
use obvia_rpc::security::ntlm::ServerNames;
use obvia_rpc::security::{Acceptor, AuthType, Level, NtHash, SecurityContext};
use std::error::Error;
use std::fmt::Write;
use std::io::{Write as _, stdin, stdout};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [side, kind, level, user, password] = &arguments[..] else {
        return Err("usage: tokens accept|initiate KIND LEVEL USER PASSWORD".into());
    };
    let kind = AuthType(kind.parse()?);
    let level = Level::from_wire(level.parse()?).ok_or("no such level")?;
    let mut context = if side == "accept" {
        let accounts = AccountTable::default().with(user, NtHash::of_password(password));
        NtlmAcceptor::new(ServerNames::of_host("server.example"), Arc::new(accounts)).accept(kind, level)?
    } else {
        initiate(kind, level, "host/server.example", &Credential::user("", user, password))?.context
    };
    for line in stdin().lines() {
        let line = line?;
        match answer(&mut *context, level, &line) {
            Ok(answer) => println!("{answer}"),
            Err(error) => println!("error {error}"),
        }
        stdout().flush()?;
    }
    Ok(())
}

fn answer(context: &mut dyn SecurityContext, level: Level, line: &str) -> Result<String, Box<dyn Error>> {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["step", token] => {
            let step = context.step(&bytes(token)?)?;
            Ok(format!("{} {}", if step.is_done { "done" } else { "more" }, hex(&step.token)))
        }
        ["protect", pdu, start, end] => {
            let (mut pdu, mut signature) = (bytes(pdu)?, Vec::new());
            context.protect(level, &mut pdu, start.parse()?..end.parse()?, &mut signature)?;
            Ok(format!("ok {} {}", hex(&pdu), hex(&signature)))
        }
        ["unprotect", pdu, start, end, signature] => {
            let mut pdu = bytes(pdu)?;
            context.unprotect(level, &mut pdu, start.parse()?..end.parse()?, &bytes(signature)?)?;
            Ok(format!("ok {}", hex(&pdu)))
        }
        ["who"] => {
            let principal = context.principal().ok_or("nobody yet")?;
            Ok(format!("ok {} {}", hex(principal.domain.as_bytes()), hex(principal.user.as_bytes())))
        }
        _ => Err("no such command".into()),
    }
}

fn bytes(text: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    if text == "-" {
        return Ok(Vec::new());
    }
    let pairs = text.as_bytes().chunks(2).map(str::from_utf8);
    pairs.map(|pair| Ok(u8::from_str_radix(pair?, 16)?)).collect()
}

fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "-".to_owned();
    }
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
