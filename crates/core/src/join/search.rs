//! The inner loop: queries in the order of their own index, against the runs of boxes near them.
//!
//! Queries run in this order because it keeps what they read in the cache. Pairs are found in any order, by any number of
//! threads, and sorted afterwards (`pairs`), so the number of threads changes nothing. The index decides only what is
//! left out; each value that is kept is that of the dense formula.

use std::ops::Range;

use super::Threshold;
use super::bound::{Bound, Reference, Shares};
use super::index::{Extent, Index, Layer};
use super::pairs::{Buckets, Found};
use crate::ending::ask_after;
use crate::number::Float;
use crate::overlap::formula::{Formula, IoaFirst, IoaSecond, Iom, Iou, Measured, intersection};
use crate::overlap::single;
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
                let exact = sought.exact && layer.exact;
                let bound = if exact { bound } else { bound.intersecting() };
                if !(layer.x.sides.meets(bound.sides(sought.x.sides))
                    && layer.y.sides.meets(bound.sides(sought.y.sides)))
                {
                    continue;
                }
                if sought.huge || layer.huge {
                    one_by_one(self.search, &bound, layer, positions.clone(), self.found);
                } else {
                    in_vectors::<F::Vector<I>>(self.search, &bound, layer, exact, positions.clone(), self.found);
                }
            }
        }
    }
}

/// So many queries, which follow each other in the order of the cells, are compared with all that is near one of them.
/// To find what is near one takes as long as to compare it with a hundred boxes.
const GROUP: usize = 8;

/// If no more than this is near a group: else the queries are far from each other, or one is large, or many boxes are in
/// one place, and each query is compared with what is near it alone.
const MOST_ROWS: u64 = 8;
const MOST_BOXES: usize = 256;

/// After some groups in a row that were not near each other, so many queries in groups are not even asked.
const MOST_WAIT: usize = 32;

/// The pairs of some queries with the boxes of a layer.
///
/// No closures here: one that the compiler does not inline is compiled without the instruction set.
#[inline(always)]
fn in_vectors<V: Vector>(
    search: &Search<'_, V::Scalar>,
    bound: &Bound,
    layer: &Layer,
    exact: bool,
    positions: Range<usize>,
    found: &mut Buckets<V::Scalar>,
) {
    let Search { index, queries, threshold, .. } = search;
    let shares = Shares::new(threshold.reference, threshold.min, exact);
    let mut near = Near { list: [Block { query: 0, start: 0, lanes: 0 }; WAITING], waiting: 0 };
    let mut group = [Query { corners: [V::Scalar::ZERO; 4], share: V::Scalar::ZERO }; GROUP];
    let (mut next, mut together) = (positions.start, false);
    let (mut end_of_group, mut wait, mut groups) = (next, 1, 0);
    while next < positions.end {
        ask_after(1);
        if next == end_of_group {
            // Where the last groups were compared one by one, the next are too, for a while.
            (end_of_group, groups) = (positions.end.min(next + GROUP), groups + 1);
            together = !index.is_labelled() && groups >= wait;
        }
        let asking = next..if together { end_of_group } else { next + 1 };
        // To find what is near one query is a good part of the work where queries have labels: without a loop.
        let extent = if together {
            queries.extent(asking.clone())
        } else {
            Extent::of(queries.corners(next).map(V::Scalar::to_f64))
        };
        let runs = index.near(layer, bound, extent, queries.label(next));
        if asking.len() > 1 && !runs.are_few(MOST_ROWS, MOST_BOXES) {
            (together, wait, groups) = (false, (2 * wait).min(MOST_WAIT), 0);
            continue;
        }
        if together {
            wait = 1;
        }
        next = asking.end;
        for (query, position) in group.iter_mut().zip(asking.clone()) {
            let corners = queries.corners(position);
            *query = Query { corners, share: shares.of_query(Measured::new(corners, false).area) };
        }
        for run in runs {
            for start in run.clone().step_by(V::LANES) {
                if near.waiting + GROUP > WAITING {
                    keep_all::<V>(search, &near.list[..near.waiting], found);
                    near.waiting = 0;
                }
                // Reads past the run, or past all boxes where the columns are filled up, and ignores what it finds.
                let b = Measured::<V>::new(index.columns().load(start), false);
                let within = u32::MAX >> (u32::BITS - (run.end - start).min(V::LANES) as u32);
                let found = Block { query: asking.start as u32, start: start as u32, lanes: within };
                let (group, share) = (&group[..asking.len()], shares.of_others(b.area));
                // The choice is made here, and not again for every query: each arm is a loop of its own.
                if shares.is_smaller() {
                    near.compare(group, &b, share, true, found);
                } else {
                    near.compare(group, &b, share, false, found);
                }
            }
        }
    }
    keep_all::<V>(search, &near.list[..near.waiting], found);
}

