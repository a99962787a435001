//! The curve of one category at one threshold, and what it becomes when a few detections change.

use crate::memory::Vec;

/// What a detection is on a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It is ignored, beyond the cap or removed.
    Out,
    FalsePositive,
    TruePositive,
}

impl State {
    fn counts(self) -> isize {
        isize::from(self != Self::Out)
    }

    fn finds(self) -> isize {
        isize::from(self == Self::TruePositive)
    }
}

/// A change of one detection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edit {
    /// The place of the detection among those of its category, best first.
    pub place: u32,
    pub before: State,
    pub after: State,
}

/// The true positives of a curve, and the number of detections that count up to each place.
#[derive(Default)]
pub(super) struct Curve {
    /// The place of each true positive.
    places: Vec<u32>,
    /// How many detections count up to each true positive.
    seen_at: Vec<u32>,
    /// How many detections count up to each place.
    seen: Vec<u32>,
}

/// A part of a curve after changes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece {
    /// True positives of the curve before: `from..to`, with so many more found and seen up to each of them.
    Run { from: usize, to: usize, found: isize, seen: isize },
    /// A new true positive: how many are found and seen up to it.
    New { found: isize, seen: isize },
}

impl Curve {
    /// The curve of detections in these states, best first.
    pub fn new(states: impl Iterator<Item = State>) -> Self {
        let mut curve = Self::default();
        let mut seen = 0;
        for (place, state) in (0..).zip(states) {
            seen += state.counts() as u32;
            curve.seen.push(seen);
            if state == State::TruePositive {
                curve.places.push(place);
                curve.seen_at.push(seen);
            }
        }
        curve
    }

    /// How many true positives there are.
    pub fn found(&self) -> usize {
        self.places.len()
    }

    /// How many detections count.
    pub fn seen(&self) -> u32 {
        self.seen.last().copied().unwrap_or(0)
    }

    /// How many true positives there are before a place.
    pub fn found_before(&self, place: u32) -> usize {
        self.places.partition_point(|&other| other < place)
    }

    /// The true positive at a position: its place.
    pub fn place(&self, at: usize) -> Option<u32> {
        self.places.get(at).copied()
    }

    /// The precision at a true positive, when so many more are found and seen up to it.
    #[inline]
    pub fn precision(&self, at: usize, found: isize, seen: isize, epsilon: f64) -> f64 {
        precision(at as isize + 1 + found, self.seen_at[at] as isize + seen, epsilon)
    }

    /// Visits the parts of the curve after changes, best first. Returns how many more are found and seen.
    ///
    /// The edits are sorted by place, at most one for each.
    pub fn visit(&self, edits: &[Edit], mut visit: impl FnMut(Piece)) -> (isize, isize) {
        let (mut from, mut found, mut seen) = (0, 0, 0);
        for edit in edits {
            let to = self.found_before(edit.place);
            if from < to {
                visit(Piece::Run { from, to, found, seen });
            }
            from = to + usize::from(edit.before == State::TruePositive);
            seen += edit.after.counts() - edit.before.counts();
            if edit.after == State::TruePositive {
                let before = self.seen[edit.place as usize] as isize;
                visit(Piece::New { found: to as isize + found + 1, seen: before + seen });
            }
            found += edit.after.finds() - edit.before.finds();
        }
        if from < self.places.len() {
            visit(Piece::Run { from, to: self.places.len(), found, seen });
        }
        (found, seen)
    }
}

/// Precision as `accumulate` computes it, of integers that a double holds exactly.
#[inline]
pub(super) fn precision(found: isize, seen: isize, epsilon: f64) -> f64 {
    found as f64 / (seen as f64 + epsilon)
}

#[cfg(test)]
mod tests {
    use super::State::{FalsePositive, Out, TruePositive};
    use super::*;

    /// All precisions after changes, and how many are seen.
    fn precisions(states: &[State], edits: &[Edit]) -> (Vec<f64>, u32) {
        let curve = Curve::new(states.iter().copied());
        let mut all = Vec::new();
        let (found, seen) = curve.visit(edits, |piece| match piece {
            Piece::Run { from, to, found, seen } => {
                all.extend((from..to).map(|at| curve.precision(at, found, seen, 0.0)));
            }
            Piece::New { found, seen } => all.push(precision(found, seen, 0.0)),
        });
        assert_eq!(curve.found() as isize + found, all.len() as isize);
        (all, (curve.seen() as isize + seen) as u32)
    }

    #[test]
    fn changes_of_a_curve_equal_the_curve_of_changed_detections() {
        let kinds = [Out, FalsePositive, TruePositive];
        // All curves of five detections, and all that become of them.
        for before in 0..3_usize.pow(5) {
            let states = |number: usize| (0..5).map(|at| kinds[number / 3_usize.pow(at) % 3]).collect::<Vec<_>>();
            for after in (0..3_usize.pow(5)).step_by(7) {
                let (old, new) = (states(before), states(after));
                let edits: Vec<Edit> = (0..)
                    .zip(old.iter().zip(&new))
                    .filter(|(_, (before, after))| before != after)
                    .map(|(place, (&before, &after))| Edit { place, before, after })
                    .collect();
                assert_eq!(precisions(&old, &edits), precisions(&new, &[]));
            }
        }
    }
}
