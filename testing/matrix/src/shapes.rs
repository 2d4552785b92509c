//! An object whose methods work on structures with pointers.

use crate::{Any, Choice, Color, Entry, IPeer, IPeer_Impl, IShapes, IShapes_Impl, Item, Node, Pair, Samples, Tree};
use obvia::{Owned, OwnedSlice, Result, U16CString, Wide, code};
use std::ffi::CString;
use std::sync::atomic::{AtomicI32, Ordering};

/// An object that multiplies by its factor.
#[obvia::object(IPeer)]
pub struct Peer(pub i32);

impl IPeer_Impl for Peer_Impl {
    fn Twice(&self, value: i32) -> Result<i32> {
        Ok(value * self.0)
    }
}

/// An object that keeps entries, and no other state.
#[obvia::object(IShapes)]
#[derive(Default)]
pub struct Shapes {
    entries: std::sync::Mutex<Vec<(CString, Kept)>>,
    noted: AtomicI32,
}

/// A stored entry's value.
#[derive(Clone, Debug)]
enum Kept {
    Number(i32),
    Real(f64),
    Text(Option<U16CString>),
    Items(i32),
    Color(i32, Color),
    Other(i32),
}

impl From<Any<'_>> for Kept {
    fn from(value: Any<'_>) -> Self {
        match value {
            Any::Number(number) => Self::Number(number),
            Any::Real(real) => Self::Real(real),
            Any::Text(text) => Self::Text(text.map(ToOwned::to_owned)),
            Any::List(list) => Self::Items(items(list).count() as i32),
            Any::Color(kind, color) => Self::Color(kind, color),
            Any::Other(kind) => Self::Other(kind),
            Any::Borrowed__(never, _) => match never {},
        }
    }
}

impl Kept {
    fn any(&self) -> Any<'_> {
        match self {
            Self::Number(number) => Any::Number(*number),
            Self::Real(real) => Any::Real(*real),
            Self::Text(text) => Any::Text(text.as_deref()),
            Self::Items(count) => Any::Number(*count),
            Self::Color(kind, color) => Any::Color(*kind, *color),
            Self::Other(kind) => Any::Other(*kind),
        }
    }
}

/// Returns the items of a list.
pub fn items<'a>(list: Option<&'a Item<'a>>) -> impl Iterator<Item = &'a Item<'a>> {
    std::iter::successors(list, |item| item.next())
}

/// Returns a list of these values, with a name for each.
fn list_of(values: &[i32]) -> Result<Option<Owned<Item<'static>>>> {
    let names: Vec<U16CString> = values.iter().map(|value| wide(&format!("item {value}"))).collect();
    link(values, &names, None)
}

/// Links the items from the last to the first, because each points to the next.
fn link(values: &[i32], names: &[U16CString], next: Option<&Item<'_>>) -> Result<Option<Owned<Item<'static>>>> {
    let (Some((value, values)), Some((name, names))) = (values.split_last(), names.split_last()) else {
        return next.map(Owned::new).transpose();
    };
    link(values, names, Some(&Item::new(*value, value % 2 == 0, Some(name), next)))
}

fn wide(text: &str) -> U16CString {
    U16CString::from_str_truncate(text)
}

fn sum_of(tree: Option<&Tree<'_>>) -> i64 {
    tree.map_or(0, |tree| tree.key() + sum_of(tree.left()) + sum_of(tree.right()))
}

/// Calls `then` with a tree that has all keys of `tree`, and `key`.
fn grow(tree: Option<&Tree<'_>>, key: i64, then: &mut dyn FnMut(&Tree<'_>) -> Result<()>) -> Result<()> {
    match tree {
        None => then(&Tree::new(key, None, None)),
        Some(tree) if key < tree.key() => {
            grow(tree.left(), key, &mut |left| then(&Tree::new(tree.key(), Some(left), tree.right())))
        }
        Some(tree) => grow(tree.right(), key, &mut |right| then(&Tree::new(tree.key(), tree.left(), Some(right)))),
    }
}

