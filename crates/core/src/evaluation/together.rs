//! The pairs that the detections of a group make together: the most, and among these the highest sum of overlaps; or
//! the pair with the highest overlap first; or the first object with its first detection first.
//!
//! Owns: which pairs compete with each other, and what a pair is worth. Does not own: the assignment (`assignment`),
//! ignored objects, which detections take one by one afterwards (`matching`). Most pairs compete with none, or all of a
//! part compete for one object, so only the other parts of a group become tables of costs.

use super::choosing::Candidate;
use super::rules::Choice;
use crate::assignment::highest_pairs;
use crate::memory::{Vec, vec};

/// A pair that reaches the level, whose object counts.
#[derive(Clone, Copy)]
struct Competing {
    /// The name of its part: pairs of other parts share neither detection nor object with it.
    part: usize,
    detection: usize,
    /// Its position among the candidates.
    pair: usize,
}

/// The choice of the last group, and memory for the next.
#[derive(Default)]
pub(super) struct Together {
    /// For each detection the pair that it takes; empty where detections choose one by one.
    pub taken: Vec<Option<usize>>,
    competing: Vec<Competing>,
    /// Detections, then objects: each names another of its part, until one names itself.
    parts: Vec<usize>,
}

impl Together {
    /// Chooses among the candidates of a group.
    ///
    /// Args: how; where the candidates of each detection start, and where those of the last one end; the candidates; the
    /// level that a pair must reach; which objects are ignored, and so have no part.
    pub fn choose(
        &mut self,
        choice: Choice,
        starts: &[usize],
        candidates: &[Candidate],
        level: usize,
        ignored: &[bool],
    ) {
        let detections = starts.len() - 1;
        self.taken.clear();
        self.taken.resize(detections, None);
        self.competing.clear();
        self.parts.clear();
        self.parts.extend(0..detections + ignored.len());
        for (detection, window) in starts.windows(2).enumerate() {
            let reaches_ignored = |one: &Candidate| one.level >= level && ignored[one.object];
            if choice == Choice::InOrder && candidates[window[0]..window[1]].iter().any(reaches_ignored) {
                continue;
            }
            for (pair, candidate) in (window[0]..).zip(&candidates[window[0]..window[1]]) {
                let &Candidate { object, level: reached, .. } = candidate;
                if reached >= level && !ignored[object] {
                    self.competing.push(Competing { part: 0, detection, pair });
                    let one = root(&mut self.parts, detection);
                    let other = root(&mut self.parts, detections + object);
                    self.parts[one] = other;
                }
            }
        }
        let of = |one: &Competing| &candidates[one.pair];
        match choice {
            Choice::BestPairsFirst => {
                let rank = |one: &Competing| (one.detection, of(one).object);
                self.competing.sort_unstable_by(|a, b| {
                    of(b).overlap.total_cmp(&of(a).overlap).then_with(|| rank(a).cmp(&rank(b)))
                });
                self.one_by_one(candidates, detections);
            }
            Choice::InOrder => {
                self.competing.sort_unstable_by_key(|one| (of(one).object, one.detection));
                self.one_by_one(candidates, detections);
            }
            _ => self.most_pairs(candidates),
        }
    }

    /// Takes the most pairs, and among such choices those with the highest sum of overlaps.
    fn most_pairs(&mut self, candidates: &[Candidate]) {
        for one in self.competing.iter_mut() {
            one.part = root(&mut self.parts, one.detection);
        }
        // They were found by detection, and that order stays within a part.
        self.competing.sort_by_key(|one| one.part);
        for part in self.competing.chunk_by(|one, other| one.part == other.part) {
            let object = |one: &Competing| candidates[one.pair].object;
            let first = &part[0];
            let is_star = part.iter().all(|one| object(one) == object(first))
                || part.iter().all(|one| one.detection == first.detection);
            if is_star {
                let overlap = |one: &Competing| candidates[one.pair].overlap;
                let best = part.iter().fold(first, |best, one| if overlap(one) > overlap(best) { one } else { best });
                self.taken[best.detection] = Some(best.pair);
            } else {
                for place in best_of(part, candidates) {
                    self.taken[part[place].detection] = Some(part[place].pair);
                }
            }
        }
    }

    /// Takes each pair, in their order, whose detection and object are both free.
    fn one_by_one(&mut self, candidates: &[Candidate], detections: usize) {
        let mut object_taken: Vec<bool> = vec![false; self.parts.len() - detections];
        for one in self.competing.iter() {
            let object = candidates[one.pair].object;
            if self.taken[one.detection].is_none() && !object_taken[object] {
                self.taken[one.detection] = Some(one.pair);
                object_taken[object] = true;
            }
        }
    }
}

/// The name of the part of a member, and a shorter way to it.
fn root(parts: &mut [usize], mut member: usize) -> usize {
    while parts[member] != member {
        parts[member] = parts[parts[member]];
        member = parts[member];
    }
    member
}

