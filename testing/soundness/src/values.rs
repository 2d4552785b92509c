//! An object with methods whose results are unusual. Some of the results violate their
//! declarations.

use super::{
    Any, Holder, IArrays, IArrays_Impl, INamedNumbers, IProgress, IRings, IRings_Impl, IValues, IValues_Impl, Link,
    Named, Node, Own,
};
use obvia::{Elements, ElementsMut, Owned, OwnedSlice, Result, code};
use std::ffi::CString;

/// The implementation of `IValues`, `IRings`, `IArrays` and `INamedNumbers`.
#[obvia::object(IValues, IRings, IArrays, INamedNumbers)]
pub struct Values;

fn holders(count: i64) -> Result<OwnedSlice<Holder<'static>>> {
    let holders = (0..count).map(|number| Holder::new(number as i32, Own::Number(number)));
    OwnedSlice::new(&holders.collect::<Result<Vec<_>>>()?)
}

/// Returns the first of `count` nodes in a ring.
fn ring(count: i32) -> Result<Option<Owned<Node<'static>>>> {
    let nodes = (0..count).map(|number| Node::new(number, None, None)).collect::<Result<Vec<_>>>()?;
    for (at, node) in nodes.iter().enumerate() {
        node.set_next(nodes.get((at + 1) % nodes.len()));
    }
    nodes.first().map(Owned::new).transpose()
}

impl IRings_Impl for Values_Impl {
    fn Get(&self, count: i32) -> Result<Owned<Node<'static>>> {
        ring(count)?.ok_or_else(|| code::E_INVALIDARG.into())
    }

    fn Change(&self, first: &mut Owned<Node<'static>>, replace: bool) -> Result<()> {
        if replace {
            *first = self.Get(2)?;
        }
        Ok(())
    }

    fn Linked(&self, progress: Option<&IProgress>) -> Result<Owned<Link<'static>>> {
        linked(progress.ok_or(code::E_POINTER)?)
    }

    fn Unlink(&self, link: &mut Owned<Link<'static>>, replace: bool) -> Result<()> {
        if replace {
            *link = link.with(|link| linked(link.progress().ok_or(code::E_POINTER)?))?;
        }
        Ok(())
    }

    fn Fill(&self, room: u32) -> Result<OwnedSlice<Node<'static>>> {
        let nodes = (0..room).map(|number| Node::new(number as i32, None, None)).collect::<Result<Vec<_>>>()?;
        nodes.iter().for_each(|node| node.set_next(nodes.first()));
        OwnedSlice::new(&nodes)
    }
}

impl IArrays_Impl for Values_Impl {
    fn Copy(&self, from: Elements<'_, u8>, mut to: ElementsMut<'_, u8>) -> Result<()> {
        to.copy_from(0, &from.to_vec());
        Ok(())
    }

    fn Halve(&self, count: &mut u32, mut values: ElementsMut<'_, i32>) -> Result<()> {
        *count /= 2;
        for at in 0..(*count as usize).min(values.len()) {
            values.set(at, at as i32).ok_or(code::E_UNEXPECTED)?;
        }
        Ok(())
    }
}

fn linked(progress: &IProgress) -> Result<Owned<Link<'static>>> {
    let link = Link::new(None, Some(progress));
    link.set_next(Some(&link));
    Owned::new(&link)
}

impl IValues_Impl for Values_Impl {
    fn Both(&self) -> Result<(Vec<i32>, Vec<i64>)> {
        Ok((vec![1], vec![2; 1000]))
    }

    fn Structures(&self) -> Result<(OwnedSlice<Holder<'static>>, OwnedSlice<Holder<'static>>)> {
        Ok((holders(1)?, holders(100)?))
    }

    fn Short(&self) -> Result<Vec<i32>> {
        Ok(vec![7; 300])
    }

    fn Perhaps(&self, _: i32, value: Option<Any<'_>>) -> Result<i64> {
        Ok(match value {
            Some(Any::Number(number) | Any::Other(_, number)) => number,
            Some(Any::Text(text)) => text.map_or(-1, |text| text.len() as i64),
            Some(Any::Pair(_, number)) => number.into(),
            _ => 0,
        })
    }

    fn Fill(&self, room: u32) -> Result<OwnedSlice<Named<'static>>> {
        let names: Vec<Named<'_>> = (1..room).map(|_| Named::new(&5)).collect();
        OwnedSlice::new(&names)
    }

    fn Some_(&self, room: u32) -> Result<(OwnedSlice<Holder<'static>>, u32)> {
        Ok((holders(1)?, room))
    }

    fn Ring(&self, count: i32) -> Result<Option<Owned<Node<'static>>>> {
        ring(count)
    }

    fn Turn(&self, named: &mut Owned<Named<'static>>, fail: bool) -> Result<()> {
        assert!(!fail, "it was asked to");
        *named = Owned::new(&Named::new(&6))?;
        Ok(())
    }

    fn Beside(&self, kept: &Node<'_>, changed: &mut Option<Owned<Node<'static>>>) -> Result<()> {
        // The pointer leads to an element of an array, and an element has no allocation of its own.
        kept.set_next(kept.inner().and_then(<[_]>::first));
        *changed = Some(Owned::new(&Node::new(1, None, None)?)?);
        Ok(())
    }

    fn Lend(&self, count: u32, numbers: &mut obvia::Lending<'_, i64>) -> Result<()> {
        let filling = std::panic::AssertUnwindSafe(|| numbers.fill_with(usize::MAX, |_| ()));
        assert!(std::panic::catch_unwind(filling).is_err(), "there is no such room");
        let numbers_of = |count: u32| (0..i64::from(count)).collect::<Vec<_>>();
        numbers.extend_from_slice(&numbers_of(count));
        Ok(())
    }

    fn Title(
        &self,
        named: &Named<'_>,
        kept: &mut Option<Owned<Named<'static>>>,
        turned: &mut Owned<Named<'static>>,
        text: &str,
        more: Option<&str>,
    ) -> Result<(String, CString)> {
        *kept = Some(Owned::new(named)?);
        *turned = Owned::new(named)?;
        Ok((format!("{text}{}", more.unwrap_or("\0")), c"\xff".to_owned()))
    }

    fn Signed(&self) -> Result<(String, IProgress, String)> {
        Err(code::E_NOTIMPL.into())
    }

    fn Counted(
        &self,
        _kept: &mut Option<Owned<Named<'static>>>,
        _two: &[Named<'_>],
        _three: &[i32],
    ) -> Result<(u8, Vec<i32>)> {
        Ok((1, vec![7; 2]))
    }
}
