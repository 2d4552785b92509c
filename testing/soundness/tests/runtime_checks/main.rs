//! Tests of values and calls that safe Rust can make: no value leads to memory without a valid
//! borrow.

use ground::{Process, fresh_name};
use obvia::automation::vt;
use obvia::security::{Callers, set_access};
use obvia::{Agile, Error, IUnknown, Interface, Owned, OwnedSlice, Result, SafeArray, Variant, code};
use soundness::{
    Any, Counted, Holder, IProgress, IProgress_Impl, IRings, IValues, Named, Node, Open, Own, OwnMemory, Ranged, Spans,
    Twice, Values,
};
use std::cell::RefCell;
use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;

mod local_methods;
mod marshalers;
mod shared_memory;

fn code_of<T>(result: Result<T>) -> Option<obvia::HRESULT> {
    result.err().map(|error: Error| error.code())
}

const REFUSED: Option<obvia::HRESULT> = Some(code::E_INVALIDARG);

#[test]
fn unions_must_have_the_arm_of_their_discriminant() {
    // The discriminant selects another arm than the value has.
    for wrong in [Any::Other(1, 5), Any::Other(2, 5), Any::Other(4, 5), Any::Pair(5, 5), Any::Pair(2, 5)] {
        assert_eq!(code_of(Counted::new(wrong, None)), REFUSED, "{wrong:?}");
    }
    for right in [Any::Other(0, 5), Any::Other(-3, 5), Any::Pair(3, 5), Any::Pair(4, 5), Any::Number(5)] {
        assert!(matches!(Counted::new(right, None).map(|made| made.value().tag()), Ok(tag) if tag == right.tag()));
    }
    for wrong in [Own::Other(1, 5), Own::Other(2, 5)] {
        assert_eq!(code_of(OwnMemory::try_from(wrong)), REFUSED, "{wrong:?}");
        assert_eq!(code_of(Holder::new(1, wrong)), REFUSED, "{wrong:?}");
    }
    assert!(matches!(Holder::new(1, Own::Other(9, 5)).unwrap().own(), Own::Other(9, 5)));
}

#[test]
fn members_with_a_shared_discriminant_or_length_must_agree() {
    assert_eq!(code_of(Twice::new(Any::Number(5), Any::Text(None))), REFUSED);
    assert_eq!(code_of(Twice::new(Any::Pair(3, 5), Any::Pair(4, 5))), REFUSED);
    assert!(Twice::new(Any::Pair(3, 5), Any::Pair(3, 6)).is_ok());
    assert_eq!(code_of(Counted::new(Any::Other(1000, 5), Some(&[1, 2]))), REFUSED);
    let two = Counted::new(Any::Text(None), Some(&[1, 2])).unwrap();
    assert_eq!((two.kind(), two.numbers()), (2, Some(&[1, 2][..])));
    assert_eq!(code_of(Ranged::new(2, Any::Number(5))), REFUSED);
    assert!(Ranged::new(1, Any::Number(5)).is_ok());
}

#[test]
fn arrays_must_have_the_length_that_a_member_of_any_name_gives() {
    use soundness::{Lengths, Limited};

    assert_eq!(code_of(Lengths::new(Some(&[1, 2, 3]), Some(&[1]))), REFUSED);
    assert_eq!(code_of(Limited::new(9, Some(&[1]))), REFUSED);
    assert!(Limited::new(1, Some(&[1])).is_ok());
    let one = Lengths::new(None, Some(&[1])).unwrap();
    assert_eq!((one.length(), one.a(), one.b()), (1, None, Some(&[1][..])));
}

#[test]
fn optional_unions_must_have_the_arm_of_their_discriminant() {
    let values: IValues = Values.into();
    assert_eq!(code_of(values.Perhaps(2, Some(Any::Number(0x4141_4141)))), REFUSED);
    assert_eq!(code_of(values.Perhaps(2, Some(Any::Other(2, 0x4141_4141)))), REFUSED);
    assert_eq!(values.Perhaps(1, Some(Any::Number(5))).unwrap(), 5);
    assert_eq!(values.Perhaps(2, None).unwrap(), 0);
}

