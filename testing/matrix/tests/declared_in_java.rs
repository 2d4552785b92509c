//! Tests of an interface written in Java: its generated IDL compiles to the same fingerprint, and a
//! client in Rust calls a server in Java.

use ground::Process;
use ledger::{Entry, Item, Kind, Ledger, Watcher, Watcher_Impl};
use native_programs::folder;
use native_programs::java::Classes;
use obvia::{Result, U16CStr, u16cstr};
use obvia_idl::model::InterfaceId;
use obvia_idl::{Compiler, canonical};
use std::path::Path;
use std::sync::{Arc, Mutex};

mod ledger {
    obvia::include_idl!("ledger");
}

/// Starts a server in Java, and returns the lines that it prints before it is ready.
fn serve(classes: &Classes, name: &str) -> (Process, Vec<String>) {
    let mut server = Process::start(classes.program("first.Server").arg(name));
    let said = std::iter::repeat_with(|| server.line()).take_while(|line| line != "ready").collect();
    (server, said)
}

#[obvia::object(Watcher)]
struct Notes(Arc<Mutex<Vec<(String, i64)>>>);

impl Watcher_Impl for Notes_Impl {
    fn posted(&self, what: Option<&U16CStr>, amount: i64) -> Result<()> {
        self.0.lock().unwrap().push((what.unwrap().to_string_lossy(), amount));
        Ok(())
    }
}

#[test]
fn rust_calls_an_interface_that_is_written_in_java() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("first-in-java");
    let Some(classes) = Classes::process(&place, &folder("testing/matrix/java-first")) else { return };
    let made = std::fs::read_to_string(classes.folder().join("META-INF/obvia/first/Ledger.idl")).unwrap();
    assert_eq!(made, include_str!("../idl/ledger.idl"), "what the processor makes has changed: update the file");

    let name = ground::fresh_name("first-in-java");
    let (_server, said) = serve(&classes, &name);
    let compilation =
        Compiler::new().check_text(Path::new("ledger.idl"), &made).unwrap_or_else(|wrong| panic!("{wrong}"));
    let model = &compilation.model;
    for line in &said {
        let (name, print) = line.split_once(' ').unwrap();
        let at = model.interfaces.iter().position(|one| one.name == name).unwrap();
        assert_eq!(format!("{:032x}", canonical::fingerprint(model, InterfaceId(at))), print, "{name}");
    }
    assert_eq!(said.len(), 2, "{said:?}");

    let ledger: Ledger = obvia::connect(&name).unwrap();
    call(&ledger).unwrap();
}

fn call(ledger: &Ledger) -> Result<()> {
    assert_eq!(ledger.add(3, 4)?, 7);
    assert_eq!(ledger.scale(&[1.0, -2.5], 2.0)?, [2.0, -5.0]);
    assert!(ledger.isNext(Kind::Kind_CASH, 0xe4, Kind::Kind_CARD)?);
    assert_eq!(ledger.greet(Some(u16cstr!("you")))?.to_string_lossy(), "hello, you");

    let seen = Arc::new(Mutex::new(Vec::new()));
    let watcher: Watcher = Notes(seen.clone()).into();
    let receipt = vec![7; 5000];
    let parts = [
        Entry::new(1, Some(u16cstr!("a")), Kind::Kind_CASH, None, None)?,
        Entry::new(2, None, Kind::Kind_CARD, Some(&[]), Some(&[]))?,
    ];
    let entry = Entry::new(10, Some(u16cstr!("food")), Kind::Kind_CARD, Some(&receipt), Some(&parts))?;
    assert_eq!(ledger.post(Some(&entry), Some(&watcher))?, 5013);
    assert_eq!(*seen.lock().unwrap(), [("food".to_owned(), 10)]);
    ledger.find(Some(u16cstr!("food")))?.with(|found| {
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].receipt(), Some(receipt.as_slice()));
        let parts = found[0].parts().unwrap();
        assert_eq!((parts.len(), parts[1].kind(), parts[1].what().is_some()), (2, Kind::Kind_CARD, false));
    });
    let unknown = ledger.find(Some(u16cstr!("drink"))).err().unwrap();
    assert_eq!(unknown.code().0 as u32, 0x8004_0200);

    let second = Item::new(5, None);
    assert_eq!(ledger.sum(Some(&Item::new(4, Some(&second))))?, 9);
    let range = ledger.range(1, 1000)?.unwrap();
    range.with(|first| {
        assert_eq!(
            std::iter::successors(Some(first), |item| item.next()).map(|item| item.value()).sum::<i32>(),
            500_500
        )
    });
    Ok(())
}
