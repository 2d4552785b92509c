//! Tests of how structures with pointers are passed. The same checks run with an object of this
//! process, where the calls are plain Rust calls, and with objects of other processes.

use super::checks::{Check, checks, run_all};
use super::places::{Language, at_each, everywhere, in_java};
use matrix::shapes::{Peer, Shapes, items};
use matrix::{Any, Choice, Color, Entry, IPeer, IShapes, Item, Node, Pair, Samples, Tree};
use obvia::{Owned, U16CString, Wide, code, u16cstr};

/// The number of elements of a long list, fewer under the slow interpreter.
const LONG: i32 = if cfg!(miri) { 20 } else { 1000 };

const CHECKS: &[Check<fn(&IShapes)>] = checks![
    lists_are_passed_and_returned,
    lists_are_replaced,
    trees_grow,
    graphs_keep_cycles_and_shared_nodes,
    arrays_have_the_length_stated_in_the_structure,
    unions_have_the_arm_of_the_discriminant,
    nested_structures_are_passed,
    arrays_of_structures_and_strings_are_passed,
    objects_in_structures_are_called,
    callers_do_not_wait_for_oneway_methods,
    result_arrays_have_the_requested_room,
];

/// The checks run on an object of this process, and on objects in each language: in another
/// process, and over each network.
#[test]
fn structures_with_pointers_are_passed_identically_everywhere() {
    run_all(CHECKS, "in this process", |check| check(&Shapes::default().into()));
    // Miri cannot start other processes.
    if cfg!(miri) {
        return;
    }
    at_each(everywhere().chain(in_java()), |server| {
        let object = if server.language() == Language::Java { "shapes-of-rust" } else { "shapes" };
        for shapes in server.addresses(object) {
            let place = format!("in {} at {shapes}", server.language());
            run_all(CHECKS, &place, |check| check(&obvia::connect(&shapes).unwrap()));
        }
    });
}

fn lists_are_passed_and_returned(shapes: &IShapes) {
    assert_eq!(shapes.Sum(None).unwrap(), (0, U16CString::from_str_truncate("; 0 marked")));
    let last = Item::new(3, true, None, None);
    let middle = Item::new(-2, false, Some(u16cstr!("zwei")), Some(&last));
    let first = Item::new(1, true, Some(u16cstr!("eins")), Some(&middle));
    let (sum, names) = shapes.Sum(Some(&first)).unwrap();
    assert_eq!((sum, names.to_string_lossy().as_str()), (2, "eins, zwei; 2 marked"));
    let list = shapes.Range(10, LONG).unwrap().unwrap();
    list.with(|list| {
        assert_eq!(items(Some(list)).map(Item::value).collect::<Vec<_>>(), (10..10 + LONG).collect::<Vec<_>>());
        assert_eq!(items(Some(list)).nth(5).unwrap().name(), Some(u16cstr!("item 15")));
        // A result is passed to the next call without a conversion.
        assert_eq!(shapes.Sum(Some(list)).unwrap().0, (10..10 + LONG).map(i64::from).sum::<i64>());
    });
    assert!(shapes.Range(0, 0).unwrap().is_none());
}

fn lists_are_replaced(shapes: &IShapes) {
    let mut list = shapes.Range(1, 3).unwrap();
    shapes.Reverse(&mut list).unwrap();
    let values = |list: &Option<Owned<Item<'static>>>| {
        list.as_ref().map(|list| list.with(|list| items(Some(list)).map(Item::value).collect::<Vec<_>>()))
    };
    assert_eq!(values(&list), Some(vec![3, 2, 1]));
    let mut none = None;
    shapes.Reverse(&mut none).unwrap();
    assert!(none.is_none());
    let mut bad = shapes.Range(-3, 5).unwrap();
    assert_eq!(shapes.Reverse(&mut bad).unwrap_err().code(), code::E_INVALIDARG);
    let next = Item::new(5, false, None, None);
    let mut item = Owned::new(&Item::new(1, false, Some(u16cstr!("one")), Some(&next))).unwrap();
    shapes.Bump(&mut item, 41).unwrap();
    item.with(|item| {
        assert_eq!((item.value(), item.marked(), item.name()), (42, true, Some(u16cstr!("one+41"))));
        assert_eq!(item.next().map(Item::value), Some(5));
    });
}

fn trees_grow(shapes: &IShapes) {
    let mut tree = Owned::new(&Tree::new(0, None, None)).unwrap();
    for key in [50, -7, 30, 99, -20, 31] {
        tree = tree.with(|tree| shapes.Insert(tree, key)).unwrap().unwrap();
    }
    fn keys(tree: Option<&Tree<'_>>, all: &mut Vec<i64>) {
        if let Some(tree) = tree {
            keys(tree.left(), all);
            all.push(tree.key());
            keys(tree.right(), all);
        }
    }
    let mut all = Vec::new();
    tree.with(|tree| keys(Some(tree), &mut all));
    assert_eq!(all, [-20, -7, 0, 30, 31, 50, 99]);
}

