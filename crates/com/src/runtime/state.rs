//! The state of a process: its identity, its exports, and its links to other processes.

use super::detours::Detours;
use super::links::Links;
use super::names::Names;
use super::unreached::Unreached;
use crate::access::Rules;
use crate::server::exports::Exports;
use crate::server::functions::{Functions, PREFIX};
use crate::server::services::Services;
use crate::server::{Clients, Exporter, accept_on};
use crate::transport::local::LocalProcess;
use crate::transport::network::Network;
use crate::types::agile::Agile;
use crate::types::error::{self, Result, code};
use crate::types::identity::endpoint_of;
use crate::types::registry::{self, InterfaceInfo};
use crate::types::threads::lock;
use crate::types::upkeep;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, ServerCall};
use obvia_via::provider::shm::{Directory, Listener};
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use windows_core::IUnknown;

/// A function that performs one of the calls between runtimes.
pub(crate) type OwnCall = fn(&mut ServerCall<'_>) -> std::result::Result<Answer, Status>;

/// The parts that the layers above the runtime supply for the runtime of a process.
pub(crate) struct Parts {
    /// The services that the process performs for its peers.
    pub(crate) services: &'static dyn Services,
    /// The calls between runtimes that services perform, by opnum.
    pub(crate) own_calls: &'static [(u16, OwnCall)],
    /// The function that does the janitor's work.
    pub(crate) janitor: fn(),
    /// Returns the interfaces of the services, which are known without a registration.
    pub(crate) interfaces: fn() -> Vec<&'static InterfaceInfo>,
}

/// The state of the process.
pub(crate) struct Runtime {
    pub(super) local: &'static LocalProcess,
    pub(super) exporter: Exporter,
    pub(super) links: Links,
    pub(super) names: Names,
    endpoint: Mutex<Option<Arc<Listener>>>,
    /// The listeners of further names of this process in the directory of this host.
    endpoints: Mutex<Vec<Arc<Listener>>>,
    parts: &'static Parts,
    extensions: Mutex<HashMap<TypeId, &'static (dyn Any + Send + Sync)>>,
    pub(super) detours: Detours,
    pub(super) unreached: Unreached,
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
                unreached: Unreached::default(),
            })
        });
        made.as_ref().map_err(Clone::clone)
    }

    /// Returns the runtime of this process, if it has been made.
    pub(crate) fn made() -> Option<&'static Self> {
        RUNTIME.get()?.as_ref().ok()
    }

    /// Returns the runtime of this process, for code that runs only after the runtime has been
    /// made: code that performs calls of other processes, or that handles data from them.
    ///
    /// # Errors
    ///
    /// E_UNEXPECTED if the runtime has not been made; the error of the attempt if it could not be
    /// made.
    pub(crate) fn current() -> Result<&'static Self> {
        RUNTIME.get().ok_or(code::E_UNEXPECTED)?.as_ref().map_err(Clone::clone)
    }

    /// Returns the runtime of this process in code that performs a call of another process.
    ///
    /// # Errors
    ///
    /// [`Status::PROTOCOL_ERROR`] if the runtime has not been made.
    pub(crate) fn serving() -> std::result::Result<&'static Self, Status> {
        Self::made().ok_or(Status::PROTOCOL_ERROR)
    }

    /// Returns the function by which a service performs a call between runtimes, if there is one.
    /// The runtime itself performs the calls for references and names.
    pub(crate) fn own_call(&self, opnum: u16) -> Option<OwnCall> {
        self.parts.own_calls.iter().find(|(known, _)| *known == opnum).map(|(_, call)| *call)
    }

    /// Returns the state of a feature, which is made at first use and lives as long as the process.
    pub(crate) fn extension<T: Any + Default + Send + Sync>(&self) -> &'static T {
        let mut all = lock(&self.extensions);
        let known = *all.entry(TypeId::of::<T>()).or_insert_with(|| Box::leak(Box::<T>::default()));
        // Each state is stored under its own type, so the downcast succeeds.
        known.downcast_ref().unwrap_or_else(|| Box::leak(Box::default()))
    }

    pub(crate) fn oxid(&self) -> u64 {
        self.local.oxid()
    }

    /// Returns the local process: its identity, the directory, and the networks.
    pub(crate) fn local(&self) -> &'static LocalProcess {
        self.local
    }

    /// Returns the exporter, with the tables of the exports and of the clients.
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

    /// Returns the object that is exported by a name. For a name that denotes a plain interface,
    /// returns the object that performs the interface.
    pub(crate) fn named(&self, name: &str) -> Result<Agile<IUnknown>> {
        match name.strip_prefix(PREFIX) {
            Some(interface) => self.functions().named(interface),
            None => self.names.find(name),
        }
    }
}
