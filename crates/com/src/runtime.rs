//! The runtime of a process: its identity, its exports, and its links to other processes.

pub(crate) mod data;
mod detours;
pub(crate) mod ending;
pub(crate) mod janitor;
mod links;
pub(crate) mod names;
pub(crate) mod response;
pub(crate) mod returned;
mod specialised;
mod ways;

use crate::error::{self, Error, Result, code};
use crate::exports::Exports;
use crate::functions::table::Functions;
use crate::identity::{endpoint_of, in_order};
use crate::link::{Address, Link};
use crate::local::LocalProcess;
use crate::marshaling::behind;
use crate::network::{self, Network, told};
use crate::objref::{ObjRef, securities_for};
use crate::orpc::Client;
use crate::own_calls::client;
use crate::proxy::{import, look_behind};
use crate::registry::{self, InterfaceInfo};
use crate::security::Rules;
use crate::server::services::Services;
use crate::server::{Clients, Exporter, accept_on};
use crate::threads::lock;
use crate::{deadline, upkeep};
use detours::Detours;
use links::{Links, Place};
use names::Names;
use obvia_rpc::status::Status;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_rpc::vi_call::{Answer, ServerCall};
use obvia_via::provider::shm::{Directory, Listener};
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use windows_core::{IUnknown, Interface};

/// The reference count that travels with an interface pointer, as in DCOM.
const REFS_PER_POINTER: u32 = 5;

/// The limit on each but the last of several bindings of a process, so that an unreachable binding
/// does not use up the whole deadline.
const ATTEMPT: Duration = Duration::from_secs(3);

/// Returns the address that a name or a string binding denotes, and the exported name in it, if
/// any.
pub(crate) fn address_of(text: &str) -> Result<(Address, Option<String>)> {
    if !StringBinding::is_meant(text) {
        return Ok((Address::Name(text.to_owned()), Some(text.to_owned())));
    }
    let mut binding = network::parse(text)?;
    let name = binding.option("name").map(str::to_owned);
    if binding.protocol == ProtocolSequence::ViShm {
        let name = name.unwrap_or(if binding.endpoint.is_empty() { binding.address } else { binding.endpoint });
        return Ok((Address::Name(name.clone()), Some(name)));
    }
    binding.options.retain(|(option, _)| option != "name");
    // The object UUID is resolved by the process at the address.
    binding.object = None;
    Ok((Address::Binding(binding), name))
}

/// Whether a text is a string binding rather than a name: `ncacn_vi_udp:host[5555]`.
pub fn is_string_binding(text: &str) -> bool {
    StringBinding::is_meant(text)
}

