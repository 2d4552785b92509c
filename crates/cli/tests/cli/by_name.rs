//! Tests of `obvia call` with objects that are called by name, as a script uses them.

use crate::running::Directory;
use ground::Process;
use notes::{INotes, Notes};
use std::path::Path;
use std::process::Command;

/// A process that serves notes. The process runs this test program with a single test, which serves
/// until the process ends.
struct Server {
    directory: Directory,
    _process: Process,
}

const SERVES: &str = "OBVIA_CLI_SERVES_NOTES";

#[test]
fn serve_notes_if_the_environment_requests_it() {
    if std::env::var_os(SERVES).is_some() {
        let _export = obvia::export("notes", INotes::from(Notes::default())).unwrap();
        println!("\nserving");
        // Waits until this process is killed, or until its parent ends and closes the pipe.
        let _ = std::io::stdin().read_line(&mut String::new());
    }
}

impl Server {
    fn start() -> Self {
        let directory = Directory::new();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "by_name::serve_notes_if_the_environment_requests_it", "--nocapture"]);
        command.env(SERVES, "1").env("OBVIA_RUNTIME_DIR", directory.path());
        let mut process = Process::start(&mut command);
        while process.line() != "serving" {}
        Self { directory, _process: process }
    }

    #[track_caller]
    fn good(&self, arguments: &[&str]) -> String {
        self.directory.obvia(&[&["call", "notes"], arguments].concat()).good()
    }

    #[track_caller]
    fn bad(&self, arguments: &[&str]) -> String {
        self.directory.obvia(&[&["call", "notes"], arguments].concat()).bad()
    }
}

