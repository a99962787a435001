//! Curves of one category: the detections they are drawn from, and what is read when images stand several times.

use std::collections::HashMap;

use super::super::accumulate::Outcomes;
use super::super::by_category::row_of;
use super::super::steps::area_under;
use super::{Layout, Reading, Weighed};
use crate::memory::{Vec, granted, vec};

/// The detections that the curves of one sheet are drawn from, best first.
pub(super) struct Curves {
    /// The image of each detection that counts at some threshold; empty if recall alone is read.
    seen: Vec<u32>,
    /// For each threshold, the places among these of the true positives and of those ignored at this threshold alone. If
    /// recall alone is read, the images of the true positives instead of their places.
    events: Vec<Vec<Event>>,
}

/// The place of a detection, and whether it is a true positive or ignored, in one number.
#[derive(Clone, Copy)]
struct Event(u32);

impl Event {
    fn new(place: usize, found: bool) -> Self {
        Self((place as u32) << 1 | u32::from(found))
    }

    fn place(self) -> usize {
        (self.0 >> 1) as usize
    }

    fn is_found(self) -> bool {
        self.0 & 1 == 1
    }
}

impl Curves {
    pub fn new(weighed: Weighed<'_>, layout: &Layout, sorted: &[u128]) -> Self {
        let Outcomes { ranges, thresholds, rank, matched, ignored, .. } = weighed.outcomes;
        let bytes = thresholds.div_ceil(8);
        let mut curves = Self { seen: Vec::new(), events: vec![Vec::new(); layout.thresholds.len()] };
        let has = |sets: &[u8], row: usize, at: usize| {
            sets[(row * ranges + layout.range) * bytes + at / 8] >> (at % 8) & 1 == 1
        };
        for row in sorted.iter().map(|&key| row_of(key)).filter(|&row| rank[row] < layout.cap) {
            if layout.thresholds.iter().all(|&at| has(ignored, row, at)) {
                continue;
            }
            let place = if layout.points > 0 { curves.seen.len() } else { weighed.image[row] as usize };
            if layout.points > 0 {
                curves.seen.push(weighed.image[row]);
            }
            for (&at, events) in layout.thresholds.iter().zip(&mut curves.events) {
                let is_ignored = has(ignored, row, at);
                if if is_ignored { layout.points > 0 } else { has(matched, row, at) } {
                    events.push(Event::new(place, !is_ignored));
                }
            }
        }
        curves
    }

    /// The true positives at a threshold, if recall alone is read.
    pub fn found(&self, row: usize, weights: &[u16]) -> u32 {
        self.events[row].iter().map(|event| u32::from(weights[event.place()])).sum()
    }
}

/// Memory for one curve.
#[derive(Default)]
pub(super) struct Work {
    /// How many detections that count stand before each.
    before: Vec<u32>,
    /// For each true positive, how many there are up to its last copy, and the precision there.
    steps: Vec<(u32, f64)>,
    /// The highest precision at each true positive or a later one, behind a margin.
    best: Vec<f64>,
    parts: Vec<f64>,
    /// For each number of objects, how many true positives reach each recall threshold.
    needed: HashMap<u64, Vec<u32>>,
}

/// Values in front of the first true positive, which a fixed number of writes may touch.
const MARGIN: usize = 4;

impl Work {
    /// Finds the true positives of one curve. The numbers are how many there are, and whether any detection counts.
    pub fn weigh(&mut self, curves: &Curves, row: usize, weights: &[u16], plain_precision: bool) -> (u32, bool) {
        let Self { before, steps, .. } = self;
        if row == 0 {
            let mut seen = 0;
            before.clear();
            before.push(seen);
            before.extend(curves.seen.iter().map(|&image| {
                seen += u32::from(weights[image as usize]);
                seen
            }));
        }
        let epsilon = if plain_precision { 0.0 } else { f64::EPSILON };
        let events = &curves.events[row];
        let (mut found, mut ignored, mut last) = (0, 0, 0);
        steps.clear();
        steps.resize(events.len() + 1, (0, 0.0));
        for event in events {
            let at = event.place();
            let weight = before[at + 1] - before[at];
            if event.is_found() {
                found += weight;
                // Of the copies of a true positive, the last has the highest precision.
                steps[last] = (found, f64::from(found) / (f64::from(before[at + 1] - ignored) + epsilon));
                last += usize::from(weight > 0);
            } else {
                ignored += weight;
            }
        }
        steps.truncate(last);
        (found, before[curves.seen.len()] > ignored)
    }

    /// Reads the curve that was weighed; `count` objects are to be found, which is not 0.
    pub fn read<'a>(
        &mut self,
        reading: Reading,
        found: u32,
        count: u64,
        recall_thresholds: &[f64],
        mut out: impl Iterator<Item = &'a mut f64>,
    ) {
        let Self { steps, best, parts, needed, .. } = self;
        let total = found as usize;
        if best.len() < total + MARGIN {
            best.resize(total + MARGIN, 0.0);
        }
        let mut highest = 0.0_f64;
        for (at, &(found, precision)) in steps.iter().enumerate().rev() {
            highest = highest.max(precision);
            // Copies are few: a fixed number of writes needs no branch. The step before overwrites those in front.
            let end = found as usize + MARGIN;
            best[end - MARGIN..end].fill(highest);
            let start = if at == 0 { 0 } else { steps[at - 1].0 as usize } + MARGIN;
            if end - start > MARGIN {
                best[start..end].fill(highest);
            }
        }
        let best = &best[MARGIN..MARGIN + total];
        if reading == Reading::Steps {
            let area = area_under(best, count as f64, parts);
            out.for_each(|out| *out = area);
            return;
        }
        granted(needed.try_reserve(1));
        let needed = needed.entry(count).or_insert_with(|| reaching(recall_thresholds, count));
        // A recall of 0 is reached by the best detection of all.
        let at_recall = |&needed: &u32| best.get((needed as usize).saturating_sub(1)).copied().unwrap_or(0.0);
        if reading == Reading::Points {
            let size = recall_thresholds.len() as f64;
            let sum = needed.iter().map(at_recall).fold(0.0, |sum, precision| sum + precision / size);
            out.for_each(|out| *out = sum);
            return;
        }
        for needed in needed.iter() {
            if let Some(out) = out.next() {
                *out = at_recall(needed);
            }
        }
    }
}

/// How many true positives reach each recall threshold.
fn reaching(recall_thresholds: &[f64], count: u64) -> Vec<u32> {
    let mut reached = 0;
    let next = |&recall: &f64| {
        while f64::from(reached) / (count as f64) < recall {
            reached += 1;
        }
        reached
    };
    recall_thresholds.iter().map(next).collect()
}
