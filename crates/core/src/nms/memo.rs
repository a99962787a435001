//! Every box asks whether a better one that is kept overlaps it, in the order of space; answers are remembered.
//!
//! A box that is better is asked first, and so on: a walk along better and better boxes, on a stack of its own, since
//! a chain may be as long as the set. The answer does not depend on who asks, so threads share what they know without
//! locks, and two that ask the same at the same time find the same.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU8, Ordering};

use super::nearby::{Query, Space, Visitor};
use crate::ending::ask_after;
use crate::join::Index;
use crate::memory::{Vec, vec};
use crate::number::Float;
use crate::simd::{self, InstructionSet, Kernel, Level, Vector};
use crate::threads::each;

/// What is known of a box.
const UNKNOWN: u8 = 0;
const KEPT: u8 = 1;
const REMOVED: u8 = 2;

/// Boxes a thread takes at a time.
const PART: usize = 1 << 11;

/// Which of the boxes, the best first, survive.
pub fn survivors<F: Float>(
    boxes: Vec<[F; 4]>,
    labels: Option<&[i64]>,
    query: Query<F>,
    level: Level,
    threads: usize,
) -> Vec<bool> {
    let index = Index::build(&boxes, labels);
    // Those that overlap nothing are not in the index.
    let mut survive = vec![true; boxes.len()];
    drop(boxes);
    let space = Space::new(&index, query);
    let states: Vec<AtomicU8> = index.numbers.iter().map(|_| AtomicU8::new(UNKNOWN)).collect();
    let (count, asked) = (states.len(), Asked { space: &space, states: &states });
    let settle = |number: usize| {
        let positions = number * PART..count.min((number + 1) * PART);
        simd::run(level, Part { asked: &asked, positions });
    };
    each(0..count.div_ceil(PART), threads, settle);
    for (&number, state) in index.numbers.iter().zip(states) {
        survive[number as usize] = state.into_inner() == KEPT;
    }
    survive
}

struct Asked<'a, F> {
    space: &'a Space<'a, F>,
    states: &'a [AtomicU8],
}

struct Part<'a, F> {
    asked: &'a Asked<'a, F>,
    positions: Range<usize>,
}

impl<F: Float> Kernel for Part<'_, F> {
    #[inline(always)]
    fn run<I: InstructionSet>(self) {
        let mut stack = Vec::new();
        for position in self.positions {
            if self.asked.states[position].load(Ordering::Relaxed) == UNKNOWN {
                self.asked.settle::<F::Vector<I>>(position, &mut stack);
            }
        }
    }
}

/// So many of the better boxes that a box waits for are remembered: the best. The others are looked up again if need be,
/// which is rare, so that the stack stays small.
const WAITING: usize = 4;

/// A box whose answer depends on others.
#[derive(Clone, Copy)]
struct Question {
    position: u32,
    /// Positions of better boxes that overlap it, the best first, unknown when they were found.
    waiting: [u32; WAITING],
    count: u8,
    /// There may be more of them than are remembered.
    more: bool,
}

impl Question {
    fn new(position: usize) -> Self {
        Self { position: position as u32, waiting: [0; WAITING], count: 0, more: true }
    }

    fn insert(&mut self, position: usize, ranks: &[u32]) {
        let mut place = usize::from(self.count);
        if place == WAITING {
            self.more = true;
            place -= 1;
            if ranks[self.waiting[place] as usize] < ranks[position] {
                return;
            }
        } else {
            self.count += 1;
        }
        while place > 0 && ranks[self.waiting[place - 1] as usize] > ranks[position] {
            self.waiting[place] = self.waiting[place - 1];
            place -= 1;
        }
        self.waiting[place] = position as u32;
    }

    fn forget_first(&mut self) {
        self.waiting.copy_within(1.., 0);
        self.count -= 1;
    }
}

impl<F: Float> Asked<'_, F> {
    /// Answers for the box at a position, and for all it depends on.
    #[inline(always)]
    fn settle<V: Vector<Scalar = F>>(&self, first: usize, stack: &mut Vec<Question>) {
        let mut question = Question::new(first);
        'questions: loop {
            ask_after(1);
            let answer = loop {
                if question.count > 0 {
                    let best = question.waiting[0] as usize;
                    match self.states[best].load(Ordering::Relaxed) {
                        KEPT => break REMOVED,
                        REMOVED => question.forget_first(),
                        _ => {
                            stack.push(question);
                            question = Question::new(best);
                            continue 'questions;
                        }
                    }
                } else if question.more {
                    question.more = false;
                    if self.look::<V>(&mut question).is_break() {
                        break REMOVED;
                    }
                } else {
                    break KEPT;
                }
            };
            self.states[question.position as usize].store(answer, Ordering::Relaxed);
            match stack.pop() {
                Some(below) => question = below,
                None => return,
            }
        }
    }

    /// Looks for better boxes that overlap the one in question: breaks if one of them is kept, remembers the unknown.
    #[inline(always)]
    fn look<V: Vector<Scalar = F>>(&self, question: &mut Question) -> ControlFlow<()> {
        let position = question.position as usize;
        let index = self.space.index;
        let layer = index.layers.partition_point(|layer| layer.boxes.end <= position);
        let (corners, label) = (index.corners(position), index.label(position));
        let rank = self.space.ranks[position];
        let mut better = Better { asked: self, corners, label, rank, question };
        self.space.visit::<V>(corners, index.layers[layer].exact, label, &mut better)
    }
}

struct Better<'a, F> {
    asked: &'a Asked<'a, F>,
    corners: [F; 4],
    label: Option<i64>,
    rank: u32,
    question: &'a mut Question,
}

impl<F: Float> Visitor for Better<'_, F> {
    #[inline(always)]
    fn limit(&self) -> u32 {
        self.rank
    }

    #[inline]
    fn visit(&mut self, position: usize) -> ControlFlow<()> {
        let state = self.asked.states[position].load(Ordering::Relaxed);
        if state != REMOVED && self.asked.space.overlap(&self.corners, self.label, position).is_some() {
            if state == KEPT {
                return ControlFlow::Break(());
            }
            self.question.insert(position, &self.asked.space.ranks);
        }
        ControlFlow::Continue(())
    }
}
