//! What the vectors read and write ends with the memory they are given: AddressSanitizer sees one number too many
//! (`fuzz/sanitize`).

use std::marker::PhantomData;

use super::{InstructionSet, Kernel, Level, Mask, Vector, run};
use crate::number::Float;

/// Runs a check on vectors of a type.
trait Check<F: Float> {
    fn on<V: Vector<Scalar = F>>(&self);
}

struct Checked<'a, F, C>(&'a C, PhantomData<F>);

impl<F: Float, C: Check<F>> Kernel for Checked<'_, F, C> {
    #[inline(always)]
    fn run<I: InstructionSet>(self) {
        self.0.on::<F::Vector<I>>();
    }
}

/// On every instruction set.
fn everywhere<F: Float, C: Check<F>>(check: C) {
    for level in Level::available() {
        run(level, Checked(&check, PhantomData));
    }
}

/// As many numbers, the last one at the end of the memory: 1, 2, 3, ...
fn numbers<F: Float>(count: usize) -> Box<[F]> {
    (0..count).map(|number| F::from_f64(number as f64 + 1.0)).collect()
}

struct Memory;

impl<F: Float> Check<F> for Memory {
    fn on<V: Vector<Scalar = F>>(&self) {
        // Every place that a vector can have between two aligned ones.
        for ahead in 0..V::LANES {
            let from = numbers::<F>(ahead + V::LANES);
            let last = V::load(&from[ahead..]);
            let (mut stored, mut streamed) = (from.clone(), from.clone());
            stored[ahead..].fill(F::ZERO);
            streamed[ahead..].fill(F::ZERO);
            last.store(&mut stored[ahead..]);
            // SAFETY: the vector ends with the memory.
            unsafe { last.stream_to(streamed.as_mut_ptr().add(ahead)) }
            assert!(stored == from && streamed == from, "{ahead} numbers ahead of {}", V::LANES);
        }
    }
}

#[test]
fn loads_and_stores_end_with_the_memory() {
    everywhere::<f32, _>(Memory);
    everywhere::<f64, _>(Memory);
}

struct Boxes;

impl<F: Float> Check<F> for Boxes {
    fn on<V: Vector<Scalar = F>>(&self) {
        let boxes: Box<[[F; 4]]> = numbers::<F>(4 * V::LANES).as_chunks().0.into();
        let columns = V::columns(&boxes);
        for (number, column) in columns.into_iter().enumerate() {
            let mut found = vec![F::ZERO; V::LANES].into_boxed_slice();
            column.in_order().store(&mut found);
            assert!(found.iter().zip(&boxes).all(|(&found, row)| found == row[number]), "column {number}");
        }
        let mut again = vec![[F::ZERO; 4]; V::LANES].into_boxed_slice();
        V::rows(columns, &mut again);
        assert!(again == boxes);
    }
}

#[test]
fn boxes_end_with_the_memory() {
    everywhere::<f32, _>(Boxes);
    everywhere::<f64, _>(Boxes);
}

struct Ranks;

impl<F: Float> Check<F> for Ranks {
    fn on<V: Vector<Scalar = F>>(&self) {
        let largest = i32::MAX.cast_unsigned();
        let ranks: Box<[u32]> = (0..V::LANES).map(|k| if k % 3 == 2 { largest } else { k as u32 }).collect();
        for limit in [0, 1, V::LANES as u32 - 1, V::LANES as u32, largest] {
            let expected =
                ranks.iter().enumerate().fold(0, |bits, (lane, &rank)| bits | u32::from(rank < limit) << lane);
            assert_eq!(V::below(&ranks, limit), expected, "{limit}");
        }
    }
}

#[test]
fn ranks_end_with_the_memory() {
    everywhere::<f32, _>(Ranks);
    everywhere::<f64, _>(Ranks);
}

/// A call with memory that is one item too short.
#[derive(Clone, Copy, Debug)]
enum Short {
    Load,
    Store,
    Columns,
    Rows,
    Below,
}

impl<F: Float> Check<F> for Short {
    fn on<V: Vector<Scalar = F>>(&self) {
        let count = V::LANES - 1;
        let mut short = numbers::<F>(count);
        let mut boxes = vec![[F::ONE; 4]; count];
        match self {
            Self::Load => {
                std::hint::black_box(V::load(&short).above(V::splat(F::ZERO)).bits());
            }
            Self::Store => V::splat(F::ONE).store(&mut short),
            Self::Columns => {
                std::hint::black_box(V::columns(&boxes).map(|column| column.above(column).bits()));
            }
            Self::Rows => V::rows([V::splat(F::ONE); 4], &mut boxes),
            Self::Below => {
                std::hint::black_box(V::below(&vec![0; count], 1));
            }
        }
    }
}

#[test]
fn memory_that_is_too_short_is_refused() {
    for short in [Short::Load, Short::Store, Short::Columns, Short::Rows, Short::Below] {
        for level in Level::available() {
            let single = std::panic::catch_unwind(|| run(level, Checked::<f32, _>(&short, PhantomData)));
            let double = std::panic::catch_unwind(|| run(level, Checked::<f64, _>(&short, PhantomData)));
            assert!(single.is_err() && double.is_err(), "{short:?} {}", level.name());
        }
    }
}

#[test]
fn asking_for_items_changes_none_and_ends_with_the_memory() {
    for count in [0, 1, 17] {
        let items = numbers::<f64>(count);
        for place in [0, count.saturating_sub(1), count, count + 1, usize::MAX] {
            super::prefetch(&items, place);
        }
        assert_eq!(items, numbers::<f64>(count));
    }
}
