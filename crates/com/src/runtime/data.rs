//! Marshaled data for a process that is not known yet: the standard marshaling of
//! [`crate::marshaling`].

use super::Runtime;
use super::references::REFS_PER_POINTER;
use crate::client::own_target;
use crate::client::proxy::look_behind;
use crate::orpc::{Client, ClientNumber, DualStringArray, NO_PING, ObjRef as Any};
use crate::protocol::objref::{Exported, ObjRef};
use crate::protocol::own_calls;
use crate::runtime::marshaling::{
    Context, Flags, handler_class_of, make_handler, marshal_custom, marshal_specialised, unwrapped,
};
use crate::server;
use crate::server::exports::{Keeping, query};
use crate::types::error::{Error, Result, code};
use crate::types::identity::{endpoint_of, local_binding};
use crate::types::registry::{self, InterfaceInfo, is_proxy};
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use std::cell::Cell;
use windows_core::{GUID, IUnknown};

/// The reference count in table-marshaled data. Each process that unmarshals the data requests
/// references of its own.
const REFS_IN_TABLE: u32 = 0;

thread_local! {
    /// The process for which this thread marshals an object that marshals itself.
    static DESTINATION: Cell<Option<ClientNumber>> = const { Cell::new(None) };
}

/// Runs `marshal` with `process` as the destination of this thread's marshaling.
fn bound_for<R>(process: ClientNumber, marshal: impl FnOnce() -> R) -> R {
    struct Previous(Option<ClientNumber>);
    impl Drop for Previous {
        fn drop(&mut self) {
            DESTINATION.set(self.0);
        }
    }
    let _previous = Previous(DESTINATION.replace(Some(process)));
    marshal()
}

/// Returns the process for which this thread marshals, if it is known.
pub(super) fn destination() -> Option<ClientNumber> {
    DESTINATION.get()
}

/// Returns the object by which this process calls an object of another process: a handler, if the
/// reference `any` names a handler class that this process has, or else `proxy`.
pub(crate) fn with_handler(any: &Any, proxy: IUnknown, info: &'static InterfaceInfo) -> Result<IUnknown> {
    match any {
        Any::Handler { clsid, .. } => make_handler(clsid, proxy, info),
        _ => Ok(proxy),
    }
}

impl Runtime {
    /// Marshals an object of any process for a process that is not known yet.
    pub(crate) fn marshal_data(
        &'static self,
        object: &IUnknown,
        info: &'static InterfaceInfo,
        context: Context,
        flags: Flags,
    ) -> Result<Vec<u8>> {
        self.serve()?;
        registry::register_module(info);
        let handler = handler_class_of(object, context);
        let interface = query(&unwrapped(object), info)?;
        let (oxid, bindings, found) = match look_behind(&interface) {
            Some(_) if flags.is_table() => {
                let text = "the object lives in another process, and only that process can put it into a table";
                return Err(Error::new(code::E_INVALIDARG, text));
            }
            Some(imported) => {
                let found = own_target::keep(&imported.link, imported.target)?;
                (imported.link.oxid(), imported.link.bindings(), found)
            }
            None => {
                let bindings = self.bindings_there(context)?;
                (
                    self.oxid(),
                    bindings,
                    self.exports().keep(&interface, info, flags.keeping(), REFS_PER_POINTER.into())?,
                )
            }
        };
        let public_refs = if flags.is_table() { REFS_IN_TABLE } else { REFS_PER_POINTER };
        let Exported { oid, target } = found;
        let securities = Vec::new();
        let reference = ObjRef { iid: info.iid, public_refs, oxid, oid, target, bindings, securities };
        let no_ping = if flags.contains(Flags::NO_PING) { NO_PING } else { 0 };
        reference.to_wire_with(no_ping, handler)
    }

    fn context_of(&self, process: ClientNumber) -> Context {
        if self.local_to(process).is_some() { Context::DifferentMachine } else { Context::Local }
    }

    /// Returns the class of an object's handler in a client, if there is one. Clients that are not
    /// obvia processes do not know the handler classes.
    pub(crate) fn handler_class_of(&self, object: &IUnknown, client: Client) -> Option<GUID> {
        let Client::Process(process) = client else { return None };
        handler_class_of(object, self.context_of(process))
    }

    /// Returns an object's custom reference for a client, if the object marshals itself; `None` for
    /// other objects, and for clients that are not obvia processes.
    pub(crate) fn marshal_custom(
        &self,
        object: &IUnknown,
        info: &'static InterfaceInfo,
        client: Client,
    ) -> Result<Option<Vec<u8>>> {
        self.written_for(client, |context| marshal_custom(object, info, context, Flags::NORMAL))
    }

