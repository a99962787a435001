//! The area under a curve of straight lines, as Ultralytics computes it.

use super::steps::pairwise_sum;
use crate::memory::{Vec, zeros};

/// The area under a curve between the first and the last recall threshold, in trapezoids between the thresholds.
///
/// The curve begins with precision 1 at recall 0 and has a point for every detection. Its precision is the highest at
/// this point or a later one; between two points it is a straight line. After its last point it is 0, or, if it
/// `slopes`, it falls along a straight line to 0 at recall 1.
///
/// Args: the precision at each true positive, best first; how many detections count; how many objects there are to find;
/// the recall thresholds, in ascending order; whether the end slopes; memory for the parts of the sum.
pub(super) fn area(
    precision: &[f64],
    counted: u32,
    objects: f64,
    recall_thresholds: &[f64],
    slopes: bool,
    parts: &mut Vec<f64>,
) -> f64 {
    let found = precision.len();
    if found == 0 {
        return 0.0;
    }
    // How many detections there are up to a true positive: its precision is 1 of them for each true positive.
    let place = |at: usize| ((at + 1) as f64 / precision[at]).round() as u32;
    // Of the points with the same recall only the first and the last matter: the line comes to the one and leaves the
    // other. They differ if a false positive lies between two true positives.
    let mut levels = zeros(found + 1);
    let mut highest: f64 = 0.0;
    for level in (1..=found).rev() {
        let last = if level == found { counted } else { place(level) - 1 };
        // With false positives, precision falls up to the last detection with this recall.
        let at_last = if last > place(level - 1) { level as f64 / f64::from(last) } else { precision[level - 1] };
        let leaves = highest.max(at_last);
        highest = highest.max(precision[level - 1]);
        levels[level] = (highest, leaves);
    }
    levels[0] = (1.0, if place(0) > 1 { highest } else { 1.0 });
    let recall = |level: usize| level as f64 / objects;
    let mut level = 0;
    let mut read = |wanted: f64| {
        while level < found && recall(level + 1) <= wanted {
            level += 1;
        }
        let ((start, leaves), last) = ((recall(level), levels[level].1), level == found);
        if wanted >= 1.0 || (last && !slopes) {
            return 0.0;
        }
        if wanted == start {
            return leaves;
        }
        let (end, arrives) = if last { (1.0, 0.0) } else { (recall(level + 1), levels[level + 1].0) };
        (arrives - leaves) / (end - start) * (wanted - start) + leaves
    };
    parts.clear();
    let mut before: Option<(f64, f64)> = None;
    for &wanted in recall_thresholds {
        let height = read(wanted);
        if let Some((low, of_low)) = before {
            parts.push((wanted - low) * (height + of_low) / 2.0);
        }
        before = Some((wanted, height));
    }
    pairwise_sum(parts)
}

#[cfg(test)]
mod tests {
    use super::area;
    use crate::memory::Vec;

    #[test]
    fn adds_trapezoids_between_the_recall_thresholds() {
        let recalls = [0.0, 0.5, 1.0];
        let of = |precision: &[f64], counted, objects, slopes| {
            area(precision, counted, objects, &recalls, slopes, &mut Vec::new())
        };
        assert_eq!(of(&[], 3, 2.0, true), 0.0);
        // All are found: precision is 1, and 0 at recall 1.
        assert_eq!(of(&[1.0, 1.0], 2, 2.0, false), 0.75);
        // The first of two is found: at recall 0.5 the curve has ended, or begins to fall.
        assert_eq!(of(&[1.0], 1, 2.0, false), 0.25);
        assert_eq!(of(&[1.0], 1, 2.0, true), 0.75);
        // A false positive after it: precision is 0.5 when the curve begins to fall.
        assert_eq!(of(&[1.0], 2, 2.0, true), 0.5);
        // A false positive before it: the curve leaves recall 0 with the precision of the first true positive.
        assert_eq!(of(&[0.5], 2, 2.0, true), 0.375);
        // A false positive between them.
        assert_eq!(of(&[1.0, 2.0 / 3.0], 3, 2.0, true), (1.0 + 2.0 / 3.0) / 4.0 + 2.0 / 3.0 / 4.0);
        // Straight lines within a level: recall 0.5 lies half way between 1 / 4 and 3 / 4 of the way.
        assert_eq!(area(&[1.0], 1, 1.0, &[0.0, 0.25, 1.0], false, &mut Vec::new()), 0.25 + 0.375);
    }
}
