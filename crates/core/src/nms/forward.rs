//! Boxes in the order of their scores: each that is still there is kept and removes those behind it that it overlaps.
//!
//! For sets of at most 2,048 boxes, for which building an index costs more than it saves. Boxes are sorted by where they
//! begin along x; the bounds of the join say which part of this order may overlap a box, and that part is compared a
//! vector at a time. Where many boxes are removed and the parts are long, it begins again with the boxes that are left.

use std::ops::Range;

use super::Rule;
use super::nearby::NO_LIMIT;
use crate::ending::ask_after;
use crate::join::bound::{Bound, Interval, Reference, divisor, safe_part};
use crate::memory::{Vec, vec, zeros};
use crate::number::Float;
use crate::overlap::columns::Columns;
use crate::overlap::formula::{Measured, intersection, ratio};
use crate::overlap::single;
use crate::simd::{self, InstructionSet, Kernel, Level, MAX_LANES, Mask, Vector};

/// Which of a few boxes, the best first, survive, where only an intersection matters. None of them may be huge.
pub fn near<F: Float>(boxes: &[[F; 4]], labels: Option<&[i64]>, rule: Rule<F>, level: Level) -> Vec<bool> {
    let mut survive = vec![false; boxes.len()];
    if boxes.is_empty() {
        return survive;
    }
    let reference = Reference::of(rule.variant).expect("a ratio");
    simd::run(level, Forward { boxes, labels, rule, reference, survive: &mut survive });
    survive
}

struct Forward<'a, F> {
    boxes: &'a [[F; 4]],
    labels: Option<&'a [i64]>,
    rule: Rule<F>,
    reference: Reference,
    survive: &'a mut [bool],
}

impl<F: Float> Kernel for Forward<'_, F> {
    #[inline(always)]
    fn run<I: InstructionSet>(self) {
        // The choice is made here, and not again for every box: each arm is a loop of its own.
        match self.reference {
            Reference::Larger => self.rounds::<F::Vector<I>>(Reference::Larger),
            Reference::First => self.rounds::<F::Vector<I>>(Reference::First),
            Reference::Second => self.rounds::<F::Vector<I>>(Reference::Second),
            Reference::Smaller => self.rounds::<F::Vector<I>>(Reference::Smaller),
        }
    }
}

impl<F: Float> Forward<'_, F> {
    #[inline(always)]
    fn rounds<V: Vector<Scalar = F>>(mut self, reference: Reference) {
        let mut left = (0..self.boxes.len() as u32).collect();
        loop {
            left = self.round::<V>(reference, left);
            if left.is_empty() {
                return;
            }
        }
    }

    /// Goes through the boxes with these numbers until it is quicker to begin again with those that are left: them.
    #[inline(always)]
    fn round<V: Vector<Scalar = F>>(&mut self, reference: Reference, numbers: Vec<u32>) -> Vec<u32> {
        let Self { boxes, labels, rule, .. } = *self;
        let sweep = Sweep::of(numbers.iter().map(|&number| &boxes[number as usize]), reference, rule.min);
        let columns = Columns::new(&sweep.boxes, false);
        let (min, part) = (V::splat(rule.min), V::splat(safe_part(rule.min)));
        let plain = labels.is_none() && rule.variant.is_ratio();
        let last = numbers.len() as u32 - 1;
        // How many are worse than the box at each place, until that is done with: kept or removed.
        let mut worse = vec![DONE; numbers.len() + MAX_LANES];
        // Slices, whose places stay in registers.
        let (worse, places, numbers) = (&mut worse[..], &sweep.places[..], &numbers[..]);
        for (&place, number) in places.iter().zip(0..) {
            worse[place as usize] = last - number;
        }
        let (mut done, mut seen) = (0, 0);
        for (kept, &place) in places.iter().enumerate() {
            if worse[place as usize] == DONE {
                continue;
            }
            if numbers.len() >= WORTH_ROUND && seen > numbers.len() / 4 && done > numbers.len() / 8 * 5 {
                let rest = numbers[kept..].iter().zip(&places[kept..]);
                let left = rest.filter(|&(_, &place)| worse[place as usize] != DONE);
                return left.map(|(&number, _)| number).collect();
            }
            let number = numbers[kept] as usize;
            (self.survive[number], done) = (true, done + 1);
            let a = Measured::<V>::all_lanes(&Measured::new(boxes[number], false));
            for start in sweep.near(place, &boxes[number]).step_by(V::LANES) {
                seen += 1;
                let b = columns.from(start).load::<V>(0);
                let inter = intersection(&a, &b);
                let divisor = divisor(reference, &a, &b, inter);
                let near = inter.at_least(part * divisor).bits();
                let mut lanes = near & V::below(&worse[start..], last - kept as u32);
                if lanes != 0 {
                    lanes &= ratio(inter, divisor).at_least(min).bits();
                }
                while lanes != 0 {
                    let other = start + lanes.trailing_zeros() as usize;
                    lanes &= lanes - 1;
                    if plain || removes(boxes, labels, rule, number, numbers[(last - worse[other]) as usize] as usize) {
                        (worse[other], done) = (DONE, done + 1);
                    }
                }
            }
        }
        Vec::new()
    }
}

