//! The inner loops of the dense overlaps: a vector of values at a time.
//!
//! A formula stands in each loop once. Every copy costs the time to compile it, for every instruction set.

use super::columns::Columns;
use super::formula::{Formula, Measured, intersection};
use crate::float::Float;
use crate::simd::{InstructionSet, Kernel, MAX_LANES, Vector};

/// Part of a table: the values from `start` on, counted row by row, of `rows` x `columns`.
pub struct TablePart<'a, V, F> {
    pub formula: V,
    pub rows: &'a [[F; 4]],
    pub columns: &'a Columns<F>,
    pub start: usize,
    pub out: &'a mut [F],
    /// Write past the cache.
    pub stream: bool,
}

impl<V: Formula, F: Float> Kernel for TablePart<'_, V, F> {
    #[inline(always)]
    fn run<I: InstructionSet>(self) {
        let Self { formula, rows, columns, start, out, stream } = self;
        let (width, lanes) = (columns.len, F::Vector::<I>::LANES);
        let (mut row, mut column) = (start / width, start % width);
        let mut rest = out;
        while !rest.is_empty() {
            let line;
            (line, rest) = rest.split_at_mut(rest.len().min(width - column));
            let a = all_lanes(&Measured::new(rows[row], V::USES_ANGLE));
            let others = columns.from(column);
            // A line shorter than a vector is computed with what follows it, and cut off.
            let mut short = [F::ZERO; MAX_LANES];
            let is_short = line.len() < lanes;
            let target = if is_short { &mut short[..lanes] } else { &mut *line };
            let last = target.len() - lanes;
            let to_aligned = if stream { target.as_ptr().align_offset(lanes * size_of::<F>()) } else { 0 };
            let mut next = if to_aligned == 0 { lanes } else { to_aligned };
            let mut at = 0;
            loop {
                let b = others.load::<F::Vector<I>>(at);
                let values = formula.value(&a, &b, intersection(&a, &b));
                // SAFETY: `at` is at most `last`, where a vector ends with the target.
                unsafe {
                    let to = target.as_mut_ptr().add(at);
                    if stream { values.stream_to(to) } else { values.store_to(to) }
                }
                if at == last {
                    break;
                }
                // The last vector overlaps the one before it and writes some values twice: cheaper than a short copy.
                at = next.min(last);
                next += lanes;
            }
            if is_short {
                line.copy_from_slice(&short[..line.len()]);
            }
            (row, column) = (row + 1, 0);
        }
        if stream {
            I::fence();
        }
    }
}

/// The same box in every lane.
#[inline(always)]
fn all_lanes<V: Vector>(one: &Measured<V::Scalar>) -> Measured<V> {
    Measured {
        x1: V::splat(one.x1),
        y1: V::splat(one.y1),
        x2: V::splat(one.x2),
        y2: V::splat(one.y2),
        area: V::splat(one.area),
        angle: V::splat(one.angle),
    }
}

/// The pairs of two sequences of one length.
pub struct Sequence<'a, V, F> {
    pub formula: V,
    pub first: &'a [[F; 4]],
    pub second: &'a [[F; 4]],
    pub out: &'a mut [F],
}

impl<V: Formula, F: Float> Kernel for Sequence<'_, V, F> {
    #[inline(always)]
    fn run<I: InstructionSet>(self) {
        let lanes = F::Vector::<I>::LANES;
        let (mut a, mut b) = ([[F::ZERO; 4]; MAX_LANES], [[F::ZERO; 4]; MAX_LANES]);
        let blocks = self.first.chunks(lanes).zip(self.second.chunks(lanes));
        for ((mut first, mut second), line) in blocks.zip(self.out.chunks_mut(lanes)) {
            if line.len() < lanes {
                a[..first.len()].copy_from_slice(first);
                b[..second.len()].copy_from_slice(second);
                (first, second) = (&a, &b);
            }
            let a = Measured::new(F::Vector::<I>::columns(first), V::USES_ANGLE);
            let b = Measured::new(F::Vector::<I>::columns(second), V::USES_ANGLE);
            let values = self.formula.value(&a, &b, intersection(&a, &b)).in_order();
            if line.len() == lanes {
                values.store(line);
            } else {
                let mut short = [F::ZERO; MAX_LANES];
                values.store(&mut short);
                line.copy_from_slice(&short[..line.len()]);
            }
        }
    }
}
