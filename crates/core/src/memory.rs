//! Memory that may be refused: then the call ends, see [`ending`](crate::ending), where the standard library would abort
//! the process.
//!
//! All that grows with the data is a [`Vec`] of this module, or grows through a function of it. What is small may be of
//! the standard library: the Python boundary keeps some memory for that.

use std::alloc::{Layout, alloc_zeroed};
use std::borrow::{Borrow, Cow};
use std::collections::TryReserveError;
use std::fmt::{self, Debug, Formatter};
use std::io::{self, Read};
use std::ops::{Deref, DerefMut, RangeBounds};
use std::vec::{Drain, IntoIter};

use crate::ending::{is_short, out_of_memory};

type Plain<T> = std::vec::Vec<T>;

/// Ends the call if room that was asked for is refused.
#[inline]
pub fn granted(reserved: Result<(), TryReserveError>) {
    if reserved.is_err() || is_short() {
        refused();
    }
}

#[cold]
#[inline(never)]
fn refused() -> ! {
    out_of_memory()
}

/// The standard library's vector, which ends the call if it cannot grow. Its functions have the names of those.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vec<T>(Plain<T>);

#[allow(missing_docs)] // of the standard library
impl<T> Vec<T> {
    #[inline]
    pub const fn new() -> Self {
        Self(Plain::new())
    }

    #[inline]
    pub fn with_capacity(count: usize) -> Self {
        let mut items = Plain::new();
        granted(items.try_reserve_exact(count));
        Self(items)
    }

    #[inline]
    pub fn reserve(&mut self, more: usize) {
        if more > self.0.capacity() - self.0.len() {
            self.grow(more);
        }
    }

    #[inline]
    pub fn reserve_exact(&mut self, more: usize) {
        granted(self.0.try_reserve_exact(more));
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, more: usize) {
        granted(self.0.try_reserve(more));
    }

    #[inline]
    pub fn push(&mut self, item: T) {
        if self.0.len() < self.0.capacity() {
            self.0.push(item);
        } else {
            self.push_grown(item);
        }
    }

    #[cold]
    #[inline(never)]
    fn push_grown(&mut self, item: T) {
        granted(self.0.try_reserve(1));
        self.0.push(item);
    }

    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }

    #[inline]
    pub fn append(&mut self, other: &mut Self) {
        self.reserve(other.len());
        self.0.append(&mut other.0);
    }

    #[inline]
    pub fn extend_from_slice(&mut self, items: &[T])
    where
        T: Clone,
    {
        self.reserve(items.len());
        self.0.extend_from_slice(items);
    }

    #[inline]
    pub fn resize(&mut self, count: usize, value: T)
    where
        T: Clone,
    {
        self.reserve(count.saturating_sub(self.len()));
        self.0.resize(count, value);
    }

    #[inline]
    pub fn resize_with(&mut self, count: usize, value: impl FnMut() -> T) {
        self.reserve(count.saturating_sub(self.len()));
        self.0.resize_with(count, value);
    }

    #[inline]
    pub fn insert(&mut self, place: usize, item: T) {
        self.reserve(1);
        self.0.insert(place, item);
    }

    /// The items from `place` on, taken off.
    pub fn split_off(&mut self, place: usize) -> Self {
        let mut rest = Self::with_capacity(self.len() - place);
        rest.extend(self.0.drain(place..));
        rest
    }

    #[inline]
    pub fn truncate(&mut self, count: usize) {
        self.0.truncate(count);
    }

    #[inline]
    pub fn clear(&mut self) {
        self.0.clear();
    }

    #[inline]
    pub fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        self.0.retain(keep);
    }

    #[inline]
    pub fn dedup(&mut self)
    where
        T: PartialEq,
    {
        self.0.dedup();
    }

    #[inline]
    pub fn dedup_by_key<K: PartialEq>(&mut self, key: impl FnMut(&mut T) -> K) {
        self.0.dedup_by_key(key);
    }

    #[inline]
    pub fn swap_remove(&mut self, place: usize) -> T {
        self.0.swap_remove(place)
    }

    #[inline]
    pub fn drain(&mut self, range: impl RangeBounds<usize>) -> Drain<'_, T> {
        self.0.drain(range)
    }

    #[inline]
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }

    #[inline]
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }

    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.0
    }

    #[inline]
    pub fn into_std(self) -> Plain<T> {
        self.0
    }
}

#[allow(missing_docs)] // of the standard library
impl<T, const N: usize> Vec<[T; N]> {
    #[inline]
    pub fn into_flattened(self) -> Vec<T> {
        Vec(self.0.into_flattened())
    }
}

impl<T> Default for Vec<T> {
    #[inline]
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Debug> Debug for Vec<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T> Deref for Vec<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for Vec<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T> AsRef<[T]> for Vec<T> {
    #[inline]
    fn as_ref(&self) -> &[T] {
        &self.0
    }
}

impl<T> Borrow<[T]> for Vec<T> {
    #[inline]
    fn borrow(&self) -> &[T] {
        &self.0
    }
}

impl<T: Clone> Clone for Vec<T> {
    #[inline]
    fn clone(&self) -> Self {
        copied(self)
    }

    #[inline]
    fn clone_from(&mut self, other: &Self) {
        self.clear();
        self.extend_from_slice(other);
    }
}

impl<T> From<Plain<T>> for Vec<T> {
    #[inline]
    fn from(items: Plain<T>) -> Self {
        Self(items)
    }
}

impl<T, const N: usize> From<[T; N]> for Vec<T> {
    #[inline]
    fn from(items: [T; N]) -> Self {
        Self::from_iter(items)
    }
}

impl<T> FromIterator<T> for Vec<T> {
    #[inline]
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut all = Self::new();
        all.extend(items);
        all
    }
}

