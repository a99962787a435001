//! How much do masks of one size overlap?
//!
//! Most objects have few runs per column: these are compared as spans of rows, vectors of columns at a time (`spans`).
//! Noise has many: it is compared as bits (`bits`). The rest is compared run by run. The choice is one of speed alone,
//! since areas are whole numbers.

use super::bits::Bits;
use super::spans::{self, Layer};
use super::{Mask, Masks};
use crate::memory::{Vec, vec};
use crate::overlap::areas::AreaMeasure;
use crate::simd::{self, InstructionSet, Kernel, Level};
use crate::threads::{each, fill, map};

/// A mask whose bits take more words than this for each run is compared by runs: bits would be slower, and take much
/// more memory.
const WORDS_PER_RUN: u64 = 32;
/// The bits of one set take no more words than these at a time, 128 MB: its masks come in parts.
const MAX_WORDS: usize = 1 << 24;
/// But so many masks at least.
const MIN_PART: usize = 64;
/// So few pairs are computed before a second thread has begun.
const PAIRS_FOR_THREADS: usize = 512;

/// A mask and what the comparison with any other needs to know.
struct Prepared<'a> {
    mask: Mask<'a>,
    /// Least x and y, and largest, of the pixels: empty if the mask is.
    left: u32,
    top: u32,
    right: u32,
    bottom: u32,
    area: f64,
    form: Form,
}

/// What a mask is compared by.
enum Form {
    /// Few spans a column, as objects have.
    Spans(Vec<Layer>),
    /// Many, as noise has.
    Bits(Bits),
    /// Neither is worthwhile.
    Runs,
}

impl<'a> Prepared<'a> {
    fn new(mask: Mask<'a>) -> Self {
        let bounds @ [x, y, width, height] = mask.bounds();
        let form = match spans::layers(mask) {
            Some(layers) => Form::Spans(layers),
            None if Bits::count(bounds) <= WORDS_PER_RUN * mask.runs.len() as u64 => Form::Bits(Bits::of(mask, bounds)),
            None => Form::Runs,
        };
        Self { mask, left: x, top: y, right: x + width, bottom: y + height, area: f64::from(mask.area()), form }
    }

    #[inline(always)]
    fn meets(&self, other: &Self) -> bool {
        (self.left < other.right) & (other.left < self.right) & (self.top < other.bottom) & (other.top < self.bottom)
    }

    /// Pixels of both, which meet.
    #[inline(always)]
    fn intersection(&self, other: &Self) -> f64 {
        match (&self.form, &other.form) {
            (Form::Spans(first), Form::Spans(second)) => f64::from(spans::common(first, second)),
            (Form::Bits(first), Form::Bits(second)) => common_bits(first, second) as f64,
            _ => f64::from(common_runs(self.mask.runs, other.mask.runs)),
        }
    }
}

/// How many bits both have, where both have words.
#[inline(always)]
fn common_bits(first: &Bits, second: &Bits) -> u64 {
    let left = first.columns.start.max(second.columns.start);
    let columns = first.columns.end.min(second.columns.end).saturating_sub(left) as usize;
    let blocks = first.blocks.start.max(second.blocks.start)..first.blocks.end.min(second.blocks.end);
    let mut count = 0;
    for block in blocks {
        let words = |bits: &Bits| {
            (block - bits.blocks.start) as usize * bits.columns.len() + (left - bits.columns.start) as usize
        };
        let (a, b) = (words(first), words(second));
        let (a, b) = (&first.words[a..a + columns], &second.words[b..b + columns]);
        for (a, b) in a.iter().zip(b) {
            count += u64::from((a & b).count_ones());
        }
    }
    count
}

/// How many pixels both have: the run that ends first is done with.
pub fn common_runs(first: &[u32], second: &[u32]) -> u32 {
    let (mut a, mut b) = (first.chunks_exact(2), second.chunks_exact(2));
    let next = |runs: &mut std::slice::ChunksExact<'_, u32>, end: u32| {
        runs.next().map(|pair| (end + pair[0], end + pair[0] + pair[1]))
    };
    let (mut run_a, mut run_b) = (next(&mut a, 0), next(&mut b, 0));
    let mut count = 0;
    while let (Some((start_a, end_a)), Some((start_b, end_b))) = (run_a, run_b) {
        count += end_a.min(end_b).saturating_sub(start_a.max(start_b));
        if end_a <= end_b {
            run_a = next(&mut a, end_a);
        } else {
            run_b = next(&mut b, end_b);
        }
    }
    count
}

/// One row of the table.
struct Row<'a, 'm> {
    measure: AreaMeasure,
    first: &'a Prepared<'m>,
    second: &'a [Prepared<'m>],
    crowd: Option<&'a [bool]>,
    out: &'a mut [f64],
}

