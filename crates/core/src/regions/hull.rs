//! Generalized IoU of regions of any shape: how much of the convex hull around two of them is neither.
//!
//! A hull is found by Andrew's monotone chain (Another efficient algorithm for convex hulls in two dimensions, IPL
//! 1979). Each region keeps the corners of its own hull in that order, so that a pair merges two short lists.

use std::cmp::Ordering;

use crate::memory::{Vec, copied, vec};
use crate::regions::convex::clip::{Point, signed_area};
use crate::threads::each_with;

/// Regions by the corners of their convex hulls and by their areas.
pub struct Outlines {
    /// The corners of all hulls, those of one region by x and then by y.
    corners: Vec<Point>,
    offsets: Vec<usize>,
    areas: Vec<f64>,
    /// Where the corners of each region are counted from.
    centres: Vec<Point>,
}

impl Outlines {
    /// `points` are relative to the centre of their region: far from the origin, they then keep all their digits.
    /// `offsets` has one number more than there are regions: where the points of each begin, and where the last end.
    ///
    /// # Errors
    ///
    /// If the offsets do not ascend from 0 to the number of points, or there are not as many areas and centres as regions.
    pub fn new(points: &[Point], offsets: &[i64], areas: &[f64], centres: &[Point]) -> Result<Self, String> {
        if offsets.len() != areas.len() + 1 || centres.len() != areas.len() || offsets.first() != Some(&0) {
            return Err(format!("{} areas and {} offsets, the first of them 0", areas.len(), offsets.len()));
        }
        let mut hull = Hull::default();
        let corners = Vec::with_capacity(points.len());
        let mut own = Self { corners, offsets: vec![0], areas: copied(areas), centres: copied(centres) };
        for pair in offsets.windows(2) {
            let part = usize::try_from(pair[0]).ok().zip(usize::try_from(pair[1]).ok());
            let points = part.and_then(|(from, to)| points.get(from..to)).ok_or("offsets beyond the points")?;
            let mut sorted = copied(points);
            sorted.sort_unstable_by(before);
            hull.around(sorted.iter().copied());
            let mut kept = hull.lower.clone();
            kept.extend_from_slice(&hull.upper);
            kept.sort_unstable_by(before);
            kept.dedup();
            own.corners.extend(kept);
            own.offsets.push(own.corners.len());
        }
        if offsets.last().and_then(|&last| usize::try_from(last).ok()) != Some(points.len()) {
            return Err(format!("offsets must end at {}", points.len()));
        }
        Ok(own)
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.areas.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.areas.is_empty()
    }

    fn corners(&self, number: usize) -> &[Point] {
        &self.corners[self.offsets[number]..self.offsets[number + 1]]
    }
}

/// By x, then by y. A zero has no sign here: points of one vertical line that came in two orders would make no hull.
fn before(one: &Point, other: &Point) -> Ordering {
    let order = |axis: usize| (one[axis] + 0.0).total_cmp(&(other[axis] + 0.0));
    order(0).then(order(1))
}

/// A hull in two halves, both from the first point to the last; one per thread, used again and again.
#[derive(Default)]
struct Hull {
    lower: Vec<Point>,
    upper: Vec<Point>,
}

impl Hull {
    /// Around points that come sorted by x and then by y.
    fn around(&mut self, points: impl Iterator<Item = Point>) {
        self.lower.clear();
        self.upper.clear();
        for point in points {
            for (half, side) in [(&mut self.lower, 1.0), (&mut self.upper, -1.0)] {
                while let [.., one, two] = half[..] {
                    let (ax, ay, bx, by) = (two[0] - one[0], two[1] - one[1], point[0] - one[0], point[1] - one[1]);
                    if side * (ax * by - ay * bx) > 0.0 {
                        break;
                    }
                    half.pop();
                }
                half.push(point);
            }
        }
    }

    fn area(&self) -> f64 {
        (signed_area(&self.lower) - signed_area(&self.upper)).max(0.0)
    }
}

/// The area of the convex hull of two regions, the same bits in either order of the two.
fn hull_area((one, centre): (&[Point], Point), (other, other_centre): (&[Point], Point), hull: &mut Hull) -> f64 {
    if before(&other_centre, &centre).is_lt() {
        return hull_area((other, other_centre), (one, centre), hull);
    }
    let (dx, dy) = (other_centre[0] - centre[0], other_centre[1] - centre[1]);
    let (mut one, mut other) =
        (one.iter().copied().peekable(), other.iter().map(|&[x, y]| [x + dx, y + dy]).peekable());
    let mut origin = None;
    hull.around(std::iter::from_fn(|| {
        let next = match (one.peek(), other.peek()) {
            (Some(a), Some(b)) => {
                if before(a, b).is_le() {
                    one.next()
                } else {
                    other.next()
                }
            }
            (Some(_), None) => one.next(),
            _ => other.next(),
        };
        // From a point near both, so that places far from 0 lose no digits.
        next.map(|[x, y]| {
            let [left, top] = *origin.get_or_insert([x, y]);
            [x - left, y - top]
        })
    }));
    hull.area()
}