/// The boxes of a vector that reach the threshold beside a query, or nearly.
#[derive(Clone, Copy)]
struct Block {
    query: u32,
    start: u32,
    lanes: u32,
}

/// Blocks that are not looked at yet.
struct Near {
    list: [Block; WAITING],
    waiting: usize,
}

/// What of a query is compared.
#[derive(Clone, Copy)]
struct Query<F> {
    corners: [F; 4],
    share: F,
}

impl Near {
    /// Sets aside those of the lanes that reach the threshold beside each of some queries, or nearly. `smaller`
    /// says which of two shares counts: the smaller one, or their sum.
    #[inline(always)]
    fn compare<V: Vector>(
        &mut self,
        group: &[Query<V::Scalar>],
        b: &Measured<V>,
        share: V,
        smaller: bool,
        mut block: Block,
    ) {
        let (within, mut waiting) = (block.lanes, self.waiting);
        for query in group {
            let [x1, y1, x2, y2] = splat::<V>(query.corners);
            // One side that is not negative is enough. The other box comes first: the instructions for the minimum and the
            // maximum take their second number from memory.
            let width = V::zero().max(b.x2.min(x2) - b.x1.max(x1));
            let inter = width * (b.y2.min(y2) - b.y1.max(y1));
            let own = V::splat(query.share);
            let enough = if smaller { share.min(own) } else { share + own };
            block.lanes = within & inter.at_least(enough).bits();
            self.list[waiting] = block;
            waiting += usize::from(block.lanes != 0);
            block.query += 1;
        }
        self.waiting = waiting;
    }
}

/// Blocks are set aside before each is looked at: whether one has a pair is as good as random, and a branch that is
/// mispredicted costs as much as some blocks.
const WAITING: usize = 64;

/// Keeps the pairs among them.
#[inline(always)]
fn keep_all<V: Vector>(search: &Search<'_, V::Scalar>, blocks: &[Block], found: &mut Buckets<V::Scalar>) {
    let mut values = [V::Scalar::ZERO; MAX_LANES];
    for block in blocks {
        let (query, start) = (block.query as usize, block.start as usize);
        let a = Measured::new(splat::<V>(search.queries.corners(query)), false);
        let b = Measured::new(search.index.columns().load(start), false);
        let inter = intersection(&a, &b);
        // The ratio is no smaller than the variant (IoU for GIoU) and fast in vectors.
        let ratios = match search.threshold.reference {
            Reference::Larger => Iou.value(&a, &b, inter),
            Reference::First => IoaFirst.value(&a, &b, inter),
            Reference::Second => IoaSecond.value(&a, &b, inter),
            Reference::Smaller => Iom.value(&a, &b, inter),
        };
        ratios.store(&mut values);
        let mut lanes = block.lanes & ratios.at_least(V::splat(search.threshold.min)).bits();
        while lanes != 0 {
            let k = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            keep(search, query, start + k, values[k], found);
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
        ask_after(1);
        let corners = queries.corners(position);
        let extent = Extent::of(corners.map(F::to_f64));
        for run in index.near(layer, bound, extent, queries.label(position)) {
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
#[inline(always)]
fn keep<F: Float>(search: &Search<'_, F>, query: usize, other: usize, ratio: F, found: &mut Buckets<F>) {
    let Search { index, queries, threshold, ascending } = search;
    let (row, column) = (queries.numbers[query], index.numbers[other]);
    if (*ascending && column <= row) || index.label(other) != queries.label(query) {
        return;
    }
    if threshold.variant.is_ratio() {
        return found.push(Found { row, column, value: ratio });
    }
    let value = single(threshold.variant, &queries.corners(query), &index.corners(other));
    if value >= threshold.min {
        found.push(Found { row, column, value });
    }
}