impl Kernel for Row<'_, '_> {
    #[inline(always)]
    fn run<I: InstructionSet>(self) {
        for (column, (second, out)) in self.second.iter().zip(self.out).enumerate() {
            let common = if self.first.meets(second) { self.first.intersection(second) } else { 0.0 };
            let crowd = self.crowd.is_some_and(|crowd| crowd[column]);
            let measure = if crowd { AreaMeasure::IoaFirst } else { self.measure };
            *out = measure.of(common, self.first.area, second.area);
        }
    }
}

/// Which masks are crowds: theirs is the intersection over the area of the other.
#[derive(Clone, Copy, Debug)]
pub enum Crowd<'a> {
    /// None.
    No,
    /// Some of the first set.
    First(&'a [bool]),
    /// Some of the second set.
    Second(&'a [bool]),
}

/// Fills `out` (N, M) with the overlaps of all masks of both sets, which are of one size.
pub fn pairwise(
    measure: AreaMeasure,
    first: Masks<'_>,
    second: Masks<'_>,
    crowd: Crowd<'_>,
    out: &mut [f64],
    threads: usize,
) {
    if out.is_empty() {
        return;
    }
    let level = Level::best();
    let columns = second.len();
    let words = second.get(0).size.pixels().div_ceil(64) as usize;
    let part = (MAX_WORDS / words.max(1)).max(MIN_PART);
    let row = |second: &[Prepared<'_>], from: usize, (index, out): (usize, &mut [f64])| {
        let out = &mut out[from..from + second.len()];
        let first = &Prepared::new(first.get(index));
        let (measure, crowd) = match crowd {
            Crowd::First(crowd) if crowd[index] => (AreaMeasure::IoaSecond, None),
            Crowd::Second(crowd) => (measure, Some(&crowd[from..])),
            _ => (measure, None),
        };
        simd::run(level, Row { measure, first, second, crowd, out });
    };
    let threads = if out.len() < PAIRS_FOR_THREADS { 1 } else { threads };
    for from in (0..columns).step_by(part) {
        let count = part.min(columns - from);
        let second = map(0..count, threads, |index| Prepared::new(second.get(from + index)));
        each(out.chunks_mut(columns).enumerate(), threads, |item| row(&second, from, item));
    }
}

/// The overlaps of pairs of masks of one size, given by the positions of both in their sets.
pub fn pairs(
    measure: AreaMeasure,
    first: Masks<'_>,
    second: Masks<'_>,
    rows: &[i64],
    columns: &[i64],
    threads: usize,
) -> Vec<f64> {
    let level = Level::best();
    // Only masks that occur are prepared, and each once.
    let (first, second) = (wanted(first, rows, threads), wanted(second, columns, threads));
    let mut out = vec![0.0; rows.len()];
    fill(&mut out, PAIRS_FOR_THREADS, threads, &|start, out| {
        let [rows, columns] = [rows, columns].map(|positions| &positions[start..][..out.len()]);
        simd::run(level, Pairs { measure, first: &first, second: &second, rows, columns, out });
    });
    out
}

/// The masks at these positions, prepared.
fn wanted<'a>(masks: Masks<'a>, positions: &[i64], threads: usize) -> Vec<Option<Prepared<'a>>> {
    let mut wanted = vec![false; masks.len()];
    positions.iter().for_each(|&position| wanted[position as usize] = true);
    map(0..masks.len(), threads, |index| wanted[index].then(|| Prepared::new(masks.get(index))))
}

/// Some pairs.
struct Pairs<'a, 'm> {
    measure: AreaMeasure,
    first: &'a [Option<Prepared<'m>>],
    second: &'a [Option<Prepared<'m>>],
    rows: &'a [i64],
    columns: &'a [i64],
    out: &'a mut [f64],
}

impl Kernel for Pairs<'_, '_> {
    #[inline(always)]
    fn run<I: InstructionSet>(self) {
        for ((&row, &column), out) in self.rows.iter().zip(self.columns).zip(self.out) {
            if let (Some(first), Some(second)) = (&self.first[row as usize], &self.second[column as usize]) {
                let common = if first.meets(second) { first.intersection(second) } else { 0.0 };
                *out = self.measure.of(common, first.area, second.area);
            }
        }
    }
}

/// The overlap of each mask of one set with the mask at its place in the other, which has its size.
pub fn elementwise(measure: AreaMeasure, first: Masks<'_>, second: Masks<'_>, threads: usize) -> Vec<f64> {
    // A mask that is compared once is not worth its bits.
    let one = |index| {
        let (first, second) = (first.get(index), second.get(index));
        let common = common_runs(first.runs, second.runs);
        measure.of(f64::from(common), f64::from(first.area()), f64::from(second.area()))
    };
    map(0..first.len(), if first.len() < PAIRS_FOR_THREADS { 1 } else { threads }, one)
}
