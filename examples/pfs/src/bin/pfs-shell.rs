//! A shell for a tree that another process serves: `pfs-shell [NAME [COMMAND...]]`.

use pfs::client::{Client, name};
use pfs::{PFS_KIND, PFS_TRANSFER_MAX};
use sha2::{Digest, Sha256};
use std::io::{BufRead, Write};
use std::path::Path;
use std::process::ExitCode;

const HELP: &str = "commands:
  ls [-l] [PATH]        what is in a directory
  cat PATH              a file's content
  sha256 PATH           a file's SHA-256
  stat PATH             what is known about a file
  get [-r] PATH LOCAL   copy from the tree
  put [-r] LOCAL PATH   copy into the tree
  cp [-r] PATH PATH     copy inside the tree
  mv PATH PATH          move inside the tree
  mkdir PATH            make a directory
  rm PATH               remove a file or an empty directory
  cd PATH, pwd          where relative paths begin
  help, exit";

type Outcome = Result<(), Box<dyn std::error::Error>>;

struct Shell {
    client: Client,
    here: i32,
    path: String,
}

impl Shell {
    fn walk(&mut self, path: &str) -> pfs::client::Result<i32> {
        self.client.walk(self.here, path)
    }

    /// Returns the number of a path's directory, and the path's last component.
    fn parent<'p>(&mut self, path: &'p str) -> pfs::client::Result<(i32, &'p str)> {
        let path = path.trim_end_matches('/');
        match path.rsplit_once('/') {
            Some(("", last)) => Ok((0, last)),
            Some((before, last)) => Ok((self.walk(before)?, last)),
            None => Ok((self.here, path)),
        }
    }

    fn run(&mut self, words: &[&str]) -> Outcome {
        match words {
            [] => {}
            ["help"] => println!("{HELP}"),
            ["pwd"] => println!("{}", self.path),
            ["cd", path] => self.cd(path)?,
            ["ls"] => self.ls(".", false)?,
            ["ls", "-l"] => self.ls(".", true)?,
            ["ls", "-l", path] => self.ls(path, true)?,
            ["ls", path] => self.ls(path, false)?,
            ["cat", path] => {
                let fobj = self.walk(path)?;
                let mut out = std::io::stdout().lock();
                self.client.read(fobj, &mut buffer(), |part| out.write_all(part))?;
            }
            ["sha256", path] => {
                let (fobj, mut digest) = (self.walk(path)?, Sha256::new());
                self.client.read(fobj, &mut buffer(), |part| {
                    digest.update(part);
                    Ok(())
                })?;
                let digits: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
                println!("{digits}  {path}");
            }
            ["stat", path] => {
                let fobj = self.walk(path)?;
                let stat = self.client.stat(fobj)?;
                println!(
                    "{path}: {}, mode {:o}, {} bytes, changed {}",
                    word(stat.kind),
                    stat.mode,
                    stat.size,
                    stat.modified
                );
            }
            ["get", "-r", path, local] => {
                let fobj = self.walk(path)?;
                self.get(fobj, Path::new(local))?;
            }
            ["get", path, local] => {
                let fobj = self.walk(path)?;
                self.get_file(fobj, Path::new(local))?;
            }
            ["put", "-r", local, path] | ["put", local, path] => {
                let (directory, last) = self.parent(path)?;
                self.put(Path::new(local), directory, last, words[1] == "-r")?;
            }
            ["cp", "-r", from, to] | ["cp", from, to] => {
                let fobj = self.walk(from)?;
                let (directory, last) = self.parent(to)?;
                self.copy(fobj, directory, last, words[1] == "-r")?;
            }
            ["mv", from, to] => {
                let (from, to) = (self.parent(from)?, self.parent(to)?);
                self.client.rename(from, to)?;
            }
            ["mkdir", path] => {
                let (directory, last) = self.parent(path)?;
                self.client.create(directory, last, PFS_KIND::PFS_DIRECTORY, 0o755)?;
            }
            ["rm", path] => {
                let (directory, last) = self.parent(path)?;
                self.client.remove(directory, last)?;
            }
            [other, ..] => {
                return Err(format!("{other}: no such command, or other arguments; try help").into());
            }
        }
        Ok(())
    }

    fn cd(&mut self, path: &str) -> Outcome {
        let fobj = self.walk(path)?;
        if self.client.stat(fobj)?.kind == PFS_KIND::PFS_FILE {
            return Err(format!("{path}: not a directory").into());
        }
        let joined = if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", self.path) };
        let mut parts: Vec<&str> = Vec::new();
        for part in joined.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop();
                }
                part => parts.push(part),
            }
        }
        self.path = format!("/{}", parts.join("/"));
        self.here = fobj;
        Ok(())
    }

    fn ls(&mut self, path: &str, long: bool) -> Outcome {
        let fobj = self.walk(path)?;
        for entry in self.client.list(fobj)? {
            let name = name(&entry);
            let text = String::from_utf8_lossy(name);
            if !long {
                println!("{text}{}", if entry.kind == PFS_KIND::PFS_DIRECTORY { "/" } else { "" });
                continue;
            }
            let number = self.client.lookup(fobj, name)?;
            let stat = self.client.stat(number)?;
            let target = if entry.kind == PFS_KIND::PFS_LINK {
                format!(" -> {}", self.client.readlink(number)?)
            } else {
                String::new()
            };
            println!("{:9} {:04o} {:>12} {text}{target}", word(stat.kind), stat.mode, stat.size);
        }
        Ok(())
    }

    fn get_file(&mut self, fobj: i32, local: &Path) -> Outcome {
        let mut file = std::fs::File::create(local).map_err(|error| format!("{}: {error}", local.display()))?;
        self.client.read(fobj, &mut buffer(), |part| file.write_all(part))?;
        Ok(())
    }

    fn get(&mut self, fobj: i32, local: &Path) -> Outcome {
        if self.client.stat(fobj)?.kind != PFS_KIND::PFS_DIRECTORY {
            return self.get_file(fobj, local);
        }
        std::fs::create_dir_all(local)?;
        for entry in self.client.list(fobj)? {
            use std::os::unix::ffi::OsStrExt;
            let number = self.client.lookup(fobj, name(&entry))?;
            let target = local.join(std::ffi::OsStr::from_bytes(name(&entry)));
            match entry.kind {
                PFS_KIND::PFS_DIRECTORY => self.get(number, &target)?,
                PFS_KIND::PFS_FILE => self.get_file(number, &target)?,
                _ => eprintln!("{}: {} passed over", target.display(), word(entry.kind)),
            }
        }
        Ok(())
    }

    fn put(&mut self, local: &Path, directory: i32, last: &str, deep: bool) -> Outcome {
        if local.is_dir() {
            if !deep {
                return Err(format!("{}: a directory; use -r", local.display()).into());
            }
            let made = self.client.create(directory, last, PFS_KIND::PFS_DIRECTORY, 0o755)?;
            for entry in std::fs::read_dir(local)? {
                let entry = entry?;
                self.put(&entry.path(), made, &entry.file_name().to_string_lossy(), true)?;
            }
            return Ok(());
        }
        let mut file = std::fs::File::open(local).map_err(|error| format!("{}: {error}", local.display()))?;
        self.client.write(directory, last, &mut file)?;
        Ok(())
    }

    fn copy(&mut self, fobj: i32, directory: i32, last: &str, deep: bool) -> Outcome {
        if self.client.stat(fobj)?.kind == PFS_KIND::PFS_DIRECTORY {
            if !deep {
                return Err(format!("{last}: a directory; use -r").into());
            }
            let entries = self.client.list(fobj)?;
            let made = self.client.create(directory, last, PFS_KIND::PFS_DIRECTORY, 0o755)?;
            for entry in entries {
                let number = self.client.lookup(fobj, name(&entry))?;
                self.copy(number, made, &String::from_utf8_lossy(name(&entry)), true)?;
            }
            return Ok(());
        }
        let mut content = Vec::new();
        self.client.read(fobj, &mut buffer(), |part| content.write_all(part))?;
        self.client.write(directory, last, &mut content.as_slice())?;
        Ok(())
    }
}

