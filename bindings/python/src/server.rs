//! The servers of objects, as describers of interfaces.

use crate::interface::{IUNKNOWN, Interface};
use obvia::dynamic::{self, guid};
use obvia::{Error, GUID, code};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A server whose objects this process calls. The objects that come from one connection share this,
/// so that a server describes an interface once.
pub(crate) struct Server {
    /// The name or string binding; `None` for the process that calls an object of this process.
    name: Option<String>,
    /// The interfaces that the server has described, by IID. No other server's objects use them.
    described: Mutex<HashMap<u128, &'static Interface>>,
}

impl Server {
    /// Returns the server at a name or a string binding.
    pub(crate) fn at(name: &str) -> Arc<Self> {
        Arc::new(Self { name: Some(name.to_owned()), described: Mutex::default() })
    }

    /// Returns the process that calls an object of this process. It has no name to ask by.
    pub(crate) fn of_caller() -> Arc<Self> {
        Arc::new(Self { name: None, described: Mutex::default() })
    }

    /// Returns the server in words.
    pub(crate) fn shown(&self) -> &str {
        self.name.as_deref().unwrap_or("a caller")
    }

    fn name(&self) -> obvia::Result<&str> {
        let text = "the object came from a caller, which has no name by which it describes interfaces: \
            the IDL file of `obvia.serve` or `obvia.implements` must have the interface";
        self.name.as_deref().ok_or_else(|| Error::new(code::E_NOINTERFACE, text))
    }

    /// Returns the interface of this name or IID, or the one under which the object is exported.
    pub(crate) fn interface(&self, interface: Option<&str>) -> obvia::Result<&'static Interface> {
        match interface {
            Some(interface) => self.with_iid(self.iid_of(interface)?),
            None => {
                let name = self.name()?;
                let found = Interface::of_text(name, obvia::describe(name)?)?;
                self.keep(found);
                Ok(found)
            }
        }
    }

    /// Returns the interface that the methods of `from` name by this IID.
    pub(crate) fn named_by(&self, from: &Interface, iid: GUID) -> obvia::Result<&'static Interface> {
        from.named(iid)?.map_or_else(|| self.with_iid(iid), Ok)
    }

    /// Returns the interface with an IID.
    pub(crate) fn with_iid(&self, iid: GUID) -> obvia::Result<&'static Interface> {
        if iid == IUNKNOWN {
            return Interface::unknown();
        }
        let known = self.described.lock().unwrap_or_else(PoisonError::into_inner).get(&iid.to_u128()).copied();
        if let Some(known) = known {
            return Ok(known);
        }
        let name = self.name()?;
        let found = Interface::of_text(name, dynamic::describe(name, &iid)?)?;
        if found.described.identity.iid != iid {
            let text = format!("`{name}` describes another interface, {}, for {{{iid:?}}}", found.described.name);
            return Err(Error::new(code::RPC_E_INVALID_DATA, text));
        }
        self.keep(found);
        Ok(found)
    }

    fn keep(&self, found: &'static Interface) {
        let mut described = self.described.lock().unwrap_or_else(PoisonError::into_inner);
        described.insert(found.described.identity.iid.to_u128(), found);
    }

    /// Returns the IID of an interface that the server knows, by its name or IID.
    fn iid_of(&self, interface: &str) -> obvia::Result<GUID> {
        if let Some(iid) = guid::parse(interface) {
            return Ok(iid);
        }
        let name = self.name()?;
        let known = dynamic::interfaces(name)?;
        let found = known.iter().find(|known| known.name == interface);
        found.map(|known| known.iid).ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|known| known.name.as_str()).collect();
            let names = names.join(", ");
            let text = format!("the server of `{name}` knows no interface `{interface}`; it knows {names}");
            Error::new(code::E_NOINTERFACE, text)
        })
    }
}
