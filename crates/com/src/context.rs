//! Context handles: states that a server keeps for its clients between their calls (C706 4.2.16.6).
//!
//! The wire form is a random name. Only the client that received a handle can use it. When the
//! client is gone, its states are dropped.

use crate::error::{Error, Result, code};
use crate::runtime::Runtime;
use crate::server::caller;
use obvia_rpc::status::Status;
use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use windows_core::GUID;

/// The greatest number of states that a server keeps for one client.
const CONTEXTS_MAX: usize = 1 << 16;
/// The client number of calls within the process.
const NOBODY: u64 = 0;

/// A `[context_handle]`: the server gives the client a handle for a state, and the client passes
/// the handle in further calls.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextHandle {
    attributes: u32,
    uuid: GUID,
}

/// A state, which its last user drops.
pub(crate) type State = Arc<dyn Any + Send + Sync>;

/// The states, by client.
#[derive(Default)]
pub(crate) struct Contexts(Mutex<HashMap<u64, HashMap<u128, State>>>);

impl Contexts {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, HashMap<u128, State>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of states that are kept for a client.
    pub(crate) fn kept_for(&self, client: u64) -> usize {
        self.lock().get(&client).map_or(0, HashMap::len)
    }

    /// Removes the states of a client that is gone. The result must be dropped while no lock is
    /// held, since its drop runs programs' code.
    pub(crate) fn end_client(&self, client: u64) -> impl Sized + use<> {
        self.lock().remove(&client)
    }
}

/// Returns the client of the running method. No lock on [`Contexts`] may be held: a name for the
/// client takes the lock under which clients leave, and leaving clients take the lock on
/// [`Contexts`].
fn client() -> Result<u64> {
    let client = caller().map_or(Ok(NOBODY), |caller| caller.client());
    client.map_err(|status| {
        if status == Status::CONTEXT_MISMATCH {
            return mismatch();
        }
        Error::new(code::E_FAIL, format!("drawing a number for the client: {status:?}"))
    })
}

fn mismatch() -> Error {
    Error::new(code::RPC_X_SS_CONTEXT_MISMATCH, "the context handle is none that this server gave its caller")
}

impl ContextHandle {
    /// The null handle.
    pub const NULL: Self = Self { attributes: 0, uuid: GUID::zeroed() };

    /// Makes a handle from its wire form.
    pub const fn from_wire(attributes: u32, uuid: GUID) -> Self {
        Self { attributes, uuid }
    }

    /// Returns the attributes and the UUID of the wire form.
    pub const fn to_wire(self) -> (u32, GUID) {
        (self.attributes, self.uuid)
    }

    /// Whether the handle is null.
    pub fn is_null(&self) -> bool {
        *self == Self::NULL
    }

    /// Keeps a state for the caller of the method that runs on this thread. The state is dropped
    /// when the handle [ends](Self::end), or when the caller's process ends, which C706 calls the
    /// rundown.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY when the caller has too many handles; E_FAIL when no random name can be drawn.
    pub fn new<T: Any + Send + Sync>(state: T) -> Result<Self> {
        Self::keep(Arc::new(state))
    }

    pub(crate) fn keep(state: State) -> Result<Self> {
        let mut bytes = [0; 16];
        rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
            .map_err(|error| Error::new(code::E_FAIL, format!("drawing a context handle: {error}")))?;
        let uuid = u128::from_le_bytes(bytes);
        let client = client()?;
        let mut contexts = Runtime::of_process()?.contexts().lock();
        let own = contexts.entry(client).or_default();
        if own.len() >= CONTEXTS_MAX {
            return Err(Error::new(code::E_OUTOFMEMORY, "the client has too many context handles"));
        }
        own.insert(uuid, state);
        Ok(Self { attributes: 0, uuid: GUID::from_u128(uuid) })
    }

    /// Returns the state.
    ///
    /// # Errors
    ///
    /// RPC_X_SS_CONTEXT_MISMATCH when this process gave the caller no such handle, or its state has
    /// another type.
    pub fn state<T: Any + Send + Sync>(&self) -> Result<Arc<T>> {
        self.kept()?.downcast().map_err(|_| mismatch())
    }

    pub(crate) fn kept(&self) -> Result<State> {
        let client = client()?;
        let contexts = Runtime::of_process()?.contexts().lock();
        let own = contexts.get(&client).and_then(|own| own.get(&self.uuid.to_u128()));
        own.filter(|_| self.attributes == 0).cloned().ok_or_else(mismatch)
    }

    /// Ends the handle, which becomes null, and drops the state once it is unused.
    ///
    /// # Errors
    ///
    /// RPC_X_SS_CONTEXT_MISMATCH as for [`Self::state`].
    pub fn end(&mut self) -> Result<()> {
        let ended = {
            let client = client()?;
            let mut contexts = Runtime::of_process()?.contexts().lock();
            let own = contexts.get_mut(&client).ok_or_else(mismatch)?;
            own.remove(&self.uuid.to_u128()).ok_or_else(mismatch)?
        };
        *self = Self::NULL;
        drop(ended);
        Ok(())
    }
}