#[test]
fn object_members_are_called_by_name() {
    let server = Server::start();
    assert_eq!(server.good(&["Add", "milk", "2"]), "returned = 1\n");
    assert_eq!(server.good(&["INotes.add", "eggs"]), "returned = 2\n");
    assert_eq!(server.good(&["IDispatch.Count"]), "returned = 2\n");
    assert_eq!(server.good(&["Item", "eggs"]), "done\n");
    assert_eq!(server.good(&["Item=", "eggs", r#"[6, ["brown"], 1.5, true, null]"#]), "done\n");
    assert_eq!(server.good(&["Item", "2"]), "returned = [6,[\"brown\"],1.5,true,null]\n");
    assert_eq!(server.good(&["Find", "", "--named", "most=1"]), "returned = [\"milk\"]\n");
}

#[test]
fn load_is_made_by_name() {
    let server = Server::start();
    let load = |arguments: &[&str]| {
        let fixed = ["--warmup", "0", "--timeout", "60", "--calls", "20", "--connections", "2", "--json", "-"];
        server.directory.obvia(&[&["bench", "load", "notes"], arguments, &fixed].concat())
    };
    let ran = load(&["Add", "milk", "2"]);
    let document = ran.json();
    assert_eq!((ran.code, &document["method"], &document["calls"]), (0, &"Add".into(), &20.into()), "{ran:?}");
    assert_eq!(server.good(&["Count"]), "returned = 20\n");
    let failed = load(&["Find", "x", "0"]);
    assert_eq!((failed.code, &failed.json()["failures"][0]["count"]), (1, &20.into()), "{failed:?}");
    assert!(load(&["Nothing"]).bad_with(2).contains("the object has no member `Nothing`"), "before the first call");
    assert!(load(&["Nothing/Count"]).bad_with(2).contains("the object has no member `Nothing`"), "on the way");
}

#[test]
fn errors_of_calls_by_name_explain_the_cause() {
    let server = Server::start();
    assert_eq!(
        server.bad(&["Nothing"]),
        "obvia: Nothing failed: the object has no member `Nothing` (DISP_E_UNKNOWNNAME)\n"
    );
    let missing = server.bad(&["Find"]);
    assert_eq!(missing, "obvia: Find failed: the argument for `text` is missing (DISP_E_PARAMNOTOPTIONAL)\n");
    let wrong = server.bad(&["Find", "x", "0"]);
    assert_eq!(wrong, "obvia: Find failed: the argument for `most` has the invalid value 0 (E_INVALIDARG)\n");
    let failed = server.directory.obvia(&["call", "notes", "Item", "none", "--json"]);
    assert_eq!((failed.code, failed.json()["error"]["hresult"].as_str()), (1, Some("0x80070057")));
    let unknown = server.directory.obvia(&["call", "notes", "Nothing", "--json"]);
    assert_eq!((unknown.code, unknown.json()["error"]["hresult"].as_str()), (2, Some("0x80020006")));
    assert!(server.bad(&["Find", "x", "--named", "most"]).contains("write NAME=VALUE"));
    assert!(server.bad(&["Count/Count"]).contains("Count returned no object for the next call"));
}

#[test]
fn the_script_of_the_example_runs() {
    let server = Server::start();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/notes/notes.sh");
    let programs = Path::new(env!("CARGO_BIN_EXE_obvia")).parent().unwrap().to_path_buf();
    let path = std::env::join_paths(
        std::iter::once(programs).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let ran = Command::new("sh")
        .arg(script)
        .env("OBVIA_RUNTIME_DIR", server.directory.path())
        .env("PATH", path.unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(said, "1: null\n2: 6\n3: \"two loaves\"\nwith an e: returned = [\"eggs\"]\n");
}

/// Writes the type library of the notes to the server's directory, and returns its path.
fn library_of_notes(server: &Server) -> String {
    let out = server.directory.path().to_str().unwrap().to_owned();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/notes/notes.idl");
    let arguments = ["idl", "--language", "tlb", "--out", &out, source.to_str().unwrap()];
    let said = server.directory.obvia(&arguments).good();
    assert_eq!(said, format!("wrote {out}/notes.tlb\n"));
    format!("{out}/notes.tlb")
}

#[test]
fn a_type_library_is_shown() {
    let server = Server::start();
    let file = library_of_notes(&server);
    let text = server.directory.obvia(&["tlb", &file]).good();
    let lines = [
        "[uuid(3c0f5a1e-7b44-4d0c-9a61-8f2b6e4d9c02), version(1.0), helpstring(\"Notes with titles\")]",
        "    interface INotes : IDispatch {",
        "        [id(1), propget] HRESULT Count([out, retval] long *Count);",
        "        [default] interface INotes;",
    ];
    for line in lines {
        assert!(text.lines().any(|one| one == line), "no {line:?} in:\n{text}");
    }
    std::fs::write(&file, "MSFT").unwrap();
    let error = server.directory.obvia(&["tlb", &file]).bad();
    assert!(
        error.contains("notes.tlb is not a valid type library: no type library: it ends too early, at byte 0x4"),
        "{error}"
    );
}

#[test]
fn names_of_members_may_come_from_a_type_library() {
    let server = Server::start();
    let file = library_of_notes(&server);
    let with = |arguments: &[&'static str]| [arguments, &["--type-library"]].concat();
    let good = |arguments: &[&'static str]| server.good(&[&with(arguments)[..], &[&file]].concat());
    let bad = |arguments: &[&'static str]| server.bad(&[&with(arguments)[..], &[&file]].concat());
    assert_eq!(good(&["Add", "milk", "2"]), "returned = 1\n");
    assert_eq!(good(&["inotes.add", "eggs"]), "returned = 2\n");
    assert_eq!(good(&["Item=", "milk", "3"]), "done\n");
    assert_eq!(good(&["Item", "milk"]), "returned = 3\n");
    assert_eq!(good(&["find", "--named", "TEXT=m"]), "returned = [\"milk\"]\n");
    assert_eq!(good(&["Section", "milk"]), server.good(&["Section", "milk"]));
    let error = bad(&["Ad", "milk"]);
    assert!(error.contains("the library has no member `Ad`; did you mean `Add`?"), "{error}");
    let error = bad(&["Find", "--named", "word=m"]);
    assert!(error.contains("`Find` has no parameter `word`"), "{error}");
    let error = bad(&["IOther.Find", "m"]);
    assert!(error.contains("no interface `IOther` that is called by name"), "{error}");
}
