//! The object and the client for tests of structures with shared targets. All structures are read
//! completely and freed, so that invalid memory is noticed.

use obvia::{Bstr, Owned, Result, code};
use obvia_hostile::graphs::{IGraphs, IGraphs_Impl, Node};

type List = Option<Owned<Node<'static>>>;

/// The object of a server.
#[obvia::object(IGraphs)]
pub(crate) struct Graphs;

impl IGraphs_Impl for Graphs_Impl {
    fn Beside(&self, kept: &Node<'_>, changed: &mut List) -> Result<()> {
        if kept.number() == 1 {
            *changed = None;
        }
        // The rest of the list `kept` is read after the list `changed` was freed.
        assert_eq!(kept.next().map(Node::number), Some(3));
        Ok(())
    }

    fn Two(&self) -> Result<(List, List)> {
        Err(code::E_NOTIMPL.into())
    }

    fn Swap(&self, _list: &mut List) -> Result<Bstr> {
        Err(code::E_NOTIMPL.into())
    }

    fn Turn(&self, _node: &mut Owned<Node<'static>>) -> Result<Bstr> {
        Err(code::E_NOTIMPL.into())
    }

    fn Tell(&self, _text: &Bstr, _list: &mut List) -> Result<()> {
        Ok(())
    }

    fn Rooms(&self, _count: u32, _list: &mut List, _small: &mut [u8], _large: &mut [i64]) -> Result<()> {
        Ok(())
    }
}

fn node(number: i32) -> Result<Owned<Node<'static>>> {
    Owned::new(&Node::new(number, None, None))
}

fn number(node: &Owned<Node<'static>>) -> i32 {
    node.with(|node| node.number())
}

/// Returns the numbers of the first two nodes.
fn two(list: &List) -> Vec<i32> {
    let two = |node: &Node<'_>| [Some(node), node.next()].into_iter().flatten().map(Node::number).collect();
    list.as_ref().map(|list| list.with(two)).unwrap_or_default()
}

/// Calls a hostile server, and reports the results.
pub(crate) fn visit(name: &str) -> Result<()> {
    let hostile: IGraphs = obvia::connect(name)?;
    for _ in 0..20 {
        match hostile.Two() {
            Ok((first, second)) => println!("Two {:?} {:?}", two(&first), two(&second)),
            Err(error) => println!("Two {error}"),
        }
        let mut list = Some(node(5)?);
        let refused = hostile.Swap(&mut list).err().map(|error| error.code());
        println!("Swap {refused:?} {:?}", list.as_ref().map(number));
        let ring = Node::new(6, None, None);
        ring.set_next(Some(&ring));
        let mut turned = Owned::new(&ring)?;
        let refused = hostile.Turn(&mut turned).err().map(|error| error.code());
        println!("Turn {refused:?} {} {:?}", number(&turned), turned.with(|node| node.next().map(Node::number)));
    }
    println!("good");
    Ok(())
}