fn graphs_keep_cycles_and_shared_nodes(shapes: &IShapes) {
    for count in [1, 2, LONG / 10] {
        let ring = shapes.Ring(count).unwrap().unwrap();
        ring.with(|start| {
            let mut node = start;
            for number in 0..count * 2 {
                assert_eq!(node.number(), number % count);
                assert!(std::ptr::eq(node.second().unwrap(), start), "all lead back to the first");
                node = node.first().unwrap();
            }
            assert!(std::ptr::eq(node, start));
            assert_eq!(shapes.Walk(Some(start), count * 3 + count / 2).unwrap(), count / 2);
        });
    }
    assert!(shapes.Ring(0).unwrap().is_none());
    let (a, b) = (Node::new(1, None, None), Node::new(2, None, None));
    a.set_first(Some(&b));
    b.set_first(Some(&a));
    b.set_second(Some(&b));
    assert!(shapes.Shared(Some(&a), Some(&a)).unwrap());
    assert!(!shapes.Shared(Some(&a), Some(&b)).unwrap());
    assert!(!shapes.Shared(None, Some(&b)).unwrap());
    assert_eq!(shapes.Walk(Some(&a), 1001).unwrap(), 2);
}

fn arrays_have_the_length_stated_in_the_structure(shapes: &IShapes) {
    let tail = [10, 20, 30, 40, 50, 60, 70, 80];
    let samples = Samples::new(Some(&[1.0, 2.0, 6.0]), Some(&[1, 0, 1]), 1, 2, Some(&[100, 200, 300]), 2, &tail);
    assert_eq!(shapes.Average(&samples.unwrap()).unwrap(), 3.5 + 600.0 + 30.0);
    assert_eq!(shapes.Average(&Samples::new(None, None, 0, 0, None, 0, &tail).unwrap()).unwrap(), 0.0);
    let sampled = shapes.Sampled(5).unwrap();
    sampled.with(|samples| {
        assert_eq!(samples.values(), Some([0.0, 1.0, 2.0, 3.0, 4.0].as_slice()));
        assert_eq!((samples.table().map(<[i16]>::len), samples.tail()), (Some(7), [1, 2, 3].as_slice()));
        assert_eq!(shapes.Average(samples).unwrap(), 2.0 + 28.0 + 6.0);
    });
    let wrong = [
        Samples::new(Some(&[1.0]), Some(&[1, 2]), 0, 0, None, 0, &tail),
        Samples::new(None, None, 2, 2, Some(&[1, 2, 3, 4]), 0, &tail),
        Samples::new(None, None, 0, 0, None, 9, &tail),
        Samples::new(None, None, 0, 0, None, -1, &tail),
        Samples::new(None, None, 0, 0, None, 0, &tail[..7]),
    ];
    for samples in wrong {
        assert_eq!(samples.unwrap_err().code(), code::E_INVALIDARG);
    }
}

fn unions_have_the_arm_of_the_discriminant(shapes: &IShapes) {
    let describe = |value: Any<'_>| shapes.Describe(value.tag(), value).unwrap().to_string_lossy();
    assert_eq!(describe(Any::Number(-5)), "1: Number(-5)");
    assert_eq!(describe(Any::Real(0.25)), "2: Real(0.25)");
    assert_eq!(describe(Any::Text(None)), "3: Text(None)");
    assert_eq!(describe(Any::Text(Some(u16cstr!("x")))), "3: Text(Some(\"x\\0\"))");
    let item = Item::new(1, false, None, None);
    assert_eq!(describe(Any::List(Some(&Item::new(1, false, None, Some(&item))))), "4: Items(2)");
    assert_eq!(describe(Any::Color(6, Color::BLUE)), "6: Color(6, Color(6))");
    assert_eq!(describe(Any::Other(77)), "77: Other(77)");
    assert_eq!(shapes.Describe(2, Any::Number(1)).unwrap_err().code(), code::E_INVALIDARG);
    assert_eq!(shapes.Choose(Choice::Number(9)).unwrap(), 9);
    assert_eq!(shapes.Choose(Choice::Tree(&Tree::new(4, Some(&Tree::new(3, None, None)), None))).unwrap(), 7);
    assert_eq!(shapes.Choose(Choice::Blue).unwrap(), -1);
}

