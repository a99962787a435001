//! The inner loop: queries in the order of their own index, against the runs of boxes near them.

use std::ops::Range;

use super::Threshold;
use super::bound::{Bound, Reference};
use super::index::{Index, Layer};
use super::pairs::{Buckets, Found};
use crate::float::Float;
use crate::overlap::formula::{Formula, IoaFirst, IoaSecond, Iom, Iou, Measured, intersection};
use crate::overlap::simd::{self, InstructionSet, Kernel};
use crate::overlap::{Level, Variant, single};

/// What is searched for, and where.
pub(super) struct Search<'a, F> {
    pub index: &'a Index<F>,
    pub queries: &'a Index<F>,
    pub threshold: Threshold<F>,
    /// Only pairs whose column is larger than their row.
    pub ascending: bool,
}

impl<F: Float> Search<'_, F> {
    /// The pairs of the queries at these positions of their index.
    pub fn run(&self, level: Level, queries: Range<usize>, found: &mut Buckets<F>) {
        match self.threshold.reference {
            Reference::Larger => simd::run(level, Part { search: self, queries, found, ratio: Iou }),
            Reference::First => simd::run(level, Part { search: self, queries, found, ratio: IoaFirst }),
            Reference::Second => simd::run(level, Part { search: self, queries, found, ratio: IoaSecond }),
            Reference::Smaller => simd::run(level, Part { search: self, queries, found, ratio: Iom }),
        }
    }
}

/// A part of the queries, by the ratio that is no smaller than the variant (IoU for GIoU) and fast in vectors.
struct Part<'a, V, F> {
    search: &'a Search<'a, F>,
    queries: Range<usize>,
    found: &'a mut Buckets<F>,
    ratio: V,
}

impl<V: Formula, F: Float> Kernel for Part<'_, V, F> {
    #[inline(always)]
    fn run<I: InstructionSet, const L: usize>(self) {
        let Search { index, queries, threshold, .. } = self.search;
        let bound = Bound::new(threshold.reference, threshold.min);
        let after = queries.layers.partition_point(|layer| layer.boxes.end <= self.queries.start);
        for sought in &queries.layers[after..] {
            let positions = sought.boxes.start.max(self.queries.start)..sought.boxes.end.min(self.queries.end);
            if positions.is_empty() {
                break;
            }
            // One pair of layers after the other: what it decides is decided once, and the runs follow each other.
            for layer in &index.layers {
                let bound = if sought.exact && layer.exact { bound } else { bound.intersecting() };
                if !(layer.x.sides.meets(bound.sides(sought.x.sides))
                    && layer.y.sides.meets(bound.sides(sought.y.sides)))
                {
                    continue;
                }
                if sought.huge || layer.huge {
                    one_by_one(self.search, &bound, layer, positions.clone(), self.found);
                } else {
                    in_vectors::<V, F, L>(self.ratio, self.search, &bound, layer, positions.clone(), self.found);
                }
            }
        }
    }
}

/// The pairs of some queries with the boxes of a layer.
///
/// No closures here: one that the compiler does not inline is compiled without the instruction set.
#[inline(always)]
fn in_vectors<V: Formula, F: Float, const L: usize>(
    ratio: V,
    search: &Search<'_, F>,
    bound: &Bound,
    layer: &Layer,
    positions: Range<usize>,
    found: &mut Buckets<F>,
) {
    let min = search.threshold.min;
    let [x1, y1, x2, y2] = search.index.columns.each_ref().map(Vec::as_slice);
    let mut hits = [Hits { query: 0, start: 0, lanes: 0, values: [F::ZERO; L] }; WAITING];
    let mut waiting = 0;
    for position in positions {
        let corners = search.queries.corners(position);
        let a = Measured::new::<V>(corners);
        for run in search.index.near(layer, bound, corners.map(F::to_f64), search.queries.label(position)) {
            let mut start = run.start;
            while start < run.end {
                // Reads past the run, or past all boxes where the columns are filled up, and ignores what it finds.
                let block = |column: &'_ [F]| -> [F; L] { *column[start..].first_chunk().expect("filled up") };
                let (x1, y1, x2, y2) = (block(x1), block(y1), block(x2), block(y2));
                let (mut values, mut bits) = ([F::ZERO; L], [0_u32; L]);
                for k in 0..L {
                    let b = Measured::new::<V>([x1[k], y1[k], x2[k], y2[k]]);
                    values[k] = ratio.value(&a, &b, intersection(&a, &b));
                    bits[k] = if values[k] >= min { 1 << k } else { 0 };
                }
                let within = u32::MAX >> (u32::BITS - (run.end - start).min(L) as u32);
                let lanes = within & bits.iter().fold(0, |all, bit| all | bit);
                hits[waiting] = Hits { query: position as u32, start: start as u32, lanes, values };
                waiting += usize::from(lanes != 0);
                if waiting == WAITING {
                    keep_all(search, &hits, found);
                    waiting = 0;
                }
                start += L;
            }
        }
    }
    keep_all(search, &hits[..waiting], found);
}

/// The lanes of a block whose ratio reaches the threshold.
#[derive(Clone, Copy)]
struct Hits<F, const L: usize> {
    query: u32,
    start: u32,
    lanes: u32,
    values: [F; L],
}

/// Hits are set aside before each is looked at: whether a block has any is as good as random, and a branch that is
/// mispredicted would wait for a division.
const WAITING: usize = 32;

#[inline(never)]
fn keep_all<F: Float, const L: usize>(search: &Search<'_, F>, hits: &[Hits<F, L>], found: &mut Buckets<F>) {
    for hit in hits {
        let mut lanes = hit.lanes;
        while lanes != 0 {
            let k = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            keep(search, hit.query as usize, hit.start as usize + k, hit.values[k], found);
        }
    }
}

/// The same for boxes whose squares may overflow.
#[cold]
fn one_by_one<F: Float>(
    search: &Search<'_, F>,
    bound: &Bound,
    layer: &Layer,
    positions: Range<usize>,
    found: &mut Buckets<F>,
) {
    let Search { index, queries, threshold, .. } = search;
    for position in positions {
        let corners = queries.corners(position);
        for run in index.near(layer, bound, corners.map(F::to_f64), queries.label(position)) {
            for other in run {
                let value = single(threshold.variant, &corners, &index.corners(other));
                if value >= threshold.min {
                    keep(search, position, other, value, found);
                }
            }
        }
    }
}

/// Keeps a pair whose ratio reaches the threshold, if all else is right too.
#[inline]
fn keep<F: Float>(search: &Search<'_, F>, query: usize, other: usize, ratio: F, found: &mut Buckets<F>) {
    let Search { index, queries, threshold, ascending } = search;
    let (row, column) = (queries.numbers[query], index.numbers[other]);
    if (*ascending && column <= row) || index.label(other) != queries.label(query) {
        return;
    }
    let value = match threshold.variant {
        variant @ (Variant::Giou | Variant::Diou | Variant::Ciou) => {
            single(variant, &queries.corners(query), &index.corners(other))
        }
        _ => ratio,
    };
    if value >= threshold.min {
        found.of_rows[(row >> found.shift) as usize].push(Found { row, column, value });
    }
}
