//! Handler marshaling: objects that have a class of their own stand for them in clients. The handler answers some calls itself and has
//! the proxy for the rest.
//!
//! The table says which handler stands for which object, so that an object has one in a process, and that the object itself is
//! passed where its handler is.

use super::Context;
use super::custom::put;
use super::interfaces::{IStdMarshalInfo, IStdMarshalInfo_Impl};
use crate::error::{Error, Result, code};
use crate::exports::query;
use crate::link::Link;
use crate::proxy::{self, look_behind};
use crate::registry::InterfaceInfo;
use std::collections::HashMap;
use std::ffi::c_void;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak as WeakArc};
use windows_core::{GUID, HRESULT, IUnknown, IUnknownImpl, Interface, Weak};

/// IStdMarshalInfo for objects in Rust: `#[implement(IStock, IStdMarshalInfo)] struct Stock;` has it by `impl Handled for Stock_Impl`.
///
/// Any thread calls the object, several at once.
pub trait Handled: Send + Sync + 'static {
    /// The class that stands for the object in clients that have it [registered](register_handler); others use a proxy.
    ///
    /// # Errors
    ///
    /// When there is none for them.
    fn handler(&self, context: Context) -> Result<GUID>;
}

impl<T: Handled + IUnknownImpl> IStdMarshalInfo_Impl for T {
    unsafe fn GetClassForHandler(&self, context: u32, _: *const c_void, class: *mut GUID) -> HRESULT {
        let context = Context::from_number(context).ok_or_else(|| Error::from(code::E_INVALIDARG));
        let named = context.and_then(|context| self.handler(context));
        // SAFETY: by the contract of IStdMarshalInfo.
        super::custom::result_of(named.and_then(|named| unsafe { put(class, named) }))
    }
}

/// An object of another process: the number that the process goes by, which process it is by what is known of it here, and the object's own number.
type Object = (u64, usize, u64);

type Maker = Arc<dyn Fn(IUnknown) -> Result<IUnknown> + Send + Sync>;

/// A handler that stands for an object.
struct Standing {
    handler: Weak<IUnknown>,
    identity: usize,
    class: GUID,
    link: WeakArc<Link>,
}

#[derive(Default)]
struct Handlers {
    classes: HashMap<u128, Maker>,
    standing: HashMap<Object, Standing>,
    /// The object that a handler stands for, by the handler's identity.
    objects: HashMap<usize, Object>,
    /// How many may stand before those that are gone are looked for.
    room: usize,
}

static HANDLERS: Mutex<Option<Handlers>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Option<Handlers>> {
    HANDLERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A class of handlers, as long as this lives.
#[must_use = "no more handlers of the class are made when this is dropped"]
pub struct HandlerRegistration(GUID);

impl fmt::Debug for HandlerRegistration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HandlerRegistration").field(&self.0).finish()
    }
}

impl Drop for HandlerRegistration {
    fn drop(&mut self) {
        let removed = lock().as_mut().and_then(|handlers| handlers.classes.remove(&self.0.to_u128()));
        // Dropping what makes handlers runs its author's code: not under the lock.
        drop(removed);
    }
}

/// Has this process make handlers of a class for the objects that name it. `make` is given the proxy, which the handler keeps, and returns the
/// handler: an object of any thread's, with weak references, as those made by `#[implement]` are. Interfaces that it lacks are the proxy's.
///
/// # Errors
///
/// E_INVALIDARG for a class that is registered already. Where `make` returns an object that belongs to a thread, that is E_INVALIDARG for whoever was to
/// have the handler.
pub fn register_handler(
    class: GUID,
    make: impl Fn(IUnknown) -> Result<IUnknown> + Send + Sync + 'static,
) -> Result<HandlerRegistration> {
    let mut handlers = lock();
    let classes = &mut handlers.get_or_insert_default().classes;
    if classes.contains_key(&class.to_u128()) {
        return Err(Error::new(code::E_INVALIDARG, format!("the class {{{class:?}}} is registered already")));
    }
    classes.insert(class.to_u128(), Arc::new(make));
    Ok(HandlerRegistration(class))
}

