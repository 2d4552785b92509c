//! Arrays that others may write while they are read: no reference to them is ever made.
//!
//! What methods get whose parameters are passed by reference, and what methods lend.

use crate::frame::Scalar;
use crate::thread::channels::Lease;
use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;

/// Elements to be read. Each read is one of the element's value at that time; two reads may differ.
#[derive(Clone, Copy)]
pub struct Elements<'a, T> {
    // Invariant: readable for `count` elements for 'a, and aligned.
    first: *const T,
    count: usize,
    life: PhantomData<&'a T>,
}

/// Elements to be read and written, as [`Elements`].
pub struct ElementsMut<'a, T> {
    // Invariant: readable and writable for `count` elements for 'a, and aligned; of this process nobody else writes them meanwhile.
    first: *mut T,
    count: usize,
    life: PhantomData<&'a mut T>,
}

impl<T: Scalar> Elements<'_, T> {
    /// # Safety
    ///
    /// `first` must be readable for `count` elements for the lifetime of the result, and aligned.
    pub unsafe fn from_raw(first: *const T, count: usize) -> Self {
        Self { first, count, life: PhantomData }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Where they lie.
    pub fn as_ptr(&self) -> *const T {
        self.first
    }

    /// One element. `None` where there are not so many.
    pub fn get(&self, at: usize) -> Option<T> {
        if at >= self.count {
            return None;
        }
        // SAFETY: inside by the check and the invariant.
        let place = unsafe { self.first.add(at) };
        // SAFETY: as above; any bytes are a number. Volatile, as others may write.
        Some(unsafe { place.read_volatile() })
    }

    /// Every element, read one after the other.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        (0..self.count).filter_map(|at| self.get(at))
    }

    /// Copies elements from `at` on, as many as `into` has room for, and returns how many.
    pub fn copy_to(&self, at: usize, into: &mut [T]) -> usize {
        let count = self.count.saturating_sub(at).min(into.len());
        if count > 0 {
            // SAFETY: inside, as there are more.
            let from = unsafe { self.first.add(at) };
            // SAFETY: inside by the invariant, and private memory is no part of it; any bytes are numbers.
            unsafe { from.copy_to(into.as_mut_ptr(), count) };
        }
        count
    }

    /// A copy of all.
    pub fn to_vec(&self) -> Vec<T> {
        let mut all = vec![crate::rt::zero(); self.count];
        self.copy_to(0, &mut all);
        all
    }
}

impl<'a, T: Scalar> ElementsMut<'a, T> {
    /// # Safety
    ///
    /// `first` must be readable and writable for `count` elements for the lifetime of the result, and aligned; of this process nobody
    /// else may write them meanwhile.
    pub unsafe fn from_raw(first: *mut T, count: usize) -> Self {
        Self { first, count, life: PhantomData }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Where they lie.
    pub fn as_mut_ptr(&self) -> *mut T {
        self.first
    }

    /// The same to be read.
    pub fn elements(&self) -> Elements<'_, T> {
        Elements { first: self.first, count: self.count, life: PhantomData }
    }

    /// One element. `None` where there are not so many.
    pub fn get(&self, at: usize) -> Option<T> {
        self.elements().get(at)
    }

    /// Writes one element. `None` where there are not so many.
    pub fn set(&mut self, at: usize, value: T) -> Option<()> {
        if at >= self.count {
            return None;
        }
        // SAFETY: inside by the check and the invariant.
        let place = unsafe { self.first.add(at) };
        // SAFETY: as above. Volatile, as others may read and write.
        unsafe { place.write_volatile(value) };
        Some(())
    }

    /// Copies elements to `at` and behind, as many as there is room for, and returns how many.
    pub fn copy_from(&mut self, at: usize, from: &[T]) -> usize {
        let count = self.count.saturating_sub(at).min(from.len());
        if count > 0 {
            // SAFETY: inside, as there are more.
            let into = unsafe { self.first.add(at) };
            // SAFETY: inside by the invariant, and private memory is no part of it.
            unsafe { into.copy_from(from.as_ptr(), count) };
        }
        count
    }

    /// The same for a shorter time.
    pub fn reborrow(&mut self) -> ElementsMut<'_, T> {
        ElementsMut { first: self.first, count: self.count, life: PhantomData }
    }

    /// The elements from `at` on, `count` of them. `None` where there are not so many.
    pub fn part(self, at: usize, count: usize) -> Option<Self> {
        if at.checked_add(count)? > self.count {
            return None;
        }
        // SAFETY: inside by the check.
        let first = unsafe { self.first.add(at) };
        Some(Self { first, count, life: PhantomData })
    }
}

impl<'a, T: Scalar> From<&'a [T]> for Elements<'a, T> {
    fn from(slice: &'a [T]) -> Self {
        Self { first: slice.as_ptr(), count: slice.len(), life: PhantomData }
    }
}

impl<'a, T: Scalar, const N: usize> From<&'a [T; N]> for Elements<'a, T> {
    fn from(array: &'a [T; N]) -> Self {
        array.as_slice().into()
    }
}

