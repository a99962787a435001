//! How much do axis-aligned boxes overlap? Dense: every pair of two sets, or the pairs of two sequences.
//!
//! Boxes are half-open regions of the plane, `[x1, y1, x2, y2]` with `x1 <= x2` and `y1 <= y2`; others give a number
//! without meaning, but nothing worse. The value of a pair depends on its two boxes alone: not on the rest of the
//! sets, the instruction set, or the number of threads.

pub mod areas;
pub mod coco;
pub(crate) mod columns;
pub(crate) mod formula;
mod kernel;

use crate::ending::ask_after;
use crate::memory::Vec;
use crate::number::Float;
use crate::simd::{self, Level};
use crate::threads::{available, fill};
use columns::Columns;
use formula::{Formula, Measured};
use kernel::{Sequence, TablePart};

/// A row of `overlap/variants.py` with its parameters (IoA is two: of either area).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Variant {
    /// Area of the intersection.
    Intersection,
    /// Intersection over union.
    Iou,
    /// Intersection over the area of the first box.
    IoaFirst,
    /// Intersection over the area of the second box.
    IoaSecond,
    /// Intersection over the smaller area.
    Iom,
    /// Generalized IoU.
    Giou,
    /// Distance IoU.
    Diou,
    /// Complete IoU.
    Ciou,
    /// Efficient IoU.
    Eiou,
    /// SCYLLA IoU.
    Siou,
    /// IoU with the distances of the corners.
    Mpdiou {
        /// Of the image.
        width: f64,
        /// Of the image.
        height: f64,
    },
    /// IoU to a power.
    AlphaIou {
        /// The power.
        alpha: f64,
    },
    /// IoU of both boxes scaled about their centres.
    InnerIou {
        /// The scale.
        ratio: f64,
    },
    /// Normalized Wasserstein distance, as a similarity.
    Nwd {
        /// The distance at which the value is 1/e.
        constant: f64,
    },
    /// Distance of the centres.
    CentreDistance,
    /// 1 - IoU.
    JaccardDistance,
    /// IoU times the part of the first box that is covered.
    Tiou,
}

/// Calls a generic function with the formula of a variant, before its other arguments.
macro_rules! with_formula {
    ($variant:expr, $function:ident($($argument:expr),*)) => {
        match $variant {
            Variant::Intersection => $function(formula::Intersection $(, $argument)*),
            Variant::Iou => $function(formula::Iou $(, $argument)*),
            Variant::IoaFirst => $function(formula::IoaFirst $(, $argument)*),
            Variant::IoaSecond => $function(formula::IoaSecond $(, $argument)*),
            Variant::Iom => $function(formula::Iom $(, $argument)*),
            Variant::Giou => $function(formula::Giou $(, $argument)*),
            Variant::Diou => $function(formula::Diou $(, $argument)*),
            Variant::Ciou => $function(formula::Ciou $(, $argument)*),
            Variant::Eiou => $function(formula::Eiou $(, $argument)*),
            Variant::Siou => $function(formula::Siou $(, $argument)*),
            Variant::Mpdiou { width, height } => {
                let formula = formula::Mpdiou { squared_diagonal: width * width + height * height };
                $function(formula $(, $argument)*)
            }
            Variant::AlphaIou { alpha } => $function(formula::AlphaIou { alpha } $(, $argument)*),
            Variant::InnerIou { ratio } => $function(formula::InnerIou { ratio } $(, $argument)*),
            Variant::Nwd { constant } => $function(formula::Nwd { constant } $(, $argument)*),
            Variant::CentreDistance => $function(formula::CentreDistance $(, $argument)*),
            Variant::JaccardDistance => $function(formula::JaccardDistance $(, $argument)*),
            Variant::Tiou => $function(formula::Tiou $(, $argument)*),
        }
    };
}

impl Variant {
    /// All of them, with parameters that are as good as any.
    pub const ALL: [Self; 17] = [
        Self::Intersection,
        Self::Iou,
        Self::IoaFirst,
        Self::IoaSecond,
        Self::Iom,
        Self::Giou,
        Self::Diou,
        Self::Ciou,
        Self::Eiou,
        Self::Siou,
        Self::Mpdiou { width: 640.0, height: 480.0 },
        Self::AlphaIou { alpha: 3.0 },
        Self::InnerIou { ratio: 0.75 },
        Self::Nwd { constant: 12.8 },
        Self::CentreDistance,
        Self::JaccardDistance,
        Self::Tiou,
    ];

    /// Whether the formula reads the angles of the diagonals.
    fn uses_angle(self) -> bool {
        fn of<V: Formula>(_: V) -> bool {
            V::USES_ANGLE
        }
        with_formula!(self, of())
    }