impl Handlers {
    /// The handler of an object, as long as there is one.
    fn find(&self, object: Object) -> Option<IUnknown> {
        self.standing.get(&object)?.handler.upgrade()
    }

    /// Forgets handlers that are gone, now and then. Returns those that are not, to be dropped without the lock.
    fn sweep(&mut self) -> Vec<IUnknown> {
        if self.standing.len() < self.room.max(64) {
            return Vec::new();
        }
        let mut alive = Vec::new();
        self.standing.retain(|_, standing| {
            let handler = standing.handler.upgrade();
            let is_alive = handler.is_some();
            alive.extend(handler);
            is_alive
        });
        self.objects.retain(|identity, object| self.standing.get(object).is_some_and(|s| s.identity == *identity));
        self.room = self.standing.len() * 2;
        alive
    }
}

fn identity_of(object: &IUnknown) -> Result<usize> {
    Ok(object.cast::<IUnknown>()?.as_raw().addr())
}

/// The class that an object of this process names for its handlers, or that a handler is of.
pub(crate) fn class_of(object: &IUnknown, context: Context) -> Option<GUID> {
    if let Some((class, _)) = standing_for(object) {
        return Some(class);
    }
    if look_behind(object).is_some() {
        return None;
    }
    let (info, mut class): (IStdMarshalInfo, _) = (object.cast().ok()?, GUID::zeroed());
    // SAFETY: by the contract of IStdMarshalInfo: a place for the class.
    let named = unsafe { info.GetClassForHandler(context as u32, std::ptr::null(), &mut class) };
    (named.is_ok() && class != GUID::zeroed()).then_some(class)
}

/// The class of a handler, and the object that it stands for. `None` for all other objects.
fn standing_for(object: &IUnknown) -> Option<(GUID, IUnknown)> {
    let identity = identity_of(object).ok()?;
    let handlers = lock();
    let handlers = handlers.as_ref()?;
    let at = handlers.objects.get(&identity)?;
    let standing = handlers.standing.get(at).filter(|standing| standing.identity == identity)?;
    // Another object may have taken the place of a handler that is gone.
    drop(standing.handler.upgrade()?);
    Some((standing.class, proxy::find(&*standing.link.upgrade()?, at.2)?))
}

/// What is passed where an object is: the proxy that is behind a handler, or the object itself.
pub(crate) fn behind(object: &IUnknown) -> IUnknown {
    standing_for(object).map_or_else(|| object.clone(), |(_, proxy)| proxy)
}

/// The handler of a class for an object that a proxy stands for: the one that is there, or a new one. The proxy, where this process has no
/// such class.
pub(crate) fn make(class: &GUID, proxy: IUnknown, info: &'static InterfaceInfo) -> Result<IUnknown> {
    let Some(imported) = look_behind(&proxy) else { return Ok(proxy) };
    let object = (imported.link.oxid(), imported.link.process(), imported.oid);
    let handlers = lock();
    let known = handlers.as_ref();
    let (found, maker) = known.map_or((None, None), |known| (known.find(object), known.classes.get(&class.to_u128())));
    let maker = maker.cloned();
    drop(handlers);
    let handler = match (found, maker) {
        (Some(found), _) => found,
        (None, Some(maker)) => {
            let made = maker(proxy.cast()?)?;
            // Any thread may get this handler with the object.
            crate::agile::check(&made)?;
            let text = "a handler must have weak references";
            let weak = made.cast::<IUnknown>()?.downgrade().map_err(|_| Error::new(code::E_NOTIMPL, text))?;
            let standing = Standing {
                handler: weak,
                identity: identity_of(&made)?,
                class: *class,
                link: Arc::downgrade(&imported.link),
            };
            let mut handlers = lock();
            let handlers_there = handlers.get_or_insert_default();
            let first = handlers_there.find(object);
            let alive = handlers_there.sweep();
            if first.is_none() {
                handlers_there.objects.insert(standing.identity, object);
                handlers_there.standing.insert(object, standing);
            }
            drop(handlers);
            drop(alive);
            first.unwrap_or(made)
        }
        (None, None) => return Ok(proxy),
    };
    query(&handler, info).or(Ok(proxy))
}
