//! The inner loop: queries in the order of their own index, against the runs of boxes near them.

use std::ops::Range;

use super::Threshold;
use super::bound::{Bound, Reference};
use super::index::{Columns, Index, Layer};
use super::pairs::{Buckets, Found};
use crate::float::Float;
use crate::overlap::formula::{Formula, IoaFirst, IoaSecond, Iom, Iou, Measured, intersection};
use crate::overlap::{Variant, single};
use crate::simd::{self, InstructionSet, Kernel, Level, MAX_LANES, Mask, Vector, splat};

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
        simd::run(level, Part { search: self, queries, found });
    }
}

/// A part of the queries.
struct Part<'a, F> {
    search: &'a Search<'a, F>,
    queries: Range<usize>,
    found: &'a mut Buckets<F>,
}

impl<F: Float> Kernel for Part<'_, F> {
    #[inline(always)]
    fn run<I: InstructionSet>(self) {
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
                    in_vectors::<F::Vector<I>>(self.search, &bound, layer, positions.clone(), self.found);
                }
            }
        }
    }
}

/// The pairs of some queries with the boxes of a layer.
///
/// No closures here: one that the compiler does not inline is compiled without the instruction set.
#[inline(always)]
fn in_vectors<V: Vector>(
    search: &Search<'_, V::Scalar>,
    bound: &Bound,
    layer: &Layer,
    positions: Range<usize>,
    found: &mut Buckets<V::Scalar>,
) {
    let hit = Hit { query: 0, start: 0, lanes: 0, values: [V::Scalar::ZERO; MAX_LANES] };
    let columns = search.index.columns();
    let mut hits = Hits { list: [hit; WAITING], waiting: 0 };
    for position in positions {
        let corners = search.queries.corners(position);
        let a = Measured::new(splat::<V>(corners), false);
        let (corners, label) = (corners.map(V::Scalar::to_f64), search.queries.label(position));
        for run in search.index.near(layer, bound, corners, label) {
            scan(search, (position, &a, columns), run, &mut hits, found);
        }
    }
    keep_all(search, &hits.list[..hits.waiting], found);
}

/// One query against a run of boxes.
#[inline(always)]
fn scan<V: Vector>(
    search: &Search<'_, V::Scalar>,
    (position, a, columns): (usize, &Measured<V>, Columns<'_, V::Scalar>),
    run: Range<usize>,
    hits: &mut Hits<V::Scalar>,
    found: &mut Buckets<V::Scalar>,
) {
    let min = V::splat(search.threshold.min);
    let mut start = run.start;
    while start < run.end {
        // Reads past the run, or past all boxes where the columns are filled up, and ignores what it finds.
        let b = Measured::new(columns.load(start), false);
        let inter = intersection(a, &b);
        // The ratio is no smaller than the variant (IoU for GIoU) and fast in vectors.
        let values = match search.threshold.reference {
            Reference::Larger => Iou.value(a, &b, inter),
            Reference::First => IoaFirst.value(a, &b, inter),
            Reference::Second => IoaSecond.value(a, &b, inter),
            Reference::Smaller => Iom.value(a, &b, inter),
        };
        let within = u32::MAX >> (u32::BITS - (run.end - start).min(V::LANES) as u32);
        let lanes = within & values.at_least(min).bits();
        let hit = &mut hits.list[hits.waiting];
        (hit.query, hit.start, hit.lanes) = (position as u32, start as u32, lanes);
        values.store(&mut hit.values);
        hits.waiting += usize::from(lanes != 0);
        if hits.waiting == WAITING {
            keep_all(search, &hits.list, found);
            hits.waiting = 0;
        }
        start += V::LANES;
    }
}

/// The lanes of a vector whose ratio reaches the threshold.
#[derive(Clone, Copy)]
struct Hit<F> {
    query: u32,
    start: u32,
    lanes: u32,
    values: [F; MAX_LANES],
}

/// Hits that are not looked at yet.
struct Hits<F> {
    list: [Hit<F>; WAITING],
    waiting: usize,
}

/// Hits are set aside before each is looked at: whether a block has any is as good as random, and a branch that is
/// mispredicted would wait for a division.
const WAITING: usize = 32;

#[inline(never)]
fn keep_all<F: Float>(search: &Search<'_, F>, hits: &[Hit<F>], found: &mut Buckets<F>) {
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