impl<'a, T: Scalar> From<&'a Vec<T>> for Elements<'a, T> {
    fn from(all: &'a Vec<T>) -> Self {
        all.as_slice().into()
    }
}

impl<'a, T: Scalar> From<ElementsMut<'a, T>> for Elements<'a, T> {
    fn from(elements: ElementsMut<'a, T>) -> Self {
        Self { first: elements.first, count: elements.count, life: PhantomData }
    }
}

impl<'a, T: Scalar> From<&'a mut [T]> for ElementsMut<'a, T> {
    fn from(slice: &'a mut [T]) -> Self {
        Self { first: slice.as_mut_ptr(), count: slice.len(), life: PhantomData }
    }
}

impl<'a, T: Scalar, const N: usize> From<&'a mut [T; N]> for ElementsMut<'a, T> {
    fn from(array: &'a mut [T; N]) -> Self {
        array.as_mut_slice().into()
    }
}

impl<'a, T: Scalar> From<&'a mut Vec<T>> for ElementsMut<'a, T> {
    fn from(all: &'a mut Vec<T>) -> Self {
        all.as_mut_slice().into()
    }
}

impl<T: Scalar + fmt::Debug> fmt::Debug for Elements<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Scalar + fmt::Debug> fmt::Debug for ElementsMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.elements().fmt(f)
    }
}

/// What a method lends: it writes here what its caller reads in place.
pub struct Lending<'a, T> {
    // Invariant: writable for `room` elements for 'a by this process alone, initialised, and aligned.
    first: *mut T,
    room: usize,
    // Invariant: at most `room`, or as many as are in `more`, where that is there.
    count: usize,
    // What there was no room for, with all that is before it.
    more: Option<Box<More<T>>>,
    life: PhantomData<&'a mut T>,
}

/// Elements of this process's own. In a box, as they are seldom there and take three words.
struct More<T>(Vec<T>);

thread_local! {
    /// What the thread's last method lent that had no room for it.
    static MORE: RefCell<Option<Box<dyn Any>>> = const { RefCell::new(None) };
}

impl<T: Scalar + 'static> Lending<'_, T> {
    /// # Safety
    ///
    /// `first` must be null, or initialised and writable for `room` elements by nobody else for the lifetime of the result.
    pub(crate) unsafe fn new(first: *mut T, room: usize) -> Self {
        let room = if first.is_null() { 0 } else { room };
        Self { first, room, count: 0, more: None, life: PhantomData }
    }

    /// How many elements have been written.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether none has been.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Writes an element behind the others.
    pub fn push(&mut self, element: T) {
        self.extend_from_slice(&[element]);
    }

    /// Writes elements behind the others. What there is no room for in the caller's sight is copied there when the method ends.
    pub fn extend_from_slice(&mut self, elements: &[T]) {
        // The sum is of numbers of elements that there are, so of such as memory holds.
        let count = self.count.checked_add(elements.len()).filter(|count| *count <= self.room);
        let (Some(count), None) = (count, &self.more) else { return self.extend_elsewhere(elements) };
        // SAFETY: inside by the check.
        let into = unsafe { self.first.add(self.count) };
        // SAFETY: as above, and nobody else's, so they do not overlap.
        unsafe { into.copy_from_nonoverlapping(elements.as_ptr(), elements.len()) };
        self.count = count;
    }

    #[cold]
    fn extend_elsewhere(&mut self, elements: &[T]) {
        let more = self.more.get_or_insert_with(|| {
            // SAFETY: by the invariants; there is room for as many.
            let written = unsafe { Elements::from_raw(self.first, self.count) };
            Box::new(More(written.to_vec()))
        });
        more.0.extend_from_slice(elements);
        self.count = more.0.len();
    }

    /// Writes so many elements at once, in place: `fill` gets them as they are, with whatever is in them. Where it panics, there are as many as before.
    pub fn fill_with<R>(&mut self, count: usize, fill: impl FnOnce(&mut [T]) -> R) -> R {
        if count > self.room {
            let mut more = zeros(count);
            let filled = fill(&mut more.0);
            self.more = Some(more);
            self.count = count;
            return filled;
        }
        let filled = if count == 0 {
            fill(&mut [])
        } else {
            // SAFETY: by the invariant, and &mut self.
            fill(unsafe { std::slice::from_raw_parts_mut(self.first, count) })
        };
        self.more = None;
        self.count = count;
        filled
    }

    /// Where they lie now: there until the thread's next method lends something.
    #[inline(always)]
    pub(crate) fn finish(self) -> *mut T {
        match self.more {
            None => self.first,
            Some(more) => keep(more.0),
        }
    }
}

#[cold]
#[inline(never)]
fn zeros<T: Scalar>(count: usize) -> Box<More<T>> {
    Box::new(More(vec![crate::rt::zero(); count]))
}