/// Above every number of boxes.
const DONE: u32 = NO_LIMIT;

/// So many that of a thousand boxes few others are in the strip of one.
const STRIPS: usize = 1 << 8;

/// Fewer boxes are in one strip: each is compared with all that are worse (this and the next: `benchmarks/bench_nms.py`).
const WORTH_STRIPS: usize = if cfg!(any(test, fuzzing)) { 1 << 3 } else { 1 << 7 };

/// With fewer boxes it is not quicker to begin again.
const WORTH_ROUND: usize = if cfg!(any(test, fuzzing)) { 1 << 4 } else { 1 << 9 };

/// Boxes in strips of the image by where they begin along x, so that those near another are side by side.
struct Sweep<F> {
    /// In this order.
    boxes: Vec<[F; 4]>,
    /// The place of each in it.
    places: Vec<u32>,
    /// Where each strip begins, and the end.
    starts: [u32; STRIPS + 1],
    strips: Strips,
    bound: Bound,
    /// The widths of the boxes.
    widths: Interval,
}

impl<F: Float> Sweep<F> {
    #[inline(always)]
    fn of<'a>(boxes: impl ExactSizeIterator<Item = &'a [F; 4]> + Clone, reference: Reference, min: F) -> Self {
        let count = boxes.len();
        let [mut begins, mut widths, mut heights] = [Interval::EMPTY; 3];
        for &corners in boxes.clone() {
            let [x1, y1, x2, y2] = corners.map(F::to_f64);
            // The others overlap nothing.
            if x1 < x2 && y1 < y2 {
                begins.include(x1);
                widths.include(x2 - x1);
                heights.include(y2 - y1);
            }
        }
        let exact = Bound::is_exact::<F>(widths.least * heights.least);
        let bound = Bound::new(reference, min);
        let mut sweep = Self {
            boxes: zeros(count),
            places: vec![0; count],
            starts: [0; STRIPS + 1],
            strips: Strips::new(begins, if count < WORTH_STRIPS { 1 } else { STRIPS }),
            bound: if exact { bound } else { bound.intersecting() },
            widths,
        };
        // A counting sort.
        for (place, &[x1, ..]) in sweep.places.iter_mut().zip(boxes.clone()) {
            let strip = sweep.strips.of(x1.to_f64());
            *place = strip as u32;
            sweep.starts[strip] += 1;
        }
        let mut end = 0;
        for start in &mut sweep.starts[..sweep.strips.last + 2] {
            end += *start;
            *start = end;
        }
        for (place, &corners) in sweep.places.iter_mut().zip(boxes) {
            let start = &mut sweep.starts[*place as usize];
            *start -= 1;
            *place = *start;
            sweep.boxes[*place as usize] = corners;
        }
        sweep
    }

    /// The places of the boxes that may reach the threshold beside this one, which stands at a place.
    #[inline(always)]
    fn near(&self, place: u32, &[x1, _, x2, _]: &[F; 4]) -> Range<usize> {
        if self.strips.last == 0 {
            return 0..place as usize; // within a strip, the worst box stands first
        }
        let (x1, x2) = (x1.to_f64(), x2.to_f64());
        match self.bound.corners(Interval::only(x1), Interval::only(x2 - x1), self.widths) {
            None => 0..0,
            Some(near) => {
                let [first, last] = [near.least, near.largest].map(|x| self.strips.of(x));
                self.starts[first] as usize..self.starts[last + 1] as usize
            }
        }
    }
}

/// Parts of an axis, of equal width.
#[derive(Clone, Copy)]
struct Strips {
    least: f64,
    per_unit: f64,
    last: usize,
}

impl Strips {
    fn new(axis: Interval, count: usize) -> Self {
        Self { least: axis.least, per_unit: count as f64 / (axis.largest - axis.least), last: count - 1 }
    }

    /// Never less for a larger coordinate, however it is rounded.
    #[inline(always)]
    fn of(self, x: f64) -> usize {
        (((x - self.least) * self.per_unit) as usize).min(self.last)
    }
}

/// The same for any rule: boxes far apart may remove each other. Every box that is kept meets all behind it.
pub fn far<F: Float>(boxes: &[[F; 4]], labels: Option<&[i64]>, rule: Rule<F>) -> Vec<bool> {
    let mut survive = vec![true; boxes.len()];
    for kept in 0..boxes.len() {
        if survive[kept] {
            ask_after(1);
            for (other, survives) in survive.iter_mut().enumerate().skip(kept + 1) {
                *survives = *survives && !removes(boxes, labels, rule, kept, other);
            }
        }
    }
    survive
}

#[inline]
fn removes<F: Float>(boxes: &[[F; 4]], labels: Option<&[i64]>, rule: Rule<F>, kept: usize, other: usize) -> bool {
    labels.is_none_or(|labels| labels[kept] == labels[other])
        && single(rule.variant, &boxes[kept], &boxes[other]) >= rule.min
}
