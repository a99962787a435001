//! The boxes of an index that overlap a box above a threshold.

use std::ops::ControlFlow;

use crate::float::Float;
use crate::join::Index;
use crate::join::bound::{Bound, Reference};
use crate::overlap::formula::{Iou, Measured, intersection};
use crate::overlap::simd::MAX_LANES;
use crate::overlap::{Variant, is_huge, single};

/// What makes two boxes overlap: the value of the box that asks and the other, in this order, is at least `min`.
#[derive(Clone, Copy)]
pub struct Query<F> {
    pub variant: Variant,
    pub reference: Reference,
    /// Above 0.
    pub min: F,
}

/// What a ratio of areas divides by, as its formula computes it.
pub trait Divisor: Copy + Sync {
    fn of<F: Float>(self, a: &Measured<F>, b: &Measured<F>, inter: F) -> F;
}

macro_rules! divisor {
    ($name:ident, |$a:ident, $b:ident, $inter:ident| $value:expr) => {
        #[derive(Clone, Copy)]
        pub struct $name;
        impl Divisor for $name {
            #[inline(always)]
            #[allow(unused_variables)]
            fn of<F: Float>(self, $a: &Measured<F>, $b: &Measured<F>, $inter: F) -> F {
                $value
            }
        }
    };
}
divisor!(Union, |a, b, inter| (a.area + b.area) - inter);
divisor!(First, |a, b, inter| a.area);
divisor!(Second, |a, b, inter| b.area);
divisor!(Smaller, |a, b, inter| crate::float::min(a.area, b.area));

/// Runs a kernel with the divisor of a reference.
macro_rules! with_divisor {
    ($reference:expr, $divisor:ident => $run:expr) => {
        match $reference {
            Reference::Larger => {
                let $divisor = crate::nms::nearby::Union;
                $run
            }
            Reference::First => {
                let $divisor = crate::nms::nearby::First;
                $run
            }
            Reference::Second => {
                let $divisor = crate::nms::nearby::Second;
                $run
            }
            Reference::Smaller => {
                let $divisor = crate::nms::nearby::Smaller;
                $run
            }
        }
    };
}
pub(super) use with_divisor;

/// A part such that no intersection below `part * divisor` has a quotient of at least `min`.
///
/// The division errs by less than one epsilon of `min`, and rounding the product cannot lift it above the intersection,
/// which is a number of the same type. A `min` of less than full precision has no such part but 0.
pub fn safe_part<F: Float>(min: F) -> F {
    let tiny = min.to_f64() < 4.0 * F::MIN_POSITIVE.to_f64();
    if tiny { F::ZERO } else { F::from_f64(min.to_f64() * (1.0 - 3.0 * F::EPSILON.to_f64())) }
}

/// The lanes as bits.
#[inline(always)]
pub fn lanes<const L: usize>(near: &[bool; L]) -> u32 {
    let mut bits = [0_u32; L];
    for k in 0..L {
        bits[k] = if near[k] { 1 << k } else { 0 };
    }
    bits.iter().fold(0, |all, bit| all | bit)
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

/// Looks at each box that may overlap, until it breaks.
pub trait Visitor {
    /// Only boxes with a lower number matter from here on.
    fn limit(&self) -> u32;
    /// A box at this position that nearly overlaps or does.
    fn visit(&mut self, position: usize) -> ControlFlow<()>;
}

impl<'a, F: Float> Space<'a, F> {
    pub fn new(index: &'a Index<F>, query: Query<F>) -> Self {
        let mut ranks = index.numbers.clone();
        ranks.resize(ranks.len() + MAX_LANES, u32::MAX);
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
    pub fn visit<D: Divisor, V: Visitor, const L: usize>(
        &self,
        divisor: D,
        corners: [F; 4],
        exact: bool,
        label: Option<i64>,
        visitor: &mut V,
    ) -> ControlFlow<()> {
        // Of one length, so that one check serves all.
        let ranks = self.ranks.as_slice();
        let [x1, y1, x2, y2] = &self.index.columns;
        let (x1, y1, x2, y2) = (&x1[..ranks.len()], &y1[..ranks.len()], &x2[..ranks.len()], &y2[..ranks.len()]);
        let a = Measured::new::<Iou>(corners);
        let huge = is_huge(&corners);
        for layer in &self.index.layers {
            let bound = if exact && layer.exact { self.bound } else { self.bound.intersecting() };
            for run in self.index.near(layer, &bound, corners.map(F::to_f64), label) {
                if huge || layer.huge {
                    one_by_one(ranks, run, visitor)?;
                    continue;
                }
                let mut start = run.start;
                while start < run.end {
                    // Reads past the run and ignores what it finds.
                    let x1: &[F; L] = x1[start..].first_chunk().expect("filled up");
                    let y1: &[F; L] = y1[start..].first_chunk().expect("filled up");
                    let x2: &[F; L] = x2[start..].first_chunk().expect("filled up");
                    let y2: &[F; L] = y2[start..].first_chunk().expect("filled up");
                    let rank: &[u32; L] = ranks[start..].first_chunk().expect("filled up");
                    let limit = visitor.limit();
                    let mut near = [false; L];
                    let mut any = false;
                    for k in 0..L {
                        let b = Measured::new::<Iou>([x1[k], y1[k], x2[k], y2[k]]);
                        let inter = intersection(&a, &b);
                        let enough = self.part * divisor.of(&a, &b, inter);
                        near[k] = (inter > F::ZERO) & (inter >= enough) & (rank[k] < limit);
                        any |= near[k];
                    }
                    if !any {
                        start += L;
                        continue;
                    }
                    let within = u32::MAX >> (u32::BITS - (run.end - start).min(L) as u32);
                    let mut lanes = within & lanes(&near);
                    while lanes != 0 {
                        visitor.visit(start + lanes.trailing_zeros() as usize)?;
                        lanes &= lanes - 1;
                    }
                    start += L;
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// The same for boxes whose squares may overflow.
#[cold]
#[inline(never)]
fn one_by_one(ranks: &[u32], run: std::ops::Range<usize>, visitor: &mut impl Visitor) -> ControlFlow<()> {
    for position in run {
        if ranks[position] < visitor.limit() {
            visitor.visit(position)?;
        }
    }
    ControlFlow::Continue(())
}
