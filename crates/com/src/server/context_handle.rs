//! Context handles: states that a server keeps for its clients between their calls (C706 4.2.16.6).
//!
//! The wire form is a random name. Only the client that received a handle can use it. When the
//! client is gone, its states are dropped.

use super::caller::caller;
use super::contexts::{Contexts, State};
use crate::orpc::ClientNumber;
use crate::protocol::frame::Value;
use crate::types::error::{Error, Result, code};
use obvia_rpc::status::Status;
use obvia_via::RegionView;
use std::any::Any;
use std::sync::{Arc, LazyLock};
use windows_core::GUID;

/// The greatest number of states that a server keeps for one client.
const CONTEXTS_MAX: usize = 1 << 16;

/// The states for callers in this process.
static OWN: LazyLock<Contexts> = LazyLock::new(Contexts::default);

/// A `[context_handle]`: the server gives the client a handle for a state, and the client passes
/// the handle in further calls.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextHandle {
    attributes: u32,
    uuid: GUID,
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
}

// SAFETY: all-zero bytes are the null handle.
unsafe impl Value for ContextHandle {
    const SIZE: usize = 20;
    #[inline]
    fn store(&self, frame: &mut [u8], at: usize) {
        let (attributes, uuid) = self.to_wire();
        attributes.store(frame, at);
        uuid.store(frame, at + 4);
    }
    #[inline]
    fn load(frame: RegionView<'_>, at: usize) -> Option<Self> {
        Some(Self::from_wire(u32::load(frame, at)?, GUID::load(frame, at + 4)?))
    }
}

/// Returns the client of the running method, if another process called the method, and the table of
/// the client's states. The caller must hold no lock on [`Contexts`]: giving the client a number
/// takes the lock under which clients leave, and leaving clients take the lock on [`Contexts`].
fn client() -> Result<(Option<ClientNumber>, &'static Contexts)> {
    let Some(caller) = caller() else { return Ok((None, &OWN)) };
    let client = caller.client().map_err(|status| {
        if status == Status::CONTEXT_MISMATCH {
            return mismatch();
        }
        Error::new(code::E_FAIL, format!("generating a number for the client: {status:?}"))
    })?;
    Ok((Some(client), caller.exporter.contexts()))
}

fn mismatch() -> Error {
    Error::new(code::RPC_X_SS_CONTEXT_MISMATCH, "the server gave the caller no such context handle")
}

impl ContextHandle {
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
            .map_err(|error| Error::new(code::E_FAIL, format!("generating a context handle: {error}")))?;
        let uuid = u128::from_le_bytes(bytes);
        let (client, contexts) = client()?;
        let mut contexts = contexts.lock();
        let own = contexts.entry(client).or_default();
        if own.len() >= CONTEXTS_MAX {
            return Err(Error::new(code::E_OUTOFMEMORY, "the client has too many context handles"));
        }
        own.insert(uuid, state);
        Ok(Self::from_wire(0, GUID::from_u128(uuid)))
    }

    /// Returns the state.
    ///
    /// # Errors
    ///
    /// RPC_X_SS_CONTEXT_MISMATCH if this process has not given the caller this handle, or if the
    /// state has another type.
    pub fn state<T: Any + Send + Sync>(&self) -> Result<Arc<T>> {
        self.kept()?.downcast().map_err(|_| mismatch())
    }

    pub(crate) fn kept(&self) -> Result<State> {
        let (client, contexts) = client()?;
        let contexts = contexts.lock();
        let own = contexts.get(&client).and_then(|own| own.get(&self.to_wire().1.to_u128()));
        own.filter(|_| self.to_wire().0 == 0).cloned().ok_or_else(mismatch)
    }

    /// Ends the handle, and makes it null. The state is dropped when no call uses it any more.
    ///
    /// # Errors
    ///
    /// RPC_X_SS_CONTEXT_MISMATCH as for [`Self::state`].
    pub fn end(&mut self) -> Result<()> {
        let ended = {
            let (client, contexts) = client()?;
            let mut contexts = contexts.lock();
            let own = contexts.get_mut(&client).ok_or_else(mismatch)?;
            own.remove(&self.to_wire().1.to_u128()).ok_or_else(mismatch)?
        };
        *self = Self::NULL;
        drop(ended);
        Ok(())
    }
}
