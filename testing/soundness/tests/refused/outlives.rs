//! References into an owned value cannot leave the closure that gets them.

fn main() {
    let node = soundness::Node::new(1, None, None).unwrap();
    let owned = obvia::Owned::<soundness::Node<'static>>::new(&node).unwrap();
    let mut kept = None;
    owned.with(|node| kept = node.next()); //~ error[E0521]: borrowed data escapes outside of closure
    owned.with(|owned| owned.set_next(Some(&node))); //~ error: lifetime may not live long enough //~ error[E0597]: `node` does not live long enough
}
