//! The boxes of clusters, which come and move: which of them may overlap a new box enough?

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use crate::join::bound::{Bound, Interval};
use crate::memory::{Vec, granted};

/// Places of boxes, each by the powers of two of its sides and a cell of the grid that belongs to them.
#[derive(Default)]
pub(super) struct Cells {
    cells: HashMap<Place, Vec<u32>, BuildHasherDefault<Mixed>>,
    /// The sizes there are, and how many boxes of each.
    sizes: Vec<([i32; 2], usize)>,
    count: usize,
    /// Room for what [`Self::near`] looks at.
    blocks: Vec<Block>,
}

/// Neighbouring cells of one size.
struct Block {
    size: [i32; 2],
    /// From the first column to the last, and likewise rows.
    columns: [i64; 2],
    rows: [i64; 2],
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The exponents of width and height.
    size: [i32; 2],
    cell: [i64; 2],
}

impl Hash for Place {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // An array would be hashed byte by byte.
        state.write_i64((i64::from(self.size[0]) << 32) ^ i64::from(self.size[1]));
        state.write_i64(self.cell[0]);
        state.write_i64(self.cell[1]);
    }
}

/// The power of two at or below a positive side; all that is smaller than 2^-1022 is one size.
fn exponent(side: f64) -> i32 {
    (side.to_bits() >> 52) as i32 - 1023
}

fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023).clamp(1, 2046) as u64) << 52)
}

/// The cell of a corner, of twice the side's power of two. Exact but for its ends, where it stays: it never falls while
/// the corner rises.
#[inline]
fn cell(corner: f64, exponent: i32) -> i64 {
    let quotient = corner / power(exponent + 1);
    let toward_zero = quotient as i64;
    toward_zero.saturating_sub(i64::from(quotient < toward_zero as f64))
}

impl Cells {
    /// The place of a box with an area.
    pub fn place([x1, y1, x2, y2]: [f64; 4]) -> Place {
        let size = [exponent(x2 - x1), exponent(y2 - y1)];
        Place { size, cell: [cell(x1, size[0]), cell(y1, size[1])] }
    }

    pub fn insert(&mut self, place: Place, number: u32) {
        granted(self.cells.try_reserve(1));
        self.cells.entry(place).or_default().push(number);
        self.count += 1;
        match self.sizes.iter_mut().find(|(size, _)| *size == place.size) {
            Some((_, count)) => *count += 1,
            None => self.sizes.push((place.size, 1)),
        }
    }

    pub fn remove(&mut self, place: Place, number: u32) {
        let Some(numbers) = self.cells.get_mut(&place) else { return };
        let Some(at) = numbers.iter().position(|&other| other == number) else { return };
        numbers.swap_remove(at);
        if numbers.is_empty() {
            self.cells.remove(&place);
        }
        self.count -= 1;
        let at = self.sizes.iter().position(|(size, _)| *size == place.size).expect("the size of a box that is here");
        self.sizes[at].1 -= 1;
        if self.sizes[at].1 == 0 {
            self.sizes.swap_remove(at);
        }
    }

    /// Shows `see` every box that may reach the bound beside this one, and others; `false` if looking at all boxes is
    /// less work, and none was shown.
    pub fn near(&mut self, bound: &Bound, [x1, y1, x2, y2]: [f64; 4], mut see: impl FnMut(u32)) -> bool {
        let span = |corner, side, exponent: i32| {
            let sides = Interval { least: power(exponent), largest: power(exponent + 1) };
            let corners = bound.corners(Interval::only(corner), Interval::only(side), sides)?;
            Some([cell(corners.least, exponent), cell(corners.largest, exponent)])
        };
        let cells = |[first, last]: [i64; 2]| last.saturating_sub(first).saturating_add(1) as usize;
        let mut work = self.sizes.len();
        self.blocks.clear();
        for &(size, _) in &self.sizes {
            let Some(columns) = span(x1, x2 - x1, size[0]) else { continue };
            let Some(rows) = span(y1, y2 - y1, size[1]) else { continue };
            work = work.saturating_add(cells(columns).saturating_mul(cells(rows)));
            self.blocks.push(Block { size, columns, rows });
        }
        if work > self.count {
            return false;
        }
        for &Block { size, columns, rows } in &self.blocks {
            for x in columns[0]..=columns[1] {
                for y in rows[0]..=rows[1] {
                    for &number in self.cells.get(&Place { size, cell: [x, y] }).into_iter().flatten() {
                        see(number);
                    }
                }
            }
        }
        true
    }
}

/// A quick hash: the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) over each number.
#[derive(Default)]
struct Mixed(u64);

impl Mixed {
    #[inline]
    fn mix(&mut self, value: u64) {
        let mut z = (self.0 ^ value).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.0 = z ^ (z >> 31);
    }
}

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.mix(u64::from(byte));
        }
    }

    #[inline]
    fn write_i64(&mut self, value: i64) {
        self.mix(value as u64);
    }
}