impl IShapes_Impl for Shapes_Impl {
    fn Sum(&self, list: Option<&Item<'_>>) -> Result<(i64, U16CString)> {
        let marked = items(list).filter(|item| item.marked()).count();
        let names: Vec<String> = items(list).filter_map(|item| Some(item.name()?.to_string_lossy())).collect();
        let sum = items(list).map(|item| i64::from(item.value())).sum();
        Ok((sum, wide(&format!("{}; {marked} marked", names.join(", ")))))
    }

    fn Range(&self, first: i32, count: i32) -> Result<Option<Owned<Item<'static>>>> {
        list_of(&(first..first + count).collect::<Vec<_>>())
    }

    fn Reverse(&self, list: &mut Option<Owned<Item<'static>>>) -> Result<()> {
        let Some(given) = list.take() else { return Ok(()) };
        let values = given.with(|first| items(Some(first)).map(Item::value).collect::<Vec<_>>());
        if values.contains(&-1) {
            // The list `given` was taken from the parameter above, and is freed here. A method that
            // fails may free its [in, out] parameter.
            return Err(code::E_INVALIDARG.into());
        }
        *list = list_of(&values.into_iter().rev().collect::<Vec<_>>())?;
        Ok(())
    }

    fn Bump(&self, item: &mut Owned<Item<'static>>, by: i32) -> Result<()> {
        let bumped = item.with(|item| {
            let name = item.name().map(|name| wide(&format!("{}+{by}", name.to_string_lossy())));
            Owned::new(&Item::new(item.value() + by, !item.marked(), name.as_deref(), item.next()))
        })?;
        *item = bumped;
        Ok(())
    }

    fn Insert(&self, tree: &Tree<'_>, key: i64) -> Result<Option<Owned<Tree<'static>>>> {
        let mut grown = None;
        grow(Some(tree), key, &mut |tree| {
            grown = Some(Owned::new(tree)?);
            Ok(())
        })?;
        Ok(grown)
    }

    fn Ring(&self, count: i32) -> Result<Option<Owned<Node<'static>>>> {
        let nodes: Vec<Node<'_>> = (0..count).map(|number| Node::new(number, None, None)).collect();
        for (at, node) in nodes.iter().enumerate() {
            node.set_first(nodes.get((at + 1) % nodes.len()));
            node.set_second(nodes.first());
        }
        nodes.first().map(Owned::new).transpose()
    }

    fn Walk(&self, start: Option<&Node<'_>>, steps: i32) -> Result<i32> {
        let mut node = start.ok_or(code::E_POINTER)?;
        for _ in 0..steps {
            node = node.first().ok_or(code::E_POINTER)?;
        }
        Ok(node.number())
    }

    fn Shared(&self, a: Option<&Node<'_>>, b: Option<&Node<'_>>) -> Result<bool> {
        Ok(matches!((a, b), (Some(a), Some(b)) if std::ptr::addr_eq(a, b)))
    }

    fn Average(&self, samples: &Samples<'_>) -> Result<f64> {
        let values = samples.values().unwrap_or_default().iter().zip(samples.flags().unwrap_or_default());
        let flagged: Vec<f64> = values.filter(|(_, flag)| **flag != 0).map(|(value, _)| *value).collect();
        let table: i64 = samples.table().unwrap_or_default().iter().copied().map(i64::from).sum();
        let tail: i64 = samples.tail().iter().copied().map(i64::from).sum();
        Ok(flagged.iter().sum::<f64>() / flagged.len().max(1) as f64 + (table + tail) as f64)
    }

    fn Sampled(&self, count: u32) -> Result<Owned<Samples<'static>>> {
        let values: Vec<f64> = (0..count).map(f64::from).collect();
        let flags = vec![1; values.len()];
        let tail = [1, 2, 3, 0, 0, 0, 0, 0];
        Owned::new(&Samples::new(Some(&values), Some(&flags), 2, 3, Some(&[1, 2, 3, 4, 5, 6, 7]), 3, &tail)?)
    }

    fn Describe(&self, kind: i32, value: Any<'_>) -> Result<U16CString> {
        Ok(wide(&format!("{kind}: {:?}", Kept::from(value))))
    }

    fn Choose(&self, choice: Choice<'_>) -> Result<i64> {
        Ok(match choice {
            Choice::Number(number) => number.into(),
            Choice::Tree(tree) => sum_of(Some(tree)),
            Choice::Blue => -1,
            Choice::Borrowed__(never, _) => match never {},
        })
    }

    fn Flip(&self, given: &crate::Box_<'_>) -> Result<Owned<crate::Box_<'static>>> {
        let [first, second] = given.items().clone();
        let [a, b, c] = *given.trees();
        Owned::new(&crate::Box_::new(given.color(), [second, first], [c, b, a], given.choice(), 10 - given.digit()))
    }

    fn Put(&self, entries: &[Entry<'_>]) -> Result<()> {
        let kept = entries.iter().map(|entry| (entry.name().to_owned(), entry.value().into()));
        self.entries.lock().unwrap().extend(kept);
        Ok(())
    }

    fn List(&self) -> Result<OwnedSlice<Entry<'static>>> {
        let entries = self.entries.lock().unwrap();
        let entries: Vec<Entry<'_>> =
            entries.iter().map(|(name, kept)| Entry::new(name, kept.any())).collect::<Result<_>>()?;
        OwnedSlice::new(&entries)
    }

    fn Some_(&self, room: u32) -> Result<(OwnedSlice<Entry<'static>>, u32)> {
        let entries = self.entries.lock().unwrap();
        let entries = entries.iter().take(room as usize);
        let entries: Vec<Entry<'_>> =
            entries.map(|(name, kept)| Entry::new(name, kept.any())).collect::<Result<_>>()?;
        Ok((OwnedSlice::new(&entries)?, entries.len() as u32))
    }

    fn Words(&self, words: &[Wide<'_>]) -> Result<OwnedSlice<Wide<'static>>> {
        let upper = words.iter().map(|word| word.get().map(|word| wide(&word.to_string_lossy().to_uppercase())));
        let upper: Vec<Option<U16CString>> = upper.collect();
        let upper: Vec<Wide<'_>> = upper.iter().map(|word| word.as_deref().into()).collect();
        OwnedSlice::new(&upper)
    }

    fn Meet(&self, pair: &Pair<'_>) -> Result<i32> {
        let word = pair.word().map_or(0, |word| word.count_bytes() as i32);
        let ask = |peer: Option<&IPeer>| peer.map_or(Ok(0), |peer| peer.Twice(word));
        Ok(ask(pair.left())? * 100 + ask(pair.right())?)
    }

    fn Peers(&self, peers: &[Option<IPeer>]) -> Result<Owned<Pair<'static>>> {
        let mine: IPeer = Peer(7).into();
        let last = peers.last().and_then(Option::as_ref);
        Owned::new(&Pair::new(last, Some(c"last and mine"), Some(&mine)))
    }

    fn Note(&self, list: Option<&Item<'_>>) -> Result<()> {
        self.noted.fetch_add(items(list).count() as i32, Ordering::SeqCst);
        Ok(())
    }

    fn Noted(&self) -> Result<i32> {
        Ok(self.noted.load(Ordering::SeqCst))
    }

    fn Take(&self, count: &mut u32) -> Result<OwnedSlice<Item<'static>>> {
        let asked = std::mem::replace(count, 3) as usize;
        let names: Vec<U16CString> = (1..=3).map(|value| wide(&format!("item {value}"))).collect();
        let items = names.iter().enumerate().map(|(at, name)| Item::new(at as i32 + 1, false, Some(name), None));
        // For a count of zero, the method returns more items than there is room for.
        OwnedSlice::new(&items.take(if asked == 0 { 3 } else { asked }).collect::<Vec<_>>())
    }
}
