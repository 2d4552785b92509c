//! Lists of exports, by name on this host and at string bindings, and of the performed interfaces
//! of functions.

use crate::api::endpoints::{self, Registered};
use crate::api::names::not_there;
use crate::client::own_target;
use crate::client::proxy::look_behind;
use crate::runtime::Runtime;
use crate::services::process;
use crate::services::scm;
use crate::transport::network;
use crate::types::deadline;
use crate::types::error::{Error, Result, code};
use crate::types::guid;
use crate::types::registry::Remote;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_rpc::uuid::Uuid;
use obvia_via::Deadline;
use obvia_via::provider::shm::Entry;
use std::time::Duration;
use windows_core::{GUID, Interface};

/// The time limit for the answer of each process when several are asked.
const ANSWER: Duration = Duration::from_secs(2);

/// A name that a process exports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The exported name.
    pub name: String,
    /// The id of the process, if the process runs on this host.
    pub pid: Option<u32>,
    /// The interface of the export; `None` if the process has not answered.
    pub interface: Option<String>,
    /// The IID of the export's interface.
    pub iid: Option<String>,
    /// The string bindings of the process, the best first.
    pub bindings: Vec<String>,
    /// The protocol sequence by which the process was asked; `None` if the process has not
    /// answered.
    pub over: Option<String>,
}

/// Returns the names that the processes of this user export, each with the id of the process;
/// `None` if the id cannot be read. No process is asked.
///
/// # Errors
///
/// If the directory of names cannot be read.
pub fn names() -> Result<Vec<(String, Option<u32>)>> {
    Ok(entries(process::runtime()?)?.map(|entry| (entry.name, entry.pid)).collect())
}

fn entries(runtime: &Runtime) -> Result<impl Iterator<Item = Entry>> {
    let is_for_users = |entry: &Entry| !entry.name.starts_with("oxid-") && !scm::is_own_name(&entry.name);
    Ok(runtime.directory().list()?.into_iter().filter(is_for_users))
}

/// Returns the names that the processes of this user export.
///
/// # Errors
///
/// If the directory of names cannot be read. A process that does not answer is listed without its
/// interface.
pub fn list() -> Result<Vec<Listed>> {
    let runtime = process::runtime()?;
    Ok(entries(runtime)?
        .map(|entry| {
            // A process that does not answer must leave time for the other processes.
            let limit = deadline::of_thread().start().remaining().min(ANSWER);
            let asked = deadline::with(Deadline::Within(limit), || ask(runtime, &entry.name));
            let told = asked.ok().and_then(|told| told.into_iter().find(|l| l.name == entry.name));
            let unknown =
                Listed { name: entry.name, pid: None, interface: None, iid: None, bindings: Vec::new(), over: None };
            Listed { pid: entry.pid, ..told.unwrap_or(unknown) }
        })
        .collect())
}

/// Returns the names that the process at a string binding exports, sorted.
///
/// # Errors
///
/// As [`crate::connect`].
pub fn list_at(binding: &str) -> Result<Vec<Listed>> {
    let mut listed = ask(process::runtime()?, binding)?;
    listed.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(listed)
}

/// Returns all exports of the process at a name or a binding.
fn ask(runtime: &'static Runtime, name: &str) -> Result<Vec<Listed>> {
    let there = || {
        let link = runtime.link_at(name)?;
        Ok::<_, Error>((own_target::list(&link)?, own_target::bindings(&link)?, link.binding().protocol))
    };
    let (text, bindings, over) = if runtime.named(name).is_ok() {
        (runtime.names().list(), runtime.list_bindings(None), ProtocolSequence::ViShm)
    } else {
        deadline::for_all_steps(there)?
    };
    let bindings: Vec<String> = bindings.lines().map(str::to_owned).collect();
    let listed = text.lines().filter_map(|line| {
        let mut parts = line.split('\t').map(str::to_owned);
        Some(Listed {
            name: parts.next()?,
            pid: None,
            interface: parts.next(),
            iid: parts.next(),
            bindings: bindings.clone(),
            over: Some(over.to_string()),
        })
    });
    Ok(listed.collect())
}

/// The connections of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connections {
    /// The number of all connections.
    pub total: u64,
    /// The newest connections, at most 4096, in the order of their numbers.
    pub newest: Vec<Connected>,
}

/// A connection of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connected {
    /// The number of the connection. A later connection has a greater number.
    pub number: u64,
    /// The id of the client's process, if it runs on the server's host and in the server's PID
    /// namespace.
    pub pid: Option<u32>,
    /// The user of the client's process, if the kernel knows the user.
    pub uid: Option<u32>,
    /// The client's host, if it is not the server's.
    pub host: Option<String>,
    /// Whether the client is this process.
    pub is_own: bool,
    /// A lower bound of the number of messages that the server has processed for the client, modulo
    /// 2^32: calls, and the runtimes' own messages.
    pub messages: u32,
}

/// Returns the connections of the process that exports a name, including the connection of this
/// process. Clients that have neither introduced themselves nor made a permitted call are left out.
///
/// Servers keep no counters for this list. The numbers are those that connections keep for other
/// purposes.
///
/// # Errors
///
/// As [`crate::connect`]; E_ACCESSDENIED where the server belongs to another user; another error
/// where the server is of an earlier version or in Java, and has no such list.
pub fn connections(name: &str) -> Result<Connections> {
    let runtime = process::runtime()?;
    let text = deadline::for_all_steps(|| own_target::connections(&*runtime.link_at(name)?))?;
    let mut lines = text.lines();
    let total = lines.next().and_then(|line| line.parse().ok()).ok_or(code::RPC_E_INVALID_DATA)?;
    Ok(Connections { total, newest: lines.filter_map(parse_connected).collect() })
}