/// The places of the pairs that a part makes. Its pairs are sorted by detection.
fn best_of(part: &[Competing], candidates: &[Candidate]) -> Vec<usize> {
    let mut objects: Vec<usize> = part.iter().map(|one| candidates[one.pair].object).collect();
    objects.sort_unstable();
    objects.dedup();
    let mut rows: Vec<i64> = vec![0; part.len()];
    for place in 1..part.len() {
        rows[place] = rows[place - 1] + i64::from(part[place].detection != part[place - 1].detection);
    }
    let column = |one: &Competing| objects.partition_point(|&object| object < candidates[one.pair].object) as i64;
    let columns: Vec<i64> = part.iter().map(column).collect();
    let detections = rows.last().map_or(0, |&row| row as usize + 1);
    // One more pair is worth more than all overlaps, none of which is above 1.
    let worth = (detections.min(objects.len()) + 1) as f64;
    let mut order: Vec<usize> = (0..part.len()).collect();
    order.sort_unstable_by_key(|&place| (rows[place], columns[place]));
    let sorted = |numbers: &[i64]| -> Vec<i64> { order.iter().map(|&place| numbers[place]).collect() };
    let values: Vec<f64> = order.iter().map(|&place| worth + candidates[part[place].pair].overlap).collect();
    let found = highest_pairs([&sorted(&rows), &sorted(&columns)], &values, [detections, objects.len()]);
    found.iter().map(|&place| order[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(object: usize, overlap: f64) -> Candidate {
        Candidate { object, overlap, level: 1 }
    }

    fn chosen(
        starts: &[usize],
        candidates: &[Candidate],
        level: usize,
        ignored: &[bool],
    ) -> std::vec::Vec<Option<usize>> {
        chosen_by(Choice::Together, starts, candidates, level, ignored)
    }

    fn chosen_by(
        choice: Choice,
        starts: &[usize],
        candidates: &[Candidate],
        level: usize,
        ignored: &[bool],
    ) -> std::vec::Vec<Option<usize>> {
        let mut together = Together::default();
        together.choose(choice, starts, candidates, level, ignored);
        together.taken.to_vec()
    }

    #[test]
    fn makes_the_most_pairs_before_the_best() {
        // Alone, the first detection would take the first object, which is the only one of the second.
        let candidates = [candidate(0, 0.9), candidate(1, 0.5), candidate(0, 0.6), candidate(2, 0.7)];
        let starts = [0, 2, 3, 4];
        assert_eq!(chosen(&starts, &candidates, 1, &[false; 3]), [Some(1), Some(2), Some(3)]);
        assert_eq!(chosen(&starts, &candidates, 1, &[false, true, true]), [Some(0), None, None]);
        assert_eq!(chosen(&starts, &candidates, 2, &[false; 3]), [None, None, None]);
    }

    #[test]
    fn makes_the_best_of_the_most_pairs() {
        let candidates = [candidate(1, 0.5), candidate(0, 0.6), candidate(0, 0.9), candidate(1, 0.7)];
        assert_eq!(chosen(&[0, 2, 4], &candidates, 1, &[false, false]), [Some(0), Some(2)]);
    }

    #[test]
    fn takes_the_best_pair_first_and_the_first_of_equal_ones() {
        let first = |starts: &[usize], candidates: &[Candidate], ignored: &[bool]| {
            chosen_by(Choice::BestPairsFirst, starts, candidates, 1, ignored)
        };
        let candidates = [candidate(0, 0.9), candidate(1, 0.5), candidate(0, 0.6), candidate(2, 0.7)];
        assert_eq!(first(&[0, 2, 3, 4], &candidates, &[false; 3]), [Some(0), None, Some(3)]);
        assert_eq!(first(&[0, 2, 3, 4], &candidates, &[true, false, false]), [Some(1), None, Some(3)]);
        let equal = [candidate(1, 0.5), candidate(0, 0.5), candidate(0, 0.5)];
        assert_eq!(first(&[0, 2, 3], &equal, &[false, false]), [Some(1), None]);
    }

    #[test]
    fn takes_pairs_in_order_without_detections_that_reach_an_ignored_object() {
        let in_order = |starts: &[usize], candidates: &[Candidate], ignored: &[bool]| {
            chosen_by(Choice::InOrder, starts, candidates, 1, ignored)
        };
        let candidates = [candidate(1, 0.9), candidate(0, 0.5), candidate(0, 0.6), candidate(1, 0.7)];
        // The first object takes the first detection, though the second one overlaps more.
        assert_eq!(in_order(&[0, 2, 4], &candidates, &[false, false]), [Some(1), Some(3)]);
        assert_eq!(in_order(&[0, 2, 3, 4], &candidates, &[false, true]), [None, Some(2), None]);
    }
}
