//! Numbers read from the curves of one category, before and after changes.

use super::super::drawer::Area;
use super::super::steps::{area_under, pairwise_sum};
use super::super::trapezoid;
use super::curve::{Curve, Edit, Piece, precision};
use crate::memory::{Vec, vec};

/// What is read from a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The precision at each recall threshold; the number is the mean of all.
    Precisions,
    /// The sum of these precisions, each divided by their number first.
    MeanPrecision,
    /// An area under the curve.
    Area(Area),
    /// The recall after the last detection.
    Recall,
}

/// How curves are read.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// What is read.
    pub quantity: Quantity,
    /// Recall thresholds, in ascending order.
    pub recall_thresholds: &'a [f64],
    /// Whether precision is `tp / (tp + fp)`, instead of `tp / (tp + fp + 2**-52)`.
    pub plain_precision: bool,
    /// Whether a category without objects counts 0 where a detection counts; else it is undefined.
    pub zero_if_detected: bool,
}

impl Reading<'_> {
    /// How many points are read from a curve.
    fn points(&self) -> usize {
        if self.quantity == Quantity::Precisions { self.recall_thresholds.len() } else { 1 }
    }

    fn epsilon(&self) -> f64 {
        if self.plain_precision { 0.0 } else { f64::EPSILON }
    }
}

/// What is read from all curves of a category.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Number {
    /// The sum of the defined points.
    pub total: f64,
    /// How many points are defined.
    pub defined: u32,
    /// The mean of all points; NaN if one is not defined.
    pub mean: f64,
}

/// The curves of one category, at the thresholds that a number is about.
pub(super) struct Curves {
    /// One for each threshold.
    pub curves: Vec<Curve>,
    /// How many objects there are to find.
    pub objects: u64,
}

/// Where recall thresholds are reached, for a number of objects.
#[derive(Clone, Default)]
struct Steps {
    /// For each recall threshold, the position of the true positive that reaches it.
    first: Vec<usize>,
}

impl Steps {
    fn new(objects: u64, recall_thresholds: &[f64]) -> Self {
        let count = objects as f64;
        let needed = |&recall: &f64| {
            let mut needed = (recall * count).ceil().max(0.0) as usize;
            while needed > 0 && (needed - 1) as f64 / count >= recall {
                needed -= 1;
            }
            while (needed as f64) / count < recall {
                needed += 1;
            }
            needed.saturating_sub(1)
        };
        Self { first: recall_thresholds.iter().map(needed).collect() }
    }

    /// The last threshold that a true positive at a position reaches, if any.
    fn of(&self, at: usize) -> Option<usize> {
        self.first.partition_point(|&first| first <= at).checked_sub(1)
    }

    /// The true positives that reach a threshold and not the next one with another position.
    fn block(&self, threshold: usize) -> std::ops::Range<usize> {
        self.first[threshold]..self.first.get(threshold + 1).copied().unwrap_or(usize::MAX)
    }
}

/// How far the tables of highest precisions go: so many more or fewer found, or seen.
const REACH: isize = 2;
const SHIFTS: usize = (2 * REACH + 1) as usize;

/// Reads the curves of one category. It keeps what it has computed once.
pub(super) struct Reader<'a> {
    reading: Reading<'a>,
    category: &'a Curves,
    /// For no object less, and for one object less.
    steps: [Steps; 2],
    /// By threshold, objects less, more found and more seen: the highest precision of each block. Empty if not made yet.
    tables: Vec<Vec<f64>>,
    /// All points of the curves as they are.
    base: Vec<f64>,
    /// The number of the curves as they are.
    number: Number,
    /// Memory for the points after changes, precisions, and parts of an area.
    points: Vec<f64>,
    precisions: Vec<f64>,
    parts: Vec<f64>,
}

impl<'a> Reader<'a> {
    pub fn new(reading: Reading<'a>, category: &'a Curves) -> Self {
        let steps = [0, 1].map(|less| match category.objects.checked_sub(less) {
            Some(objects) if objects > 0 => Steps::new(objects, reading.recall_thresholds),
            _ => Steps::default(),
        });
        let count = category.curves.len();
        let mut reader = Self {
            reading,
            category,
            steps,
            tables: vec![Vec::new(); count * 2 * SHIFTS * SHIFTS],
            base: Vec::new(),
            number: Number::default(),
            points: Vec::new(),
            precisions: Vec::new(),
            parts: Vec::new(),
        };
        let unchanged = vec![Vec::new(); count];
        reader.base = vec![0.0; count * reading.points()];
        reader.number = reader.read(&unchanged, 0, true);
        reader.base.clone_from(&reader.points);
        reader
    }

    /// The number of the curves as they are.
    pub fn number(&self) -> Number {
        self.number
    }

    /// The number after changes, given by threshold, and with `less` objects fewer to find.
    pub fn after(&mut self, edits: &[Vec<Edit>], less: u64) -> Number {
        if less == 0 && edits.iter().all(|edits| edits.is_empty()) {
            self.number
        } else {
            self.read(edits, less, false)
        }
    }

