//! The registration of a class: the source of its objects, in a file with lines `key = value`.

use crate::access::Caller;
use crate::transport::network;
use crate::types::error::{Error, Result, code};
use crate::types::guid;
use obvia_rpc::string_binding::StringBinding;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
use windows_core::GUID;

/// The default time from a server's start until it must have registered its class.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest time in a registration, in seconds.
const SECONDS_MAX: u64 = 86_400;

/// A class that is registered on this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// The class identifier (CLSID).
    pub id: GUID,
    /// The name for people and scripts (ProgID).
    pub name: Option<String>,
    /// The shared library that makes objects in the client's process (InprocServer32).
    pub library: Option<PathBuf>,
    /// The program that makes objects in a process of its own (LocalServer32).
    pub program: Option<Program>,
    /// The host that makes objects (RemoteServerName), or the string binding of a server there.
    pub host: Option<String>,
    /// The clients of other hosts that may activate the class through the SCM, which starts the
    /// program for them. Empty if no such client may.
    pub remote: Vec<Remote>,
}

/// A group of clients of other hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remote {
    /// All clients that reach the SCM.
    Everybody,
    /// Clients that have authenticated with an account.
    Authenticated,
    /// Clients that have authenticated with this account.
    Account(String),
}

impl Remote {
    /// Whether a client belongs to the group.
    pub(crate) fn applies_to(&self, client: &Caller) -> bool {
        let known = client.authenticated.as_ref().map(|known| &known.principal);
        match self {
            Self::Everybody => true,
            Self::Authenticated => known.is_some_and(|known| !known.is_anonymous()),
            Self::Account(user) => known.is_some_and(|known| known.is_user(user)),
        }
    }
}

/// The prefix of a value that names an account.
const ACCOUNT: &str = "account ";

impl fmt::Display for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everybody => f.write_str("everybody"),
            Self::Authenticated => f.write_str("authenticated"),
            Self::Account(user) => write!(f, "{ACCOUNT}{user}"),
        }
    }
}

impl FromStr for Remote {
    type Err = Error;

    /// Parses the value of a `remote` line.
    ///
    /// # Errors
    ///
    /// E_INVALIDARG for any other text.
    fn from_str(text: &str) -> Result<Self> {
        remote(text).map_err(|wrong| Error::new(code::E_INVALIDARG, format!("`{}` {wrong}", text.escape_debug())))
    }
}

/// A program that the SCM starts for activations of its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The path of the program's file.
    pub path: PathBuf,
    /// The arguments of the program.
    pub arguments: Vec<String>,
    /// The environment variables that are added to those of the SCM.
    pub environment: Vec<(String, String)>,
    /// The time within which the program must register the class.
    pub start_timeout: Duration,
    /// The time after which the unused program ends, if it calls
    /// [`serve_until_idle`](crate::dcom::serve_until_idle).
    pub idle_timeout: Option<Duration>,
}

impl Program {
    /// Makes a program without arguments.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let (arguments, environment) = (Vec::new(), Vec::new());
        Self { path: path.into(), arguments, environment, start_timeout: START_TIMEOUT, idle_timeout: None }
    }
}

/// The contents of the lines read so far.
#[derive(Default)]
struct Lines {
    id: Option<GUID>,
    name: Option<String>,
    library: Option<PathBuf>,
    path: Option<PathBuf>,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    start_timeout: Option<Duration>,
    idle_timeout: Option<Duration>,
    host: Option<String>,
    remote: Vec<Remote>,
    /// The number of the first line that applies only to a program.
    about_program: Option<usize>,
}

/// The description of an invalid value.
type Wrong = String;

/// Stores the value of a key that may occur only once.
fn once<T>(place: &mut Option<T>, value: T) -> std::result::Result<(), Wrong> {
    if place.is_some() {
        return Err("repeats a key that may occur only once".to_owned());
    }
    *place = Some(value);
    Ok(())
}

fn class_id(value: &str) -> std::result::Result<GUID, Wrong> {
    let form = "is not a CLSID: write it as 0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20";
    guid::parse(value).filter(|id| *id != GUID::zeroed()).ok_or_else(|| form.to_owned())
}

fn name(value: &str) -> std::result::Result<String, Wrong> {
    let is_right = value.chars().all(|letter| letter.is_alphanumeric() || "._-".contains(letter));
    is_right
        .then(|| value.to_owned())
        .ok_or_else(|| "is not a name: names have letters, digits, `.`, `_` and `-`".to_owned())
}

fn absolute(value: &str) -> std::result::Result<PathBuf, Wrong> {
    let path = Path::new(value);
    path.is_absolute()
        .then(|| path.to_owned())
        .ok_or_else(|| "is not an absolute path: it has to begin with `/`".to_owned())
}