    /// Returns the custom reference of an object that is called over virtual interfaces; `None` for
    /// other objects, and for clients that are not obvia processes.
    pub(crate) fn marshal_specialised(
        &self,
        object: &IUnknown,
        info: &'static InterfaceInfo,
        client: Client,
    ) -> Result<Option<Vec<u8>>> {
        self.written_for(client, |context| marshal_specialised(object, info, context, Flags::NORMAL))
    }

    /// Runs `write` with the context for a client. Returns `None` for a client that is not an obvia
    /// process, since such a client does not have the unmarshaler classes.
    fn written_for(
        &self,
        client: Client,
        write: impl FnOnce(Context) -> Result<Option<Vec<u8>>>,
    ) -> Result<Option<Vec<u8>>> {
        let Client::Process(process) = client else { return Ok(None) };
        let context = self.context_of(process);
        bound_for(process, || write(context))
    }

    /// Exports an object for a client, with references that expire unless the client pings.
    pub(crate) fn keep_for(&self, object: &IUnknown, info: &'static InterfaceInfo, holder: Client) -> Result<Exported> {
        self.exports().keep(object, info, Keeping::Once(holder), REFS_PER_POINTER.into())
    }

    /// Returns the bindings by which the destination of this thread's marshaling reaches this
    /// process. If no destination is known, returns the bindings for processes in a context.
    pub(super) fn bindings_there(&'static self, context: Context) -> Result<Vec<StringBinding>> {
        if let Some(process) = destination() {
            return Ok(self.bindings_for(Client::Process(process)));
        }
        let mut bindings = Vec::new();
        if context != Context::NoSharedMemory {
            bindings.push(local_binding(endpoint_of(self.oxid())));
        }
        if !matches!(context, Context::NoSharedMemory | Context::DifferentMachine) {
            return Ok(bindings);
        }
        // If a listener listens on all addresses, its binding gets the name that the caller of the
        // running method used for this host, or else the host's own name.
        let local = server::caller().and_then(|caller| caller.local().map(str::to_owned));
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let leads_there = |binding: &StringBinding| {
            binding.protocol != ProtocolSequence::Lrpc || context != Context::DifferentMachine
        };
        let heard = self.network().bindings(Some(&local.unwrap_or(host)));
        let count = bindings.len();
        bindings.extend(heard.into_iter().filter(leads_there));
        if bindings.len() == count {
            let text = "the object cannot be reached there: this process listens on no network";
            return Err(Error::new(code::RPC_S_NO_BINDINGS, text));
        }
        Ok(bindings)
    }

    /// Returns the interface pointer for marshaled data.
    pub(crate) fn unmarshal_data(&'static self, any: &Any, info: &'static InterfaceInfo) -> Result<IUnknown> {
        self.unmarshal_by(any, &DualStringArray::default(), info)
    }

    /// Returns the interface pointer for marshaled data. The virtual interface bindings `ways` are
    /// preferred.
    pub(crate) fn unmarshal_by(
        &'static self,
        any: &Any,
        ways: &DualStringArray,
        info: &'static InterfaceInfo,
    ) -> Result<IUnknown> {
        registry::register_for_calls(info);
        let mut reference = ObjRef::from_any(any)?;
        if reference.oxid == self.oxid() {
            return query(&self.exports().unmarshal(reference.target)?, info);
        }
        let link = self.link_by(&reference, ways)?;
        let found = own_target::unmarshal(&link, reference.target, info)?;
        reference.iid = info.iid;
        (reference.oid, reference.target, reference.public_refs) = (found.oid, found.target, own_calls::REFS_PER_QUERY);
        with_handler(any, self.import(&link, &reference, info)?, info)
    }

    /// Releases marshaled data that will not be unmarshaled.
    pub(crate) fn release_data(&'static self, any: &Any) -> Result<()> {
        self.release_by(any, &DualStringArray::default())
    }

    /// Releases marshaled data. The virtual interface bindings `ways` are preferred.
    pub(crate) fn release_by(&'static self, any: &Any, ways: &DualStringArray) -> Result<()> {
        let reference = ObjRef::from_any(any)?;
        if reference.oxid == self.oxid() {
            return self.exports().release_data(reference.target);
        }
        own_target::release_data(&*self.link_by(&reference, ways)?, reference.target)
    }

    /// Drops all references that other processes hold to an object of this process.
    pub(crate) fn disconnect(&self, object: &IUnknown) -> Result<()> {
        if is_proxy(&unwrapped(object)) {
            return Err(Error::new(code::E_INVALIDARG, "the object lives in another process"));
        }
        self.exports().disconnect(object)
    }
}
