//! Keypoints: boxes around them, and their object keypoint similarity (OKS).
//!
//! Owns: which pairs may be similar, and every step of the similarity but one. Does not own `exp`: that of NumPy decides
//! the last bit of pycocotools' numbers, and it has others on other machines. So `exponents` has what comes before,
//! Python calls NumPy once for all of it, and `means` has what comes after. All other operations are exact by IEEE 754.
//! Cut here because NumPy alone takes ten times as long: it copies every pair for each operation.

use crate::memory::{Vec, vec};
use crate::threads::fill;

/// Pairs that a thread takes at a time.
const PAIRS_AT_ONCE: usize = 1 << 12;

/// More than the rounding of a sum of `exp`, relative to the sum.
const MARGIN: f64 = 1e-6;

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
    let weights: Vec<f64> = sigmas.iter().map(|sigma| 1.0 / (8.0 * sigma * sigma)).collect();
    let labelled: Vec<usize> = objects.chunks_exact(width).map(labelled).collect();
    let mut kept = vec![false; rows.len()];
    fill(&mut kept, PAIRS_AT_ONCE, threads, &|start, kept| {
        for ((kept, &row), &column) in kept.iter_mut().zip(&rows[start..]).zip(&columns[start..]) {
            let (row, column) = (row as usize, column as usize);
            let (found, object) = (&detections[row * width..][..width], &objects[column * width..][..width]);
            let weight = 1.0 / (areas[column] + f64::EPSILON);
            let count = if labelled[column] > 0 { labelled[column] } else { sigmas.len() };
            let mut bound = Bound::new(count, least);
            let mut points = found.chunks_exact(3).zip(object.chunks_exact(3)).zip(&weights);
            *kept = if labelled[column] > 0 {
                points.filter(|((_, to), _)| to[2] > 0.0).all(|((from, to), of_point)| {
                    bound.add(square(from[0] - to[0], from[1] - to[1]) * of_point * weight)
                })
            } else {
                let [x, y, width, height] = boxes[column];
                points.all(|((from, _), of_point)| {
                    bound.add(square(beyond(from[0], x, width), beyond(from[1], y, height)) * of_point * weight)
                })
            };
        }
    });
    kept
}

/// How many points of an object are labelled.
fn labelled(object: &[f64]) -> usize {
    object.chunks_exact(3).filter(|point| point[2] > 0.0).count()
}

/// For each pair, as many numbers as there are points, whose `exp` are the terms of the similarity: those of the labelled
/// points of the object first, then zeros, which are no terms. An object without labelled points has terms of all points.
///
/// The operations and their order are those of pycocotools.
///
/// # Panics
///
/// If a row does not exist, or the columns do not fit together.
pub fn exponents(keypoints: Keypoints<'_>, rows: &[i64], columns: &[i64], threads: usize) -> Vec<f64> {
    let Keypoints { detections, objects, boxes, areas, sigmas } = keypoints;
    let points = sigmas.len();
    let variances: Vec<f64> = sigmas.iter().map(|sigma| (sigma * 2.0) * (sigma * 2.0)).collect();
    let mut exponents = vec![0.0; rows.len() * points];
    fill(&mut exponents, PAIRS_AT_ONCE * points, threads, &|start, exponents| {
        let pairs = rows[start / points..].iter().zip(&columns[start / points..]);
        for (exponents, (&row, &column)) in exponents.chunks_exact_mut(points).zip(pairs) {
            let (row, column) = (row as usize, column as usize);
            let found = detections[row * 3 * points..][..3 * points].chunks_exact(3);
            let object = objects[column * 3 * points..][..3 * points].chunks_exact(3);
            let area = areas[column] + f64::EPSILON;
            let exponent = |squared: f64, variance: f64| -(squared / variance / area / 2.0);
            let mut free = exponents.iter_mut();
            for ((from, to), &variance) in found.clone().zip(object).zip(&variances) {
                if to[2] > 0.0
                    && let Some(free) = free.next()
                {
                    *free = exponent(square(from[0] - to[0], from[1] - to[1]), variance);
                }
            }
            if free.len() == points {
                let [x, y, width, height] = boxes[column];
                for ((free, from), &variance) in free.zip(found).zip(&variances) {
                    *free = exponent(square(beyond(from[0], x, width), beyond(from[1], y, height)), variance);
                }
            }
        }
    });
    exponents
}

/// The similarity of each pair with an object, a row of `columns`: the mean of its `terms`, as [`exponents`] lists them.
///
/// # Panics
///
/// If a row does not exist, or the columns do not fit together.
pub fn means(keypoints: Keypoints<'_>, columns: &[i64], terms: &[f64], threads: usize) -> Vec<f64> {
    let points = keypoints.sigmas.len();
    let mut means = vec![0.0; columns.len()];
    fill(&mut means, PAIRS_AT_ONCE, threads, &|start, means| {
        let terms = terms[start * points..].chunks_exact(points);
        for ((mean, &column), terms) in means.iter_mut().zip(&columns[start..]).zip(terms) {
            let object = &keypoints.objects[column as usize * 3 * points..][..3 * points];
            let labelled = labelled(object);
            let count = if labelled > 0 { labelled } else { points };
            *mean = sum(&terms[..count]) / count as f64;
        }
    });
    means
}

