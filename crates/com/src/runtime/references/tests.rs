//! Tests of references.

use super::*;
use crate::Remote;
use crate::client::proxy::UNKNOWN_INFO;
use crate::events::idl::{
    IConnectionPoint, IConnectionPointContainer, IConnectionPointContainer_Impl, IEnumConnectionPoints,
};
use crate::security::set_access;
use crate::server::Identity;
use crate::server::caller::{Caller, PrincipalSource};
use crate::services::process;
use crate::types::{deadline, identity};
use obvia_rpc::vi_call::TargetId;
use obvia_via::Deadline;
use obvia_via::window::{Alarm, Peer};
use std::time::{Duration, Instant};
use windows_core::GUID;

#[obvia::object()]
struct Object;

#[obvia::object(IConnectionPointContainer)]
struct Container;

impl IConnectionPointContainer_Impl for Container_Impl {
    fn EnumConnectionPoints(&self) -> Result<IEnumConnectionPoints> {
        Err(code::E_NOTIMPL.into())
    }
    fn FindConnectionPoint(&self, _: &GUID) -> Result<IConnectionPoint> {
        Err(code::E_NOTIMPL.into())
    }
}

/// Returns a reference to a new object of this process, counted for the client at the other end of
/// a link.
fn given(runtime: &'static Runtime, link: &Link) -> ObjRef {
    runtime.marshal_own(&IUnknown::from(Object), &UNKNOWN_INFO, runtime.receiver_behind(link)).unwrap()
}

/// Returns the runtime, a link to this process, and a reference that the runtime has received
/// over the link.
fn referenced() -> (&'static Runtime, Arc<Link>, ObjRef) {
    let runtime = process::runtime().unwrap();
    let link = Arc::new(Link::to_itself());
    let known = given(runtime, &link);
    (runtime, link, known)
}

