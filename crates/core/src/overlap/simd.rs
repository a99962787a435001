//! Which instruction set runs, and how a cache line is written past the cache.
//!
//! The kernels are written once, as plain loops that the compiler turns into vectors. Here they are compiled once per
//! instruction set, and the widest one the machine has is chosen at run time. None of them may contract a
//! multiplication and an addition, so all give the same bits; a test compares them.

/// The largest number of lanes of [`Kernel::run`].
pub const MAX_LANES: usize = 16;

/// An instruction set the kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
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
    /// Every level this machine can run, the widest last.
    pub fn available() -> Vec<Self> {
        #[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut))]
        let mut levels = vec![Self::Baseline];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                levels.push(Self::Avx2);
            }
            if is_x86_feature_detected!("avx512f") {
                levels.push(Self::Avx512);
            }
        }
        levels
    }

    /// The widest level this machine can run.
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                return Self::Avx512;
            }
            if is_x86_feature_detected!("avx2") {
                return Self::Avx2;
            }
        }
        Self::Baseline
    }

    /// The name of the instruction set.
    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline if cfg!(target_arch = "x86_64") => "sse2",
            Self::Baseline if cfg!(target_arch = "aarch64") => "neon",
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
    /// Must be `#[inline(always)]`, as must all it calls, so that it is compiled with the features of its caller.
    ///
    /// `L` is the number of pairs to compute at a time: a vector of `f32`, two of `f64`. The compiler makes vectors of
    /// a block reliably up to two registers, and down to one.
    fn run<I: InstructionSet, const L: usize>(self);
}

/// Runs the kernel as compiled for `level`.
///
/// # Panics
///
/// If this machine does not have `level`.
pub fn run<K: Kernel>(level: Level, kernel: K) {
    match level {
        Level::Baseline => kernel.run::<Baseline, 4>(),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => {
            assert!(is_x86_feature_detected!("avx2"), "this machine has no AVX2");
            // SAFETY: the machine has AVX2. benches: 1.7 times the speed of SSE2 at 1,000 x 1,000 IoU.
            unsafe { x86::run_avx2(kernel) }
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => {
            assert!(is_x86_feature_detected!("avx512f"), "this machine has no AVX-512F");
            // SAFETY: the machine has AVX-512F.
            unsafe { x86::run_avx512(kernel) }
        }
    }
}

/// What an instruction set can do that plain code cannot say.
pub trait InstructionSet {
    /// Bytes in a vector.
    const BYTES: usize;
    /// Writes a vector past the cache: without reading its line first, which halves the traffic of a large result.
    ///
    /// # Safety
    ///
    /// `to` must be valid for a write of [`Self::BYTES`] and aligned to as many, `from` valid for a read of as many,
    /// and the instruction set available.
    unsafe fn stream(to: *mut u8, from: *const u8);
    /// Orders the writes of [`Self::stream`] before all that follow, on this thread and those it synchronises with.
    fn fence();
}

/// [`Level::Baseline`].
struct Baseline;

#[cfg(not(target_arch = "x86_64"))]
impl InstructionSet for Baseline {
    const BYTES: usize = 16;
    #[inline(always)]
    unsafe fn stream(to: *mut u8, from: *const u8) {
        // SAFETY: the caller's promise. Stable Rust has no streaming store but for x86.
        unsafe { from.copy_to_nonoverlapping(to, Self::BYTES) }
    }
    #[inline(always)]
    fn fence() {}
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Baseline, InstructionSet, Kernel};
    use std::arch::x86_64::{
        __m128i, __m256i, __m512i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128, _mm256_loadu_si256,
        _mm256_stream_si256, _mm512_loadu_si512, _mm512_stream_si512,
    };

    struct Avx2;
    struct Avx512;

    #[target_feature(enable = "avx2")]
    pub fn run_avx2<K: Kernel>(kernel: K) {
        kernel.run::<Avx2, 8>();
    }

    #[target_feature(enable = "avx512f")]
    pub fn run_avx512<K: Kernel>(kernel: K) {
        kernel.run::<Avx512, 16>();
    }

    macro_rules! instruction_set {
        ($set:ty, $vector:ty, $load:path, $stream:path) => {
            impl InstructionSet for $set {
                const BYTES: usize = size_of::<$vector>();
                #[inline(always)]
                unsafe fn stream(to: *mut u8, from: *const u8) {
                    // SAFETY: the caller's promise.
                    unsafe { $stream(to.cast::<$vector>(), $load(from.cast::<$vector>())) }
                }
                #[inline(always)]
                fn fence() {
                    // SAFETY: every x86-64 machine has SSE.
                    unsafe { _mm_sfence() }
                }
            }
        };
    }
    instruction_set!(Baseline, __m128i, _mm_loadu_si128, _mm_stream_si128);
    instruction_set!(Avx2, __m256i, _mm256_loadu_si256, _mm256_stream_si256);
    instruction_set!(Avx512, __m512i, _mm512_loadu_si512, _mm512_stream_si512);
}
