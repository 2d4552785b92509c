//! Arrays that other processes may write while this process reads them, so that no Rust reference
//! to them may exist.
//!
//! A method receives such arrays as parameters that are passed by reference, and can lend such
//! arrays to its caller.

use crate::client::channels::Lease;
use crate::protocol::frame::Scalar;
use crate::types::scratch;
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;

/// An array for reading. Each read returns the element's current value, so two reads may differ.
#[derive(Clone, Copy)]
pub struct Elements<'a, T> {
    // Invariant: aligned, and readable for `count` elements for `'a`.
    first: *const T,
    count: usize,
    life: PhantomData<&'a T>,
}

/// An array for reading and writing. As with [`Elements`], two reads may differ.
pub struct ElementsMut<'a, T> {
    // Invariant: aligned, readable and writable for `count` elements for `'a`; no other code of
    // this process writes them meanwhile.
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

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the address of the elements.
    pub fn as_ptr(&self) -> *const T {
        self.first
    }

    /// Returns one element; `None` where the index is out of bounds.
    pub fn get(&self, at: usize) -> Option<T> {
        if at >= self.count {
            return None;
        }
        // SAFETY: the element is in bounds by the check and the invariant.
        let place = unsafe { self.first.add(at) };
        // SAFETY: the element is in bounds, and any bytes are a number. The read is volatile, since
        // other processes can write the element.
        Some(unsafe { place.read_volatile() })
    }

    /// Returns all elements. Each element is read when the iterator reaches it.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        (0..self.count).filter_map(|at| self.get(at))
    }

    /// Copies elements from `at` on, up to the length of `into`, and returns their number.
    pub fn copy_to(&self, at: usize, into: &mut [T]) -> usize {
        let count = self.count.saturating_sub(at).min(into.len());
        if count > 0 {
            // SAFETY: the element at `at` is in bounds, since `count` is not 0.
            let from = unsafe { self.first.add(at) };
            // SAFETY: the elements are in bounds by the invariant, and `into` does not overlap
            // them; any bytes are numbers.
            unsafe { from.copy_to(into.as_mut_ptr(), count) };
        }
        count
    }

    /// Returns a copy of all elements.
    pub fn to_vec(&self) -> Vec<T> {
        let mut all = vec![crate::protocol::frame::zero(); self.count];
        self.copy_to(0, &mut all);
        all
    }
}

impl<'a, T: Scalar> ElementsMut<'a, T> {
    /// # Safety
    ///
    /// `first` must be aligned, and readable and writable for `count` elements for the lifetime of
    /// the result. No other code of this process may write them meanwhile.
    pub unsafe fn from_raw(first: *mut T, count: usize) -> Self {
        Self { first, count, life: PhantomData }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the address of the elements.
    pub fn as_mut_ptr(&self) -> *mut T {
        self.first
    }

    /// Returns the array for reading.
    pub fn elements(&self) -> Elements<'_, T> {
        Elements { first: self.first, count: self.count, life: PhantomData }
    }

    /// Returns one element; `None` where the index is out of bounds.
    pub fn get(&self, at: usize) -> Option<T> {
        self.elements().get(at)
    }

    /// Writes one element. Returns `None` where the index is out of bounds.
    pub fn set(&mut self, at: usize, value: T) -> Option<()> {
        if at >= self.count {
            return None;
        }
        // SAFETY: the element is in bounds by the check and the invariant.
        let place = unsafe { self.first.add(at) };
        // SAFETY: the element is in bounds, and by the invariant it is writable. The write is
        // volatile, since other processes can read and write the element.
        unsafe { place.write_volatile(value) };
        Some(())
    }

    /// Copies elements to the positions from `at` on until either array ends, and returns the
    /// number of copied elements.
    pub fn copy_from(&mut self, at: usize, from: &[T]) -> usize {
        let count = self.count.saturating_sub(at).min(from.len());
        if count > 0 {
            // SAFETY: the element at `at` is in bounds, since `count` is not 0.
            let into = unsafe { self.first.add(at) };
            // SAFETY: the elements are in bounds by the invariant, and `from` does not overlap
            // them.
            unsafe { into.copy_from(from.as_ptr(), count) };
        }
        count
    }

