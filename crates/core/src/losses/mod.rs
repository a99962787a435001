//! Losses of box regression, 1 - overlap, and their gradients in the same pass.
//!
//! A loss is a function of a few quantities of the pair: the intersection, the areas, the sides of the box around both,
//! what lies between the centres, the sides. Each [`Overlap`] says its value and its slope in each of these; one chain rule
//! carries the slopes to the coordinates. The conventions are those of the formulas in Python, in `losses/_pairs.py`: the
//! gradient of a tie is split in halves, the intersection of boxes that touch has none, CIoU's weight is a constant, and
//! an inverted side is a negative extent.

use std::sync::Mutex;

use crate::float::{Float, max, min};
use crate::overlap::simd::{InstructionSet, Kernel, run};
use crate::overlap::{Level, is_huge};
use crate::threads::pool_is_alive;

/// A loss that this module knows: 1 less the overlap of this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Intersection over union.
    Iou,
    /// Generalized IoU.
    Giou,
    /// Distance IoU.
    Diou,
    /// Complete IoU.
    Ciou,
    /// Efficient IoU.
    Eiou,
}

impl Loss {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Iou, Self::Giou, Self::Diou, Self::Ciou, Self::Eiou];

    /// The name Python uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Iou => "iou",
            Self::Giou => "giou",
            Self::Diou => "diou",
            Self::Ciou => "ciou",
            Self::Eiou => "eiou",
        }
    }

    /// The loss of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|loss| loss.name() == name)
    }
}

/// The loss of every pair, and its gradient in the coordinates of `pred`.
///
/// The gradient in those of `target` is that of the same loss with the sets swapped: all are symmetric. The bits depend on
/// neither `threads` (0: all cores) nor `level`.
///
/// # Panics
///
/// If the lengths do not fit together.
pub fn value_and_gradient<F: Float>(
    loss: Loss,
    pred: &[[F; 4]],
    target: &[[F; 4]],
    values: &mut [F],
    gradient: &mut [[F; 4]],
    threads: usize,
    level: Level,
) {
    let count = pred.len();
    assert!([target.len(), values.len(), gradient.len()] == [count; 3], "one value and one gradient per pair");
    match loss {
        Loss::Iou => all_of(Iou, pred, target, values, gradient, threads, level),
        Loss::Giou => all_of(Giou, pred, target, values, gradient, threads, level),
        Loss::Diou => all_of(Diou, pred, target, values, gradient, threads, level),
        Loss::Ciou => all_of(Ciou, pred, target, values, gradient, threads, level),
        Loss::Eiou => all_of(Eiou, pred, target, values, gradient, threads, level),
    }
}

/// The pairs a thread takes at a time: about 50 microseconds of work, many times what it costs to wake a thread.
const PART: usize = 1 << 13;

fn all_of<O: Overlap, F: Float>(
    overlap: O,
    pred: &[[F; 4]],
    target: &[[F; 4]],
    values: &mut [F],
    gradient: &mut [[F; 4]],
    threads: usize,
    level: Level,
) {
    let fill = |start: usize, values: &mut [F], gradient: &mut [[F; 4]]| {
        let [pred, target] = [pred, target].map(|boxes| &boxes[start..][..values.len()]);
        run(level, Part { overlap, pred, target, values: &mut *values, gradient: &mut *gradient });
        if any_huge(pred) || any_huge(target) {
            for (k, (a, b)) in pred.iter().zip(target).enumerate() {
                if is_huge(a) || is_huge(b) {
                    let (value, slope) = single(overlap, &a.map(F::to_f64), &b.map(F::to_f64));
                    (values[k], gradient[k]) = (F::from_f64(value), slope.map(F::from_f64));
                }
            }
        }
    };
    if threads == 1 || values.len() < 2 * PART || !pool_is_alive() {
        fill(0, values, gradient);
        return;
    }
    let available = rayon::current_num_threads();
    let threads = if threads == 0 { available } else { threads.min(available) };
    let helpers = threads.min(values.len().div_ceil(PART)) - 1;
    let parts = Mutex::new(values.chunks_mut(PART).zip(gradient.chunks_mut(PART)).enumerate());
    let next = || parts.lock().expect("nothing panics under the lock").next();
    let work = || {
        while let Some((number, (values, gradient))) = next() {
            fill(number * PART, values, gradient);
        }
    };
    rayon::in_place_scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(|_| work());
        }
        work();
    });
}

/// Without an early end, so that it runs in vectors.
fn any_huge<F: Float>(boxes: &[[F; 4]]) -> bool {
    boxes.as_flattened().iter().fold(false, |huge, x| huge | (x.abs() > F::MAX_DIRECT))
}

