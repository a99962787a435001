//! The best of a table of scores, one per box and class: what enters the suppression.
//!
//! Most scores are far below their thresholds, so a row is first asked as a whole, without a branch. Where many reach
//! them, the best are chosen now and then, and what is worse than these is not looked at again.

use super::order::Score;
use crate::memory::Vec;
use crate::threads::map;

/// Of the scores of each image, the places, row by row, of those that are at least the number of their column in `least`:
/// the `most` best, by falling score, and of equal scores the lower place first. With `one_per_row`, only the first best of
/// a row counts.
///
/// `Err` is the place of a score that is not finite.
///
/// # Panics
///
/// If the scores are not rows of as many numbers as `least` has.
pub(crate) fn best_candidates<S: Score>(
    images: &[&[S]],
    least: &[S],
    one_per_row: bool,
    most: usize,
    threads: usize,
) -> Vec<Result<Vec<i64>, usize>> {
    map(images.iter(), threads, |scores| {
        let mut best = Best { items: Vec::new(), most, floor: S::from_f64(f64::NEG_INFINITY) };
        best.read(scores, least, one_per_row)?;
        choose(&mut best.items, most);
        best.items.sort_unstable();
        Ok(best.items.iter().map(|&(_, place)| place as i64).collect())
    })
}

/// The best scores so far: their keys and places.
struct Best<S> {
    items: Vec<(u64, usize)>,
    most: usize,
    /// Scores up to this one are not among the best.
    floor: S,
}

impl<S: Score> Best<S> {
    fn read(&mut self, scores: &[S], least: &[S], one_per_row: bool) -> Result<(), usize> {
        let many = self.most.saturating_mul(4).max(if cfg!(test) { 8 } else { 1 << 10 });
        let columns = least.len().max(1);
        assert!(scores.len().is_multiple_of(columns) && (scores.is_empty() || !least.is_empty()), "rows of one length");
        for (number, row) in scores.chunks_exact(columns).enumerate() {
            let place = number * columns;
            let (mut reaches, mut is_finite) = (false, true);
            for (&score, &least) in row.iter().zip(least) {
                reaches |= (score >= least) & (score > self.floor);
                is_finite &= score.is_a_number();
            }
            if !is_finite {
                let column = row.iter().position(|score| !score.is_a_number());
                return Err(place + column.expect("one of them"));
            }
            if !reaches || self.most == 0 {
                continue;
            }
            let within = if one_per_row { first_best(row)..first_best(row) + 1 } else { 0..columns };
            for column in within {
                let score = row[column];
                if score >= least[column] && score > self.floor {
                    self.items.push((score.key(), place + column));
                }
            }
            if self.items.len() > many {
                choose(&mut self.items, self.most);
                let worst = self.items.iter().max().map(|&(_, place)| scores[place]);
                self.floor = worst.expect("most is not 0");
            }
        }
        Ok(())
    }
}

fn first_best<S: Score>(row: &[S]) -> usize {
    (1..row.len()).fold(0, |best, column| if row[column] > row[best] { column } else { best })
}

/// Leaves the best, in any order.
fn choose(items: &mut Vec<(u64, usize)>, most: usize) {
    if items.len() > most {
        items.select_nth_unstable(most);
        items.truncate(most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by sorting everything.
    fn sorted(scores: &[f32], least: &[f32], one_per_row: bool, most: usize) -> std::vec::Vec<i64> {
        let mut found = std::vec::Vec::new();
        for (number, row) in scores.chunks(least.len()).enumerate() {
            let largest = row.iter().copied().fold(f32::MIN, f32::max);
            let first = row.iter().position(|&score| score == largest);
            for (column, &score) in row.iter().enumerate() {
                if score >= least[column] && (!one_per_row || first == Some(column)) {
                    found.push((score, number * row.len() + column));
                }
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        found.iter().take(most).map(|&(_, place)| place as i64).collect()
    }

    #[test]
    fn are_those_of_a_sort() {
        let mut state = 7_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / 64.0
        };
        for columns in [1, 3, 80] {
            let scores: std::vec::Vec<f32> = (0..columns * 200).map(|_| next().floor() / 4096.0).collect();
            let mut least = vec![0.3; columns];
            least[columns / 2] = 0.8;
            for (most, one_per_row) in [(0, false), (1, true), (5, false), (100, true), (usize::MAX, false)] {
                let expected = sorted(&scores, &least, one_per_row, most);
                for threads in [1, 2] {
                    let found = best_candidates(&[&scores, &scores[..columns]], &least, one_per_row, most, threads);
                    assert_eq!(found[0].as_ref().expect("finite").to_vec(), expected, "{columns} {most}");
                    let first = sorted(&scores[..columns], &least, one_per_row, most);
                    assert_eq!(found[1].as_ref().expect("finite").to_vec(), first, "{columns} {most}");
                }
            }
            for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                let mut scores = scores.clone();
                scores[columns * 150] = bad;
                assert_eq!(best_candidates(&[&scores], &least, false, 0, 1)[0], Err(columns * 150));
            }
        }
        assert_eq!(best_candidates::<f64>(&[&[]], &[], false, 3, 1)[0], Ok(Vec::new()));
    }
}
