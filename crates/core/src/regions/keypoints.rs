//! Keypoints: which pairs may have a high object keypoint similarity?
//!
//! The similarity itself is computed by NumPy, whose `exp` decides its last bit. This is a bound that costs less.

use crate::memory::{Vec, vec};
use crate::threads::fill;

/// Pairs that a thread takes at a time.
const PAIRS_AT_ONCE: usize = 1 << 12;

/// More than the rounding of a sum of `exp`, relative to the sum.
const MARGIN: f64 = 1e-6;

/// Most points of most pairs are farther apart than this exponent says, and cost no `exp`.
const FAR: f64 = 8.0;

/// At least `exp(-FAR)`.
const AT_FAR: f64 = 0.000_336;

/// Keypoints of detections and of objects. Each has x, y and visibility of as many points as there are sigmas.
#[derive(Clone, Copy)]
pub struct Keypoints<'a> {
    /// Of the detections.
    pub detections: &'a [f64],
    /// Of the objects. A visibility above 0 says that the point is labelled.
    pub objects: &'a [f64],
    /// `[x, y, width, height]` of the objects.
    pub boxes: &'a [[f64; 4]],
    /// Of the objects.
    pub areas: &'a [f64],
    /// The standard deviation of each point, relative to the square root of the area.
    pub sigmas: &'a [f64],
}

/// Whether the similarity of each pair, a row of the detections and one of the objects, may be at least `least`.
///
/// # Panics
///
/// If a row does not exist, or the columns do not fit together.
pub fn may_reach(keypoints: Keypoints<'_>, rows: &[i64], columns: &[i64], least: f64, threads: usize) -> Vec<bool> {
    let Keypoints { detections, objects, boxes, areas, sigmas } = keypoints;
    let width = 3 * sigmas.len();
    let scales: Vec<f64> = sigmas.iter().map(|sigma| 8.0 * sigma * sigma).collect();
    let mut kept = vec![false; rows.len()];
    fill(&mut kept, PAIRS_AT_ONCE, threads, &|start, kept| {
        for ((kept, &row), &column) in kept.iter_mut().zip(&rows[start..]).zip(&columns[start..]) {
            let (row, column) = (row as usize, column as usize);
            let (found, object) = (&detections[row * width..][..width], &objects[column * width..][..width]);
            let area = areas[column] + f64::EPSILON;
            let labelled = object.chunks_exact(3).filter(|point| point[2] > 0.0).count();
            let mut bound = Bound::new(if labelled > 0 { labelled } else { scales.len() }, least);
            let points = found.chunks_exact(3).zip(object.chunks_exact(3)).zip(&scales);
            *kept = if labelled > 0 {
                points
                    .filter(|((_, to), _)| to[2] > 0.0)
                    .all(|((from, to), scale)| bound.add(square(from[0] - to[0], from[1] - to[1]) / (scale * area)))
            } else {
                let [x, y, width, height] = boxes[column];
                points.into_iter().all(|((from, _), scale)| {
                    bound.add(square(beyond(from[0], x, width), beyond(from[1], y, height)) / (scale * area))
                })
            };
        }
    });
    kept
}

/// A sum of `exp(-e)`, and how much it can still become.
struct Bound {
    sum: f64,
    left: f64,
    needed: f64,
}

impl Bound {
    fn new(count: usize, least: f64) -> Self {
        Self { sum: 0.0, left: count as f64, needed: least * (1.0 - MARGIN) * count as f64 }
    }

    /// Adds a term; whether the sum can still become as large as is needed. It can if it is NaN.
    fn add(&mut self, exponent: f64) -> bool {
        self.sum += if exponent > FAR { AT_FAR } else { (-exponent).exp() };
        self.left -= 1.0;
        let most = self.sum + self.left;
        most >= self.needed || most.is_nan()
    }
}

fn square(x: f64, y: f64) -> f64 {
    x * x + y * y
}

/// How far a coordinate lies beyond an interval that is widened by its own length on both sides.
fn beyond(at: f64, start: f64, length: f64) -> f64 {
    (start - length - at).max(0.0) + (at - (start + 2.0 * length)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_left_out_only_below_the_limit() {
        // One object with a labelled point at (10, 10), and one with none in a box from (0, 0) to (10, 10).
        let objects = [10.0, 10.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let keypoints = Keypoints {
            detections: &[10.0, 10.0, 1.0, 900.0, 900.0, 1.0, 11.0, 10.0, 1.0, 15.0, 25.0, 1.0],
            objects: &objects,
            boxes: &[[0.0, 0.0, 10.0, 10.0]; 2],
            areas: &[100.0, 100.0],
            sigmas: &[0.05, 0.05],
        };
        let kept = |least| may_reach(keypoints, &[0, 1, 0, 1], &[0, 0, 1, 1], least, 1);
        // Similarities: 1; exp(-1/2), for 1 pixel; twice half of the points lie in the widened box.
        assert_eq!(kept(0.5), [true, true, true, true]);
        assert_eq!(kept(0.501), [true, true, false, false]);
        assert_eq!(kept(0.6), [true, true, false, false]);
        assert_eq!(kept(0.61), [true, false, false, false]);
        assert_eq!(kept(0.0), [true; 4]);
    }

    #[test]
    fn what_is_not_a_number_stays() {
        let keypoints = Keypoints {
            detections: &[f64::NAN, 0.0, 1.0],
            objects: &[0.0, 0.0, 1.0],
            boxes: &[[0.0; 4]],
            areas: &[1.0],
            sigmas: &[0.05],
        };
        assert_eq!(may_reach(keypoints, &[0], &[0], 0.9, 1), [true]);
    }
}
