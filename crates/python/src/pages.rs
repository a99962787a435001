//! Large blocks of memory on large pages.
//!
//! The first touch of a page of 4 kB costs more than a microsecond, mostly for the system to find and clear it: a sixth
//! of the time in which half a million detections are evaluated. A page of 2 MB costs a seventh of what its 512 small
//! ones do. NumPy asks for them from the same size on.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, which asks for large pages in large blocks.
pub struct LargePages;

/// In bytes, as NumPy has it.
const LARGE: usize = 1 << 22;

// SAFETY: All memory is the system allocator's. Its users cannot tell large pages from small ones.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: The caller keeps the rules of `alloc`.
        advised(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: The caller keeps the rules of `alloc_zeroed`.
        advised(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: The caller keeps the rules of `realloc`.
        advised(unsafe { System.realloc(block, layout, size) }, size)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: The caller keeps the rules of `dealloc`.
        unsafe { System.dealloc(block, layout) }
    }
}

/// The same block. Only pages that lie in it as a whole become large, so that a block takes no more memory for it.
fn advised(block: *mut u8, size: usize) -> *mut u8 {
    if size >= LARGE && !block.is_null() {
        advise(block, size);
    }
    block
}

#[cfg(target_os = "linux")]
fn advise(block: *mut u8, size: usize) {
    use std::ffi::{c_int, c_void};

    const PAGE: usize = 1 << 21;
    const MADV_HUGEPAGE: c_int = 14;
    unsafe extern "C" {
        fn madvise(start: *mut c_void, length: usize, advice: c_int) -> c_int;
    }
    let start = block.addr().next_multiple_of(PAGE);
    let end = (block.addr() + size) / PAGE * PAGE;
    if start < end {
        // SAFETY: The range lies in the block. The advice changes no byte of it, and a system may well refuse it.
        unsafe { madvise(block.with_addr(start).cast(), end - start, MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise(_: *mut u8, _: usize) {}