    fn read(&mut self, edits: &[Vec<Edit>], less: u64, first: bool) -> Number {
        let size = self.reading.points();
        let objects = self.category.objects - less;
        if objects == 0 {
            return self.without_objects(edits);
        }
        let mut points = std::mem::take(&mut self.points);
        points.resize(edits.len() * size, 0.0);
        for (threshold, edits) in edits.iter().enumerate() {
            let out = &mut points[threshold * size..(threshold + 1) * size];
            if edits.is_empty() && less == 0 && !first {
                out.copy_from_slice(&self.base[threshold * size..(threshold + 1) * size]);
            } else {
                self.curve(threshold, edits, less, out);
            }
        }
        let total = pairwise_sum(&points);
        let number = Number { total, defined: points.len() as u32, mean: total / points.len() as f64 };
        self.points = points;
        number
    }

    /// A category without objects is undefined, or counts 0 where a detection counts.
    fn without_objects(&mut self, edits: &[Vec<Edit>]) -> Number {
        let size = self.reading.points();
        let detected = |(curve, edits): (&Curve, &Vec<Edit>)| {
            self.reading.zero_if_detected && curve.seen() as isize + curve.visit(edits, |_| ()).1 > 0
        };
        let defined = self.category.curves.iter().zip(edits).map(detected).filter(|&is| is).count();
        self.points.clear();
        self.points.resize(edits.len() * size, f64::NAN);
        let mean = if defined == edits.len() { 0.0 } else { f64::NAN };
        Number { total: 0.0, defined: (defined * size) as u32, mean }
    }

    /// The points of one curve after changes.
    fn curve(&mut self, threshold: usize, edits: &[Edit], less: u64, out: &mut [f64]) {
        let category = self.category;
        let curve = &category.curves[threshold];
        let objects = category.objects - less;
        match self.reading.quantity {
            Quantity::Recall => {
                let (found, _) = curve.visit(edits, |_| ());
                out[0] = (curve.found() as isize + found) as f64 / objects as f64;
            }
            Quantity::Area(area) => out[0] = self.area(curve, edits, objects, area),
            Quantity::Precisions => self.precisions(threshold, edits, less, out),
            Quantity::MeanPrecision => {
                let mut precisions = vec![0.0; self.reading.recall_thresholds.len()];
                self.precisions(threshold, edits, less, &mut precisions);
                out[0] = precisions.iter().fold(0.0, |sum, precision| sum + precision / precisions.len() as f64);
            }
        }
    }

    /// All precisions of a curve after changes, before the highest is taken; returns how many detections count.
    fn all_precisions(&mut self, curve: &Curve, edits: &[Edit]) -> u32 {
        let (epsilon, out) = (self.reading.epsilon(), &mut self.precisions);
        out.clear();
        let (_, seen) = curve.visit(edits, |piece| match piece {
            Piece::Run { from, to, found, seen } => {
                out.extend((from..to).map(|at| curve.precision(at, found, seen, epsilon)));
            }
            Piece::New { found, seen } => out.push(precision(found, seen, epsilon)),
        });
        (curve.seen() as isize + seen) as u32
    }

    fn area(&mut self, curve: &Curve, edits: &[Edit], objects: u64, area: Area) -> f64 {
        let counted = self.all_precisions(curve, edits);
        let (precisions, count) = (&mut self.precisions, objects as f64);
        if area == Area::Steps {
            highest_from_the_end(precisions);
            return area_under(precisions, count, &mut self.parts);
        }
        let slopes = area == Area::SlopingTrapezoid;
        trapezoid::area(precisions, counted, count, self.reading.recall_thresholds, slopes, &mut self.parts)
    }

    /// The precision at each recall threshold after changes.
    fn precisions(&mut self, threshold: usize, edits: &[Edit], less: u64, out: &mut [f64]) {
        let category = self.category;
        let curve = &category.curves[threshold];
        if less > 1 {
            // Seldom the same twice, as for images: nothing is worth keeping.
            let steps = Steps::new(category.objects - less, self.reading.recall_thresholds);
            self.all_precisions(curve, edits);
            highest_from_the_end(&mut self.precisions);
            let at = |&first: &usize| self.precisions.get(first).copied().unwrap_or(0.0);
            out.iter_mut().zip(&steps.first).for_each(|(out, first)| *out = at(first));
            return;
        }
        let (reading, less) = (self.reading, less as usize);
        let epsilon = reading.epsilon();
        let Self { steps, tables, .. } = self;
        let steps = &steps[less];
        out.fill(0.0);
        curve.visit(edits, |piece| match piece {
            Piece::New { found, seen } => {
                if let Some(block) = steps.of(found as usize - 1) {
                    out[block] = higher(out[block], precision(found, seen, epsilon));
                }
            }
            Piece::Run { from, to, found, seen } => {
                let table = (found.abs() <= REACH && seen.abs() <= REACH).then(|| {
                    let (more_found, more_seen) = ((found + REACH) as usize, (seen + REACH) as usize);
                    &mut tables[((threshold * 2 + less) * SHIFTS + more_found) * SHIFTS + more_seen]
                });
                let run = Run { curve, steps, found, seen, epsilon };
                run.raise(from..to, table, out);
            }
        });
        highest_from_the_end(out);
    }
}

