//! The detections and objects of one category on one image, matched again when one of them is left out.

use super::super::choosing::{Candidate, Chooser};
use super::super::rules::Rules;
use super::super::scene::flag;
use super::super::verified::special;
use super::curve::State;
use super::{Span, Table};
use crate::memory::Vec;

/// What is left out when a group is matched again, and what enters.
#[derive(Clone, Copy, Default)]
pub(super) struct Change {
    /// The row of a detection that is removed.
    pub detection: Option<u32>,
    /// The row of a detection beyond the cap that enters.
    pub entrant: Option<u32>,
    /// The row of an object that is removed.
    pub object: Option<u32>,
    /// A category whose detections are left out.
    pub category: Option<u32>,
}

/// A group, and memory to match it.
pub(super) struct Group<'a> {
    table: &'a Table<'a>,
    rules: &'a Rules<'a>,
    span: Span,
    /// The rows of the detections with candidates, in the order in which they choose.
    pub members: Vec<u32>,
    /// Where the pairs of each member start, and where those of the last one end.
    starts: Vec<usize>,
    candidates: Vec<Candidate>,
    /// Positions of candidates in the order in which they are tried.
    ordered: Vec<usize>,
    /// Which objects the area range ignores.
    ignored: Vec<bool>,
    /// What each member is after the last match, and which object it matches, as its position in the group.
    pub states: Vec<State>,
    pub objects: Vec<Option<usize>>,
    taken: Vec<bool>,
    found_once: Vec<usize>,
    by_tier: Vec<usize>,
    some_pairs: Vec<usize>,
}

impl<'a> Group<'a> {
    pub fn new(table: &'a Table<'a>, rules: &'a Rules<'a>) -> Self {
        Self {
            table,
            rules,
            span: Span::default(),
            members: Vec::new(),
            starts: Vec::new(),
            candidates: Vec::new(),
            ordered: Vec::new(),
            ignored: Vec::new(),
            states: Vec::new(),
            objects: Vec::new(),
            taken: Vec::new(),
            found_once: Vec::new(),
            by_tier: Vec::new(),
            some_pairs: Vec::new(),
        }
    }

    /// Takes another group: its detections, in the order in which they choose, and its objects.
    pub fn load(&mut self, span: &Span, rows: &[u32]) {
        self.span = span.clone();
        self.members.clear();
        self.starts.clear();
        self.candidates.clear();
        for &row in rows {
            let start = self.candidates.len();
            if self.table.special(row) != special::LEFT_OUT {
                self.find_candidates(row);
            }
            if self.candidates.len() > start {
                self.members.push(row);
                self.starts.push(start);
            }
        }
        self.starts.push(self.candidates.len());
        let ignored = &self.table.object_ignored[span.objects.clone()];
        self.ignored.clear();
        self.ignored.extend_from_slice(ignored);
        self.ordered.clear();
        let Self { rules, candidates, ignored, ordered, starts, .. } = self;
        let chooser = Chooser { choice: rules.choice, last_of_equal: rules.last_of_equal, candidates, ignored };
        starts.windows(2).for_each(|window| chooser.order(window[0]..window[1], ordered));
    }

    /// Appends the candidates of a detection, as matching finds them.
    fn find_candidates(&mut self, row: u32) {
        let (table, rules) = (self.table, self.rules);
        let near = table.near_starts[row as usize]..table.near_starts[row as usize + 1];
        for pair in near {
            let object = table.near_object[pair] as usize;
            if !self.span.objects.contains(&object) {
                continue;
            }
            let overlap = table.near_overlap[pair];
            let exceed = table.object_flags[object] & flag::MORE_THAN != 0;
            let level = if exceed { rules.level_above(overlap) } else { rules.level(overlap) };
            let is_in_the_way = || exceed && rules.choice.takes_best_or_none() && rules.level(overlap) > 0;
            if level > 0 || is_in_the_way() {
                self.candidates.push(Candidate { object: object - self.span.objects.start, overlap, level });
            }
        }
    }

    /// Whether a threshold has the same candidates as the one before, and so the same matches.
    pub fn is_like_before(&self, threshold: usize) -> bool {
        threshold > 0 && self.candidates.iter().all(|candidate| candidate.level != threshold)
    }

    /// Whether an object, by its row, is a candidate of some detection.
    pub fn is_candidate(&self, object: usize) -> bool {
        let object = object - self.span.objects.start;
        self.candidates.iter().any(|candidate| candidate.object == object)
    }

    /// Whether a match takes the object from other detections, or decides how it counts for them.
    pub fn is_exclusive(&self, object: usize) -> bool {
        let flags = self.table.object_flags[self.span.objects.start + object];
        flags & flag::REPEATED == 0 || flags & flag::COUNTS_ONCE != 0
    }

    /// Matches the group at a threshold, by its position, after a change: fills [`Self::states`] and [`Self::objects`].
    ///
    /// Detections beyond the cap have no match and are out, except the one that enters.
    pub fn match_again(&mut self, threshold: usize, change: Change) {
        let Self { table, rules, span, members, starts, candidates, ordered, ignored, .. } = self;
        let (table, level) = (*table, threshold + 1);
        let chooser = Chooser { choice: rules.choice, last_of_equal: rules.last_of_equal, candidates, ignored };
        let removed = change.object.map(|row| row as usize - span.objects.start);
        self.taken.clear();
        self.taken.resize(ignored.len(), false);
        self.found_once.clear();
        self.states.clear();
        self.objects.clear();
        for (&row, window) in members.iter().zip(starts.windows(2)) {
            let takes_part = (table.is_matched(row, rules) || change.entrant == Some(row))
                && change.detection != Some(row)
                && change.category != Some(table.category[row as usize]);
            if !takes_part {
                self.states.push(State::Out);
                self.objects.push(None);
                continue;
            }
            let mut pairs = &ordered[window[0]..window[1]];
            if removed.is_some() {
                self.some_pairs.clear();
                self.some_pairs.extend(pairs.iter().filter(|&&pair| Some(candidates[pair].object) != removed));
                pairs = &self.some_pairs;
            }
            let is_group = |object: usize| table.object_flags[span.objects.start + object] & flag::OVER_DETECTION != 0;
            let chosen = chooser.chosen(pairs, level, &self.taken, is_group, &mut self.by_tier);
            let mut state = table.unmatched(row);
            let object = chosen.map(|pair| candidates[pair].object);
            if let Some(object) = object {
                let flags = table.object_flags[span.objects.start + object];
                self.taken[object] = flags & flag::REPEATED == 0;
                let mut is_ignored = ignored[object];
                if flags & flag::COUNTS_ONCE != 0 {
                    if self.found_once.contains(&object) {
                        is_ignored = true;
                    } else {
                        self.found_once.push(object);
                    }
                }
                if flags & flag::VOID == 0 {
                    state = State::TruePositive;
                }
                if is_ignored {
                    state = State::Out;
                }
            }
            self.states.push(state);
            self.objects.push(object);
        }
    }
}
