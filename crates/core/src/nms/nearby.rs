//! The boxes of an index that overlap a box above a threshold.

use std::ops::{ControlFlow, Range};

use crate::join::Index;
use crate::join::bound::{Bound, Reference, divisor, safe_part};
use crate::join::index::{Columns, Extent};
use crate::memory::Vec;
use crate::number::Float;
use crate::overlap::formula::{Measured, intersection};
use crate::overlap::{Variant, is_huge, single};
use crate::simd::{MAX_LANES, Mask, Vector, splat};

/// What makes two boxes overlap: the value of the box that asks and the other, in this order, is at least `min`.
#[derive(Clone, Copy)]
pub struct Query<F> {
    pub variant: Variant,
    pub reference: Reference,
    /// Above 0.
    pub min: F,
}

/// Boxes in the order of an index, of which the lower number is the better.
pub struct Space<'a, F> {
    pub index: &'a Index<F>,
    /// The number of each box, filled up so that a vector can be read anywhere.
    pub ranks: Vec<u32>,
    query: Query<F>,
    bound: Bound,
    part: F,
}

/// Above every rank.
pub const NO_LIMIT: u32 = u32::MAX >> 1;

/// Looks at each box that may overlap, until it breaks.
pub trait Visitor {
    /// Only boxes with a lower number matter from here on; at most [`NO_LIMIT`].
    fn limit(&self) -> u32;
    /// A box at this position that nearly overlaps or does.
    fn visit(&mut self, position: usize) -> ControlFlow<()>;
}

impl<'a, F: Float> Space<'a, F> {
    pub fn new(index: &'a Index<F>, query: Query<F>) -> Self {
        let mut ranks = index.numbers.clone();
        ranks.resize(ranks.len() + MAX_LANES, NO_LIMIT);
        let bound = Bound::new(query.reference, query.min);
        Self { index, ranks, query, bound, part: safe_part(query.min) }
    }

    /// The overlap of a box that asks with the one at a position, if it reaches the threshold.
    #[inline]
    pub fn overlap(&self, corners: &[F; 4], label: Option<i64>, position: usize) -> Option<F> {
        if self.index.label(position) != label {
            return None;
        }
        let value = single(self.query.variant, corners, &self.index.corners(position));
        (value >= self.query.min).then_some(value)
    }

    /// Shows the visitor the boxes that may overlap one with these corners.
    ///
    /// No closures here: one that the compiler does not inline is compiled without the instruction set.
    #[inline(always)]
    pub fn visit<V: Vector<Scalar = F>>(
        &self,
        corners: [F; 4],
        exact: bool,
        label: Option<i64>,
        visitor: &mut impl Visitor,
    ) -> ControlFlow<()> {
        let a = Measured::new(splat(corners), false);
        let scan = Scan { columns: self.index.columns(), ranks: &self.ranks, part: V::splat(self.part), a };
        let (huge, extent) = (is_huge(&corners), Extent::of(corners.map(F::to_f64)));
        for layer in &self.index.layers {
            let bound = if exact && layer.exact { self.bound } else { self.bound.intersecting() };
            for run in self.index.near(layer, &bound, extent, label) {
                if huge || layer.huge {
                    one_by_one(&self.ranks, run, visitor)?;
                    continue;
                }
                scan.run(self.query.reference, run, visitor)?;
            }
        }
        ControlFlow::Continue(())
    }
}

/// What the inner loop reads: nothing that the visitor could write.
struct Scan<'a, V: Vector> {
    columns: Columns<'a, V::Scalar>,
    ranks: &'a [u32],
    part: V,
    /// The box that asks.
    a: Measured<V>,
}

impl<V: Vector> Scan<'_, V> {
    /// Shows the visitor the boxes of a run that may overlap.
    #[inline(always)]
    fn run(&self, reference: Reference, run: Range<usize>, visitor: &mut impl Visitor) -> ControlFlow<()> {
        let mut start = run.start;
        while start < run.end {
            // Reads past the run and ignores what it finds.
            let b = Measured::new(self.columns.load(start), false);
            let inter = intersection(&self.a, &b);
            let near = inter.is_positive() & inter.at_least(self.part * divisor(reference, &self.a, &b, inter));
            let mut lanes = near.bits() & V::below(&self.ranks[start..], visitor.limit());
            if lanes != 0 {
                lanes &= u32::MAX >> (u32::BITS - (run.end - start).min(V::LANES) as u32);
                while lanes != 0 {
                    visitor.visit(start + lanes.trailing_zeros() as usize)?;
                    lanes &= lanes - 1;
                }
            }
            start += V::LANES;
        }
        ControlFlow::Continue(())
    }
}

/// The same for boxes whose squares may overflow.
#[cold]
#[inline(never)]
fn one_by_one(ranks: &[u32], run: Range<usize>, visitor: &mut impl Visitor) -> ControlFlow<()> {
    for position in run {
        if ranks[position] < visitor.limit() {
            visitor.visit(position)?;
        }
    }
    ControlFlow::Continue(())
}