/// A run of pairs.
struct Part<'a, O, F> {
    overlap: O,
    pred: &'a [[F; 4]],
    target: &'a [[F; 4]],
    values: &'a mut [F],
    gradient: &'a mut [[F; 4]],
}

impl<O: Overlap, F: Float> Kernel for Part<'_, O, F> {
    #[inline(always)]
    fn run<I: InstructionSet, const L: usize>(self) {
        let (pred, pred_tail) = self.pred.as_chunks::<L>();
        let (target, target_tail) = self.target.as_chunks::<L>();
        let (values, values_tail) = self.values.as_chunks_mut::<L>();
        let (gradient, gradient_tail) = self.gradient.as_chunks_mut::<L>();
        for (((a, b), value), slope) in pred.iter().zip(target).zip(values).zip(gradient) {
            block::<O, F, L>(self.overlap, a, b, value, slope);
        }
        for (((a, b), value), slope) in pred_tail.iter().zip(target_tail).zip(values_tail).zip(gradient_tail) {
            (*value, *slope) = single(self.overlap, a, b);
        }
    }
}

/// A block of pairs, coordinate by coordinate, which the compiler makes vectors of.
///
/// Everything it calls is plain: no branch, no closure, no array that is walked. Either would leave it one pair at a time,
/// a tenth of the speed.
#[inline(always)]
fn block<O: Overlap, F: Float, const L: usize>(
    overlap: O,
    a: &[[F; 4]; L],
    b: &[[F; 4]; L],
    values: &mut [F; L],
    gradient: &mut [[F; 4]; L],
) {
    let (mut a1, mut a2, mut a3, mut a4) = ([F::ZERO; L], [F::ZERO; L], [F::ZERO; L], [F::ZERO; L]);
    let (mut b1, mut b2, mut b3, mut b4) = ([F::ZERO; L], [F::ZERO; L], [F::ZERO; L], [F::ZERO; L]);
    for k in 0..L {
        (a1[k], a2[k], a3[k], a4[k]) = (a[k][0], a[k][1], a[k][2], a[k][3]);
        (b1[k], b2[k], b3[k], b4[k]) = (b[k][0], b[k][1], b[k][2], b[k][3]);
    }
    for k in 0..L {
        let (value, slope) = single(overlap, &[a1[k], a2[k], a3[k], a4[k]], &[b1[k], b2[k], b3[k], b4[k]]);
        values[k] = value;
        (a1[k], a2[k], a3[k], a4[k]) = (slope[0], slope[1], slope[2], slope[3]);
    }
    for k in 0..L {
        gradient[k] = [a1[k], a2[k], a3[k], a4[k]];
    }
}

/// What the overlaps are functions of; the slopes of one have the same fields.
#[derive(Clone, Copy)]
struct Quantities<F> {
    /// Area of the intersection.
    inter: F,
    /// Area of the first box. The second box is a constant.
    area: F,
    /// Sides of the box around both.
    hull_width: F,
    hull_height: F,
    /// From the second centre to the first.
    dx: F,
    dy: F,
    /// Sides of the first box.
    width: F,
    height: F,
}

/// What belongs to the second box alone.
#[derive(Clone, Copy)]
struct Other<F> {
    area: F,
    width: F,
    height: F,
}

/// An overlap with its slopes.
trait Overlap: Copy + Sync {
    fn of<F: Float>(self, q: &Quantities<F>, other: &Other<F>) -> (F, Quantities<F>);
}

/// 1 if it is above 0, else 0.
#[inline(always)]
fn positive<F: Float>(x: F) -> F {
    if x > F::ZERO { F::ONE } else { F::ZERO }
}

/// -1 if it is below 0, else 1.
#[inline(always)]
fn sign<F: Float>(x: F) -> F {
    if x < F::ZERO { F::ZERO - F::ONE } else { F::ONE }
}

/// The part of the slope of `max(a, b)` that is `a`'s.
#[inline(always)]
fn above<F: Float>(a: F, b: F) -> F {
    let over = if a > b { F::ONE } else { F::ZERO };
    let under = if a < b { F::ZERO } else { F::ONE };
    (over + under) * F::HALF
}

#[inline(always)]
fn guarded<F: Float>(whole: F) -> F {
    if whole > F::ZERO { whole } else { F::ONE }
}