/// The sum of some numbers in the order in which NumPy adds them: eight sums side by side, and of many numbers halves.
fn sum(numbers: &[f64]) -> f64 {
    if numbers.len() < 8 {
        return numbers.iter().fold(0.0, |sum, number| sum + number);
    }
    if numbers.len() > 128 {
        let half = numbers.len() / 2;
        let (first, second) = numbers.split_at(half - half % 8);
        return sum(first) + sum(second);
    }
    let (eights, rest) = numbers.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for eight in eights {
        for (sum, number) in sums.iter_mut().zip(eight) {
            *sum += number;
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    rest.iter().fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |sum, number| sum + number)
}

/// `[x, y, width, height]` around all points of each row of x, y and visibility, NaN if one of its points is.
///
/// # Panics
///
/// If there are no points.
pub fn bounds(keypoints: &[f64], points: usize, threads: usize) -> Vec<[f64; 4]> {
    let mut bounds = vec![[0.0; 4]; keypoints.len() / (3 * points)];
    fill(&mut bounds, PAIRS_AT_ONCE, threads, &|start, bounds| {
        for (bounds, row) in bounds.iter_mut().zip(keypoints[start * 3 * points..].chunks_exact(3 * points)) {
            let (mut low, mut high) = ([row[0], row[1]], [row[0], row[1]]);
            for point in row.chunks_exact(3) {
                for axis in 0..2 {
                    let at = point[axis];
                    low[axis] = if at < low[axis] || at.is_nan() { at } else { low[axis] };
                    high[axis] = if at > high[axis] || at.is_nan() { at } else { high[axis] };
                }
            }
            *bounds = [low[0], low[1], high[0] - low[0], high[1] - low[1]];
        }
    });
    bounds
}

/// A sum that is at least that of `exp(-e)`, and how much it can still become.
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
        // The first terms of the series of `exp(e)` are at most `exp(e)`, and cost less.
        self.sum += 1.0 / (1.0 + exponent * (1.0 + exponent * (0.5 + exponent / 6.0)));
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
    at_least_zero(start - length - at) + at_least_zero(at - (start + 2.0 * length))
}

/// The number, or 0 if it is below; unlike `max`, NaN of NaN.
fn at_least_zero(number: f64) -> f64 {
    if number < 0.0 { 0.0 } else { number }
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
        // Similarities: 1; exp(-1/2), for 1 pixel; twice half of the points lie in the widened box. By the bound, the
        // other half of the last one adds 0.0012, and the second one is 0.6076.
        assert_eq!(kept(0.5), [true, true, true, true]);
        assert_eq!(kept(0.502), [true, true, false, false]);
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

    #[test]
    fn a_similarity_is_the_mean_over_the_labelled_points() {
        // One object with its second of two points labelled, and one with none in a box from (0, 0) to (10, 10).
        let keypoints = Keypoints {
            detections: &[30.0, 10.0, 1.0, 13.0, 14.0, 1.0],
            objects: &[0.0, 0.0, 0.0, 10.0, 10.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            boxes: &[[0.0, 0.0, 10.0, 10.0]; 2],
            areas: &[100.0, 100.0],
            sigmas: &[0.25, 0.5],
        };
        let found = exponents(keypoints, &[0, 0], &[0, 1], 1);
        // 5 pixels from the labelled one; 10 pixels beyond the widened box, and within it.
        assert_eq!(*found, [-0.125, 0.0, -2.0, -0.0]);
        assert_eq!(*means(keypoints, &[0, 1], &[0.5, 9.0, 0.25, 1.0], 1), [0.5, 0.625]);
        assert!(exponents(keypoints, &[], &[], 1).is_empty() && means(keypoints, &[], &[], 1).is_empty());
    }

    #[test]
    fn numbers_are_added_in_eights_and_halves() {
        // Beside 1e16, every second integer is a number: 1e16 + 1 is 1e16.
        let mut numbers = [1.0; 17];
        numbers[0] = 1e16;
        // The first of eight sums is 1e16. ((1e16 + 2) + (2 + 2)) + (4 + 4) is 1e16 + 14, and 1 more is 1e16 + 16.
        assert_eq!(sum(&numbers), 1e16 + 16.0);
        assert_eq!(sum(&numbers[..7]), 1e16);
        assert_eq!(
            [0, 1, 8, 128, 129, 1000].map(|count| sum(&[1.0; 1000][..count])),
            [0.0, 1.0, 8.0, 128.0, 129.0, 1e3]
        );
    }

    #[test]
    fn boxes_are_around_all_points() {
        let points = [3.0, 4.0, 0.0, 1.0, 9.0, 2.0, f64::NAN, f64::NAN, f64::NAN, 1.0, 1.0, 1.0];
        let found = bounds(&points, 2, 1);
        assert_eq!(found[0], [1.0, 4.0, 2.0, 5.0]);
        assert!(found[1].iter().all(|number| number.is_nan()));
    }
}