/// True positives with so many more found and seen up to each of them.
struct Run<'a> {
    curve: &'a Curve,
    steps: &'a Steps,
    found: isize,
    seen: isize,
    epsilon: f64,
}

impl Run<'_> {
    /// Raises the highest precision of each block to those of `positions`, positions on the curve before.
    ///
    /// Blocks that are within `positions` as a whole are read from the table, which is made when it is empty.
    fn raise(&self, positions: std::ops::Range<usize>, table: Option<&mut Vec<f64>>, out: &mut [f64]) {
        let (low, high) =
            ((positions.start as isize + self.found) as usize, (positions.end as isize + self.found) as usize);
        let Some(last) = self.steps.of(high - 1) else { return };
        let first = self.steps.of(low).unwrap_or(0);
        let whole = table.map(|table| {
            if table.is_empty() {
                table.extend((0..out.len()).map(|block| self.highest(self.steps.block(block))));
            }
            &table[..]
        });
        let ends = positions.end == self.curve.found();
        let mut block = first;
        while block <= last {
            let range = self.steps.block(block);
            let is_whole = (range.start >= low || positions.start == 0) && (range.end <= high || ends);
            match whole {
                Some(table) if is_whole => {
                    // All that follow are whole, too, but perhaps the last.
                    let end = if ends { last + 1 } else { last.max(block + 1) };
                    let pairs = out[block..end].iter_mut().zip(&table[block..end]);
                    pairs.for_each(|(out, &highest)| *out = higher(*out, highest));
                    block = end;
                }
                _ => {
                    out[block] = higher(out[block], self.highest(range.start.max(low)..range.end.min(high)));
                    block += 1;
                }
            }
        }
    }

    /// The highest precision of true positives at positions after the changes; 0 if there is none.
    fn highest(&self, positions: std::ops::Range<usize>) -> f64 {
        let before =
            |at: usize| (at as isize).saturating_sub(self.found).clamp(0, self.curve.found() as isize) as usize;
        let range = before(positions.start.min(isize::MAX as usize))..before(positions.end.min(isize::MAX as usize));
        range.fold(0.0, |highest, at| higher(highest, self.curve.precision(at, self.found, self.seen, self.epsilon)))
    }
}

#[inline]
fn higher(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// Makes each number the highest of itself and those that follow.
fn highest_from_the_end(numbers: &mut [f64]) {
    let mut highest: f64 = 0.0;
    for number in numbers.iter_mut().rev() {
        highest = higher(highest, *number);
        *number = highest;
    }
}

#[cfg(test)]
mod tests {
    use super::super::curve::State;
    use super::*;
    use crate::memory::vec;

    #[test]
    fn a_changed_curve_reads_like_a_new_one() {
        let kinds = [State::Out, State::FalsePositive, State::TruePositive, State::FalsePositive];
        let mut seed: u64 = 7;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        let thresholds = [0.0, 0.01, 0.3, 0.31, 0.6, 0.9, 1.0];
        let quantities = [
            Quantity::Precisions,
            Quantity::MeanPrecision,
            Quantity::Recall,
            Quantity::Area(Area::Steps),
            Quantity::Area(Area::Trapezoid),
            Quantity::Area(Area::SlopingTrapezoid),
        ];
        for round in 0..60 {
            let count = 1 + random(if round % 2 == 0 { 12 } else { 500 });
            let states: Vec<State> = (0..count).map(|_| kinds[random(4)]).collect();
            let found = states.iter().filter(|&&state| state == State::TruePositive).count();
            let objects = (found + 1 + random(20)) as u64;
            let reading = Reading {
                quantity: quantities[round % quantities.len()],
                recall_thresholds: &thresholds,
                plain_precision: round % 3 == 0,
                zero_if_detected: false,
            };
            let before = Curves { curves: vec![Curve::new(states.iter().copied())], objects };
            let mut reader = Reader::new(reading, &before);
            for _ in 0..40 {
                let mut changed = states.clone();
                let less = [0, 0, 1, 1, 2][random(5)].min(objects - found as u64);
                (0..random(5)).for_each(|_| changed[random(count)] = kinds[random(4)]);
                let now = changed.iter().filter(|&&state| state == State::TruePositive).count();
                if now as u64 > objects - less {
                    continue;
                }
                let pairs = (0..).zip(states.iter().zip(&changed));
                let edits = pairs.filter(|(_, (before, after))| before != after);
                let edits = edits.map(|(place, (&before, &after))| Edit { place, before, after }).collect();
                let after = Curves { curves: vec![Curve::new(changed.into_iter())], objects: objects - less };
                assert_eq!(reader.after(&[edits], less), Reader::new(reading, &after).number());
            }
        }
    }
}