/// The loss and its gradient in the first box.
#[inline(always)]
fn single<O: Overlap, F: Float>(overlap: O, a: &[F; 4], b: &[F; 4]) -> (F, [F; 4]) {
    let x = Axis::new(a[0], a[2], b[0], b[2]);
    let y = Axis::new(a[1], a[3], b[1], b[3]);
    // An area is negative where a side is, and grows with either side.
    let (sx, sy) = (sign(x.a), sign(y.a));
    let whole = if x.a < F::ZERO { sx } else { sy };
    let other_whole = if x.b < F::ZERO { sign(x.b) } else { sign(y.b) };
    let (width, height) = (x.a * sx, y.a * sy);
    let (inner_x, inner_y) = (max(x.inter, F::ZERO), max(y.inter, F::ZERO));
    let q = Quantities {
        inter: inner_x * inner_y,
        area: whole * (width * height),
        hull_width: x.hull,
        hull_height: y.hull,
        dx: x.apart,
        dy: y.apart,
        width: x.a,
        height: y.a,
    };
    let other = Other { area: other_whole * ((x.b * sign(x.b)) * (y.b * sign(y.b))), width: x.b, height: y.b };
    let (value, slope) = overlap.of(&q, &other);
    let (x1, x2) =
        x.chain(slope.inter * inner_y, slope.area * (whole * sx * height) + slope.width, slope.hull_width, slope.dx);
    let (y1, y2) =
        y.chain(slope.inter * inner_x, slope.area * (whole * sy * width) + slope.height, slope.hull_height, slope.dy);
    (F::ONE - value, [x1, y1, x2, y2])
}

/// A pair along one axis.
struct Axis<F> {
    a: F,
    b: F,
    /// What both share; not positive where that is nothing.
    inter: F,
    hull: F,
    apart: F,
    /// How much of the slopes of the ends of the intersection, and of the box around both, is the first box's.
    inner_low: F,
    inner_high: F,
    hull_low: F,
    hull_high: F,
}

impl<F: Float> Axis<F> {
    #[inline(always)]
    fn new(a1: F, a2: F, b1: F, b2: F) -> Self {
        // `min` and `max` of an inverted box are its corners the other way round.
        let (a_low, a_high) = (min(a2, a1), max(a1, a2));
        let (b_low, b_high) = (min(b2, b1), max(b1, b2));
        Self {
            a: a2 - a1,
            b: b2 - b1,
            inter: min(a2, b2) - max(a1, b1),
            hull: max(a_high, b_high) - min(a_low, b_low),
            apart: ((a1 - b1) + (a2 - b2)) * F::HALF,
            inner_low: above(a1, b1),
            inner_high: above(b2, a2),
            hull_low: above(b_low, a_low),
            hull_high: above(a_high, b_high),
        }
    }

    /// The slopes of the loss, 1 less the overlap, in the two coordinates, from those of the overlap.
    #[inline(always)]
    fn chain(&self, by_inner: F, by_side: F, by_hull: F, by_apart: F) -> (F, F) {
        let inner = by_inner * positive(self.inter);
        let (low, high) = (by_hull * self.hull_low, by_hull * self.hull_high);
        let centre = by_apart * F::HALF;
        let first = if self.a < F::ZERO { high } else { F::ZERO - low };
        let second = if self.a < F::ZERO { F::ZERO - low } else { high };
        (
            (inner * self.inner_low - first) + (by_side - centre),
            F::ZERO - ((inner * self.inner_high + second) + (by_side + centre)),
        )
    }
}

/// IoU with its slopes.
#[inline(always)]
fn iou<F: Float>(q: &Quantities<F>, other: &Other<F>) -> (F, Quantities<F>) {
    let union = (q.area + other.area) - q.inter;
    let whole = guarded(union);
    let iou = q.inter / whole;
    let by_union = F::ZERO - iou / whole * positive(union);
    let slope = Quantities {
        inter: F::ONE / whole - by_union,
        area: by_union,
        hull_width: F::ZERO,
        hull_height: F::ZERO,
        dx: F::ZERO,
        dy: F::ZERO,
        width: F::ZERO,
        height: F::ZERO,
    };
    (iou, slope)
}

/// Intersection over union.
#[derive(Clone, Copy)]
struct Iou;

impl Overlap for Iou {
    #[inline(always)]
    fn of<F: Float>(self, q: &Quantities<F>, other: &Other<F>) -> (F, Quantities<F>) {
        iou(q, other)
    }
}

/// Generalized IoU.
#[derive(Clone, Copy)]
struct Giou;