/// Parses a line of a server's connections; `None` for a malformed line.
fn parse_connected(line: &str) -> Option<Connected> {
    let mut words = line.split('\t');
    let (number, pid, uid, host, is_own) = (words.next()?, words.next()?, words.next()?, words.next()?, words.next()?);
    Some(Connected {
        number: number.parse().ok()?,
        pid: pid.parse().ok(),
        uid: uid.parse().ok(),
        host: Some(host.to_owned()).filter(|host| !host.is_empty()),
        is_own: is_own == "1",
        messages: words.next()?.parse().ok()?,
    })
}

/// Returns the IDL text of the interface of an export, from the running server.
///
/// # Errors
///
/// As [`crate::connect`].
pub fn describe(name: &str) -> Result<String> {
    let runtime = process::runtime()?;
    deadline::for_all_steps(|| {
        let (link, name) = runtime.find(name)?;
        let text = own_target::list(&link)?;
        let iid = text.lines().find_map(|line| {
            let mut parts = line.split('\t');
            (parts.next() == Some(name.as_str())).then(|| parts.nth(1))?
        });
        let iid = iid.ok_or_else(|| not_there(&link, &name, code::RPC_E_DISCONNECTED.into()))?;
        own_target::describe(&link, &guid::parse(iid).ok_or(code::RPC_E_INVALID_DATA)?)
    })
}

/// An interface of functions that a process performs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Performed {
    /// The interface's UUID.
    pub uuid: GUID,
    /// The interface's version, major and minor.
    pub version: (u16, u16),
    /// The interface's name, if the server is an obvia process or this process knows the interface.
    pub interface: Option<String>,
    /// The object UUID for which the interface is performed; `None` for all object UUIDs.
    pub object: Option<GUID>,
    /// The entry's annotation, if an endpoint mapper has answered.
    pub annotation: String,
    /// The string binding of the endpoint.
    pub binding: String,
}

/// Returns the interfaces of functions that are performed at a string binding. A server that is not
/// an obvia process is asked through its management interface. A binding of `ncacn_ip_tcp` or
/// `ncalrpc` without endpoint means all entries of the host's endpoint mapper.
///
/// # Errors
///
/// RPC_S_SERVER_UNAVAILABLE when no server or endpoint mapper is there; RPC_S_UNKNOWN_IF for
/// servers without the management interface.
pub fn performed_at(binding: &str) -> Result<Vec<Performed>> {
    let parsed = network::parse(binding)?;
    if parsed.endpoint.is_empty() && endpoints::is_mapped(parsed.protocol) {
        return Ok(endpoints::registered_at(parsed, deadline::of_thread())?.into_iter().map(performed).collect());
    }
    match process::runtime()?.link_at(binding) {
        Ok(link) => {
            let text = own_target::functions(&link)?;
            Ok(text.lines().filter_map(|line| parse_performed(line, binding)).collect())
        }
        Err(error) if error.code() != code::RPC_S_SERVER_UNAVAILABLE && network::is_standard(binding) => {
            let found = endpoints::interfaces_at(&parsed, deadline::of_thread())?;
            let binding = StringBinding { object: None, ..parsed };
            let registered = |interface| Registered {
                interface,
                object: Uuid(0),
                annotation: String::new(),
                binding: binding.clone(),
            };
            Ok(found.into_iter().map(registered).map(performed).collect())
        }
        Err(error) => Err(error),
    }
}

fn performed(registered: Registered) -> Performed {
    let Registered { interface, object, annotation, binding } = registered;
    let uuid = GUID::from_u128(interface.uuid.0);
    Performed {
        uuid,
        version: (interface.version as u16, (interface.version >> 16) as u16),
        interface: crate::types::registry::find(&uuid).ok().map(|info| info.name.to_owned()),
        object: Some(GUID::from_u128(object.0)).filter(|_| object.0 != 0),
        annotation,
        binding: binding.to_string(),
    }
}

/// Parses a line from an obvia process; `None` for a malformed line.
fn parse_performed(line: &str, binding: &str) -> Option<Performed> {
    let mut words = line.split('\t');
    let mut word = || words.next();
    let (name, uuid, version, object) = (word()?, guid::parse(word()?)?, word()?, guid::parse(word()?)?);
    let (major, minor) = version.split_once('.')?;
    Some(Performed {
        uuid,
        version: (major.parse().ok()?, minor.parse().ok()?),
        interface: Some(name.to_owned()),
        object: Some(object).filter(|object| *object != GUID::zeroed()),
        annotation: String::new(),
        binding: binding.to_owned(),
    })
}

/// Returns the number of interface pointers of this process to which other processes have
/// references. Names and classes do not count until a client resolves or activates them.
///
/// # Errors
///
/// If the runtime of the process cannot be made.
pub fn exported() -> Result<usize> {
    Ok(process::runtime()?.exports().count())
}

/// Returns the string binding over which an object is called; `None` for an object of this process,
/// whose methods are called directly.
pub fn binding_of<I: Remote>(object: &I) -> Option<String> {
    way_to(object)
}

/// As [`binding_of`], for any interface. An object that is called over several links has no unique
/// binding for its IUnknown.
pub fn way_to<I: Interface>(object: &I) -> Option<String> {
    look_behind(object).map(|imported| imported.link.binding().to_string())
}