    /// Returns the array for a shorter lifetime.
    pub fn reborrow(&mut self) -> ElementsMut<'_, T> {
        ElementsMut { first: self.first, count: self.count, life: PhantomData }
    }

    /// Returns `count` elements from `at` on; `None` where the range is out of bounds.
    pub fn part(self, at: usize, count: usize) -> Option<Self> {
        if at.checked_add(count)? > self.count {
            return None;
        }
        // SAFETY: the range is in bounds by the check.
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

/// The array that a method lends: the method writes the elements to the memory from which its
/// caller reads them.
pub struct Lending<'a, T> {
    // Invariant: aligned, initialised, and writable for `room` elements for `'a` by this process
    // alone.
    first: *mut T,
    room: usize,
    // Invariant: the number of written elements. It is at most `room` if `more` is `None`, and the
    // length of `more` otherwise.
    count: usize,
    // All written elements, if there are more than `room`.
    more: Option<Box<More<T>>>,
    life: PhantomData<&'a mut T>,
}

/// Elements in this process's own memory. [`Lending`] has the `Vec` in a box, since a `Vec` takes
/// three words and is rarely needed.
struct More<T>(Vec<T>);

impl<T: Scalar + 'static> Lending<'_, T> {
    /// # Safety
    ///
    /// `first` must be null, or initialised and writable for `room` elements exclusively for the
    /// lifetime of the result.
    pub(crate) unsafe fn new(first: *mut T, room: usize) -> Self {
        let room = if first.is_null() { 0 } else { room };
        Self { first, room, count: 0, more: None, life: PhantomData }
    }

    /// Returns the number of written elements.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether no element has been written.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Appends an element.
    pub fn push(&mut self, element: T) {
        self.extend_from_slice(&[element]);
    }

    /// Appends elements. If the elements exceed the room in the memory shared with the caller, this
    /// process keeps all elements in its own memory, and copies them to shared memory when the
    /// method ends.
    pub fn extend_from_slice(&mut self, elements: &[T]) {
        // A sum that overflows exceeds the room as well.
        let count = self.count.checked_add(elements.len()).filter(|count| *count <= self.room);
        let (Some(count), None) = (count, &self.more) else { return self.extend_elsewhere(elements) };
        // SAFETY: the range is in bounds by the check.
        let into = unsafe { self.first.add(self.count) };
        // SAFETY: the range is in bounds by the check. The memory is exclusive, so the two ranges
        // do not overlap.
        unsafe { into.copy_from_nonoverlapping(elements.as_ptr(), elements.len()) };
        self.count = count;
    }

    #[cold]
    fn extend_elsewhere(&mut self, elements: &[T]) {
        let more = self.more.get_or_insert_with(|| {
            // SAFETY: by the invariants, `first` is readable for `count` elements, which are
            // initialised.
            let written = unsafe { Elements::from_raw(self.first, self.count) };
            Box::new(More(written.to_vec()))
        });
        more.0.extend_from_slice(elements);
        self.count = more.0.len();
    }

    /// Replaces all elements by `count` elements that `fill` writes in place. When `fill` receives
    /// the elements, they have arbitrary contents. If `fill` panics, the number of elements is
    /// unchanged.
    #[inline]
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
            // SAFETY: by the invariant, `first` is initialised and writable for `room` elements,
            // and `count` is at most `room`. Access is exclusive through `&mut self`.
            fill(unsafe { std::slice::from_raw_parts_mut(self.first, count) })
        };
        self.more = None;
        self.count = count;
        filled
    }

    /// Returns the address of the elements, valid until the thread's next method lends an array, or
    /// until the thread waits for its next call.
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
    Box::new(More(vec![crate::protocol::frame::zero(); count]))
}

