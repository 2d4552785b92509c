//! Objects made by `obvia::object`, in a crate that forbids unsafe code and treats warnings as
//! errors.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, missing_debug_implementations, unreachable_pub)]

use obvia::{Agile, ComObject, IDispatch, IUnknown, Interface, Result, code};
use soundness::{IMore, IMore_Impl, IProgress, IProgress_Impl};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

/// An object with an interface that extends another. The object's fields have common names, which
/// must not clash with names in the macro's code.
#[obvia::object(IMore)]
#[derive(Debug, Default)]
pub struct Counter {
    count: AtomicI32,
    this: Arc<()>,
}

impl IProgress_Impl for Counter_Impl {
    fn Report(&self, done: i32) -> Result<i32> {
        Ok(self.count.fetch_add(done, Ordering::Relaxed) + done)
    }
}

impl IMore_Impl for Counter_Impl {
    fn More(&self, done: i32) -> Result<()> {
        self.Report(done).map(drop)
    }
}

#[test]
fn objects_have_their_interfaces_and_those_that_these_extend() {
    let more = IMore::from(Counter::default());
    more.More(2).unwrap();
    let progress: IProgress = more.cast().unwrap();
    assert_eq!(progress.Report(3).unwrap(), 5);
    assert_eq!(IProgress::from(more).Report(1).unwrap(), 6);
    let unknown: IUnknown = progress.cast().unwrap();
    assert_eq!(unknown.cast::<IUnknown>().unwrap(), progress.cast::<IUnknown>().unwrap());
    assert_eq!(unknown.cast::<IDispatch>().unwrap_err().code(), code::E_NOINTERFACE);
}

#[test]
fn objects_end_with_their_last_reference() {
    let counter = Counter::default();
    let alive = Arc::downgrade(&counter.this);
    let object = ComObject::new(counter);
    let (more, unknown): (IMore, IUnknown) = (object.to_interface(), object.cast().unwrap());
    let weak = more.downgrade().unwrap();
    drop((object, unknown));
    weak.upgrade().unwrap().More(7).unwrap();
    assert_eq!(more.Report(0).unwrap(), 7);
    let elsewhere = std::thread::spawn({
        let more = Agile::new(&more).unwrap();
        move || more.get().Report(1).unwrap()
    });
    assert_eq!(elsewhere.join().unwrap(), 8);
    assert!(alive.upgrade().is_some());
    drop(more);
    assert!(alive.upgrade().is_none() && weak.upgrade().is_none());
}

#[test]
fn several_threads_may_make_the_first_weak_reference() {
    const ROUNDS: usize = 5000;
    let alive = Arc::new(());
    let object = |_| IMore::from(Counter { this: Arc::clone(&alive), ..Counter::default() });
    let objects: Vec<Agile<IMore>> = (0..ROUNDS).map(object).map(|more| Agile::new(&more).unwrap()).collect();
    let weak = ground::race(ROUNDS, |round| objects[round].get().downgrade().unwrap());
    assert!(weak.iter().flatten().all(|weak| weak.upgrade().is_some()));
    assert_eq!(Arc::strong_count(&alive), 1 + ROUNDS);
    drop(objects);
    assert_eq!(Arc::strong_count(&alive), 1);
}

#[test]
fn objects_without_interfaces_are_counted() {
    #[obvia::object()]
    struct Nothing(#[expect(dead_code, reason = "counts")] Arc<()>);

    let alive = Arc::new(());
    let object = IUnknown::from(Nothing(Arc::clone(&alive)));
    assert!(Agile::new(&object).is_ok() && Arc::strong_count(&alive) == 2);
    drop(object);
    assert_eq!(Arc::strong_count(&alive), 1);
}

#[test]
fn values_are_reached_through_their_objects() {
    let mut object = ComObject::new(Counter::default());
    *object.get_mut().unwrap().count.get_mut() = 4;
    let more: IMore = object.to_interface();
    assert!(object.get_mut().is_none(), "there are two references");
    assert_eq!(more.cast_object_ref::<Counter>().unwrap().count.load(Ordering::Relaxed), 4);
    assert!(more.cast_object_ref::<Either>().is_err());
    drop(more);
    assert!(object.take().is_ok_and(|counter| counter.count.into_inner() == 4));
}

/// An object of several interfaces, with parameters.
#[obvia::object(IProgress, IMore)]
struct Pair<T: Fn(i32) -> i32 + Send + Sync + 'static, const STEP: i32>
where
    T: Clone,
{
    map: T,
}

impl<T: Fn(i32) -> i32 + Send + Sync + 'static + Clone, const STEP: i32> IProgress_Impl for Pair_Impl<T, STEP> {
    fn Report(&self, done: i32) -> Result<i32> {
        Ok((self.map)(done + STEP))
    }
}

impl<T: Fn(i32) -> i32 + Send + Sync + 'static + Clone, const STEP: i32> IMore_Impl for Pair_Impl<T, STEP> {
    fn More(&self, _: i32) -> Result<()> {
        Ok(())
    }
}

/// An object whose type is an enumeration.
#[obvia::object(IProgress)]
enum Either {
    This,
    That,
}

impl IProgress_Impl for Either_Impl {
    fn Report(&self, done: i32) -> Result<i32> {
        match **self {
            Either::This => Ok(done),
            Either::That => Err(code::E_FAIL.into()),
        }
    }
}

#[test]
fn types_may_have_parameters_and_may_be_enumerations() {
    let factor = 3;
    let progress = IProgress::from(Pair::<_, 10> { map: move |value| value * factor });
    assert_eq!(progress.Report(1).unwrap(), 33);
    assert!(progress.cast::<IMore>().unwrap().More(1).is_ok());
    assert_eq!(IProgress::from(Either::This).Report(5).unwrap(), 5);
    assert_eq!(IProgress::from(Either::That).Report(5).unwrap_err().code(), code::E_FAIL);
}
