//! The pairs that the detections of a group make together: the most, and among these the highest sum of overlaps.
//!
//! Owns: which pairs compete with each other, and what a pair is worth. Does not own: the assignment (`assignment`),
//! ignored objects, which detections take one by one afterwards (`matching`). Most pairs compete with none, so only the
//! parts of a group in which several do become tables of costs.

use super::choosing::Candidate;
use crate::assignment::highest_pairs;
use crate::memory::{Vec, vec};

/// For each detection of a group the pair that it takes, or `None`.
///
/// Args: where the candidates of each detection start, and where those of the last one end; the candidates; the level that
/// a pair must reach; which objects are ignored, and so have no part.
pub(super) fn pairs_together(
    starts: &[usize],
    candidates: &[Candidate],
    level: usize,
    ignored: &[bool],
) -> Vec<Option<usize>> {
    let detections = starts.len() - 1;
    let mut taken = vec![None; detections];
    // Detections, then objects: each names another of its part, until one names itself.
    let mut part: Vec<usize> = (0..detections + ignored.len()).collect();
    let mut competing: Vec<(usize, usize)> = Vec::new();
    for (detection, window) in starts.windows(2).enumerate() {
        for pair in window[0]..window[1] {
            let Candidate { object, level: reached, .. } = candidates[pair];
            if reached >= level && !ignored[object] {
                competing.push((detection, pair));
                let (one, other) = (root(&mut part, detection), root(&mut part, detections + object));
                part[one] = other;
            }
        }
    }
    let mut of_part: Vec<(usize, usize, usize)> =
        competing.iter().map(|&(detection, pair)| (root(&mut part, detection), detection, pair)).collect();
    of_part.sort_unstable();
    for group in of_part.chunk_by(|one, other| one.0 == other.0) {
        if let [(_, detection, pair)] = *group {
            taken[detection] = Some(pair);
            continue;
        }
        for place in best_of(group, candidates) {
            let (_, detection, pair) = group[place];
            taken[detection] = Some(pair);
        }
    }
    taken
}

/// The name of the part of a member, and a shorter way to it.
fn root(part: &mut [usize], mut member: usize) -> usize {
    while part[member] != member {
        part[member] = part[part[member]];
        member = part[member];
    }
    member
}

/// The places of the pairs that a part makes. Its pairs are sorted by detection.
fn best_of(group: &[(usize, usize, usize)], candidates: &[Candidate]) -> Vec<usize> {
    let mut objects: Vec<usize> = group.iter().map(|&(_, _, pair)| candidates[pair].object).collect();
    objects.sort_unstable();
    objects.dedup();
    let mut rows: Vec<i64> = Vec::new();
    for (place, one) in group.iter().enumerate() {
        let new = place > 0 && group[place - 1].1 != one.1;
        rows.push(rows.last().map_or(0, |row| row + i64::from(new)));
    }
    let columns: Vec<i64> = group
        .iter()
        .map(|&(_, _, pair)| objects.partition_point(|&object| object < candidates[pair].object) as i64)
        .collect();
    let detections = rows.last().map_or(0, |&row| row as usize + 1);
    // One more pair is worth more than all overlaps, none of which is above 1.
    let worth = (detections.min(objects.len()) + 1) as f64;
    let values: Vec<f64> = group.iter().map(|&(_, _, pair)| worth + candidates[pair].overlap).collect();
    highest_pairs([&rows, &columns], &values, [detections, objects.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(object: usize, overlap: f64) -> Candidate {
        Candidate { object, overlap, level: 1 }
    }

    #[test]
    fn makes_the_most_pairs_before_the_best() {
        // Alone, the first detection would take the first object, which is the only one of the second.
        let candidates = [candidate(0, 0.9), candidate(1, 0.5), candidate(0, 0.6), candidate(2, 0.7)];
        let found = pairs_together(&[0, 2, 3, 4], &candidates, 1, &[false, false, false]);
        assert_eq!(*found, [Some(1), Some(2), Some(3)]);
        assert_eq!(*pairs_together(&[0, 2, 3, 4], &candidates, 1, &[false, true, true]), [Some(0), None, None]);
        assert_eq!(*pairs_together(&[0, 2, 3, 4], &candidates, 2, &[false; 3]), [None, None, None]);
    }

    #[test]
    fn makes_the_best_of_the_most_pairs() {
        let candidates = [candidate(0, 0.6), candidate(1, 0.5), candidate(0, 0.9), candidate(1, 0.7)];
        assert_eq!(*pairs_together(&[0, 2, 4], &candidates, 1, &[false, false]), [Some(1), Some(2)]);
    }
}