fn nested_structures_are_passed(shapes: &IShapes) {
    let (left, right) = (Tree::new(1, None, None), Tree::new(2, None, None));
    let both = [Item::new(1, true, Some(u16cstr!("a")), None), Item::new(2, false, None, None)];
    let given = matrix::Box_::new(Color::GREEN, both, [Some(&left), None, Some(&right)], Choice::Tree(&right), 3);
    shapes.Flip(&given).unwrap().with(|flipped| {
        let values = |items: &[Item<'_>; 2]| (items[0].value(), items[1].value());
        assert_eq!(values(flipped.items()), (2, 1));
        assert_eq!(flipped.items()[1].name(), Some(u16cstr!("a")));
        assert_eq!(flipped.trees().map(|tree| tree.map(Tree::key)), [Some(2), None, Some(1)]);
        assert!(matches!(flipped.choice(), Choice::Tree(tree) if tree.key() == 2));
        assert_eq!((flipped.color(), flipped.digit()), (Color::GREEN, 7));
    });
}

fn arrays_of_structures_and_strings_are_passed(shapes: &IShapes) {
    // The object of a server in Java is the same on several networks, and keeps the entries.
    let before = shapes.List().unwrap().len();
    let text = Any::Text(Some(u16cstr!("wide")));
    shapes.Put(&[Entry::new(c"one", Any::Number(1)).unwrap(), Entry::new(c"two", text).unwrap()]).unwrap();
    shapes.Put(&[]).unwrap();
    shapes.Put(&[Entry::new(c"three", Any::Real(3.0)).unwrap()]).unwrap();
    shapes.List().unwrap().with(|entries| {
        let names: Vec<_> = entries.iter().skip(before).map(|entry| entry.name().to_str().unwrap()).collect();
        assert_eq!(names, ["one", "two", "three"]);
        assert!(matches!(entries[before + 1].value(), Any::Text(Some(text)) if text == u16cstr!("wide")));
    });
    let (entries, got) = shapes.Some_(before as u32 + 10).unwrap();
    assert_eq!((entries.len(), got), (before + 3, before as u32 + 3));
    let (entries, got) = shapes.Some_(2).unwrap();
    assert_eq!((entries.len(), got), (2, 2));
    entries.with(|entries| assert_eq!(entries[1].name(), c"two"));
    assert!(shapes.Some_(0).unwrap().0.is_empty());
    let words = [Wide::from(u16cstr!("ab")), None.into(), u16cstr!("c").into()];
    let upper = shapes.Words(&words).unwrap();
    upper.with(|words| {
        let words: Vec<_> = words.iter().map(|word| word.get()).collect();
        assert_eq!(words, [Some(u16cstr!("AB")), None, Some(u16cstr!("C"))]);
    });
}

fn objects_in_structures_are_called(shapes: &IShapes) {
    let (left, right): (IPeer, IPeer) = (Peer(2).into(), Peer(3).into());
    assert_eq!(shapes.Meet(&Pair::new(Some(&left), Some(c"abcd"), Some(&right))).unwrap(), 812);
    assert_eq!(shapes.Meet(&Pair::new(None, Some(c"abcd"), Some(&right))).unwrap(), 12);
    assert_eq!(shapes.Meet(&Pair::new(None, None, None)).unwrap(), 0);
    let pair = shapes.Peers(&[None, Some(left), Some(right.clone())]).unwrap();
    pair.with(|pair| {
        assert_eq!(pair.word(), Some(c"last and mine"));
        assert_eq!(pair.left(), Some(&right), "a reference passed back is the object itself");
        assert_eq!(pair.right().unwrap().Twice(6).unwrap(), 42);
    });
    drop(pair);
}

fn callers_do_not_wait_for_oneway_methods(shapes: &IShapes) {
    let before = shapes.Noted().unwrap();
    let last = Item::new(2, false, None, None);
    shapes.Note(Some(&Item::new(1, false, None, Some(&last)))).unwrap();
    ground::until("it is noted", || shapes.Noted().unwrap() == before + 2);
}

fn result_arrays_have_the_requested_room(shapes: &IShapes) {
    for asked in 1..=5 {
        let mut count = asked;
        let items = shapes.Take(&mut count).unwrap();
        assert_eq!((items.len(), count), (asked as usize, 3), "whatever the method says of the number");
        items.with(|items| {
            let values: Vec<i32> = items.iter().map(Item::value).collect();
            assert_eq!(values, [1, 2, 3, 0, 0][..asked as usize]);
            assert_eq!(items[0].name(), Some(u16cstr!("item 1")));
        });
    }
    assert_eq!(shapes.Take(&mut 0).unwrap_err().code(), code::E_INVALIDARG);
}