#[cold]
#[inline(never)]
fn keep<T: 'static>(mut more: Vec<T>) -> *mut T {
    // Not a boxed slice: to move a box says that nobody else has its address.
    let first = more.as_mut_ptr();
    let mut more = Some(more);
    let kept = MORE.try_with(|kept| kept.replace(more.take().map(|more| Box::new(more) as _)));
    if kept.is_err() {
        // The thread ends, and whoever called the method has yet to read.
        std::mem::forget(more);
    }
    first
}

/// What a method lent: to be read as long as this value is there. The server's memory is kept for that long, and further calls of the
/// thread take another connection.
pub struct Lent<T> {
    // Invariant: readable for `count` elements as long as `keeper` is, and aligned.
    first: *const T,
    count: usize,
    _keeper: Keeper<T>,
}

/// What keeps them there. Neither moves what it keeps when it is moved itself.
enum Keeper<T> {
    Own(#[expect(dead_code, reason = "it keeps what is pointed to")] Vec<T>),
    Channel(#[expect(dead_code, reason = "as above")] Lease),
}

impl<T: Scalar> Lent<T> {
    /// The elements.
    pub fn elements(&self) -> Elements<'_, T> {
        Elements { first: self.first, count: self.count, life: PhantomData }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// One element. `None` where there are not so many.
    pub fn get(&self, at: usize) -> Option<T> {
        self.elements().get(at)
    }

    /// A copy of all.
    pub fn to_vec(&self) -> Vec<T> {
        self.elements().to_vec()
    }
}

impl<T: Scalar + fmt::Debug> fmt::Debug for Lent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.elements().fmt(f)
    }
}

/// What a caller has for what a method lends: nothing where the method is in another process, or room in its own.
pub struct Borrowing<T> {
    is_proxy: bool,
    room: Vec<T>,
}

impl<T: Scalar> Borrowing<T> {
    #[inline(always)]
    pub(crate) fn new(is_proxy: bool, room: usize) -> Self {
        Self { is_proxy, room: if is_proxy { Vec::new() } else { vec![crate::rt::zero(); room] } }
    }

    #[inline(always)]
    pub(crate) fn first(&mut self) -> *mut T {
        if self.is_proxy { std::ptr::null_mut() } else { self.room.as_mut_ptr() }
    }

    /// What was lent.
    ///
    /// # Safety
    ///
    /// The method must have succeeded, on this thread, just now, and returned these elements.
    #[inline(always)]
    pub(crate) unsafe fn lent(self, first: *const T, count: usize) -> Lent<T> {
        if self.is_proxy {
            return Lent { first, count, _keeper: Keeper::Channel(Lease::take()) };
        }
        let is_own = std::ptr::eq(first, self.room.as_ptr()) && count <= self.room.len();
        let own = if is_own {
            self.room
        } else {
            // SAFETY: the caller's promise.
            unsafe { Elements::from_raw(first, count) }.to_vec()
        };
        Lent { first: own.as_ptr(), count, _keeper: Keeper::Own(own) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// What a method lends that has room for three elements.
    fn lent(work: impl FnOnce(&mut Lending<'_, u16>)) -> Vec<u16> {
        let mut room = [0; 3];
        // SAFETY: as many elements, which nobody else uses.
        let mut lending = unsafe { Lending::new(room.as_mut_ptr(), room.len()) };
        work(&mut lending);
        let count = lending.len();
        let first = lending.finish();
        // SAFETY: so many are there until the thread lends again.
        unsafe { Elements::from_raw(first, count) }.to_vec()
    }

    fn panics<R>(work: impl FnOnce() -> R) -> bool {
        catch_unwind(AssertUnwindSafe(work)).is_err()
    }

    #[test]
    fn there_are_as_many_as_were_written() {
        for count in 0..8_u16 {
            let all: Vec<u16> = (0..count).collect();
            assert_eq!(lent(|lending| all.iter().for_each(|one| lending.push(*one))), all);
            assert_eq!(lent(|lending| lending.extend_from_slice(&all)), all);
            assert_eq!(lent(|lending| lending.fill_with(all.len(), |to| to.copy_from_slice(&all))), all);
        }
        let again = lent(|lending| {
            lending.fill_with(5, |to| to.fill(1));
            lending.push(2);
            lending.fill_with(2, |to| to.fill(3));
            lending.extend_from_slice(&[4, 5, 6]);
        });
        assert_eq!(again, [3, 3, 4, 5, 6]);
    }

    #[test]
    fn a_panic_while_they_are_written_leaves_those_before() {
        for count in [usize::MAX, 8, 3] {
            let all = lent(|lending| {
                lending.push(7);
                assert!(panics(|| lending.fill_with(count, |_| panic!("while they are written"))));
                assert_eq!(lending.len(), 1);
                lending.extend_from_slice(&[8; 4]);
            });
            assert_eq!(all[1..], [8; 4]);
        }
        let more = lent(|lending| {
            lending.extend_from_slice(&[1; 5]);
            assert!(panics(|| lending.fill_with(2, |_| panic!("while they are written"))));
            lending.push(2);
        });
        assert_eq!(more, [1, 1, 1, 1, 1, 2]);
    }
}