/// IoU less the part of the hull that is in neither, from three areas and that of the hull.
fn generalized(intersection: f64, first: f64, second: f64, hull: f64) -> f64 {
    let (larger, smaller) = if first > second { (first, second) } else { (second, first) };
    let intersection = intersection.min(smaller);
    let union = larger - intersection + smaller;
    let iou = if union > 0.0 { intersection / union } else { 0.0 };
    // The hull is no smaller than the union; where rounding says otherwise, or both are 0, nothing is taken off.
    if hull > union { iou - (hull - union) / hull } else { iou }
}

/// Pairs a thread takes at a time. Fewer are not worth a second thread.
const PART: usize = 1 << 10;

/// GIoU of pairs, in place of the areas of their intersections: of the pairs with these positions, or of every region of
/// one set with every region of the other, row by row.
///
/// # Panics
///
/// If there are not as many areas as pairs, or a position is outside its set.
pub fn giou(
    intersections: &mut [f64],
    first: &Outlines,
    second: &Outlines,
    positions: Option<(&[i64], &[i64])>,
    threads: usize,
) {
    let width = second.len();
    let count = positions.map_or(first.len() * width, |(rows, columns)| rows.len().max(columns.len()));
    assert_eq!(intersections.len(), count, "an area per pair");
    let pair = |place: usize| match positions {
        Some((rows, columns)) => (rows[place] as usize, columns[place] as usize),
        None => (place / width, place % width),
    };
    let part = |hull: &mut Hull, (number, values): (usize, &mut [f64])| {
        for (place, value) in (number * PART..).zip(values) {
            let (row, column) = pair(place);
            let (one, other) = (first.corners(row), second.corners(column));
            let around = hull_area((one, first.centres[row]), (other, second.centres[column]), hull);
            *value = generalized(*value, first.areas[row], second.areas[column], around);
        }
    };
    each_with(intersections.chunks_mut(PART).enumerate(), threads, Hull::default, part);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::vec;

    fn squares() -> Outlines {
        let mut points = Vec::new();
        for (x, y, side) in [(0.0, 0.0, 2.0), (2.0, 2.0, 2.0), (4.0, 0.0, 2.0), (0.5, 0.5, 1.0)] {
            points.extend([[x, y], [x + side, y], [x + side, y + side], [x, y + side], [x + side / 2.0, y]]);
        }
        points.extend([[1.0, 1.0], [1.0, 1.0]]);
        Outlines::new(&points, &[0, 5, 10, 15, 20, 22], &[4.0, 4.0, 4.0, 1.0, 0.0], &[[0.0; 2]; 5]).unwrap()
    }

    #[test]
    fn values_one_can_check_in_the_head() {
        let set = squares();
        assert_eq!(set.corners(0), [[0.0, 0.0], [0.0, 2.0], [2.0, 0.0], [2.0, 2.0]]);
        let mut table = [4.0, 0.0, 0.0, 1.0, 0.0];
        giou(&mut table, &set, &set, Some((&[0, 0, 0, 0, 0], &[0, 1, 2, 3, 4])), 1);
        // The hull of the first two is a hexagon of 12, and that of the first and the third a rectangle of 12.
        assert_eq!(table, [1.0, -4.0 / 12.0, -4.0 / 12.0, 0.25, 0.0]);
    }

    #[test]
    fn neither_threads_nor_the_order_change_a_bit() {
        let points: Vec<Point> =
            (0..4000).map(|k: u32| [f64::from(k * 37 % 101) * 0.37, f64::from(k * 53 % 89) / 7.0]).collect();
        let offsets: Vec<i64> = (0..=80).map(|k| k * 50).collect();
        let centres: Vec<Point> = (0..80).map(|k: u32| [f64::from(k % 9), f64::from(k % 7)]).collect();
        let set = Outlines::new(&points, &offsets, &[3.0; 80], &centres).unwrap();
        let (mut one, mut many) = (vec![0.5; 6400], vec![0.5; 6400]);
        giou(&mut one, &set, &set, None, 1);
        giou(&mut many, &set, &set, None, 3);
        assert_eq!(one, many);
        assert!((0..80).all(|i| (0..80).all(|j| one[80 * i + j] == one[80 * j + i])));
    }

    #[test]
    fn a_hull_of_many_points_is_that_of_its_corners() {
        let ring: Vec<Point> = (0..360).map(|k| f64::from(k).to_radians()).map(|a| [a.cos(), a.sin()]).collect();
        let mut points = ring.clone();
        points.extend(ring.iter().map(|&[x, y]| [x / 2.0, y / 3.0]));
        let set = |points: &[Point]| Outlines::new(points, &[0, points.len() as i64], &[0.0], &[[0.0; 2]]).unwrap();
        let (alone, both) = (set(&ring), set(&points));
        assert_eq!(alone.corners(0), both.corners(0));
        let area = hull_area((alone.corners(0), [0.0; 2]), (both.corners(0), [0.0; 2]), &mut Hull::default());
        assert!((area - 180.0 * 1.0_f64.to_radians().sin()).abs() < 1e-12, "{area}");
    }

    #[test]
    fn offsets_that_cut_nothing_up_are_refused() {
        for (offsets, areas) in [(&[0, 3][..], 1), (&[0, 4], 2), (&[1, 4], 1), (&[0, -1], 1), (&[0, 5], 1)] {
            assert!(Outlines::new(&[[0.0; 2]; 4], offsets, &vec![0.0; areas], &vec![[0.0; 2]; areas]).is_err());
        }
    }
}
