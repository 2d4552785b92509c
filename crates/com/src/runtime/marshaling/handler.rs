//! Handler marshaling: objects with a handler class of their own in clients. A handler answers some
//! calls itself and uses the proxy for other calls.
//!
//! A table maps handlers to objects, so that an object has one handler in a process, and so that
//! the object itself is passed on when its handler is marshaled.

use super::Context;
use super::interfaces::{IStdMarshalInfo, IStdMarshalInfo_Impl};
use crate::client::link::Link;
use crate::client::proxy::{self, look_behind};
use crate::server::exports::query;
use crate::types::error::{Error, Result, code, guard, guarded, result_of};
use crate::types::memory::put;
use crate::types::registry::InterfaceInfo;
use crate::types::registry::is_proxy;
use crate::types::weak::weak_to;
use std::collections::HashMap;
use std::ffi::c_void;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak as WeakArc};
use windows_core::{GUID, HRESULT, IUnknown, IUnknownImpl, Interface, Weak};

/// IStdMarshalInfo for objects in Rust. A type `#[obvia::object(IStock, IStdMarshalInfo)] struct
/// Stock;` implements IStdMarshalInfo by `impl Handled for Stock_Impl`.
///
/// Any thread may call the object, and several may do so at once.
pub trait Handled: Send + Sync + 'static {
    /// Returns the handler class for clients that have it [registered](register_handler); other
    /// clients use a proxy.
    ///
    /// # Errors
    ///
    /// If there is no handler for this context.
    fn handler(&self, context: Context) -> Result<GUID>;
}

impl<T: Handled + IUnknownImpl> IStdMarshalInfo_Impl for T {
    unsafe fn GetClassForHandler(&self, context: u32, _: *const c_void, class: *mut GUID) -> HRESULT {
        guard(|| {
            let context = Context::from_number(context).ok_or_else(|| Error::from(code::E_INVALIDARG));
            let named = context.and_then(|context| self.handler(context));
            // SAFETY: by the contract of IStdMarshalInfo, `class` is null or writable.
            result_of(named.and_then(|named| unsafe { put(class, named) }))
        })
    }
}

/// The key of an object of another process: the OXID of the process, the identifier of the state
/// that all links to the process share, and the OID.
type Object = (u64, usize, u64);

type Maker = Arc<dyn Fn(IUnknown) -> Result<IUnknown> + Send + Sync>;

/// A handler that was made for an object, with the link to the object's process.
struct ObjectHandler {
    handler: Weak<IUnknown>,
    identity: usize,
    class: GUID,
    link: WeakArc<Link>,
}

#[derive(Default)]
struct Handlers {
    classes: HashMap<u128, Maker>,
    made: HashMap<Object, ObjectHandler>,
    /// The object of each handler, by the handler's identity.
    objects: HashMap<usize, Object>,
    /// The number of handlers at which dead handlers are removed next.
    room: usize,
}

static HANDLERS: Mutex<Option<Handlers>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Option<Handlers>> {
    HANDLERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The registration of a handler class, which lasts as long as this value lives.
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
        // The drop of the program's function must not run under the lock.
        drop(removed);
    }
}

/// Registers a handler class for the objects that name it. `make` receives the proxy, which the
/// handler keeps, and returns the handler. A handler must be usable by any thread and support weak
/// references, as objects made by `#[obvia::object]` do. The proxy provides the interfaces that the
/// handler lacks.
///
/// # Errors
///
/// E_INVALIDARG for a class that is registered already. If `make` returns an object that belongs to
/// a thread, unmarshaling fails with E_INVALIDARG.
pub fn register_handler(
    class: GUID,
    make: impl Fn(IUnknown) -> Result<IUnknown> + Send + Sync + 'static,
) -> Result<HandlerRegistration> {
    let mut handlers = lock();
    let classes = &mut handlers.get_or_insert_default().classes;
    if classes.contains_key(&class.to_u128()) {
        return Err(Error::new(code::E_INVALIDARG, format!("the class {{{class:?}}} is already registered")));
    }
    classes.insert(class.to_u128(), Arc::new(make));
    Ok(HandlerRegistration(class))
}

impl Handlers {
    /// Returns the handler of an object, if the handler is alive.
    fn find(&self, object: Object) -> Option<IUnknown> {
        self.made.get(&object)?.handler.upgrade()
    }

