//! `obvia call` of objects that are called by name, as a script does it.

use crate::running::Directory;
use notes::{INotes, Notes};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Notes that this very program serves, run as a test that waits.
struct Server {
    directory: Directory,
    child: Child,
}

const SERVES: &str = "OBVIA_CLI_SERVES_NOTES";

#[test]
fn serves_notes_where_it_is_told_to() {
    if std::env::var_os(SERVES).is_some() {
        let _export = obvia::export("notes", INotes::from(Notes::default())).unwrap();
        eprintln!("serving");
        std::thread::sleep(std::time::Duration::from_secs(60));
    }
}

impl Server {
    fn start() -> Self {
        let directory = Directory::new();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "by_name::serves_notes_where_it_is_told_to", "--nocapture"]);
        command.env(SERVES, "1").env("OBVIA_RUNTIME_DIR", directory.path());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "serving"));
        Self { directory, child }
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

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn members_are_called_by_name() {
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
fn what_is_wrong_with_a_call_is_said() {
    let server = Server::start();
    assert_eq!(server.bad(&["Nothing"]), "obvia: Nothing failed: the object has no `Nothing` (DISP_E_UNKNOWNNAME)\n");
    let missing = server.bad(&["Find"]);
    assert_eq!(missing, "obvia: Find failed: there is no argument for `text` (DISP_E_PARAMNOTOPTIONAL)\n");
    let wrong = server.bad(&["Find", "x", "0"]);
    assert_eq!(wrong, "obvia: Find failed: `most` cannot be 0 (E_INVALIDARG)\n");
    let failed = server.directory.obvia(&["call", "notes", "Item", "none", "--json"]);
    assert_eq!((failed.code, failed.json()["error"]["hresult"].as_str()), (1, Some("0x80070057")));
    assert!(server.bad(&["Find", "x", "--named", "most"]).contains("write NAME=VALUE"));
    assert!(server.bad(&["Count/Count"]).contains("Count returned no object to go on with"));
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