/// A function that performs one of the calls between runtimes.
pub(crate) type OwnCall = fn(&mut ServerCall<'_>) -> std::result::Result<Answer, Status>;

/// The parts of a process that stand above its runtime.
pub(crate) struct Parts {
    /// The services for peers.
    pub(crate) services: &'static dyn Services,
    /// The calls between runtimes that services perform, by opnum.
    pub(crate) own_calls: &'static [(u16, OwnCall)],
    /// The janitor's work.
    pub(crate) janitor: fn(),
    /// Returns the interfaces of the services, which are known without a registration.
    pub(crate) interfaces: fn() -> Vec<&'static InterfaceInfo>,
}

/// The state of the process.
pub(crate) struct Runtime {
    local: &'static LocalProcess,
    exporter: Exporter,
    links: Links,
    names: Names,
    endpoint: Mutex<Option<Arc<Listener>>>,
    /// The listeners of further names in the directory by which this process is reached.
    endpoints: Mutex<Vec<Arc<Listener>>>,
    parts: &'static Parts,
    extensions: Mutex<HashMap<TypeId, &'static (dyn Any + Send + Sync)>>,
    detours: Detours,
}

static RUNTIME: OnceLock<Result<Runtime>> = OnceLock::new();

impl Runtime {
    /// Returns the runtime of this process, which is made at first use.
    pub(crate) fn of_process(parts: &'static Parts) -> Result<&'static Self> {
        let made = RUNTIME.get_or_init(|| {
            obvia_rpc::vi_call::set_words(error::words_for_caller);
            upkeep::set_work(parts.janitor);
            registry::set_own((parts.interfaces)());
            // The process has one runtime, which lives as long as the process.
            let local: &'static LocalProcess = Box::leak(Box::new(LocalProcess::new()?));
            Ok(Self {
                local,
                exporter: Exporter::new(local, parts.services),
                links: Links::default(),
                names: Names::default(),
                endpoint: Mutex::default(),
                endpoints: Mutex::default(),
                parts,
                extensions: Mutex::default(),
                detours: Detours::default(),
            })
        });
        made.as_ref().map_err(Clone::clone)
    }

    /// Returns the runtime of this process, if it has been made.
    pub(crate) fn made() -> Option<&'static Self> {
        RUNTIME.get()?.as_ref().ok()
    }

    /// Returns the runtime of this process in code that runs only where it has been made: for calls
    /// of other processes, or with what has come from them.
    ///
    /// # Errors
    ///
    /// E_UNEXPECTED where it has not been made.
    pub(crate) fn current() -> Result<&'static Self> {
        RUNTIME.get().ok_or(code::E_UNEXPECTED)?.as_ref().map_err(Clone::clone)
    }

    /// Returns the runtime of this process in code that performs a call of another process.
    ///
    /// # Errors
    ///
    /// [`Status::PROTOCOL_ERROR`] where it has not been made.
    pub(crate) fn serving() -> std::result::Result<&'static Self, Status> {
        Self::made().ok_or(Status::PROTOCOL_ERROR)
    }

    /// Returns the function that performs a call between runtimes beside those of references and
    /// names.
    pub(crate) fn own_call(&self, opnum: u16) -> Option<OwnCall> {
        self.parts.own_calls.iter().find(|(known, _)| *known == opnum).map(|(_, call)| *call)
    }

    /// Returns the state of a feature, which is made at first use and lives as long as the process.
    pub(crate) fn extension<T: Any + Default + Send + Sync>(&self) -> &'static T {
        let mut all = lock(&self.extensions);
        let known = *all.entry(TypeId::of::<T>()).or_insert_with(|| Box::leak(Box::<T>::default()));
        // Each state is kept under its own type.
        known.downcast_ref().unwrap_or_else(|| Box::leak(Box::default()))
    }

    pub(crate) fn oxid(&self) -> u64 {
        self.local.oxid()
    }

    /// Returns what this process has to reach others and to be reached.
    pub(crate) fn local(&self) -> &'static LocalProcess {
        self.local
    }

    /// Returns what this process exports.
    pub(crate) fn exporter(&self) -> &Exporter {
        &self.exporter
    }

    /// Returns the exported names.
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    pub(crate) fn network(&self) -> &Network {
        self.local.network()
    }

    pub(crate) fn directory(&self) -> &Directory {
        self.local.directory()
    }

    pub(crate) fn exports(&self) -> &Exports {
        self.exporter.exports()
    }

    pub(crate) fn functions(&self) -> &Functions {
        self.exporter.functions()
    }

    pub(crate) fn rules(&self) -> &Rules {
        self.exporter.rules()
    }

    pub(crate) fn clients(&self) -> &Clients {
        self.exporter.clients()
    }

    /// Makes this process reachable for other processes.
    pub(crate) fn serve(&'static self) -> Result<()> {
        let mut endpoint = lock(&self.endpoint);
        if endpoint.is_none() {
            let listener = Arc::new(self.directory().bind(&endpoint_of(self.oxid()))?);
            accept_on(&self.exporter, Arc::clone(&listener))?;
            *endpoint = Some(listener);
            // The janitor cleans up after clients that end.
            upkeep::wake();
        }
        Ok(())
    }

    /// Whether other processes can reach this one by its own name.
    pub(crate) fn is_served(&self) -> bool {
        lock(&self.endpoint).is_some()
    }

    /// Listens on a further name in the directory of this host for the lifetime of the process.
    pub(crate) fn listen_by_name(&'static self, name: &str) -> Result<()> {
        lock(&self.endpoints).push(self.bind_name(name)?);
        Ok(())
    }

    /// Listens on a further name in the directory of this host until the listener is closed.
    pub(crate) fn bind_name(&'static self, name: &str) -> Result<Arc<Listener>> {
        self.serve()?;
        let listener = Arc::new(self.directory().bind(name)?);
        accept_on(&self.exporter, Arc::clone(&listener))?;
        Ok(listener)
    }

    /// Returns the link to the process at a name or an address.
    pub(crate) fn link_by_address(&'static self, address: Address) -> Result<Arc<Link>> {
        let reached = Link::reach(self.local, &address, deadline::of_thread())?;
        let key = (reached.oxid, Place::of(&address, &reached));
        if let Some(known) = self.links.known(&key) {
            return Ok(known);
        }
        let (link, is_fresh) = self.links.add(key, Link::open(self.local, address, reached, deadline::of_thread())?);
        if is_fresh {
            // The janitor closes links.
            upkeep::wake();
        }
        Ok(link)
    }

    /// Returns the link to the process of a reference: an existing one, or one by the best binding
    /// that works.
    pub(crate) fn link_to(&'static self, oxid: u64, bindings: &[StringBinding]) -> Result<Arc<Link>> {
        let mut over_network = in_order(bindings).filter(|binding| binding.protocol != ProtocolSequence::ViShm);
        let known = |binding: &StringBinding| self.links.known_by(oxid, binding);
        // An existing network link takes precedence over shared memory: the program chose it.
        if let Some(known) = over_network.find_map(known) {
            return Ok(known);
        }
        let others = || Error::new(code::RPC_E_INVALID_OBJREF, "the reference's endpoint is another process's");
        let mut outcome = Err(Error::new(code::RPC_E_INVALID_OBJREF, "the reference has no binding"));
        let mut left = bindings.len();
        for binding in in_order(bindings) {
            left -= 1;
            let address = if binding.protocol == ProtocolSequence::ViShm {
                if let Some(known) = self.links.known(&(oxid, None)) {
                    return Ok(known);
                }
                // The check comes before any connection is made, so that a forged reference cannot
                // choose the peer of this process.
                if binding.address != endpoint_of(oxid) {
                    return Err(others());
                }
                Address::Name(binding.address.clone())
            } else {
                // The sender of a reference does not decide the options that are this process's
                // own.
                Address::Binding(told(binding.clone()))
            };
            let limit = if left == 0 { Duration::MAX } else { ATTEMPT };
            let limit = deadline::of_thread().start().remaining().min(limit);
            outcome = deadline::with_timeout(limit, || self.link_by_address(address));
            match &outcome {
                Ok(link) if link.oxid() == oxid => return outcome,
                Ok(_) => return Err(others()),
                // The binding is of another host, or cannot be reached.
                Err(_) => {}
            }
        }
        outcome
    }

    /// Returns the link to the process that a name or a string binding denotes.
    pub(crate) fn link_at(&'static self, text: &str) -> Result<Arc<Link>> {
        self.link_by_address(address_of(text)?.0)
    }

    /// Returns the link to the process that a name or a string binding denotes, and the exported
    /// name.
    pub(crate) fn find(&'static self, text: &str) -> Result<(Arc<Link>, String)> {
        let (address, wanted) = address_of(text)?;
        let link = self.link_by_address(address)?;
        if let Some(name) = wanted {
            return Ok((link, name));
        }
        let names = client::list(&link)?;
        let mut names = names.lines().filter_map(|line| line.split('\t').next());
        match (names.next(), names.next()) {
            (Some(only), None) => Ok((link, only.to_owned())),
            (None, _) => Err(Error::new(code::RPC_S_SERVER_UNAVAILABLE, format!("nothing is exported at {text}"))),
            (Some(one), Some(two)) => {
                let rest: String = names.map(|name| format!(", {name}")).collect();
                let text = format!("{one}, {two}{rest} are exported there: say which by [...,name={one}]");
                Err(Error::new(code::E_INVALIDARG, text))
            }
        }
    }

    /// Returns all links, for the janitor.
    pub(crate) fn links(&self) -> Vec<Arc<Link>> {
        self.links.all()
    }

    /// Closes links without users for which `is_useless` returns true.
    pub(crate) fn close_links(&self, is_useless: impl Fn(&Link) -> bool) {
        drop(self.links.take_unused(is_useless));
    }

    /// Marshals an object of this process, with references counted for `client`.
    pub(crate) fn marshal_own(
        &'static self,
        object: &IUnknown,
        info: &'static InterfaceInfo,
        client: Client,
    ) -> Result<ObjRef> {
        self.serve()?;
        registry::register_module(info);
        let found = self.exports().add(object, info, client, REFS_PER_POINTER.into())?;
        Ok(ObjRef {
            iid: info.iid,
            public_refs: REFS_PER_POINTER,
            oxid: self.oxid(),
            oid: found.oid,
            target: found.target,
            bindings: self.bindings_for(client),
            securities: securities_for(client),
        })
    }

    /// Marshals an object of any process for `client`.
    pub(crate) fn marshal(
        &'static self,
        object: &IUnknown,
        info: &'static InterfaceInfo,
        client: Client,
    ) -> Result<ObjRef> {
        let interface = crate::exports::query(&behind(object), info)?;
        // Servers that are no obvia processes cannot be named to other processes, so their objects
        // are called through this process.
        let (Some(imported), Client::Process(process)) = (look_behind(&interface), client) else {
            return self.marshal_own(&interface, info, client);
        };
        let mut public_refs = 0;
        if process != imported.link.oxid() {
            client::transfer(&imported.link, imported.target, process, REFS_PER_POINTER)?;
            public_refs = REFS_PER_POINTER;
        }
        Ok(ObjRef {
            iid: info.iid,
            public_refs,
            oxid: imported.link.oxid(),
            oid: imported.oid,
            target: imported.target,
            bindings: imported.link.bindings(),
            securities: Vec::new(),
        })
    }

    /// Returns the interface pointer that a reference stands for: a proxy, or the object itself
    /// where it is of this process.
    pub(crate) fn unmarshal(&'static self, reference: &ObjRef, info: &'static InterfaceInfo) -> Result<IUnknown> {
        registry::register_module(info);
        if reference.oxid == self.oxid() {
            // The count is 0 where the sender keeps its own reference until this process has the
            // object.
            if reference.public_refs > 0 {
                returned::note_return(reference.target, reference.public_refs.into());
            }
            let object = self.exports().get(reference.target)?.object;
            return crate::exports::query(object.get(), info);
        }
        let link = self.link_to(reference.oxid, &reference.bindings)?;
        self.import(&link, reference, info)
    }

    /// Returns the interface pointer for a reference that came over a link. The proxy uses this
    /// link, even if there is a better binding.
    pub(crate) fn adopt(
        &'static self,
        link: &Arc<Link>,
        reference: &ObjRef,
        info: &'static InterfaceInfo,
    ) -> Result<IUnknown> {
        if reference.oxid != link.oxid() {
            return self.unmarshal(reference, info);
        }
        link.learn(&reference.bindings);
        self.import(link, reference, info)
    }

    /// Returns the proxy for a reference to an object of the process behind a link.
    pub(crate) fn import(
        &self,
        link: &Arc<Link>,
        reference: &ObjRef,
        info: &'static InterfaceInfo,
    ) -> Result<IUnknown> {
        // A reference to another interface of the object is imported as such, and the wanted
        // interface is queried from it.
        let carrier = if reference.iid == info.iid { info } else { registry::find(&reference.iid)? };
        let pointer = import(link, reference.oid, reference.target, reference.public_refs, carrier);
        // SAFETY: `import` returns a counted interface pointer, which begins with IUnknown's
        // methods.
        let proxy = unsafe { IUnknown::from_raw(pointer.as_ptr()) };
        if reference.iid == info.iid { Ok(proxy) } else { crate::exports::query(&proxy, info) }
    }
}
