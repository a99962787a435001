//! Runs, from bits in the order of the runs.

use crate::memory::Vec;

/// Appends the settled runs of one mask to a vector.
pub(super) struct RunWriter<'a> {
    runs: &'a mut Vec<u32>,
    /// Of the run that is not written yet.
    length: u32,
    /// What it holds: 0 or 1.
    value: u64,
}

impl<'a> RunWriter<'a> {
    pub fn new(runs: &'a mut Vec<u32>) -> Self {
        Self { runs, length: 0, value: 0 }
    }

    /// The next pixels: the lowest `count` bits, the first lowest; `count` is from 1 to 64.
    #[inline(always)]
    pub fn bits(&mut self, word: u64, count: u32) {
        let mut edges = (word ^ (word << 1 | self.value)) & (u64::MAX >> (64 - count));
        let mut from = 0;
        while edges != 0 {
            let at = edges.trailing_zeros();
            self.runs.push(self.length + (at - from));
            self.length = 0;
            self.value ^= 1;
            from = at;
            edges &= edges - 1;
        }
        self.length += count - from;
    }

    /// The next `count` pixels are 0.
    pub fn zeros(&mut self, count: u32) {
        if self.value == 1 && count > 0 {
            self.runs.push(self.length);
            (self.length, self.value) = (0, 0);
        }
        self.length += count;
    }

    /// There are no more pixels.
    pub fn end(self) {
        self.runs.push(self.length);
    }
}
