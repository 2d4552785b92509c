//! The servers of objects, which describe their interfaces to this process.

use crate::interface::{IUNKNOWN, Interface};
use obvia::dynamic::{self, guid};
use obvia::security::{Credentials, with_credentials};
use obvia::{Error, GUID, code};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A server whose objects this process calls. The objects that come from one connection share this
/// value, so that a server describes an interface once.
pub(crate) struct Server {
    /// The name or string binding; `None` for the process that calls an object of this process.
    name: Option<String>,
    /// The credentials for connections to the server, instead of the credentials of the process.
    credentials: Option<Arc<dyn Credentials>>,
    /// The interfaces that the server has described, by IID. No other server's objects use these
    /// interfaces.
    described: Mutex<HashMap<u128, &'static Interface>>,
}

impl Server {
    /// Returns the server at a name or a string binding.
    pub(crate) fn at(name: &str, credentials: Option<Arc<dyn Credentials>>) -> Arc<Self> {
        Arc::new(Self { name: Some(name.to_owned()), credentials, described: Mutex::default() })
    }

    /// Returns the process that calls an object of this process. The calling process has no name by
    /// which this process could ask it for a description.
    pub(crate) fn of_caller() -> Arc<Self> {
        Arc::new(Self { name: None, credentials: None, described: Mutex::default() })
    }

    /// Runs `work` with the server's credentials.
    pub(crate) fn authenticated<R>(&self, work: impl FnOnce() -> R) -> R {
        match &self.credentials {
            Some(credentials) => with_credentials(credentials, work),
            None => work(),
        }
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

    /// Returns the interface of this name or IID, or the interface under which the object is
    /// exported.
    pub(crate) fn interface(&self, interface: Option<&str>) -> obvia::Result<&'static Interface> {
        match interface {
            Some(interface) => self.with_iid(self.iid_of(interface)?),
            None => self.describe(obvia::describe),
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
        let found = self.describe(|name| dynamic::describe(name, &iid))?;
        if found.described.identity.iid != iid {
            let text =
                format!("{} describes another interface, {}, for {{{iid:?}}}", self.shown(), found.described.name);
            return Err(Error::new(code::RPC_E_INVALID_DATA, text));
        }
        Ok(found)
    }

    /// Returns the interface that the server's text describes. `ask` requests the text.
    fn describe(&self, ask: impl FnOnce(&str) -> obvia::Result<String>) -> obvia::Result<&'static Interface> {
        let name = self.name()?;
        let found = self.authenticated(|| Interface::of_text(name, ask(name)?))?;
        let mut described = self.described.lock().unwrap_or_else(PoisonError::into_inner);
        described.insert(found.described.identity.iid.to_u128(), found);
        Ok(found)
    }

    /// Returns the IID of an interface that the server knows, by its name or IID.
    fn iid_of(&self, interface: &str) -> obvia::Result<GUID> {
        if let Some(iid) = guid::parse(interface) {
            return Ok(iid);
        }
        let name = self.name()?;
        let known = self.authenticated(|| dynamic::interfaces(name))?;
        let found = known.iter().find(|known| known.name == interface);
        found.map(|known| known.iid).ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|known| known.name.as_str()).collect();
            let names = names.join(", ");
            let text = format!("the server of `{name}` knows no interface `{interface}`; it knows {names}");
            Error::new(code::E_NOINTERFACE, text)
        })
    }
}