fn buffer() -> Vec<u8> {
    vec![0; PFS_TRANSFER_MAX as usize / 4]
}

fn word(kind: PFS_KIND) -> &'static str {
    match kind {
        PFS_KIND::PFS_FILE => "file",
        PFS_KIND::PFS_DIRECTORY => "directory",
        PFS_KIND::PFS_LINK => "link",
        _ => "other",
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if matches!(words.as_slice(), ["-h" | "--help", ..]) {
        println!(
            "usage: pfs-shell [NAME [COMMAND...]]\n\nWithout a command, commands are read from standard input.\n\n{HELP}"
        );
        return ExitCode::SUCCESS;
    }
    let client = match Client::connect(words.first().unwrap_or(&"pfs")) {
        Ok(client) => client,
        Err(error) => {
            eprintln!("pfs-shell: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut shell = Shell { client, here: 0, path: "/".to_owned() };
    if words.len() > 1 {
        if let Err(error) = shell.run(&words[1..]) {
            eprintln!("pfs-shell: {error}");
            return ExitCode::FAILURE;
        }
        return ExitCode::SUCCESS;
    }
    let mut failed = false;
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words == ["exit"] {
            break;
        }
        if let Err(error) = shell.run(&words) {
            eprintln!("{error}");
            failed = true;
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
