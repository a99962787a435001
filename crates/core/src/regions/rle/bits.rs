//! A mask as bits, cropped to where it lies: 64 rows of a column a word, words of neighbouring columns side by side.

use std::ops::Range;

use super::writer::RunWriter;
use super::{Mask, Size};
use crate::memory::{Vec, vec};

/// The bits of a part of a mask.
#[derive(Clone)]
pub(super) struct Bits {
    /// The columns of the mask that are here.
    pub columns: Range<u32>,
    /// The blocks of 64 rows of the mask that are here.
    pub blocks: Range<u32>,
    /// Block after block, column after column.
    pub words: Vec<u64>,
}

impl Bits {
    /// Zeros for what lies within `[x, y, width, height]`.
    pub fn zeros([x, y, width, height]: [u32; 4]) -> Self {
        let (columns, blocks) = (x..x + width, y / 64..(y + height).div_ceil(64));
        let words = vec![0; columns.len() * blocks.len()];
        Self { columns, blocks, words }
    }

    /// How many words [`Self::zeros`] would take.
    pub fn count([_, y, width, height]: [u32; 4]) -> u64 {
        u64::from(width) * u64::from((y + height).div_ceil(64) - y / 64)
    }

    /// The mask within its [`Mask::bounds`].
    pub fn of(mask: Mask<'_>, bounds: [u32; 4]) -> Self {
        let mut bits = Self::zeros(bounds);
        mask.segments(|x, rows| bits.set(x, rows));
        bits
    }

    /// Sets some rows of a column, which are here and not none.
    #[inline(always)]
    pub fn set(&mut self, x: u32, rows: Range<u32>) {
        let last = rows.end - 1;
        let (from, until) = (u64::MAX << (rows.start % 64), u64::MAX >> (63 - last % 64));
        let (first, last) = (rows.start / 64, last / 64);
        let stride = self.columns.len();
        let mut at = (first - self.blocks.start) as usize * stride + (x - self.columns.start) as usize;
        if first == last {
            self.words[at] |= from & until;
            return;
        }
        self.words[at] |= from;
        for _ in first + 1..last {
            at += stride;
            self.words[at] = u64::MAX;
        }
        self.words[at + stride] |= until;
    }

    /// Appends the runs of the whole mask, which is 0 outside of what is here.
    pub fn runs(&self, size: Size, runs: &mut Vec<u32>) {
        let mut writer = RunWriter::new(runs);
        let (top, bottom) = (64 * self.blocks.start, (64 * self.blocks.end).min(size.height));
        writer.zeros(self.columns.start * size.height);
        for x in 0..self.columns.len() {
            writer.zeros(top);
            for (block, first) in (top..bottom).step_by(64).enumerate() {
                writer.bits(self.words[block * self.columns.len() + x], (bottom - first).min(64));
            }
            writer.zeros(size.height - bottom);
        }
        writer.zeros((size.width - self.columns.end) * size.height);
        writer.end();
    }
}
