//! Context handles: states that a server keeps for its clients between their calls (C706 4.2.16.6).
//!
//! What travels is a name that the server made up. Nobody but the client that got it can use it, and when that client is gone its
//! states go, too.

use crate::error::{Error, Result, code};
use crate::runtime::Runtime;
use crate::server::caller;
use obvia_rpc::status::Status;
use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use windows_core::GUID;

/// States that a server keeps for one client.
const CONTEXTS_MAX: usize = 1 << 16;
/// Who calls objects of its own process.
const NOBODY: u64 = 0;

/// A `[context_handle]`: what a server gives its client for a state that it keeps for it, and the client gives back in further calls.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextHandle {
    attributes: u32,
    uuid: GUID,
}

/// A state, which its last user drops.
pub(crate) type State = Arc<dyn Any + Send + Sync>;

/// The states that are kept, by client.
#[derive(Default)]
pub(crate) struct Contexts(Mutex<HashMap<u64, HashMap<u128, State>>>);

impl Contexts {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, HashMap<u128, State>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many states are kept for a client.
    pub(crate) fn kept_for(&self, client: u64) -> usize {
        self.lock().get(&client).map_or(0, HashMap::len)
    }

    /// A client is gone. What is returned is to be dropped where no lock is held: it runs programs' own code.
    pub(crate) fn end_client(&self, client: u64) -> impl Sized + use<> {
        self.lock().remove(&client)
    }
}

/// Returns the client of the running method. No lock on [`Contexts`] may be held: a name for the client
/// takes the lock under which clients leave, and leaving clients take the lock on [`Contexts`].
fn client() -> Result<u64> {
    let client = caller().map_or(Ok(NOBODY), |caller| caller.client());
    client.map_err(|status| {
        if status == Status::CONTEXT_MISMATCH {
            return mismatch();
        }
        Error::new(code::E_OUTOFMEMORY, "no further user of the client can have context handles")
    })
}

fn mismatch() -> Error {
    Error::new(code::RPC_X_SS_CONTEXT_MISMATCH, "the context handle is none that this server gave its caller")
}

impl ContextHandle {
    /// No handle.
    pub const NULL: Self = Self { attributes: 0, uuid: GUID::zeroed() };

    /// A handle as it travels.
    pub const fn from_wire(attributes: u32, uuid: GUID) -> Self {
        Self { attributes, uuid }
    }

    /// Attributes and UUID, as they travel.
    pub const fn to_wire(self) -> (u32, GUID) {
        (self.attributes, self.uuid)
    }

    /// Whether it is no handle.
    pub fn is_null(&self) -> bool {
        *self == Self::NULL
    }

    /// Keeps a state for the caller of the method that runs on this thread. It is dropped when the handle [ends](Self::end), or else when
    /// the caller's process does, which is what C706 calls the rundown.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY when the caller has too many; or why there is no name for it.
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

    /// The state that was kept.
    ///
    /// # Errors
    ///
    /// RPC_X_SS_CONTEXT_MISMATCH when this process gave the caller no such handle, or keeps a state of another type for it.
    pub fn state<T: Any + Send + Sync>(&self) -> Result<Arc<T>> {
        self.kept()?.downcast().map_err(|_| mismatch())
    }

    pub(crate) fn kept(&self) -> Result<State> {
        let client = client()?;
        let contexts = Runtime::of_process()?.contexts().lock();
        let own = contexts.get(&client).and_then(|own| own.get(&self.uuid.to_u128()));
        own.filter(|_| self.attributes == 0).cloned().ok_or_else(mismatch)
    }

    /// Ends the handle, which is null then, and drops the state, as soon as nobody uses it.
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
