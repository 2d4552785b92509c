//! Tests of the command with credentials, against a server that authenticates its callers.

use crate::running::{Ran, Server};
use calc::{Entry, ITapeEvents, ITapeEvents_Impl};
use obvia::security::{AccountTable, NtHash, set_accounts};
use std::process::Command;

#[obvia::object(ITapeEvents)]
struct Printer;

impl ITapeEvents_Impl for Printer_Impl {
    fn Printed(&self, _: &Entry) -> obvia::Result<()> {
        Ok(())
    }

    fn Hint(&self, code: i32) -> obvia::Result<()> {
        let who = obvia::caller().and_then(|caller| caller.authenticated).ok_or(obvia::code::E_UNEXPECTED)?;
        println!("hint {code} of {}\\{} at {}", who.principal.domain, who.principal.user, who.level);
        Ok(())
    }
}

#[test]
#[ignore = "the server of the test below, in a process of its own"]
fn serve_a_guarded_printer() {
    set_accounts(AccountTable::default().with("anna", NtHash::of_password("one secret")));
    let _export = obvia::export("printer", ITapeEvents::from(Printer)).unwrap();
    let binding = obvia::listen("ncacn_ip_tcp:127.0.0.1[,security=integrity]").unwrap();
    // A newline comes first, because the test framework has printed the test's name without one.
    println!("\nserving printer\n{binding}");
    obvia::wait();
}

#[test]
fn the_command_authenticates_its_user() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "--nocapture", "credentials::serve_a_guarded_printer"]);
    let mut server = Server::start(command);
    let binding = server.line();
    let hint = ["call", &binding, "ITapeEvents.Hint", "7"];
    let run = |password: &str, arguments: &[&str]| -> Ran {
        server.directory.obvia_with(&[("OBVIA_PASSWORD", password)], arguments)
    };
    assert!(run("", &hint).bad().contains("no credentials"));
    let as_anna = [&["--user", "HERE/anna"], &hint[..]].concat();
    assert!(server.obvia(&as_anna).bad().contains("OBVIA_PASSWORD"));
    assert!(run("another", &as_anna).bad().contains("E_ACCESSDENIED"));
    assert_eq!(run("one secret", &as_anna).good(), "done\n");
    assert!(run("one secret", &["ls", &binding, "--user", "anna"]).good().contains("printer"));
    assert_eq!(server.line(), "hint 7 of \\anna at integrity");
}
