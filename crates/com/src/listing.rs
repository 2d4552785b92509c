//! What processes export: by name on this host, and at string bindings.

use crate::error::{Result, code};
use crate::runtime::Runtime;
use crate::system;
use obvia_rpc::string_binding::ProtocolSequence;

/// A name that a process exports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name.
    pub name: String,
    /// The process, where it is one of this host.
    pub pid: Option<u32>,
    /// The interface that it was exported by, where the process could be asked.
    pub interface: Option<String>,
    /// That interface's IID.
    pub iid: Option<String>,
    /// The string bindings by which the process is reached, the best first.
    pub bindings: Vec<String>,
    /// The protocol sequence by which it was asked.
    pub over: Option<String>,
}

/// What the processes of this user export by name.
///
/// # Errors
///
/// When the directory of names cannot be read. A process that does not answer is listed without its interface.
pub fn list() -> Result<Vec<Listed>> {
    let runtime = Runtime::of_process()?;
    let entries = runtime.directory().list()?;
    let own_endpoints = |name: &str| name.starts_with("oxid-");
    let names = entries.into_iter().filter(|entry| !own_endpoints(&entry.name));
    Ok(names
        .map(|entry| {
            let told = ask(runtime, &entry.name).ok().and_then(|told| told.into_iter().find(|l| l.name == entry.name));
            let unknown =
                Listed { name: entry.name, pid: None, interface: None, iid: None, bindings: Vec::new(), over: None };
            Listed { pid: entry.pid, ..told.unwrap_or(unknown) }
        })
        .collect())
}

/// What the process at a string binding exports by name.
///
/// # Errors
///
/// As [`connect`].
pub fn list_at(binding: &str) -> Result<Vec<Listed>> {
    let mut listed = ask(Runtime::of_process()?, binding)?;
    listed.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(listed)
}

/// Everything that the process behind a name or a binding exports.
fn ask(runtime: &'static Runtime, name: &str) -> Result<Vec<Listed>> {
    let (text, bindings, over) = if runtime.named(name).is_ok() {
        (runtime.list_names(), runtime.list_bindings(runtime.oxid()), ProtocolSequence::ViShm)
    } else {
        let link = runtime.link_at(name)?;
        (system::list(&link)?, system::bindings(&link)?, link.binding().protocol)
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

/// The IDL text of the interface that a name is exported by, from the running server.
///
/// # Errors
///
/// As [`connect`].
pub fn describe(name: &str) -> Result<String> {
    let runtime = Runtime::of_process()?;
    let (link, name) = runtime.find(name)?;
    let text = system::list(&link)?;
    let iid = text.lines().find_map(|line| {
        let mut parts = line.split('\t');
        (parts.next() == Some(name.as_str())).then(|| parts.nth(1))?
    });
    let iid = iid.ok_or(code::RPC_E_DISCONNECTED)?;
    let digits: String = iid.chars().filter(char::is_ascii_hexdigit).collect();
    let iid = u128::from_str_radix(&digits, 16).map_err(|_| code::RPC_E_INVALID_DATA)?;
    system::describe(&link, &windows_core::GUID::from_u128(iid))
}
