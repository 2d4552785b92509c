//! Tests that text of other programs reaches the terminal escaped, and that their replies are
//! checked.

use crate::running::{Directory, Server};
use calc::ITapeEvents;
use obvia::abi::{self, Performer};
use obvia::dynamic::{Described, Identity};
use obvia::rt::{Description, InterfaceInfo, Status};
use obvia::{GUID, HRESULT, Remote};
use obvia_idl::{canonical, description};
use std::borrow::Cow;
use std::process::Command;

/// Returns a name that contains a control sequence for setting a terminal's title, and that is so
/// long that printing it takes time.
fn title() -> String {
    format!("\u{1b}]0;owned\u{7}{}", "I".repeat(70_000))
}

/// Returns a description whose compilation takes a time that grows exponentially with the depth of
/// its structures.
fn deep() -> String {
    let mut text = "struct S0 { long a; };\n".to_owned();
    for at in 1..60 {
        text.push_str(&format!("struct S{at} {{ struct S{0} a; struct S{0} b; }};\n", at - 1));
    }
    text + "[object, uuid(5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7aff)] interface IDeep : IUnknown { HRESULT M([in] struct S59 *a); }"
}

fn leaked(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

#[test]
#[ignore = "the server of the tests below, in a process of its own"]
fn serve_nonsense() {
    let own = ITapeEvents::INFO;
    let known = |name: &'static str, idl: &'static str, last: u128| {
        let iid = GUID::from_u128(0x5f0e4c52_0a34_4ac4_8d6c_2c9f3a1f7a00 | last);
        let description = Description { name, iid, idl, ..**own };
        // SAFETY: vtable and stubs are those of an interface with the same methods.
        unsafe { InterfaceInfo::new(description) }
    };
    let all = [known(leaked(title()), "// \u{1b}[2J\u{9b}31m", 0xfe), known("IDeep", leaked(deep()), 0xff)];
    for info in all {
        obvia::register(&[Box::leak(Box::new(info))]);
    }
    crate::objects::export_a_printer();
}

fn server() -> Server {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "--nocapture", "foreign::serve_nonsense"]);
    Server::start(command)
}

fn assert_harmless(text: &str) {
    let obeyed = text.chars().find(|letter| letter.is_control() && !matches!(letter, '\n' | '\t'));
    assert_eq!(obeyed, None, "{:.300}", text);
}

#[test]
fn server_text_is_escaped_before_it_reaches_the_terminal() {
    let server = server();
    let said = server.obvia(&["describe", "printer", "INosuch"]).bad_with(2);
    assert!(said.contains("\\u001b]0;owned"), "{said:.300}");
    assert_harmless(&said);
    let described = server.obvia(&["describe", "printer", "5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7afe"]);
    assert_harmless(&described.err);
    assert_harmless(&described.out);
}

#[test]
fn slow_interface_descriptions_end_at_the_time_limit() {
    let server = server();
    // Whether the compilation ends in time depends on the machine.
    let ran = server.obvia(&["describe", "printer", "IDeep", "--timeout", "1"]);
    assert!([0, 1, 4].contains(&ran.code), "{ran:?}");
    let ran = server.obvia(&["call", "printer", "IDeep.M", "null", "--timeout", "1"]);
    assert!([1, 2, 4].contains(&ran.code), "{ran:?}");
}

const LIAR: &str = "[object, uuid(5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7afd), pointer_default(unique)]
interface ILiar : IUnknown {
    HRESULT Text([out, retval, string] wchar_t **text);
}
";

/// An object whose replies do not match its interface.
struct Liar(GUID);

impl Performer for Liar {
    fn implements(&self, iid: &GUID) -> bool {
        *iid == self.0
    }

    fn perform(&self, _: &GUID, _: u16, _: &[u8]) -> Result<(HRESULT, Cow<'_, [u8]>), Status> {
        Ok((HRESULT(0), Cow::Borrowed(&[0xff; 24])))
    }
}

#[test]
#[ignore = "the server of the test below, in a process of its own"]
fn serve_lies() {
    let (model, id) = description::interface("liar", LIAR, |_| None).unwrap().unwrap();
    let found = &model.interfaces[id.0];
    let identity = Identity { iid: GUID::from_u128(found.uuid), fingerprint: canonical::fingerprint(&model, id) };
    let described = Described {
        identity,
        name: found.name.clone(),
        version: found.version,
        plain: false,
        endpoints: Vec::new(),
        ndr: obvia_idl::ndr::words(&model, id),
        idl: canonical::text(&model, id),
    };
    // SAFETY: no code of this process is generated from this interface.
    let info = unsafe { abi::describe(&described) }.unwrap();
    // SAFETY: no code of this process calls the object's interfaces through their vtables.
    let (object, _) = unsafe { abi::object(Liar(identity.iid)) };
    let _export = abi::export("liar", &object, info).unwrap();
    println!("\nserving liar");
    obvia::wait();
}

#[test]
fn replies_that_do_not_match_the_interface_are_failures_of_load() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "--nocapture", "foreign::serve_lies"]);
    let server = Server::start(command);
    let fixed = ["--warmup", "0", "--timeout", "60", "--calls", "10", "--json", "-"];
    let ran = server.obvia(&[&["bench", "load", "liar", "Text"][..], &fixed].concat());
    let document = ran.json();
    assert_eq!((ran.code, &document["calls"], &document["failed"]), (1, &0.into(), &10.into()), "{ran:?}");
    let failures = document["failures"].as_array().unwrap();
    assert!(failures[0]["message"].as_str().unwrap().contains("the reply does not match the interface"), "{ran:?}");
    assert_eq!(failures.len(), 1, "{ran:?}");
}

#[test]
fn registrations_with_long_texts_are_listed_in_one_row() {
    let directory = Directory::new();
    let classes = directory.path().join("classes");
    std::fs::create_dir(&classes).unwrap();
    let class = "0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20";
    let name = "N".repeat(70_000);
    let text = format!("class = {class}\nname = {name}\nhost = \u{1b}[2J\n");
    std::fs::write(classes.join(format!("{class}.class")), text).unwrap();
    let listed = directory.obvia_with(&[("OBVIA_CLASSES", classes.to_str().unwrap())], &["classes", "-v"]);
    assert!(listed.out.contains(class), "{listed:?}");
    assert_harmless(&listed.out);
}
