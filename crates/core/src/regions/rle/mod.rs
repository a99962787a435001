//! Masks as COCO keeps them: lengths of runs down one column after the other, beginning with a run of zeros.
//!
//! The runs here are settled: they sum to the number of pixels, and none but the first is empty. A mask without pixels
//! has one run of length 0. What pycocotools does with such runs, this does to the last bit.
//!
//! So equal masks have equal runs. `polygon` draws by COCO's rule, with its expressions for the points that matter.
//! `overlap` compares each mask in the form that fits it. Areas are whole numbers, so all forms give the same bits.

mod bits;
pub mod boundary;
pub mod merge;
pub mod overlap;
pub mod pixels;
pub mod polygon;
pub mod region;
mod spans;
pub mod string;
#[cfg(test)]
mod tests;
mod writer;

use crate::memory::{Vec, vec};
use std::fmt;

/// Positions of pixels, and their number, fit a signed 32-bit integer, as in pycocotools.
pub const MAX_PIXELS: u64 = (1 << 31) - 1;

/// Height and width in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Rows.
    pub height: u32,
    /// Columns.
    pub width: u32,
}

impl Size {
    /// The size, unless a side is negative or there are too many pixels.
    pub fn new(height: i64, width: i64) -> Result<Self, Problem> {
        let wrong = Problem::Size { height, width };
        match (u32::try_from(height), u32::try_from(width)) {
            (Ok(h), Ok(w)) if u64::from(h.max(w)) <= MAX_PIXELS && u64::from(h) * u64::from(w) <= MAX_PIXELS => {
                Ok(Self { height: h, width: w })
            }
            _ => Err(wrong),
        }
    }

    /// How many pixels, at most [`MAX_PIXELS`].
    pub fn pixels(self) -> u32 {
        self.height * self.width
    }
}

/// One mask, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct Mask<'a> {
    /// Its height and width.
    pub size: Size,
    /// Its settled runs.
    pub runs: &'a [u32],
}

/// Masks, one after the other in flat arrays.
#[derive(Clone, Copy, Debug)]
pub struct Masks<'a> {
    /// The runs of all.
    pub runs: &'a [u32],
    /// Where the runs of each begin, and where those of the last end.
    pub offsets: &'a [i64],
    /// Height and width of each.
    pub sizes: &'a [[u32; 2]],
}

impl<'a> Masks<'a> {
    /// How many masks.
    pub fn len(self) -> usize {
        self.sizes.len()
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.sizes.is_empty()
    }

    /// The mask at a position.
    pub fn get(self, index: usize) -> Mask<'a> {
        let [height, width] = self.sizes[index];
        let range = self.offsets[index] as usize..self.offsets[index + 1] as usize;
        Mask { size: Size { height, width }, runs: &self.runs[range] }
    }

    /// All of them, in order.
    pub fn iter(self) -> impl Iterator<Item = Mask<'a>> {
        (0..self.len()).map(move |index| self.get(index))
    }
}

/// Masks that own their arrays, which only grow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskList {
    /// As in [`Masks`].
    pub runs: Vec<u32>,
    /// As in [`Masks`].
    pub offsets: Vec<i64>,
    /// As in [`Masks`].
    pub sizes: Vec<[u32; 2]>,
}

impl Default for MaskList {
    fn default() -> Self {
        Self { runs: Vec::new(), offsets: vec![0], sizes: Vec::new() }
    }
}

impl MaskList {
    /// Closes a mask, whose settled runs have been appended to `runs`.
    pub fn close(&mut self, size: Size) {
        self.offsets.push(self.runs.len() as i64);
        self.sizes.push([size.height, size.width]);
    }

    /// Takes masks made apart, in order.
    pub fn extend(&mut self, masks: Vec<(Size, Vec<u32>)>) {
        self.runs.reserve(masks.iter().map(|(_, runs)| runs.len()).sum());
        for (size, runs) in masks {
            self.runs.extend_from_slice(&runs);
            self.close(size);
        }
    }

    /// Keeps the first masks.
    pub fn truncate(&mut self, count: usize) {
        self.sizes.truncate(count);
        self.offsets.truncate(count + 1);
        self.runs.truncate(self.offsets.last().map_or(0, |&end| end as usize));
    }

    /// Moves the masks of another list to the end.
    pub fn append(&mut self, mut other: Self) {
        let shift = self.runs.len() as i64;
        self.runs.append(&mut other.runs);
        self.offsets.extend(other.offsets[1..].iter().map(|offset| offset + shift));
        self.sizes.append(&mut other.sizes);
    }

    /// The same, borrowed.
    pub fn view(&self) -> Masks<'_> {
        Masks { runs: &self.runs, offsets: &self.offsets, sizes: &self.sizes }
    }
}

/// Appends `counts` to `out` without their empty runs, if they sum to the pixels of `size`.
pub fn settle(counts: &[u32], size: Size, out: &mut Vec<u32>) -> Result<(), Problem> {
    let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    if total != u64::from(size.pixels()) {
        return Err(Problem::Sum { total, size });
    }
    let (&first, rest) = counts.split_first().unwrap_or((&0, &[]));
    if !rest.contains(&0) {
        out.push(first);
        out.extend_from_slice(rest);
        return Ok(());
    }
    out.push(first);
    let mut ones = false; // what the last run of `out` holds
    for (position, &count) in rest.iter().enumerate() {
        if count > 0 {
            if (position % 2 == 0) == ones {
                *out.last_mut().expect("the first run is there") += count;
            } else {
                out.push(count);
                ones = !ones;
            }
        }
    }
    Ok(())
}

/// What keeps something from being a mask.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// A side below 0, or too many pixels.
    Size {
        /// As given.
        height: i64,
        /// As given.
        width: i64,
    },
    /// Runs that do not cover the mask, or reach beyond it.
    Sum {
        /// Of all runs.
        total: u64,
        /// Of the mask.
        size: Size,
    },
    /// A run below 0, or beyond 32 bits.
    Count {
        /// Of the run.
        position: usize,
        /// Its length.
        value: i64,
    },
    /// A byte that the compressed form does not use.
    Byte {
        /// In the string.
        position: usize,
        /// The byte.
        byte: u8,
    },
    /// A string that ends within a number.
    Cut,
    /// A number of more digits than a run can have.
    Long {
        /// Of its first byte.
        position: usize,
    },
    /// A coordinate that is no number, or too large for pixels.
    Coordinate {
        /// Among the numbers of the polygon.
        position: usize,
        /// As given.
        value: f64,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size { height, width } => write!(
                f,
                "the size must be a height and a width of at least 0 with at most 2**31 - 1 pixels, got {height} x {width}"
            ),
            Self::Sum { total, size: Size { height, width } } => write!(
                f,
                "the counts sum to {total}, but {height} x {width} (height x width) are {} pixels",
                u64::from(*height) * u64::from(*width)
            ),
            Self::Count { position, value } => {
                write!(f, "counts[{position}] is {value}, expected a length from 0 to 2**32 - 1")
            }
            Self::Byte { position, byte } => write!(
                f,
                "byte {position} of the compressed counts is {byte:#04x}, expected an ASCII character from '0' to 'o'"
            ),
            Self::Cut => write!(f, "the compressed counts end within a number"),
            Self::Long { position } => {
                write!(f, "the number at byte {position} of the compressed counts has more than 7 digits")
            }
            Self::Coordinate { position, value } => {
                write!(f, "coordinate {position} is {value}, expected a finite number within 2**27")
            }
        }
    }
}