impl<T> Extend<T> for Vec<T> {
    #[inline]
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        let items = items.into_iter();
        let (least, most) = items.size_hint();
        self.reserve(least);
        if most == Some(least) {
            // There is room for all: the standard library's loop, the fastest, asks for no more.
            self.0.extend(items);
        } else {
            items.for_each(|item| self.push(item));
        }
    }
}

impl<'a, T: Copy + 'a> Extend<&'a T> for Vec<T> {
    #[inline]
    fn extend<I: IntoIterator<Item = &'a T>>(&mut self, items: I) {
        self.extend(items.into_iter().copied());
    }
}

impl<T> IntoIterator for Vec<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    #[inline]
    fn into_iter(self) -> IntoIter<T> {
        self.0.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Vec<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Vec<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

impl<T: PartialEq<U>, U, const N: usize> PartialEq<[U; N]> for Vec<T> {
    fn eq(&self, other: &[U; N]) -> bool {
        self.0 == other
    }
}

impl<T: PartialEq> PartialEq<Plain<T>> for Vec<T> {
    fn eq(&self, other: &Plain<T>) -> bool {
        self.0 == *other
    }
}

impl<T: PartialEq> PartialEq<[T]> for Vec<T> {
    fn eq(&self, other: &[T]) -> bool {
        self.0 == *other
    }
}

impl<T: PartialEq> PartialEq<&[T]> for Vec<T> {
    fn eq(&self, other: &&[T]) -> bool {
        self.0 == **other
    }
}

/// What the standard library's macro makes. Literal zeros cost nothing until they are written.
macro_rules! vec {
    () => { $crate::memory::Vec::new() };
    (0; $count:expr) => { $crate::memory::zeros($count) };
    (0.0; $count:expr) => { $crate::memory::zeros($count) };
    (false; $count:expr) => { $crate::memory::zeros($count) };
    ($value:expr; $count:expr) => { $crate::memory::filled($value, $count) };
    ($($item:expr),+ $(,)?) => { $crate::memory::Vec::from([$($item),+]) };
}
pub(crate) use vec;

/// `count` copies of a value.
#[inline]
pub fn filled<T: Clone>(value: T, count: usize) -> Vec<T> {
    let mut items = Vec::with_capacity(count);
    items.0.resize(count, value);
    items
}

/// A copy of a slice.
#[inline]
pub fn copied<T: Clone>(items: &[T]) -> Vec<T> {
    let mut copy = Vec::with_capacity(items.len());
    copy.0.extend_from_slice(items);
    copy
}

/// A type whose zero is zero bits.
///
/// # Safety
///
/// Zero bits must be a value of the type.
pub unsafe trait Zero: Copy {}

macro_rules! numbers {
    ($($type:ty)*) => { $(
        // SAFETY: zero bits are 0, or false.
        unsafe impl Zero for $type {}
    )* };
}
numbers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 isize f32 f64 bool);

// SAFETY: zero bits in each place are a value, of this and the type below.
unsafe impl<T: Zero, const N: usize> Zero for [T; N] {}
// SAFETY: as above.
unsafe impl<A: Zero, B: Zero> Zero for (A, B) {}

/// `count` zeros, in memory that the system has cleared: pages that are never written are never there.
#[inline]
pub fn zeros<T: Zero>(count: usize) -> Vec<T> {
    let Ok(layout) = Layout::array::<T>(count) else { refused() };
    if count == 0 {
        return Vec::new();
    }
    // SAFETY: the layout has a size above 0. Zero bits are a value of the type, and the memory is from the
    // allocator of vectors, with the layout of a vector that has room for just so many items.
    let items = unsafe {
        let memory = alloc_zeroed(layout);
        if memory.is_null() {
            refused();
        }
        Plain::from_raw_parts(memory.cast(), count, count)
    };
    Vec(items)
}

/// The items of a slice that may be a copy.
#[inline]
pub fn owned<T: Clone>(items: Cow<'_, [T]>) -> Vec<T> {
    match items {
        Cow::Borrowed(items) => copied(items),
        Cow::Owned(items) => Vec(items),
    }
}

/// The standard library's stable sort, which finds what is in order already. It would take memory for more items than
/// fit its place on the stack.
pub fn sort<T: Ord + Copy>(items: &mut [T]) {
    let mut size = 4096 / size_of::<T>();
    items.chunks_mut(size).for_each(<[T]>::sort);
    let mut first = Vec::new();
    while size < items.len() {
        for pair in items.chunks_mut(2 * size).filter(|pair| pair.len() > size && pair[size - 1] > pair[size]) {
            first.clear();
            first.extend_from_slice(&pair[..size]);
            let (mut one, mut other) = (0, size);
            for place in 0..pair.len() {
                let takes_one = one < size && (other == pair.len() || first[one] <= pair[other]);
                pair[place] = if takes_one { first[one] } else { pair[other] };
                (one, other) = (one + usize::from(takes_one), other + usize::from(!takes_one));
            }
        }
        size *= 2;
    }
}

/// Reads all that is left, behind what is there.
pub fn read_to_end(mut source: impl Read, bytes: &mut Vec<u8>) -> io::Result<usize> {
    source.read_to_end(&mut bytes.0).inspect_err(|error| {
        if error.kind() == io::ErrorKind::OutOfMemory {
            refused();
        }
    })
}

#[cfg(test)]
mod tests;
