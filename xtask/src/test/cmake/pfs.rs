//! Tests the file server in C and its client in C++ with the server and the client in Rust. A
//! client must not see a difference between the servers.

use super::{GCC, MAKE, Outside, copy};
use crate::outcome::{Outcome, Problem};
use crate::program::{Program, target};
use crate::repo::root;
use crate::server::{Names, Server};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::{fs, io, thread};

/// The number of files in a directory. One call cannot list so many.
const FILES: usize = 300;
/// The length of a file that takes several reads, in bytes.
const LARGE: usize = 1_000_003;
/// The number of concurrent clients.
const AT_ONCE: usize = 4;

/// A client program.
#[derive(Clone, Copy)]
enum Client {
    /// `pfs-shell`, in Rust.
    Shell,
    /// `pfs-client`, in C++.
    Cpp,
}
use Client::{Cpp, Shell};

/// The commands in their order, and whether each succeeds. `$` is replaced by the folder that
/// contains the tree.
const COMMANDS: [(Client, &str, bool); 25] = [
    (Shell, "ls -l /", true),
    (Shell, "ls -l inner", true),
    (Shell, "sha256 large", true),
    (Shell, "cat inner/link", true),
    (Shell, "cat out", false),
    (Shell, "cat ../../../secret", false),
    (Shell, "cat inner", false),
    (Shell, "mkdir new", true),
    (Shell, "mkdir new", false),
    (Shell, "put $/secret new/copy", true),
    (Shell, "mv new/copy moved", true),
    (Shell, "cat moved", true),
    (Shell, "cp -r inner new/inner", true),
    (Shell, "rm new", false),
    (Shell, "rm new/inner/hi", true),
    (Shell, "rm missing", false),
    (Cpp, "ls /", true),
    (Cpp, "ls inner", true),
    (Cpp, "cat large", true),
    (Cpp, "cat inner/link", true),
    (Cpp, "cat out", false),
    (Cpp, "ls missing", false),
    (Cpp, "put $/tree/large new/large", true),
    (Cpp, "put $/secret new/large", true),
    (Cpp, "ls new", true),
];

pub(super) fn check(outside: &Outside) -> Outcome {
    let project = outside.folder.path().join("pfs");
    copy(&root().join("examples/pfs"), &project)?;
    let built = PathBuf::from(outside.cmake("pfs", &project, MAKE, GCC, &[])?);
    Program::new(&built.join("turns-test").display().to_string(), &[]).run()?;
    let rust = target().join("debug");
    let clients = [rust.join("pfs-shell"), built.join("pfs-client")];
    let scenes = [("rust", rust.join("pfs-server")), ("c", built.join("pfs-server"))];
    let scenes = scenes.map(|(name, server)| Scene { folder: project.join(name), server, clients: clients.clone() });
    let [in_rust, in_c] = scenes.each_ref().map(Scene::play);
    for (one, other) in in_rust?.into_iter().zip(in_c?) {
        if one != other {
            return Err(Problem::Failed(format!("with the server in Rust\n{one}and with the one in C\n{other}")));
        }
    }
    let [rust, c] = scenes.each_ref().map(|scene| scene.folder.join("tree").display().to_string());
    Program::new("diff", &["-r", "--no-dereference", &rust, &c]).run()
}

/// A served tree and its clients.
struct Scene {
    folder: PathBuf,
    server: PathBuf,
    clients: [PathBuf; 2],
}

impl Scene {
    /// Runs the commands, and returns the output of each.
    fn play(&self) -> Outcome<Vec<String>> {
        let content = make_tree(&self.folder).map_err(|error| Problem::at(&self.folder, &error))?;
        let names = Names::new()?;
        let server = Program::new(&self.server.display().to_string(), &["--write", "tree"]).folder(&self.folder);
        let _server = Server::start(&names.see(server))?;
        let mut said = Vec::new();
        for (client, command, succeeds) in COMMANDS {
            let what = self.run(&names, client, command, succeeds)?;
            if (command == "cat large") != (what == content) || (!succeeds && what.contains("outside")) {
                return Err(Problem::Failed(format!("{command} with {} printed\n{what}", self.server.display())));
            }
            said.push(format!("{command}: {what}"));
        }
        let read = || self.run(&names, Cpp, "cat large", true);
        let together = thread::scope(|scope| {
            let readers = [(); AT_ONCE].map(|()| scope.spawn(read));
            readers.map(|reader| reader.join().is_ok_and(|read| read.is_ok_and(|read| read == content)))
        });
        if together.contains(&false) {
            let what = format!("{}: of several clients at once, not all read what is there", self.server.display());
            return Err(Problem::Failed(what));
        }
        Ok(said)
    }

    /// Runs a command, checks its success, and returns its output.
    fn run(&self, names: &Names, client: Client, command: &str, succeeds: bool) -> Outcome<String> {
        let program = self.clients[client as usize].display().to_string();
        let command = command.replace('$', &self.folder.display().to_string());
        let words: Vec<&str> = command.split(' ').collect();
        let program = names.see(Program::new(&program, &["pfs"]).with(&words));
        let output = program.command().output().map_err(|error| Problem::at(&self.clients[client as usize], &error))?;
        let printed = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        if output.status.success() == succeeds {
            return Ok(printed);
        }
        Err(Problem::Failed(format!("{} with {}: {}\n{printed}", program.line(), self.server.display(), output.status)))
    }
}

/// Creates a tree, and beside the tree a file that no client may see. Returns the contents of the
/// large file.
fn make_tree(folder: &Path) -> io::Result<String> {
    let tree = folder.join("tree");
    fs::create_dir_all(tree.join("inner"))?;
    fs::write(folder.join("secret"), "a file outside\n")?;
    symlink("../secret", tree.join("out"))?;
    fs::write(tree.join("inner/hi"), "hi\n")?;
    symlink("hi", tree.join("inner/link"))?;
    for file in 0..FILES {
        fs::write(tree.join(format!("inner/file {file}")), [])?;
    }
    let content: String = (0..LARGE).map(|at| char::from(b'a' + (at / 251 + at * 7) as u8 % 26)).collect();
    fs::write(tree.join("large"), &content)?;
    Ok(content)
}
