//! Which instruction set runs, and what its vectors can do.
//!
//! A kernel is written once, over [`InstructionSet`]. It is compiled once per set, and the widest set that the machine
//! has is chosen at run time. No set may contract a multiplication and an addition, so all give the same bits; the tests
//! of the kernels compare them.
//!
//! To add an instruction set: add a [`Level`] with its name and the question whether the machine has it, write its
//! vectors beside those in `x86.rs`, and add an arm to [`run`]. Everything else follows, tests included.

#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(not(target_arch = "x86_64"))]
use portable::Portable as Baseline;
#[cfg(target_arch = "x86_64")]
use x86::Sse2 as Baseline;

pub use crate::number::{InstructionSet, Mask, Vector};

/// The largest number of lanes of a vector.
pub const MAX_LANES: usize = 16;

/// An instruction set the kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Plain Rust, so that tests compare it with the others wherever they run.
    #[cfg(all(test, target_arch = "x86_64"))]
    Portable,
    /// What every machine of this architecture has: SSE2 on x86-64, NEON on AArch64.
    Baseline,
    /// AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512F.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    const ALL: &[Self] = &[
        #[cfg(all(test, target_arch = "x86_64"))]
        Self::Portable,
        Self::Baseline,
        #[cfg(target_arch = "x86_64")]
        Self::Avx2,
        #[cfg(target_arch = "x86_64")]
        Self::Avx512,
    ];

    /// Every level this machine can run, the widest last.
    pub fn available() -> impl DoubleEndedIterator<Item = Self> {
        Self::ALL.iter().copied().filter(|level| level.is_available())
    }

    /// The widest level this machine can run.
    pub fn best() -> Self {
        Self::available().next_back().unwrap_or(Self::Baseline)
    }

    fn is_available(self) -> bool {
        match self {
            #[cfg(all(test, target_arch = "x86_64"))]
            Self::Portable => true,
            Self::Baseline => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => is_x86_feature_detected!("avx512f"),
        }
    }

    /// The name of the instruction set.
    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline if cfg!(target_arch = "x86_64") => "sse2",
            Self::Baseline if cfg!(target_arch = "aarch64") => "neon",
            #[cfg(all(test, target_arch = "x86_64"))]
            Self::Portable => "portable",
            Self::Baseline => "portable",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => "avx512",
        }
    }
}

/// Work compiled for every instruction set: a kernel with its arguments.
pub trait Kernel {
    /// Must be `#[inline(always)]`, as must all it calls, so that it is compiled with the features of its caller. A
    /// closure that the compiler does not inline is compiled without them.
    fn run<I: InstructionSet>(self);
}

/// Runs the kernel as compiled for `level`.
///
/// # Panics
///
/// If this machine does not have `level`.
pub fn run<K: Kernel>(level: Level, kernel: K) {
    assert!(level.is_available(), "this machine has no {}", level.name());
    match level {
        #[cfg(all(test, target_arch = "x86_64"))]
        Level::Portable => kernel.run::<portable::Portable>(),
        Level::Baseline => kernel.run::<Baseline>(),
        // SAFETY: the machine has it. It brings 1.7 times the speed of SSE2 (IoU, 1,000 x 1,000, float32).
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86::run_avx2(kernel) },
        // SAFETY: the machine has it. It brings another 1.25 times.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86::run_avx512(kernel) },
    }
}

/// Asks for an item of a slice that is read soon, where the machine can be asked; nothing happens outside of the slice.
#[inline(always)]
pub fn prefetch<T>(items: &[T], place: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = items.get(place) {
        // SAFETY: every x86-64 machine has SSE, and the item is there.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, place);
}

/// The same box in every lane.
#[inline(always)]
pub fn splat<V: Vector>([x1, y1, x2, y2]: [V::Scalar; 4]) -> [V; 4] {
    [V::splat(x1), V::splat(y1), V::splat(x2), V::splat(y2)]
}

#[cfg(test)]
mod tests;