#[cold]
#[inline(never)]
fn keep<T: 'static>(mut more: Vec<T>) -> *mut T {
    // The elements stay in a `Vec`, since moving a boxed slice asserts that no other pointer to its
    // memory is used.
    let first = more.as_mut_ptr();
    let mut more: Option<Box<dyn Any>> = Some(Box::new(more));
    if !scratch::keep_lent(&mut more) {
        // The thread is ending. The elements are leaked, since the method's caller has yet to read
        // them.
        std::mem::forget(more);
    }
    first
}

/// The array that a method has lent, readable while this value lives. The server does not reuse the
/// memory for that time, and further calls of the thread use another connection.
pub struct Lent<T> {
    // Invariant: aligned, and readable for `count` elements while the keeper lives.
    first: *const T,
    count: usize,
    _keeper: Keeper<T>,
}

/// The owner of lent elements. Moving the owner does not move the elements.
enum Keeper<T> {
    Own(#[expect(dead_code, reason = "it keeps what is pointed to")] Vec<T>),
    Channel(#[expect(dead_code, reason = "as above")] Lease),
}

impl<T: Scalar> Lent<T> {
    /// Returns the elements.
    pub fn elements(&self) -> Elements<'_, T> {
        Elements { first: self.first, count: self.count, life: PhantomData }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns one element; `None` where the index is out of bounds.
    pub fn get(&self, at: usize) -> Option<T> {
        self.elements().get(at)
    }

    /// Returns a copy of all elements.
    pub fn to_vec(&self) -> Vec<T> {
        self.elements().to_vec()
    }
}

impl<T: Scalar + fmt::Debug> fmt::Debug for Lent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.elements().fmt(f)
    }
}

/// The caller's memory for an array that a method lends: empty if the method runs in another
/// process, and an array if the method runs in this process.
pub struct Borrowing<T> {
    is_proxy: bool,
    room: Vec<T>,
}

impl<T: Scalar> Borrowing<T> {
    #[inline(always)]
    pub(crate) fn new(is_proxy: bool, room: usize) -> Self {
        Self { is_proxy, room: if is_proxy { Vec::new() } else { vec![crate::protocol::frame::zero(); room] } }
    }

    #[inline(always)]
    pub(crate) fn first(&mut self) -> *mut T {
        if self.is_proxy { std::ptr::null_mut() } else { self.room.as_mut_ptr() }
    }

    /// Returns the lent array.
    ///
    /// # Safety
    ///
    /// The method must just have succeeded on this thread, and returned these elements.
    #[inline(always)]
    pub(crate) unsafe fn lent(self, first: *const T, count: usize) -> Lent<T> {
        if self.is_proxy {
            return Lent { first, count, _keeper: Keeper::Channel(Lease::take()) };
        }
        let is_own = std::ptr::eq(first, self.room.as_ptr()) && count <= self.room.len();
        let own = if is_own {
            self.room
        } else {
            // SAFETY: the caller promises that the method has just returned these elements.
            unsafe { Elements::from_raw(first, count) }.to_vec()
        };
        Lent { first: own.as_ptr(), count, _keeper: Keeper::Own(own) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Returns the elements that `work` lends, called as a method with room for three elements.
    fn lent(work: impl FnOnce(&mut Lending<'_, u16>)) -> Vec<u16> {
        let mut room = [0; 3];
        // SAFETY: `room` has `room.len()` elements, and no other code uses them.
        let mut lending = unsafe { Lending::new(room.as_mut_ptr(), room.len()) };
        work(&mut lending);
        let count = lending.len();
        let first = lending.finish();
        // SAFETY: `count` elements at `first` are valid until the thread lends again.
        unsafe { Elements::from_raw(first, count) }.to_vec()
    }

    fn panics<R>(work: impl FnOnce() -> R) -> bool {
        catch_unwind(AssertUnwindSafe(work)).is_err()
    }

    #[test]
    fn lent_elements_have_the_number_that_was_written() {
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
    fn a_panic_while_writing_elements_keeps_the_earlier_ones() {
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