/// Drops a proxy, and checks that its object loses the last reference then, and not before.
fn drop_last(runtime: &Runtime, link: &Link, target: TargetId, proxy: IUnknown) {
    assert!(link.flush_releases(Deadline::Within(ground::LATEST)));
    assert!(runtime.exports().get(target).is_ok());
    drop(proxy);
    assert!(link.flush_releases(Deadline::Within(ground::LATEST)));
    assert!(runtime.exports().get(target).is_err());
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_refused_reference_to_a_proxys_target_does_not_end_the_proxy() {
    let (runtime, link, known) = referenced();
    let target = known.target;
    let proxy = runtime.import(&link, &known, &UNKNOWN_INFO).unwrap();
    let forged = ObjRef { iid: GUID::from_u128(0x5d1c_9e1a), public_refs: u32::MAX / 2, ..known };
    assert!(runtime.import(&link, &forged, &UNKNOWN_INFO).is_err());
    drop_last(runtime, &link, target, proxy);
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_refused_reference_does_not_end_a_proxy_that_is_made_before_it_is_given_back() {
    let (runtime, link, known) = referenced();
    let forged = ObjRef { iid: GUID::from_u128(0x5d1c_9e1a), bindings: Vec::new(), securities: Vec::new(), ..known };
    assert!(runtime.import(&link, &forged, &UNKNOWN_INFO).is_err());
    let proxy = runtime.import(&link, &known, &UNKNOWN_INFO).unwrap();
    drop_last(runtime, &link, known.target, proxy);
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_proxy_with_a_forged_oid_does_not_end_another_proxy_of_its_target() {
    let (runtime, link, known) = referenced();
    let target = known.target;
    let proxy = runtime.import(&link, &known, &UNKNOWN_INFO).unwrap();
    let forged = ObjRef { oid: !known.oid, public_refs: u32::MAX / 2, ..known };
    drop(runtime.import(&link, &forged, &UNKNOWN_INFO).unwrap());
    drop_last(runtime, &link, target, proxy);
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn an_unreached_reference_does_not_end_the_proxy_whose_reference_opens_the_link() {
    let (runtime, other, known) = referenced();
    let unused = given(runtime, &other);
    let target = known.target;
    for (target, public_refs) in [(target, u32::MAX / 2), (unused.target, unused.public_refs)] {
        let (bindings, securities) = (Vec::new(), Vec::new());
        let unreached = ObjRef { target, public_refs, bindings, securities, ..known };
        runtime.unreached.add(&unreached, Instant::now(), ground::LATEST);
    }
    let import = |link: &Arc<Link>| Ok((Arc::clone(link), runtime.import(link, &known, &UNKNOWN_INFO)?));
    let (link, proxy) = runtime.with_link_for(&known, import).unwrap();
    ground::until("the other reference is given back", || runtime.exports().get(unused.target).is_err());
    assert!(runtime.exports().get(target).is_ok());
    drop(proxy);
    ground::until("the references are given back with the proxy", || runtime.exports().get(target).is_err());
    assert!(link.is_unused());
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn the_reference_count_of_a_proxy_does_not_wrap() {
    let (runtime, link, mut known) = referenced();
    let proxy = runtime.import(&link, &known, &UNKNOWN_INFO).unwrap();
    known.public_refs = u32::MAX;
    let same = runtime.import(&link, &known, &UNKNOWN_INFO).unwrap();
    drop((proxy, same));
    assert!(link.flush_releases(Deadline::Within(ground::LATEST)));
    assert!(runtime.exports().get(known.target).is_err());
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn references_are_counted_for_no_client_that_has_left() {
    let runtime = process::runtime().unwrap();
    let (link, object) = (Link::to_another(identity::draw().unwrap()), IUnknown::from(Object));
    let forget = |receiver| {
        let forgotten = |number| Client::Process(number) == receiver;
        runtime.clients().forget_expected(Instant::now(), Duration::ZERO, forgotten);
    };
    let left = runtime.receiver_behind(&link);
    forget(left);
    let refused = runtime.marshal_own(&object, &UNKNOWN_INFO, left).err().map(|error| error.code());
    assert_eq!(refused, Some(code::RPC_E_DISCONNECTED));
    let Client::Process(number) = left else { panic!("a process has a number") };
    assert_eq!(runtime.exports().held_by(number), 0);
    // The first client has left. The reference is therefore counted for the client that now is at
    // the link's other end.
    let (receiver, made) = runtime.marshal_for(&link, left, &object, &UNKNOWN_INFO).unwrap();
    assert!(receiver != left && runtime.is_there(receiver));
    runtime.exports().release(receiver, [(made.target, made.public_refs.into())]);
    forget(receiver);
}

/// Returns a caller that has the client number of the process at the other end of a link.
fn caller_behind(runtime: &'static Runtime, link: &Link) -> Arc<Caller> {
    let exporter = runtime.exporter();
    let Client::Process(number) = runtime.receiver_behind(link) else { panic!("a process has a number") };
    let identity = Identity { oxid: link.oxid(), number: Some(number), is_foreign: false };
    let watch = exporter.exports().table.watch(Alarm::default());
    let place = (Peer::Host("far".to_owned()), None);
    let (maker, alarm) = (PrincipalSource::Connection(None), Alarm::default());
    Arc::new(Caller::new(exporter, identity, place, maker, alarm, watch))
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_caller_names_only_objects_to_which_it_has_references_or_which_it_may_call() {
    let runtime = process::runtime().unwrap();
    let link = Link::to_another(identity::draw().unwrap());
    let object = IUnknown::from(Object);
    let someone = runtime.marshal_own(&object, &UNKNOWN_INFO, Client::NOBODY).unwrap();
    set_access(&object, |_: &crate::security::Caller| false).unwrap();
    let forged = ObjRef { public_refs: 0, bindings: Vec::new(), securities: Vec::new(), ..someone };
    let named = |sender: Sender<'_>| runtime.unmarshal(&forged, &UNKNOWN_INFO, sender).map_err(|error| error.code());
    caller_behind(runtime, &link).enter();
    assert_eq!(named(Sender::Caller), Err(code::E_ACCESSDENIED));
    // While the method runs, this thread can make a call itself. The check does not apply to a
    // reference in the result of that call.
    assert_eq!(named(Sender::Callee(None)).as_ref(), Ok(&object));
    let given = runtime.marshal_own(&object, &UNKNOWN_INFO, runtime.receiver_behind(&link)).unwrap();
    assert_eq!((given.target, named(Sender::Caller).as_ref()), (forged.target, Ok(&object)));
    runtime.exports().release(runtime.receiver_behind(&link), [(given.target, given.public_refs.into())]);
    assert_eq!(named(Sender::Caller), Err(code::E_ACCESSDENIED));
    set_access(&object, |caller: &crate::security::Caller| matches!(caller.peer, Peer::Host(_))).unwrap();
    assert_eq!(named(Sender::Caller).as_ref(), Ok(&object));
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_caller_gets_no_references_to_an_object_that_it_may_not_name() {
    let (runtime, link, held) = referenced();
    let object = IUnknown::from(Object);
    let target = runtime.marshal_own(&object, &UNKNOWN_INFO, Client::NOBODY).unwrap().target;
    let allowed = runtime.exports().get(held.target).unwrap().object.get().clone();
    for refused in [&object, &allowed] {
        set_access(refused, |_: &crate::security::Caller| false).unwrap();
    }
    let outcomes = |target| {
        let queried = own_target::query_interface(&link, target, &UNKNOWN_INFO).map(drop);
        let own = own_target::transfer(&link, target, (link.oxid(), None), 1);
        let other = own_target::transfer(&link, target, (identity::draw().unwrap(), Some(&link.place())), 1);
        let kept = own_target::keep(&link, target).map(drop);
        [queried, own, other, kept].map(|outcome| outcome.map_err(|error| error.code()))
    };
    assert_eq!(outcomes(target), [Err(code::E_ACCESSDENIED); 4]);
    assert_eq!(outcomes(held.target), [Ok(()); 4]);
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_reference_to_an_unknown_interface_is_given_back() {
    let (runtime, link, known) = referenced();
    let unknown = ObjRef { iid: GUID::from_u128(0x5d1c_9e1a), ..known };
    assert!(runtime.import(&link, &unknown, &UNKNOWN_INFO).is_err());
    assert!(runtime.exports().get(unknown.target).is_ok());
    assert!(link.flush_releases(Deadline::Within(ground::LATEST)));
    assert!(runtime.exports().get(unknown.target).is_err());
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_third_process_cannot_state_a_false_interface_of_a_target() {
    let (runtime, link) = (process::runtime().unwrap(), Arc::new(Link::to_itself()));
    let (stated, other) = (IConnectionPointContainer::INFO, IConnectionPoint::INFO);
    let object: IUnknown = IConnectionPointContainer::from(Container).into();
    let given = || runtime.marshal_own(&object, stated, runtime.receiver_behind(&link)).unwrap();
    let third = Arc::new(Link::to_another(identity::draw().unwrap()));
    let from = |sender, reference: &ObjRef| {
        let info = if reference.iid == stated.iid { stated } else { other };
        runtime.import_from(sender, &link, reference, info).map_err(|error| error.code())
    };
    let forged = ObjRef { iid: other.iid, ..given() };
    assert_eq!(from(Sender::Callee(Some(&third)), &forged), Err(code::E_NOINTERFACE));
    // The object has the stated interface, but the target is the object's target for IUnknown.
    let unknown = runtime.marshal_own(&object, &UNKNOWN_INFO, runtime.receiver_behind(&link)).unwrap();
    let forged = ObjRef { iid: stated.iid, ..unknown };
    caller_behind(runtime, &third).enter();
    assert_eq!(from(Sender::Caller, &forged), Err(code::RPC_E_INVALID_OBJREF));
    // If a third process states the true interface, the object's process confirms it. A statement
    // of the object's own process is believed without a question.
    let (known, target) = (given(), given().target);
    assert_eq!(from(Sender::Caller, &known).map(drop), Ok(()));
    caller_behind(runtime, &link).enter();
    let proxy = from(Sender::Caller, &ObjRef { public_refs: 0, ..given() }).unwrap();
    drop(from(Sender::Callee(Some(&link)), &ObjRef { public_refs: 0, ..given() }).unwrap());
    drop(object);
    drop(proxy);
    let refs = [(target, u64::MAX)];
    runtime.exports().release(runtime.receiver_behind(&link), refs);
    assert!(runtime.exports().get(target).is_err());
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_reference_of_a_third_process_does_not_wait_for_a_query_of_another_thread() {
    let (runtime, link) = (process::runtime().unwrap(), Arc::new(Link::to_itself()));
    let (info, third) = (IConnectionPointContainer::INFO, Link::to_another(identity::draw().unwrap()));
    let object: IUnknown = IConnectionPointContainer::from(Container).into();
    let given = runtime.marshal_own(&object, info, runtime.receiver_behind(&link)).unwrap();
    let import = || {
        let import = || runtime.import_from(Sender::Callee(Some(&third)), &link, &given, info).map(drop);
        deadline::with_timeout(ground::LATEST, import)
    };
    // The home connection is in use, as it is while another thread queries an object.
    let imported = link.with_home(|_, _| std::thread::scope(|scope| Ok(scope.spawn(import).join().unwrap()))).unwrap();
    assert_eq!(imported, Ok(()));
}
