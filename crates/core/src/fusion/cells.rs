//! The boxes of clusters, which come and move: which of them may overlap a new box enough?

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::join::bound::{Bound, Interval};

/// Places of boxes, each by the powers of two of its sides and a cell of the grid that belongs to them.
#[derive(Default)]
pub(super) struct Cells {
    cells: HashMap<Place, Vec<u32>, BuildHasherDefault<Mixed>>,
    /// The sizes there are, and how many boxes of each.
    sizes: Vec<([i32; 2], usize)>,
    count: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Place {
    /// The exponents of width and height.
    size: [i32; 2],
    cell: [i64; 2],
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
fn cell(corner: f64, exponent: i32) -> i64 {
    (corner / power(exponent + 1)).floor() as i64
}

impl Cells {
    /// The place of a box with an area.
    pub fn place([x1, y1, x2, y2]: [f64; 4]) -> Place {
        let size = [exponent(x2 - x1), exponent(y2 - y1)];
        Place { size, cell: [cell(x1, size[0]), cell(y1, size[1])] }
    }

    pub fn insert(&mut self, place: Place, number: u32) {
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
    pub fn near(&self, bound: &Bound, [x1, y1, x2, y2]: [f64; 4], mut see: impl FnMut(u32)) -> bool {
        let spans = |size: [i32; 2]| {
            let span = |corner, side, exponent: i32| {
                let sides = Interval { least: power(exponent), largest: power(exponent + 1) };
                let corners = bound.corners(corner, side, sides)?;
                Some([cell(corners.least, exponent), cell(corners.largest, exponent)])
            };
            Some([span(x1, x2 - x1, size[0])?, span(y1, y2 - y1, size[1])?])
        };
        let cells = |[first, last]: [i64; 2]| last.saturating_sub(first).saturating_add(1) as usize;
        let mut work = self.sizes.len();
        for [columns, rows] in self.sizes.iter().filter_map(|&(size, _)| spans(size)) {
            work = work.saturating_add(cells(columns).saturating_mul(cells(rows)));
        }
        if work > self.count {
            return false;
        }
        for &(size, _) in &self.sizes {
            let Some([columns, rows]) = spans(size) else { continue };
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

    fn write_i32(&mut self, value: i32) {
        self.mix(u64::from(value as u32));
    }

    fn write_i64(&mut self, value: i64) {
        self.mix(value as u64);
    }

    fn write_usize(&mut self, _length: usize) {} // of arrays, which are all of one length
}
