//! Boxes in the order of their scores: each that is still there is kept and removes those behind it that it overlaps.

use super::Rule;
use crate::float::Float;
use crate::join::bound::{Reference, divisor, safe_part};
use crate::number::Number;
use crate::overlap::formula::{Measured, intersection};
use crate::overlap::single;
use crate::simd::{self, InstructionSet, Kernel, Level, MAX_LANES, Mask, Vector, splat};

/// Which of a few boxes, the best first, survive, where only an intersection matters. None of them may be huge.
pub fn near<F: Float>(boxes: &[[F; 4]], labels: Option<&[i64]>, rule: Rule<F>, level: Level) -> Vec<bool> {
    let mut survive = vec![false; boxes.len()];
    let reference = Reference::of(rule.variant).expect("a ratio");
    simd::run(level, Forward { boxes, labels, rule, reference, survive: &mut survive });
    survive
}

/// The boxes of a block, side by side: x1 of all, then y1, x2 and y2.
type Block<F> = [[F; MAX_LANES]; 4];

/// Boxes as blocks. Behind the last box there are points at the origin, which overlap nothing.
fn blocks<F: Float>(boxes: &[[F; 4]]) -> Vec<Block<F>> {
    let mut blocks = vec![[[F::ZERO; MAX_LANES]; 4]; boxes.len().div_ceil(MAX_LANES)];
    for (number, corners) in boxes.iter().enumerate() {
        let block = &mut blocks[number / MAX_LANES];
        for side in 0..4 {
            block[side][number % MAX_LANES] = corners[side];
        }
    }
    blocks
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
        let Self { boxes, labels, rule, reference, survive } = self;
        let lanes = F::Vector::<I>::LANES;
        let blocks = blocks(boxes);
        let strips = Strips::of(boxes);
        // Those that are not removed, as bits.
        let mut there = vec![u64::MAX; strips.words];
        let mut may_meet = there.clone();
        let part = F::Vector::<I>::splat(safe_part(rule.min));
        for kept in 0..boxes.len() {
            survive[kept] = there[kept / BITS] >> (kept % BITS) & 1 != 0;
            if !survive[kept] {
                continue;
            }
            let a = Measured::new(splat::<F::Vector<I>>(boxes[kept]), false);
            strips.near(&boxes[kept], kept / BITS, &there, &mut may_meet);
            may_meet[kept / BITS] &= u64::MAX << (kept % BITS) << 1;
            for word in kept / BITS..strips.words {
                let mut bits = may_meet[word];
                while bits != 0 {
                    let first = (word * BITS + bits.trailing_zeros() as usize) / lanes * lanes;
                    let ([x1, y1, x2, y2], at) = (&blocks[first / MAX_LANES], first % MAX_LANES);
                    let corners: [F::Vector<I>; 4] = [
                        F::Vector::<I>::load(&x1[at..]),
                        F::Vector::<I>::load(&y1[at..]),
                        F::Vector::<I>::load(&x2[at..]),
                        F::Vector::<I>::load(&y2[at..]),
                    ];
                    let b = Measured::new(corners, false);
                    let inter = intersection(&a, &b);
                    let near = inter.is_positive() & inter.at_least(part * divisor(reference, &a, &b, inter));
                    let shift = first % BITS;
                    let block = (u64::MAX >> (BITS - lanes)) << shift;
                    let mut lanes = u64::from(near.bits()) << shift & bits;
                    bits &= !block;
                    while lanes != 0 {
                        let other = word * BITS + lanes.trailing_zeros() as usize;
                        lanes &= lanes - 1;
                        if removes(boxes, labels, rule, kept, other) {
                            there[word] &= !(1 << (other % BITS));
                        }
                    }
                }
            }
        }
    }
}

/// Boxes in a word of bits.
const BITS: usize = u64::BITS as usize;