    /// Whether it is a ratio of areas, and nothing is subtracted from that.
    pub fn is_ratio(self) -> bool {
        matches!(self, Self::Iou | Self::IoaFirst | Self::IoaSecond | Self::Iom)
    }

    /// The name Python uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Intersection => "intersection",
            Self::Iou => "iou",
            Self::IoaFirst => "ioa_first",
            Self::IoaSecond => "ioa_second",
            Self::Iom => "iom",
            Self::Giou => "giou",
            Self::Diou => "diou",
            Self::Ciou => "ciou",
            Self::Eiou => "eiou",
            Self::Siou => "siou",
            Self::Mpdiou { .. } => "mpdiou",
            Self::AlphaIou { .. } => "alpha_iou",
            Self::InnerIou { .. } => "inner_iou",
            Self::Nwd { .. } => "nwd",
            Self::CentreDistance => "centre_distance",
            Self::JaccardDistance => "jaccard_distance",
            Self::Tiou => "tiou",
        }
    }

    /// The variant of a name with its parameters, in the order of its fields; none if they are not as many.
    pub fn named(name: &str, parameters: &[f64]) -> Option<Self> {
        let variant = Self::ALL.into_iter().find(|variant| variant.name() == name)?;
        match (variant, parameters) {
            (Self::Mpdiou { .. }, &[width, height]) => Some(Self::Mpdiou { width, height }),
            (Self::AlphaIou { .. }, &[alpha]) => Some(Self::AlphaIou { alpha }),
            (Self::InnerIou { .. }, &[ratio]) => Some(Self::InnerIou { ratio }),
            (Self::Nwd { .. }, &[constant]) => Some(Self::Nwd { constant }),
            (Self::Mpdiou { .. } | Self::AlphaIou { .. } | Self::InnerIou { .. } | Self::Nwd { .. }, _) => None,
            (variant, []) => Some(variant),
            _ => None,
        }
    }
}

/// How a call runs; it changes no bit of the result.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// How many may work at most; 0: as many as there are cores.
    pub threads: usize,
    /// The instruction set.
    pub level: Level,
    /// The memory of a pairwise result was in use before. Then a large result is written past the cache, in half the time; fresh
    /// pages are in the cache already, since the system has just cleared them, and are written there.
    pub reused: bool,
}

/// The value of one pair, to the last bit that of [`pairwise`].
pub fn single<F: Float>(variant: Variant, a: &[F; 4], b: &[F; 4]) -> F {
    if is_huge(a) || is_huge(b) { in_double(variant, a, b) } else { value(variant, a, b) }
}

fn value<F: Float>(variant: Variant, a: &[F; 4], b: &[F; 4]) -> F {
    fn of<V: Formula, F: Float>(formula: V, &a: &[F; 4], &b: &[F; 4]) -> F {
        let (a, b) = (Measured::new(a, V::USES_ANGLE), Measured::new(b, V::USES_ANGLE));
        formula.value(&a, &b, formula::intersection(&a, &b))
    }
    with_formula!(variant, of(a, b))
}

#[cold]
fn in_double<F: Float>(variant: Variant, a: &[F; 4], b: &[F; 4]) -> F {
    F::from_f64(value(variant, &a.map(F::to_f64), &b.map(F::to_f64)))
}

/// The fewest pairs a thread takes at a time: two such parts are worth a second thread.
const MIN_PART: usize = 1 << 16;

/// The most: a part of fresh memory should span its huge pages alone, as two threads in one page clear it twice.
const MAX_PART: usize = 1 << 20;

/// Bytes of a reused result beyond which it is written past the cache.
const STREAM_FROM: usize = 1 << 25;

/// Computes part of a table by the formula of a variant.
fn fill_table<F: Float>(variant: Variant, level: Level, part: TablePart<'_, (), F>) {
    fn with<V: Formula, F: Float>(formula: V, level: Level, part: TablePart<'_, (), F>) {
        let TablePart { formula: (), rows, columns, start, out, stream } = part;
        simd::run(level, TablePart { formula, rows, columns, start, out, stream });
    }
    with_formula!(variant, with(level, part));
}

/// Computes the pairs of two sequences by the formula of a variant.
fn fill_sequence<F: Float>(variant: Variant, level: Level, first: &[[F; 4]], second: &[[F; 4]], out: &mut [F]) {
    fn with<V: Formula, F: Float>(formula: V, level: Level, first: &[[F; 4]], second: &[[F; 4]], out: &mut [F]) {
        simd::run(level, Sequence { formula, first, second, out });
    }
    with_formula!(variant, with(level, first, second, out));
}

