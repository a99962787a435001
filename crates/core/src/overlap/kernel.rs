//! The inner loops of the dense overlaps: a vector of values at a time.
//!
//! A formula stands in each loop once. Every copy costs the time to compile it, for every instruction set.

use super::columns::Columns;
use super::formula::{Formula, Measured, intersection};
use crate::number::Float;
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
            let a = Measured::all_lanes(&Measured::new(rows[row], V::USES_ANGLE));
            let others = columns.from(column);
            // A line shorter than a vector is computed with what follows it, and cut off.
            let mut short = [F::ZERO; MAX_LANES];
            let is_short = line.len() < lanes;
            let target = if is_short { &mut short[..lanes] } else { &mut *line };
            let last = target.len() - lanes;
            // The last vector may overlap the one before it and write some values twice, which is cheaper than a short
            // copy. It comes first, then the first vector, then those from the first aligned place on: a line of the
            // cache that was streamed is not touched again.
            let to_aligned = if stream { target.as_ptr().align_offset(lanes * size_of::<F>()) } else { 0 };
            let (mut at, mut next) = (last, 0);
            let mut after = if to_aligned == 0 { lanes } else { to_aligned };
            loop {
                let b = others.load::<F::Vector<I>>(at);
                let values = formula.value(&a, &b, intersection(&a, &b));
                // SAFETY: `at` is at most `last`, where a vector ends with the target.
                unsafe {
                    let to = target.as_mut_ptr().add(at);
                    if stream { values.stream_to(to) } else { values.store_to(to) }
                }
                if next >= last {
                    break;
                }
                (at, next) = (next, after);
                after += lanes;
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