/// Adds bits to others.
#[inline(always)]
fn add(bits: &mut [u64], more: &[u64]) {
    for (bits, more) in bits.iter_mut().zip(more) {
        *bits |= more;
    }
}

/// Which boxes may meet one: the image in strips, along and across, and bits for the boxes on each side of a strip.
struct Strips {
    /// The words of the bits of all boxes.
    words: usize,
    /// Along and across: the least coordinate, and strips per unit.
    scale: [(f64, f64); 2],
    /// Along and across, strip by strip: the boxes that begin in it or before.
    begun: [Vec<u64>; 2],
    /// The boxes that end in it or behind it.
    not_ended: [Vec<u64>; 2],
}

impl Strips {
    /// So many that a thousand boxes have no more than a few others in theirs, and the bits stay in the nearest cache.
    const COUNT: usize = 64;

    fn of<F: Float>(boxes: &[[F; 4]]) -> Self {
        let words = boxes.len().div_ceil(BITS);
        let scale = [0, 1].map(|axis| {
            let low = boxes.iter().fold(f64::INFINITY, |low, corners| low.min(corners[axis].to_f64()));
            let high = boxes.iter().fold(f64::NEG_INFINITY, |high, corners| high.max(corners[axis + 2].to_f64()));
            (low, Self::COUNT as f64 / (high - low))
        });
        let table = || vec![0_u64; Self::COUNT * words];
        let mut strips = Self { words, scale, begun: Default::default(), not_ended: Default::default() };
        for axis in 0..2 {
            let (mut begun, mut not_ended) = (table(), table());
            for (number, corners) in boxes.iter().enumerate() {
                let (word, bit) = (number / BITS, 1 << (number % BITS));
                begun[strips.strip(axis, corners[axis]) * words + word] |= bit;
                not_ended[strips.strip(axis, corners[axis + 2]) * words + word] |= bit;
            }
            for strip in 1..Self::COUNT {
                let (before, from) = begun.split_at_mut(strip * words);
                add(&mut from[..words], &before[(strip - 1) * words..]);
                let (before, from) = not_ended.split_at_mut((Self::COUNT - strip) * words);
                add(&mut before[(Self::COUNT - strip - 1) * words..], &from[..words]);
            }
            (strips.begun[axis], strips.not_ended[axis]) = (begun, not_ended);
        }
        strips
    }

    /// Never less for a larger coordinate, however it is rounded: boxes that meet have a strip in common.
    #[inline(always)]
    fn strip<F: Float>(&self, axis: usize, coordinate: F) -> usize {
        let (low, scale) = self.scale[axis];
        (((coordinate.to_f64() - low) * scale) as usize).min(Self::COUNT - 1)
    }

    /// Which boxes of `there` may meet this one, from a word on; no others do.
    #[inline(always)]
    fn near<F: Float>(&self, corners: &[F; 4], from: usize, there: &[u64], may_meet: &mut [u64]) {
        let strip = |axis: usize, coordinate: F| {
            let start = self.strip(axis, coordinate) * self.words;
            start + from..start + self.words
        };
        let [x1, y1, x2, y2] = *corners;
        let left = self.begun[0][strip(0, x2)].iter().zip(&self.not_ended[0][strip(0, x1)]);
        let upper = self.begun[1][strip(1, y2)].iter().zip(&self.not_ended[1][strip(1, y1)]);
        let there = there[from..].iter();
        for ((bits, there), ((a, b), (c, d))) in may_meet[from..].iter_mut().zip(there).zip(left.zip(upper)) {
            *bits = there & a & b & c & d;
        }
    }
}

/// The same for any rule: boxes far apart may remove each other. Every box that is kept meets all behind it.
pub fn far<F: Float>(boxes: &[[F; 4]], labels: Option<&[i64]>, rule: Rule<F>) -> Vec<bool> {
    let mut survive = vec![true; boxes.len()];
    for kept in 0..boxes.len() {
        if survive[kept] {
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