#[test]
fn results_with_a_shared_length_must_agree() {
    let values: IValues = Values.into();
    assert_eq!(code_of(values.Both()), REFUSED);
    assert_eq!(code_of(values.Structures()), REFUSED);
    assert_eq!(code_of(values.Short()), REFUSED, "a byte does not say 300");
    assert_eq!(code_of(values.Fill(3)), REFUSED, "what is missing would be null, and is never null");
    assert_eq!(code_of(values.Some_(8)), REFUSED, "there are fewer than it says");
    assert_eq!(values.Some_(1).unwrap().0.len(), 1);
}

/// Returns an allocated structure with a number.
fn named(number: i32) -> Owned<Named<'static>> {
    Owned::new(&Named::new(&number)).unwrap()
}

fn number(named: &Owned<Named<'static>>) -> i32 {
    named.with(|named| *named.number())
}

#[test]
fn texts_beside_structures_contain_no_zero() {
    let (_server, name) = serve();
    for values in [Values.into(), obvia::connect::<IValues>(&name).unwrap()] {
        let (mut kept, mut turned) = (Some(named(1)), named(1));
        let title = |number: i32, kept: &mut _, turned: &mut _, text: &str, more| {
            values.Title(&Named::new(&number), kept, turned, text, more)
        };
        let (both, bytes) = title(2, &mut kept, &mut turned, "\u{20ac}", Some("\u{1f980}")).unwrap();
        assert_eq!((both.as_str(), bytes.as_c_str()), ("\u{20ac}\u{1f980}", c"\xff"));
        assert_eq!((kept.as_ref().map(number), number(&turned)), (Some(2), 2));
        assert_eq!(code_of(title(3, &mut kept, &mut turned, "a\0", None)), REFUSED);
        assert_eq!(code_of(title(4, &mut kept, &mut turned, "a", Some("\0"))), REFUSED);
        assert_eq!((kept.as_ref().map(number), number(&turned)), (Some(2), 2), "the method was not called");
    }
}

#[test]
fn values_stay_in_their_places_if_a_result_is_refused() {
    let values: IValues = Values.into();
    let (mut kept, mut turned) = (Some(named(1)), named(1));
    let result = values.Title(&Named::new(&2), &mut kept, &mut turned, "a", None);
    assert_eq!(code_of(result), REFUSED, "the method returns a zero");
    assert_eq!((kept.as_ref().map(number), number(&turned)), (Some(2), 2), "it has changed both");
    assert_eq!(
        code_of(values.Counted(&mut kept, &[Named::new(&1), Named::new(&2)], &[1, 2, 3])),
        REFUSED,
        "there are more than it says"
    );
    assert_eq!(kept.as_ref().map(number), Some(2));
}

#[test]
fn values_stay_in_their_places_if_the_caller_gives_an_array_of_a_wrong_length() {
    let (_server, name) = serve();
    for values in [Values.into(), obvia::connect::<IValues>(&name).unwrap()] {
        let mut kept = Some(named(1));
        let (one, two) = ([Named::new(&1)], [Named::new(&1), Named::new(&2)]);
        assert_eq!(code_of(values.Counted(&mut kept, &two, &[1, 2])), REFUSED, "two elements instead of three");
        assert_eq!(code_of(values.Counted(&mut kept, &one, &[1, 2, 3])), REFUSED, "one structure instead of two");
        assert_eq!(kept.as_ref().map(number), Some(1));
    }
}

#[test]
fn values_changed_by_a_panicking_method_stay_valid() {
    let values: IValues = Values.into();
    let mut named = Owned::new(&soundness::Named::new(&5)).unwrap();
    assert!(values.Turn(&mut named, true).is_err());
    assert_eq!(named.with(|named| *named.number()), 5);
    values.Turn(&mut named, false).unwrap();
    assert_eq!(named.with(|named| *named.number()), 6);
}

