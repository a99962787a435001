//! Which of the boxes that are kept removed another?

use std::ops::ControlFlow;

use super::nearby::{NO_LIMIT, Query, Space, Visitor};
use super::{Rule, WORTH_THREADS};
use crate::join::bound::Bound;
use crate::join::{Index, Set};
use crate::memory::{Vec, vec};
use crate::number::Float;
use crate::overlap::single;
use crate::simd::{self, InstructionSet, Kernel, Level};
use crate::threads::fill;

/// Boxes a thread takes at a time.
const PART: usize = 1 << 11;

/// The number of the first box of `kept` that removes each of `others`, and their overlap.
///
/// # Panics
///
/// If one of both sets has labels and the other has none.
pub fn first_suppressors<F: Float>(
    kept: Set<'_, F>,
    others: Set<'_, F>,
    rule: Rule<F>,
    threads: usize,
) -> Vec<Option<(u32, F)>> {
    assert!(kept.labels.is_some() == others.labels.is_some(), "labels of one set");
    let mut found = vec![None; others.boxes.len()];
    let Some((variant, reference)) = rule.exchanged else {
        for (k, (found, other)) in found.iter_mut().zip(others.boxes).enumerate() {
            let label = others.labels.map(|labels| labels[k]);
            *found = first_of_all(kept, rule, other, label);
        }
        return found;
    };
    let index = Index::build(kept.boxes, kept.labels);
    let space = Space::new(&index, Query { variant, reference, min: rule.min });
    let level = Level::best();
    let threads = if others.boxes.len() < WORTH_THREADS { 1 } else { threads };
    fill(&mut found, PART, threads, &|start, found| simd::run(level, Part { space: &space, others, start, found }));
    found
}

fn first_of_all<F: Float>(kept: Set<'_, F>, rule: Rule<F>, other: &[F; 4], label: Option<i64>) -> Option<(u32, F)> {
    kept.boxes.iter().enumerate().find_map(|(number, one)| {
        let value = single(rule.variant, one, other);
        let removes = value >= rule.min && kept.labels.map(|labels| labels[number]) == label;
        removes.then_some((number as u32, value))
    })
}

struct Part<'a, F> {
    space: &'a Space<'a, F>,
    others: Set<'a, F>,
    start: usize,
    found: &'a mut [Option<(u32, F)>],
}

impl<F: Float> Kernel for Part<'_, F> {
    #[inline(always)]
    fn run<I: InstructionSet>(self) {
        for (k, found) in self.found.iter_mut().enumerate() {
            let corners = self.others.boxes[self.start + k];
            let label = self.others.labels.map(|labels| labels[self.start + k]);
            let [x1, y1, x2, y2] = corners.map(F::to_f64);
            let (width, height) = (x2 - x1, y2 - y1);
            // Boxes without area overlap nothing, and have no place in an index.
            if !(width > 0.0 && height > 0.0 && width.max(height) < f64::INFINITY) {
                continue;
            }
            let exact = Bound::is_exact::<F>(width * height);
            let mut first = First { space: self.space, corners, label, found };
            let _ = self.space.visit::<F::Vector<I>>(corners, exact, label, &mut first);
        }
    }
}

struct First<'a, F> {
    space: &'a Space<'a, F>,
    corners: [F; 4],
    label: Option<i64>,
    found: &'a mut Option<(u32, F)>,
}

impl<F: Float> Visitor for First<'_, F> {
    #[inline(always)]
    fn limit(&self) -> u32 {
        self.found.map_or(NO_LIMIT, |(number, _)| number)
    }

    #[inline]
    fn visit(&mut self, position: usize) -> ControlFlow<()> {
        let number = self.space.ranks[position];
        // Of one vector, a later box may be worse than the one just found.
        if number < self.limit()
            && let Some(value) = self.space.overlap(&self.corners, self.label, position)
        {
            *self.found = Some((number, value));
        }
        ControlFlow::Continue(())
    }
}