impl Overlap for Giou {
    #[inline(always)]
    fn of<F: Float>(self, q: &Quantities<F>, other: &Other<F>) -> (F, Quantities<F>) {
        let (iou, mut slope) = iou(q, other);
        let union = (q.area + other.area) - q.inter;
        let hull = q.hull_width * q.hull_height;
        let whole = guarded(hull);
        let penalty = (hull - union) / whole;
        let by_union = F::ONE / whole;
        let by_hull = penalty / whole * positive(hull) - by_union;
        slope.inter = slope.inter - by_union;
        slope.area = slope.area + by_union;
        slope.hull_width = by_hull * q.hull_height;
        slope.hull_height = by_hull * q.hull_width;
        (iou - penalty, slope)
    }
}

/// Distance IoU.
#[derive(Clone, Copy)]
struct Diou;

impl Overlap for Diou {
    #[inline(always)]
    fn of<F: Float>(self, q: &Quantities<F>, other: &Other<F>) -> (F, Quantities<F>) {
        let (iou, mut slope) = iou(q, other);
        let diagonal = q.hull_width * q.hull_width + q.hull_height * q.hull_height;
        let whole = guarded(diagonal);
        let penalty = (q.dx * q.dx + q.dy * q.dy) / whole;
        let by_square = F::ZERO - F::ONE / whole;
        let by_diagonal = penalty / whole * positive(diagonal);
        slope.dx = by_square * (q.dx + q.dx);
        slope.dy = by_square * (q.dy + q.dy);
        slope.hull_width = by_diagonal * (q.hull_width + q.hull_width);
        slope.hull_height = by_diagonal * (q.hull_height + q.hull_height);
        (iou - penalty, slope)
    }
}

/// `atan2(width, height)` of sides that are not negative, of a point 0.
#[inline(always)]
fn angle<F: Float>(width: F, height: F) -> F {
    width.acute(height)
}

/// Complete IoU.
#[derive(Clone, Copy)]
struct Ciou;

impl Overlap for Ciou {
    #[inline(always)]
    fn of<F: Float>(self, q: &Quantities<F>, other: &Other<F>) -> (F, Quantities<F>) {
        let (diou, mut slope) = Diou.of(q, other);
        let (iou, _) = iou(q, other);
        // An inverted side counts as 0 and has no slope.
        let (width, height) = (max(q.width, F::ZERO), max(q.height, F::ZERO));
        let turn = angle(width, height) - angle(max(other.width, F::ZERO), max(other.height, F::ZERO));
        let aspect = F::FOUR_OVER_PI_SQUARED * (turn * turn);
        let alpha = aspect / guarded((F::ONE - iou) + aspect);
        let by_turn = F::ZERO - alpha * F::FOUR_OVER_PI_SQUARED * (turn + turn);
        // The slope of the angle is (height, -width) over the sum of their squares, which of small boxes underflows.
        let larger = guarded(max(width, height));
        let (w, h) = (width / larger, height / larger);
        let by_side = by_turn / (guarded(w * w + h * h) * larger);
        slope.width = if q.width < F::ZERO { F::ZERO } else { by_side * h };
        slope.height = if q.height < F::ZERO { F::ZERO } else { F::ZERO - by_side * w };
        (diou - alpha * aspect, slope)
    }
}

/// Efficient IoU.
#[derive(Clone, Copy)]
struct Eiou;

impl Overlap for Eiou {
    #[inline(always)]
    fn of<F: Float>(self, q: &Quantities<F>, other: &Other<F>) -> (F, Quantities<F>) {
        let (diou, mut slope) = Diou.of(q, other);
        let (wide, by_width, by_hull_width) = unlike(q.width - other.width, q.hull_width);
        let (high, by_height, by_hull_height) = unlike(q.height - other.height, q.hull_height);
        slope.width = by_width;
        slope.height = by_height;
        slope.hull_width = slope.hull_width + by_hull_width;
        slope.hull_height = slope.hull_height + by_hull_height;
        (diou - (wide + high), slope)
    }
}