#[test]
fn pointers_set_during_a_view_of_an_owned_value_are_reset() {
    let inner = [Node::new(7, None, None).unwrap()];
    let node = Node::new(1, None, Some(&inner)).unwrap();
    let owned = Owned::<Node<'static>>::new(&node).unwrap();
    owned.with(|node| {
        // The pointers lead to another allocation, to the node itself, and to memory of Rust's
        // allocator.
        node.set_next(node.inner().and_then(<[_]>::first));
        node.inner().unwrap()[0].set_next(Some(node));
        owned.with(|again| {
            assert_eq!(again.next().map(Node::number), Some(7));
            again.set_next(Some(Box::leak(Box::new(Node::new(9, None, None).unwrap()))));
        });
        assert_eq!(node.next().map(Node::number), Some(7));
    });
    assert!(owned.with(|node| node.next().is_none() && node.inner().unwrap()[0].next().is_none()));
    let set = std::panic::AssertUnwindSafe(|| {
        owned.with(|node| {
            node.set_next(Some(node));
            panic!("while it is set")
        })
    });
    assert!(std::panic::catch_unwind(set).is_err());
    assert!(owned.with(|node| node.next().is_none()));
}

#[test]
fn lent_results_survive_a_panic() {
    let values: IValues = Values.into();
    for count in [0, 2, 4, 5, 1000] {
        assert_eq!(values.Lend(count).unwrap().to_vec(), (0..i64::from(count)).collect::<Vec<_>>());
    }
}