    /// Removes dead handlers once there are many. Returns the live handlers, which must be dropped
    /// while the lock is not held.
    fn sweep(&mut self) -> Vec<IUnknown> {
        if self.made.len() < self.room.max(64) {
            return Vec::new();
        }
        let mut alive = Vec::new();
        self.made.retain(|_, made| {
            let handler = made.handler.upgrade();
            let is_alive = handler.is_some();
            alive.extend(handler);
            is_alive
        });
        self.objects.retain(|identity, object| self.made.get(object).is_some_and(|s| s.identity == *identity));
        self.room = self.made.len() * 2;
        alive
    }
}

fn identity_of(object: &IUnknown) -> Result<usize> {
    Ok(object.cast::<IUnknown>()?.as_raw().addr())
}

/// Returns the handler class that an object of this process names, if any. For a handler, returns
/// the handler's own class.
pub(crate) fn class_of(object: &IUnknown, context: Context) -> Option<GUID> {
    if let Some((class, _)) = handled_by(object) {
        return Some(class);
    }
    if is_proxy(object) {
        return None;
    }
    let (info, mut class): (IStdMarshalInfo, _) = (object.cast().ok()?, GUID::zeroed());
    // SAFETY: by the contract of IStdMarshalInfo; `class` has room for the class.
    let named = unsafe { info.GetClassForHandler(context as u32, std::ptr::null(), &mut class) };
    (named.is_ok() && class != GUID::zeroed()).then_some(class)
}

/// Returns the class of a handler and the proxy for its object; `None` for all other objects.
fn handled_by(object: &IUnknown) -> Option<(GUID, IUnknown)> {
    let identity = identity_of(object).ok()?;
    let handlers = lock();
    let handlers = handlers.as_ref()?;
    let at = handlers.objects.get(&identity)?;
    let made = handlers.made.get(at).filter(|made| made.identity == identity)?;
    // The upgrade shows that the handler is alive. Otherwise `object` is another object at the
    // former address of a handler that is gone.
    drop(made.handler.upgrade()?);
    Some((made.class, proxy::find(&*made.link.upgrade()?, at.2)?))
}

/// Returns the object to marshal: for a handler, the proxy for its object; otherwise the object
/// itself.
pub(crate) fn unwrapped(object: &IUnknown) -> IUnknown {
    handled_by(object).map_or_else(|| object.clone(), |(_, proxy)| proxy)
}

/// Returns the handler for the object that a proxy represents: the existing handler, or a new one.
/// Returns the proxy itself if this process has not registered the class.
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
            let proxy = proxy.cast()?;
            // The program's code can panic.
            let made = guarded(|| maker(proxy))?;
            // The handler may be given to any thread.
            crate::types::agile::check(&made)?;
            let text = "the handler does not support weak references";
            let weak = weak_to(&made.cast()?).ok_or_else(|| Error::new(code::E_NOTIMPL, text))?;
            let entry = ObjectHandler {
                handler: weak,
                identity: identity_of(&made)?,
                class: *class,
                link: Arc::downgrade(&imported.link),
            };
            let mut handlers = lock();
            let table = handlers.get_or_insert_default();
            let first = table.find(object);
            let alive = table.sweep();
            if first.is_none() {
                table.objects.insert(entry.identity, object);
                table.made.insert(object, entry);
            }
            drop(handlers);
            drop(alive);
            first.unwrap_or(made)
        }
        (None, None) => return Ok(proxy),
    };
    query(&handler, info).or(Ok(proxy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::proxy::UNKNOWN_INFO;
    use obvia_rpc::vi_call::TargetId;

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn a_panic_while_a_handler_is_made_is_an_error() {
        const CLASS: GUID = GUID::from_u128(0x5e0f_7b1a_93c4_4d28_8a61_2f7c_9d0b_e354);
        let link = Arc::new(Link::to_itself());
        let target = TargetId { index: 1 << 20, generation: 1 };
        let proxy = proxy::import(&link, 1, target, 0, &UNKNOWN_INFO);
        // SAFETY: the proxy was just made, with a reference for the caller.
        let proxy = unsafe { IUnknown::from_raw(proxy.as_ptr()) };
        let _registration = register_handler(CLASS, |_| panic!("the maker panics")).unwrap();
        let made = make(&CLASS, proxy, &UNKNOWN_INFO);
        assert_eq!(made.unwrap_err().code(), code::E_UNEXPECTED);
    }
}