/// `(difference / hull)^2`, and the slopes of what EIoU loses by it.
#[inline(always)]
fn unlike<F: Float>(difference: F, hull: F) -> (F, F, F) {
    let square = hull * hull;
    let whole = guarded(square);
    let term = (difference * difference) / whole;
    let by_hull = term / whole * positive(square) * (hull + hull);
    (term, F::ZERO - (difference + difference) / whole, by_hull)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlap::{Variant, single as overlap_of};

    /// A generator that needs no crate.
    struct Numbers(u64);

    impl Numbers {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from(u32::try_from(self.0 >> 32).expect("32 bits")) / f64::from(u32::MAX)
        }

        fn boxes(&mut self, count: usize) -> Vec<[f64; 4]> {
            let mut one = || {
                let (x, y) = (self.next() * 20.0, self.next() * 20.0);
                [x, y, x + 0.1 + self.next() * 20.0, y + 0.1 + self.next() * 20.0]
            };
            (0..count).map(|_| one()).collect()
        }
    }

    fn evaluate<F: Float>(
        loss: Loss,
        a: &[[F; 4]],
        b: &[[F; 4]],
        threads: usize,
        level: Level,
    ) -> (Vec<F>, Vec<[F; 4]>) {
        let (mut values, mut gradient) = (vec![F::ZERO; a.len()], vec![[F::ZERO; 4]; a.len()]);
        value_and_gradient(loss, a, b, &mut values, &mut gradient, threads, level);
        (values, gradient)
    }

    #[test]
    fn values_are_one_less_the_overlap() {
        let mut numbers = Numbers(1);
        let (a, b) = (numbers.boxes(1000), numbers.boxes(1000));
        for loss in Loss::ALL {
            let variant = Variant::named(loss.name(), &[]).expect("a variant of this name");
            let (values, _) = evaluate(loss, &a, &b, 1, Level::best());
            for ((value, a), b) in values.iter().zip(&a).zip(&b) {
                assert!((value - (1.0 - overlap_of(variant, a, b))).abs() < 1e-14, "{loss:?}");
            }
        }
    }

    #[test]
    fn gradients_are_difference_quotients() {
        let mut numbers = Numbers(2);
        let (a, b) = (numbers.boxes(500), numbers.boxes(500));
        let step = 1e-6;
        for loss in Loss::ALL.into_iter().filter(|&loss| loss != Loss::Ciou) {
            let (_, gradient) = evaluate(loss, &a, &b, 1, Level::best());
            for c in 0..4 {
                let moved = |by: f64| -> Vec<_> {
                    a.iter()
                        .map(|&corners| {
                            let mut corners = corners;
                            corners[c] += by;
                            corners
                        })
                        .collect()
                };
                let (ahead, _) = evaluate(loss, &moved(step), &b, 1, Level::best());
                let (behind, _) = evaluate(loss, &moved(-step), &b, 1, Level::best());
                for k in 0..a.len() {
                    let quotient = (ahead[k] - behind[k]) / (2.0 * step);
                    assert!((gradient[k][c] - quotient).abs() < 1e-6 + 1e-5 * quotient.abs(), "{loss:?} {k} {c}");
                }
            }
        }
    }

    #[test]
    fn bits_depend_on_neither_threads_nor_instructions() {
        let mut numbers = Numbers(3);
        let (a, b) = (numbers.boxes(40_003), numbers.boxes(40_003));
        let single = |boxes: &[[f64; 4]]| boxes.iter().map(|x| x.map(|c| c as f32)).collect::<Vec<_>>();
        let (a, b) = (single(&a), single(&b));
        for loss in Loss::ALL {
            let (values, gradient) = evaluate(loss, &a, &b, 1, Level::Baseline);
            for level in Level::available() {
                for threads in [1, 2, 0] {
                    let (again, slopes) = evaluate(loss, &a, &b, threads, level);
                    assert!(values.iter().zip(&again).all(|(a, b)| a.to_bits() == b.to_bits()), "{loss:?}");
                    let bits = |g: &[[f32; 4]]| g.iter().flatten().map(|x| x.to_bits()).collect::<Vec<_>>();
                    assert_eq!(bits(&gradient), bits(&slopes), "{loss:?}");
                }
            }
        }
    }

    #[test]
    fn equal_boxes_have_no_gradient_and_others_a_finite_one() {
        let sides = [-3.0, 0.0, 1e-4, 1.0, 1e6, 1e18_f32];
        let mut boxes = Vec::new();
        for x in [-1.0, 0.0, 5.0] {
            for w in sides {
                boxes.extend(sides.map(|h| [x, 0.0, x + w, h]));
            }
        }
        for loss in Loss::ALL {
            for b in &boxes {
                let (values, gradient) = evaluate(loss, &boxes, &vec![*b; boxes.len()], 1, Level::best());
                assert!(values.iter().chain(gradient.iter().flatten()).all(|x| x.is_finite()), "{loss:?} {b:?}");
            }
            let equal = [[1.0, 2.0, 4.0, 9.0_f64]];
            let (values, gradient) = evaluate(loss, &equal, &equal, 1, Level::best());
            assert!(values[0] == 0.0 && gradient[0].iter().all(|x| x.abs() < 1e-15), "{loss:?}: {gradient:?}");
        }
    }
}