#[windows_core::implement()]
struct Unchecked(#[expect(dead_code, reason = "it would be dropped elsewhere")] Rc<()>);

/// An object made by windows-core's attribute. Any thread may use it, because it has an interface
/// of an IDL file.
#[windows_core::implement(IProgress)]
struct Implemented(#[expect(dead_code, reason = "counts")] Arc<()>);

impl IProgress_Impl for Implemented_Impl {
    fn Report(&self, done: i32) -> Result<i32> {
        Ok(done)
    }
}

#[test]
fn several_threads_may_set_the_first_access_rule_of_an_object() {
    const ROUNDS: usize = 2000;
    let alive = Arc::new(());
    let object = |_| Agile::new(&IProgress::from(Implemented(Arc::clone(&alive)))).unwrap();
    let objects: Vec<_> = (0..ROUNDS).map(object).collect();
    ground::race(ROUNDS, |round| set_access(objects[round].get(), Callers::everybody()).unwrap());
    assert_eq!(Arc::strong_count(&alive), 1 + ROUNDS);
    drop(objects);
    assert_eq!(Arc::strong_count(&alive), 1);
}

#[obvia::object(IProgress)]
struct Checked;

impl IProgress_Impl for Checked_Impl {
    fn Report(&self, done: i32) -> Result<i32> {
        Ok(done)
    }
}

#[test]
fn objects_of_unchecked_type_cannot_be_sent_to_other_threads() {
    let own: IUnknown = Unchecked(Rc::new(())).into();
    let refused = Agile::new(&own).unwrap_err();
    assert_eq!(refused.code(), code::E_INVALIDARG);
    assert!(refused.to_string().contains("Send and Sync"), "{refused}");
    let checked: IProgress = Checked.into();
    assert!(Agile::new(&checked).is_ok() && Agile::new(&checked.cast::<IUnknown>().unwrap()).is_ok());
}

#[test]
fn values_with_unchecked_objects_cannot_be_sent_to_other_threads() {
    let (own, checked): (IUnknown, IProgress) = (Unchecked(Rc::new(())).into(), Checked.into());
    let variants = [Variant::from(own), Variant::from(checked.cast::<IUnknown>().unwrap()), Variant::from(5)];
    let found = variants.each_ref().map(|value| code_of(Agile::new(value)));
    assert_eq!(found, [REFUSED, None, None]);
    // The check applies to arrays as well, and to nested arrays of VARIANTs.
    for (value, expected) in variants.into_iter().zip(found) {
        let array = SafeArray::of_variants(vt::VARIANT, &[1.into(), value]).unwrap();
        assert_eq!(code_of(Agile::new(&array)), expected);
        let outer = SafeArray::of_variants(vt::VARIANT, &[array.into()]).unwrap();
        assert_eq!(code_of(Agile::new(&Variant::from(outer))), expected);
    }
    let kept = Agile::new(&Variant::from("text")).unwrap();
    let length = std::thread::spawn(move || kept.get().as_bstr().map(|text| text.as_wide().len())).join().unwrap();
    assert_eq!(length, Some(4));
}

#[test]
fn programs_with_two_interfaces_of_one_iid_do_not_start() {
    let output = Command::new(env!("CARGO_BIN_EXE_two-meanings")).output().unwrap();
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!output.status.success() && out.is_empty(), "{out}{error}");
    for part in ["IProgress", "IOther", "same IID", "8E1F0D52-6A3B-4A55-9D77-51F00D000001"] {
        assert!(error.contains(part), "{part} is not in {error}");
    }
}

/// A peer can send a list that is so long that printing it by recursion would overflow the stack.
#[test]
fn long_lists_are_printed_without_a_stack_overflow() {
    let mut list = Node::new(0, None, None).unwrap();
    for number in 1..300_000 {
        let inner: &[Node<'_>] = std::slice::from_ref(Box::leak(Box::new(list)));
        list = Node::new(number, None, Some(inner)).unwrap();
    }
    let text = format!("{:?}", Owned::<Node<'static>>::new(&list).unwrap());
    assert!(text.contains("299999") && !text.contains("299900"), "{} bytes", text.len());
}

/// Starts a process that exports an object, and returns the object's name.
fn serve() -> (Process, String) {
    let name = fresh_name("soundness");
    let mut server = Process::start(Command::new(env!("CARGO_BIN_EXE_soundness-server")).arg(&name));
    assert_eq!(server.line(), "ready");
    (server, name)
}

/// Returns the numbers of the first `count` nodes, and of the next node.
fn numbers(first: &Owned<Node<'static>>, count: i32) -> Vec<i32> {
    first.with(|first| {
        let mut node = Some(first);
        let mut number = || {
            let found = node.unwrap();
            node = found.next();
            found.number()
        };
        (0..=count).map(|_| number()).collect()
    })
}

#[test]
fn rings_may_lead_through_structures_in_memory_of_the_caller() {
    let (mut server, name) = serve();
    for rings in [IRings::from(Values), obvia::connect::<IValues>(&name).unwrap().cast().unwrap()] {
        for count in [1, 2, 5] {
            let mut ring = rings.Get(count).unwrap();
            let expected: Vec<i32> = (0..count).chain([0]).collect();
            assert_eq!(numbers(&ring, count), expected);
            rings.Change(&mut ring, false).unwrap();
            assert_eq!(numbers(&ring, count), expected);
            rings.Change(&mut ring, true).unwrap();
            assert_eq!(numbers(&ring, 2), [0, 1, 0]);
            let filled = rings.Fill(count as u32).unwrap();
            let next = |nodes: &[Node<'_>]| nodes.iter().map(|node| node.next().unwrap().number()).collect::<Vec<_>>();
            assert_eq!(filled.with(|nodes| next(nodes)), vec![0; count as usize]);
        }
    }
    server.finish();
}

#[test]
fn objects_in_rings_are_released_once() {
    let (mut server, name) = serve();
    for rings in [IRings::from(Values), obvia::connect::<IValues>(&name).unwrap().cast().unwrap()] {
        let alive = Arc::new(());
        let progress = IProgress::from(Implemented(Arc::clone(&alive)));
        for replace in [false, true] {
            let mut link = rings.Linked(Some(&progress)).unwrap();
            rings.Unlink(&mut link, replace).unwrap();
            assert_eq!(link.with(|link| link.next().unwrap().progress().unwrap().Report(3)).unwrap(), 3);
        }
        assert_eq!(progress.Report(4).unwrap(), 4);
        assert_eq!(Arc::strong_count(&alive), 2);
        drop(progress);
        // The server's references are released soon after.
        ground::within(ground::LATEST, || match Arc::strong_count(&alive) {
            1 => Ok(()),
            count => Err(format!("{count} references")),
        });
    }
    server.finish();
}

#[test]
fn arrays_within_each_other_keep_their_lengths() {
    let values = [7; 100];
    for (a, b) in [(&values[..1], &values[..]), (&values[..], &values[..1]), (&values[..0], &values[..])] {
        let spans = Owned::<Spans>::new(&Spans::new(Some(a), Some(b)).unwrap()).unwrap();
        assert!(spans.with(|spans| spans.a() == Some(a) && spans.b() == Some(b)));
    }
    assert!(OwnedSlice::<Open>::new(&[]).unwrap().is_empty());
}

#[test]
fn a_server_frees_what_it_returned_once() {
    let (mut server, name) = serve();
    let values: IValues = obvia::connect(&name).unwrap();
    for count in [1, 2, 5, 1, 3] {
        let ring = values.Ring(count).unwrap().unwrap();
        assert_eq!(numbers(&ring, count), (0..count).chain([0]).collect::<Vec<_>>());
    }
    assert_eq!(code_of(values.Both()), REFUSED);
    assert_eq!(code_of(values.Fill(3)), REFUSED);
    server.finish();
}

#[test]
fn pointers_set_in_arguments_by_a_method_are_not_freed() {
    let (mut server, name) = serve();
    let values: IValues = obvia::connect(&name).unwrap();
    let inner = [Node::new(7, None, None).unwrap()];
    let kept = Node::new(1, None, Some(&inner)).unwrap();
    for _ in 0..4 {
        let mut changed = Some(Owned::new(&Node::new(2, None, None).unwrap()).unwrap());
        values.Beside(&kept, &mut changed).unwrap();
        assert_eq!(changed.unwrap().with(|node| node.number()), 1);
    }
    server.finish();
}

/// A thread-local value that makes calls when its thread ends.
struct Last(Option<Agile<IValues>>);

impl Drop for Last {
    fn drop(&mut self) {
        let values = self.0.take().unwrap();
        assert_eq!(values.get().Perhaps(2, None).unwrap(), 0);
        let cancelled = obvia::with_timeout(std::time::Duration::from_secs(30), || values.get().Ring(2).is_ok());
        assert!(cancelled);
        // The error also has a description if the thread's storage still exists. Only its code is
        // compared.
        assert_eq!(code_of(values.get().Both()), REFUSED);
    }
}

thread_local! {
    static FIRST: RefCell<Option<Last>> = const { RefCell::new(None) };
    static SECOND: RefCell<Option<Last>> = const { RefCell::new(None) };
}

#[test]
fn calls_during_the_destruction_of_thread_locals_succeed() {
    let (mut server, name) = serve();
    let values = Agile::new(&obvia::connect::<IValues>(&name).unwrap()).unwrap();
    for calls_before in [false, true] {
        let values = values.clone();
        let thread = std::thread::spawn(move || {
            // One value is destroyed after the runtime's own storage of the thread, and the other
            // value before it.
            FIRST.set(Some(Last(Some(values.clone()))));
            if calls_before {
                values.get().Perhaps(2, None).unwrap();
            }
            SECOND.set(Some(Last(Some(values))));
        });
        thread.join().unwrap();
    }
    drop(values);
    server.finish();
}
