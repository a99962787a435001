//! Which of its candidates a detection takes.
//!
//! Owns: the order in which candidates are tried, ties of overlap, and that an object that counts is preferred to an
//! ignored one. Does not own: overlaps (`regions`), caps and rows (`matching`), what a match counts for (`scene::flag`).
//! Cut here because leaving rows out (`influence`) matches a group again by the same rules, and the rules are the same
//! for all kinds of regions. What all detections of a group choose together is in `together`.

use super::rules::Choice;
use crate::memory::Vec;

/// A detection and an object that overlap enough to match at some threshold.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    /// Position in the group.
    pub object: usize,
    pub overlap: f64,
    /// The number of thresholds that their overlap reaches.
    pub level: usize,
}

/// The candidates of a group, and the rules by which a detection chooses.
#[derive(Clone, Copy)]
pub(super) struct Chooser<'a> {
    pub choice: Choice,
    /// Whether the last of several objects with the same overlap is taken, instead of the first.
    pub last_of_equal: bool,
    pub candidates: &'a [Candidate],
    /// Which objects of the group are ignored.
    pub ignored: &'a [bool],
}

impl Chooser<'_> {
    /// Appends the pairs of one detection in the order in which they are tried.
    pub fn order(&self, pairs: std::ops::Range<usize>, out: &mut Vec<usize>) {
        if self.choice.takes_best_or_none() {
            return out.extend(pairs);
        }
        // Objects that count come first, each kind in the order of the file (cocoeval 252).
        for wanted in [false, true] {
            out.extend(pairs.clone().filter(|&pair| self.ignored[self.candidates[pair].object] == wanted));
        }
    }

    /// The pair that a detection takes at the thresholds below `level`.
    ///
    /// Args: its pairs in the order in which they are tried; the level; which objects are no longer free; which objects
    /// are groups; memory.
    #[inline]
    pub fn chosen(
        &self,
        pairs: &[usize],
        level: usize,
        taken: &[bool],
        is_group: impl Fn(usize) -> bool,
        by_tier: &mut Vec<usize>,
    ) -> Option<usize> {
        match self.choice {
            // Where a group chooses as one, what is left once the pairs of all are made: ignored objects.
            Choice::BestFree | Choice::Together | Choice::BestPairsFirst => self.best_free(pairs, level, taken),
            Choice::InOrder => {
                // An object that counts may be free: a detection that reaches an ignored one has no part in it.
                let counting = pairs.partition_point(|&pair| !self.ignored[self.candidates[pair].object]);
                self.best_free(&pairs[counting..], level, taken)
            }
            Choice::BestOfAll => self.best_of_all(pairs, level, taken),
            Choice::BestOfAllThenGroups => {
                let is_group = |&pair: &usize| is_group(self.candidates[pair].object);
                by_tier.clear();
                by_tier.extend(pairs.iter().copied().filter(|pair| !is_group(pair)));
                let groups = by_tier.len();
                by_tier.extend(pairs.iter().copied().filter(is_group));
                let (objects, groups) = by_tier.split_at(groups);
                self.best_of_all(objects, level, taken).or_else(|| self.best_of_all(groups, level, taken))
            }
        }
    }

    /// The best object that is free.
    #[inline]
    fn best_free(&self, pairs: &[usize], level: usize, taken: &[bool]) -> Option<usize> {
        let mut found: Option<usize> = None;
        for &pair in pairs {
            let candidate = self.candidates[pair];
            if candidate.level < level || taken[candidate.object] {
                continue;
            }
            if let Some(best) = found.map(|pair| self.candidates[pair]) {
                // A match with an object that counts is kept, even if an ignored object has a higher overlap.
                if self.ignored[candidate.object] && !self.ignored[best.object] {
                    break;
                }
                if !self.is_better(candidate, best) {
                    continue;
                }
            }
            found = Some(pair);
        }
        found
    }

    /// The best object of all, if it is free.
    #[inline]
    fn best_of_all(&self, pairs: &[usize], level: usize, taken: &[bool]) -> Option<usize> {
        let better = |best: usize, &pair: &usize| {
            if self.is_better(self.candidates[pair], self.candidates[best]) { pair } else { best }
        };
        let (&first, rest) = pairs.split_first()?;
        let best = rest.iter().fold(first, better);
        let Candidate { object, level: reached, .. } = self.candidates[best];
        (reached >= level && (self.ignored[object] || !taken[object])).then_some(best)
    }

    /// Whether a candidate is preferred to an earlier one.
    #[inline]
    fn is_better(&self, candidate: Candidate, best: Candidate) -> bool {
        candidate.overlap > best.overlap || (self.last_of_equal && candidate.overlap == best.overlap)
    }
}