fn variable(value: &str) -> std::result::Result<(String, String), Wrong> {
    let parts = value.split_once('=').filter(|(name, _)| !name.is_empty() && name.trim() == *name);
    let (name, value) = parts.ok_or("is not a variable: write NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn seconds(value: &str) -> std::result::Result<Duration, Wrong> {
    let number = value.parse().ok().filter(|seconds| (1..=SECONDS_MAX).contains(seconds));
    number.map(Duration::from_secs).ok_or_else(|| format!("is not a number of seconds from 1 to {SECONDS_MAX}"))
}

fn host(value: &str) -> std::result::Result<String, Wrong> {
    if StringBinding::is_meant(value) {
        network::parse(value).map_err(|error| error.to_string())?;
    } else if value.contains(|letter: char| letter.is_whitespace() || "[],=/".contains(letter)) {
        return Err("is neither a host nor a string binding".to_owned());
    }
    Ok(value.to_owned())
}

fn remote(value: &str) -> std::result::Result<Remote, Wrong> {
    match value {
        "everybody" => Ok(Remote::Everybody),
        "authenticated" => Ok(Remote::Authenticated),
        _ => {
            let user = value.strip_prefix(ACCOUNT).map(str::trim).filter(|user| !user.is_empty());
            let wrong = "does not name clients of other hosts: write everybody, authenticated, or account NAME";
            user.map(|user| Remote::Account(user.to_owned())).ok_or_else(|| wrong.to_owned())
        }
    }
}

impl Lines {
    fn take(&mut self, number: usize, key: &str, value: &str) -> std::result::Result<(), Wrong> {
        if value.is_empty() || value.contains(char::is_control) {
            return Err("has no value, or a value with control characters".to_owned());
        }
        if matches!(key, "argument" | "environment" | "start-timeout" | "idle-timeout" | "remote") {
            self.about_program.get_or_insert(number);
        }
        match key {
            "class" => once(&mut self.id, class_id(value)?),
            "name" => once(&mut self.name, name(value)?),
            "library" => once(&mut self.library, absolute(value)?),
            "program" => once(&mut self.path, absolute(value)?),
            "argument" => {
                self.arguments.push(value.to_owned());
                Ok(())
            }
            "environment" => {
                self.environment.push(variable(value)?);
                Ok(())
            }
            "start-timeout" => once(&mut self.start_timeout, seconds(value)?),
            "idle-timeout" => once(&mut self.idle_timeout, seconds(value)?),
            "host" => once(&mut self.host, host(value)?),
            "remote" => {
                self.remote.push(remote(value)?);
                Ok(())
            }
            _ => Err("has an unknown key: the keys are class, name, library, program, argument, environment, \
                start-timeout, idle-timeout, host and remote"
                .to_owned()),
        }
    }

    /// Returns the class if the lines are complete.
    fn finish(self) -> Result<Class> {
        let incomplete = |text: &str| Error::new(code::E_INVALIDARG, text);
        let id = self.id.ok_or_else(|| incomplete("the line `class = CLSID` is missing"))?;
        if let (None, Some(number)) = (&self.path, self.about_program) {
            return Err(incomplete(&format!(
                "line {number}: the line is about a program, but the line `program = PATH` is missing"
            )));
        }
        let program = self.path.map(|path| Program {
            path,
            arguments: self.arguments,
            environment: self.environment,
            start_timeout: self.start_timeout.unwrap_or(START_TIMEOUT),
            idle_timeout: self.idle_timeout,
        });
        if self.library.is_none() && program.is_none() && self.host.is_none() {
            return Err(incomplete(
                "the line that says where objects are created is missing: `library`, `program` or `host`",
            ));
        }
        Ok(Class { id, name: self.name, library: self.library, program, host: self.host, remote: self.remote })
    }
}

impl FromStr for Class {
    type Err = Error;

    /// Parses a registration. Blank lines and lines that begin with `#` are ignored.
    ///
    /// # Errors
    ///
    /// E_INVALIDARG, with the number of the line.
    fn from_str(text: &str) -> Result<Self> {
        let mut lines = Lines::default();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let taken = match line.split_once('=') {
                None => Err(format!("`{}` is not a line `key = value`", line.escape_debug())),
                Some((key, value)) => {
                    let (key, value) = (key.trim(), value.trim());
                    let named = |wrong| format!("`{} = {}` {wrong}", key.escape_debug(), value.escape_debug());
                    lines.take(number, key, value).map_err(named)
                }
            };
            taken.map_err(|wrong| Error::new(code::E_INVALIDARG, format!("line {number}: {wrong}")))?;
        }
        lines.finish()
    }
}