/// Every box of one set against every box of the other, for each of `batch` pairs of sets of equal sizes.
///
/// `out` is filled in row-major order of (batch, boxes1, boxes2).
///
/// # Panics
///
/// If the lengths do not fit together.
pub fn pairwise<F: Float>(
    variant: Variant,
    boxes1: &[[F; 4]],
    boxes2: &[[F; 4]],
    batch: usize,
    out: &mut [F],
    run: Run,
) {
    if out.is_empty() {
        return;
    }
    assert!(
        batch > 0 && boxes1.len().is_multiple_of(batch) && boxes2.len().is_multiple_of(batch),
        "sets of unequal size in a batch"
    );
    let (rows, width) = (boxes1.len() / batch, boxes2.len() / batch);
    assert_eq!(out.len(), boxes1.len() * width, "one result per pair");
    let stream = run.reused && size_of_val(out) >= STREAM_FROM;
    let columns: Vec<_> = boxes2.chunks(width).map(|boxes| Columns::new(boxes, variant.uses_angle())).collect();
    in_parts(out, run.threads, &|mut start, mut out| {
        // A part may begin and end anywhere. It is cut where one pair of sets ends and the next begins.
        while !out.is_empty() {
            let (set, inside) = (start / (rows * width), start % (rows * width));
            let here;
            (here, out) = out.split_at_mut(out.len().min(rows * width - inside));
            start += here.len();
            let (rows, columns) = (&boxes1[set * rows..], &columns[set]);
            fill_table(variant, run.level, TablePart { formula: (), rows, columns, start: inside, out: here, stream });
        }
    });
    if any_huge(boxes1) || any_huge(boxes2) {
        redo_huge(variant, boxes1, boxes2, batch, out);
    }
}

/// Computes the pairs again whose squares may have overflowed.
#[cold]
fn redo_huge<F: Float>(variant: Variant, boxes1: &[[F; 4]], boxes2: &[[F; 4]], batch: usize, out: &mut [F]) {
    let (rows, width) = (boxes1.len() / batch, boxes2.len() / batch);
    for (row, a) in boxes1.iter().enumerate().filter(|(_, a)| is_huge(a)) {
        ask_after(1);
        let others = &boxes2[row / rows * width..][..width];
        for (value, b) in out[row * width..][..width].iter_mut().zip(others) {
            *value = in_double(variant, a, b);
        }
    }
    for (second, b) in boxes2.iter().enumerate().filter(|(_, b)| is_huge(b)) {
        ask_after(1);
        let (set, column) = (second / width, second % width);
        for row in set * rows..(set + 1) * rows {
            out[row * width + column] = in_double(variant, &boxes1[row], b);
        }
    }
}

/// The pairs of two sequences, which have one length with each other and with `out`.
///
/// # Panics
///
/// If they have not.
pub fn elementwise<F: Float>(variant: Variant, boxes1: &[[F; 4]], boxes2: &[[F; 4]], out: &mut [F], run: Run) {
    assert!(boxes1.len() == out.len() && boxes2.len() == out.len(), "one result per pair");
    in_parts(out, run.threads, &|start, out| {
        let [boxes1, boxes2] = [boxes1, boxes2].map(|boxes| &boxes[start..][..out.len()]);
        fill_sequence(variant, run.level, boxes1, boxes2, out);
        if any_huge(boxes1) || any_huge(boxes2) {
            for ((a, b), value) in boxes1.iter().zip(boxes2).zip(out) {
                if is_huge(a) || is_huge(b) {
                    *value = in_double(variant, a, b);
                }
            }
        }
    });
}

/// Calls `work` with the parts of `out`, on several threads where that is worth it.
fn in_parts<F: Float>(out: &mut [F], threads: usize, work: &(dyn Fn(usize, &mut [F]) + Sync)) {
    if out.len() < 2 * MIN_PART {
        return work(0, out);
    }
    let part = match threads {
        1 => MAX_PART,
        0 => out.len() / (8 * available()),
        _ => out.len() / (8 * threads.min(available())),
    };
    fill(out, part.clamp(MIN_PART, MAX_PART), threads, work);
}

/// Whether a set has boxes whose squares overflow. Without an early end, so that it runs in vectors.
pub(crate) fn any_huge<F: Float>(boxes: &[[F; 4]]) -> bool {
    boxes.as_flattened().iter().fold(false, |huge, x| huge | (x.abs() > F::MAX_DIRECT))
}

/// Whether squares of the coordinates overflow.
pub(crate) fn is_huge<F: Float>(corners: &[F; 4]) -> bool {
    corners.iter().any(|x| x.abs() > F::MAX_DIRECT)
}

#[cfg(test)]
mod tests;
