//! Some memory of our own, for the many small things that ask for memory in no way that can fail: what unwinds, threads
//! and messages.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::ending::note_short;

/// The largest request that is small.
const SMALL: usize = 1 << 13;

/// For all small requests of a call that ends.
const SIZE: usize = 1 << 18;

#[repr(align(64))]
struct Place(UnsafeCell<[MaybeUninit<u8>; SIZE]>);

// SAFETY: `take` gives each part of it to one owner.
unsafe impl Sync for Place {}

static PLACE: Place = Place(UnsafeCell::new([MaybeUninit::uninit(); SIZE]));

/// How many bytes are taken, and in the upper half by how many owners. When the last one gives its bytes back, all are
/// free again.
static TAKEN: AtomicU64 = AtomicU64::new(0);

const OWNER: u64 = 1 << 32;

#[cold]
fn take(layout: Layout) -> *mut u8 {
    if layout.size() > SMALL || layout.align() > align_of::<Place>() {
        return null_mut();
    }
    let end = |taken: u64| (taken % OWNER).next_multiple_of(layout.align() as u64) + layout.size() as u64;
    let more = |taken: u64| (end(taken) <= SIZE as u64).then(|| taken / OWNER * OWNER + OWNER + end(taken));
    let Ok(taken) = TAKEN.fetch_update(Ordering::Acquire, Ordering::Relaxed, more) else { return null_mut() };
    note_short();
    PLACE.0.get().cast::<u8>().wrapping_add(end(taken) as usize - layout.size())
}

#[cold]
fn give_back() {
    let less = |taken: u64| Some(if taken / OWNER == 1 { 0 } else { taken - OWNER });
    let _ = TAKEN.fetch_update(Ordering::Release, Ordering::Relaxed, less);
}

#[inline]
fn is_ours(memory: *mut u8) -> bool {
    memory.addr().wrapping_sub(PLACE.0.get().addr()) < SIZE
}

/// An allocator that serves small requests which the other one refuses. The call ends when it next asks for more.
pub struct Sparing<A>(pub A);

// SAFETY: memory is that of the other allocator, which gets back what it gave, or it is of `PLACE`, where no two owners
// have the same bytes: `TAKEN` only rises until all are given back.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Sparing<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let memory = unsafe { self.0.alloc(layout) };
        if memory.is_null() { take(layout) } else { memory }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let memory = unsafe { self.0.alloc_zeroed(layout) };
        if !memory.is_null() {
            return memory;
        }
        let memory = take(layout);
        if !memory.is_null() {
            // SAFETY: so many bytes were taken.
            unsafe { memory.write_bytes(0, layout.size()) };
        }
        memory
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if is_ours(memory) {
            give_back();
        } else {
            // SAFETY: as the caller promises.
            unsafe { self.0.dealloc(memory, layout) };
        }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !is_ours(memory) {
            // SAFETY: as the caller promises.
            let moved = unsafe { self.0.realloc(memory, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: as the caller promises. What is copied is there in both.
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !moved.is_null() {
                moved.copy_from_nonoverlapping(memory, size.min(layout.size()));
                self.dealloc(memory, layout);
            }
            moved
        }
    }
}

#[cfg(test)]
mod tests;