/// Writes the lines of a registration in the format that is parsed.
impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "class = {}", guid::to_text(&self.id))?;
        if let Some(name) = &self.name {
            writeln!(f, "name = {name}")?;
        }
        if let Some(library) = &self.library {
            writeln!(f, "library = {}", library.display())?;
        }
        if let Some(program) = &self.program {
            write!(f, "{program}")?;
        }
        if let Some(host) = &self.host {
            writeln!(f, "host = {host}")?;
        }
        self.remote.iter().try_for_each(|line| writeln!(f, "remote = {line}"))
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "program = {}", self.path.display())?;
        for argument in &self.arguments {
            writeln!(f, "argument = {argument}")?;
        }
        for (name, value) in &self.environment {
            writeln!(f, "environment = {name}={value}")?;
        }
        if self.start_timeout != START_TIMEOUT {
            writeln!(f, "start-timeout = {}", self.start_timeout.as_secs())?;
        }
        if let Some(idle) = self.idle_timeout {
            writeln!(f, "idle-timeout = {}", idle.as_secs())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: GUID = GUID::from_u128(0x0d4f_4c52_0a34_4ac4_8d6c_2c9f_3a1f_7a20);

    #[test]
    fn registrations_are_parsed_completely() {
        let text = "# A calculator.\n\nclass = {0D4F4C52-0A34-4AC4-8D6C-2C9F3A1F7A20}\n  name=Calc.Calculator.1  \n\
                    program = /usr/libexec/calc server\nargument = --serve\nargument = two words\n\
                    environment = LANG=C=D\nidle-timeout = 60\nhost = db.example\n\
                    remote = authenticated\nremote = account  the clerk\n";
        let read: Class = text.parse().unwrap();
        let program = Program {
            arguments: vec!["--serve".to_owned(), "two words".to_owned()],
            environment: vec![("LANG".to_owned(), "C=D".to_owned())],
            idle_timeout: Some(Duration::from_secs(60)),
            ..Program::new("/usr/libexec/calc server")
        };
        assert_eq!(program.start_timeout, Duration::from_secs(30));
        let name = Some("Calc.Calculator.1".to_owned());
        let host = Some("db.example".to_owned());
        let remote = vec![Remote::Authenticated, Remote::Account("the clerk".to_owned())];
        assert_eq!(read, Class { id: ID, name, library: None, program: Some(program), host, remote });
        assert_eq!(read.to_string().parse::<Class>().unwrap(), read);
    }

    #[test]
    fn registration_errors_name_their_line() {
        let class = "class = 0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20\n";
        for (text, expected) in [
            ("", "the line `class = CLSID` is missing"),
            ("class = 0d4f4c52", "line 1: `class = 0d4f4c52` is not a CLSID"),
            ("class = 00000000-0000-0000-0000-000000000000", "line 1: "),
            ("class = {0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20", "is not a CLSID"),
            ("class = 0d4f4c52-0a34-4ac4-8d6c2-c9f3a1f7a20", "is not a CLSID"),
            ("class = 0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20-", "is not a CLSID"),
            (class, "the line that says where objects are created is missing: `library`, `program` or `host`"),
            (&format!("{class}{class}"), "line 2: `class = 0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20` repeats a key"),
            (&format!("{class}\nprogram"), "line 3: `program` is not a line `key = value`"),
            (&format!("{class}program = "), "line 2: `program = ` has no value"),
            (&format!("{class}program = calc"), "line 2: `program = calc` is not an absolute path"),
            (&format!("{class}program = /a\0b"), "control characters"),
            (&format!("{class}progam = /calc"), "line 2: `progam = /calc` has an unknown key"),
            (&format!("{class}library = /a\nargument = b"), "line 3: the line is about a program"),
            (&format!("{class}program = /a\nenvironment = =b"), "line 3: `environment = =b` is not a variable"),
            (&format!("{class}program = /a\nstart-timeout = 0"), "line 3: `start-timeout = 0` is not a number"),
            (&format!("{class}host = a\nremote = everybody"), "line 3: the line is about a program"),
            (
                &format!("{class}program = /a\nremote = yes"),
                "line 3: `remote = yes` does not name clients of other hosts",
            ),
            (&format!("{class}program = /a\nremote = account"), "line 3: `remote = account` does not name clients"),
            (&format!("{class}name = two words"), "line 2: `name = two words` is not a name"),
            (&format!("{class}host = a b"), "line 2: `host = a b` is neither"),
            (&format!("{class}host = ncacn_none:a"), "line 2: `host = ncacn_none:a`"),
        ] {
            let error = text.parse::<Class>().unwrap_err();
            assert!(error.code() == code::E_INVALIDARG && error.to_string().contains(expected), "{text:?}: {error}");
        }
    }
}
