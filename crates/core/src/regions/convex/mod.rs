//! How much do convex polygons overlap?
//!
//! A set keeps all corners in one array, one polygon after the other. A polygon may run either way around, repeat
//! corners, and have any number of them; that it is convex is for the caller to know.

pub mod clip;

use crate::memory::{Vec, copied, vec};
use crate::overlap::areas::AreaMeasure;
use crate::threads::each_with;
use clip::{Point, Scratch, intersection_area, signed_area};

/// Polygons, ready to be compared.
pub struct Polygons {
    corners: Vec<Point>,
    offsets: Vec<usize>,
    areas: Vec<f64>,
    bounds: Vec<[f64; 4]>,
}

impl Polygons {
    /// `offsets` has one number more than there are polygons: where each begins among the corners, and where the last ends.
    ///
    /// # Errors
    ///
    /// If the offsets do not ascend from 0 to the number of corners; the message says where.
    pub fn new(corners: &[Point], offsets: &[i64]) -> Result<Self, String> {
        let offsets = offsets.iter().map(|&offset| usize::try_from(offset).map_err(|_| format!("offset {offset}")));
        let offsets: Vec<_> = offsets.collect::<Result<_, _>>()?;
        if offsets.first() != Some(&0) || offsets.last() != Some(&corners.len()) {
            return Err(format!("offsets must run from 0 to {}", corners.len()));
        }
        if let Some(place) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(format!("offsets[{place}] is above the next"));
        }
        let mut corners = copied(corners);
        let (mut areas, mut bounds) = (Vec::with_capacity(offsets.len()), Vec::with_capacity(offsets.len()));
        for pair in offsets.windows(2) {
            let polygon = &mut corners[pair[0]..pair[1]];
            let mut area = signed_area(polygon);
            if area < 0.0 {
                polygon.reverse();
                // Of corners on a line, rounding may leave a number below 0 in either order.
                area = signed_area(polygon).abs();
            }
            areas.push(area);
            bounds.push(
                polygon.iter().fold(NOWHERE, |[x1, y1, x2, y2], &[x, y]| [x1.min(x), y1.min(y), x2.max(x), y2.max(y)]),
            );
        }
        Ok(Self { corners, offsets, areas, bounds })
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.areas.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.areas.is_empty()
    }

    /// The least upright box around one, as x1, y1, x2, y2.
    pub fn bounds(&self, number: usize) -> [f64; 4] {
        self.bounds[number]
    }

    /// The area of one.
    pub fn area(&self, number: usize) -> f64 {
        self.areas[number]
    }

    /// The corners of one, counterclockwise where y points up.
    pub fn corners(&self, number: usize) -> &[Point] {
        &self.corners[self.offsets[number]..self.offsets[number + 1]]
    }

    /// The area shared by a polygon of this set with one of another, the same bits in either order of the two.
    fn intersection(&self, number: usize, other: &Self, other_number: usize, scratch: &mut Scratch) -> f64 {
        let (a, b) = (self.bounds[number], other.bounds[other_number]);
        let low = [a[0].max(b[0]), a[1].max(b[1])];
        if !(low[0] < a[2].min(b[2]) && low[1] < a[3].min(b[3])) {
            return 0.0;
        }
        let smaller = self.areas[number].min(other.areas[other_number]);
        let (a, b) = (self.corners(number), other.corners(other_number));
        if a == b {
            return smaller;
        }
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        intersection_area(a, b, low, scratch).min(smaller)
    }

    fn measure(
        &self,
        measure: AreaMeasure,
        number: usize,
        other: &Self,
        other_number: usize,
        scratch: &mut Scratch,
    ) -> f64 {
        let intersection = self.intersection(number, other, other_number, scratch);
        measure.of(intersection, self.areas[number], other.areas[other_number])
    }
}

const NOWHERE: [f64; 4] = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];

/// Pairs a thread takes at a time. Fewer are not worth a second thread.
const PART: usize = 1 << 10;

/// Every polygon of one set against every polygon of the other: row by row.
pub fn pairwise(measure: AreaMeasure, first: &Polygons, second: &Polygons, threads: usize) -> Vec<f64> {
    let width = second.len();
    let pair = |place: usize| (place / width, place % width);
    fill(measure, first, second, first.len() * width, &pair, threads)
}

/// The pairs of two sequences of one length.
///
/// # Panics
///
/// If their lengths differ.
pub fn elementwise(measure: AreaMeasure, first: &Polygons, second: &Polygons, threads: usize) -> Vec<f64> {
    assert_eq!(first.len(), second.len(), "one of each per pair");
    fill(measure, first, second, first.len(), &|place| (place, place), threads)
}

/// The pairs with these positions, which are within the sets.
///
/// # Panics
///
/// If there are not as many of either, or one is outside its set.
pub fn pairs(
    measure: AreaMeasure,
    first: &Polygons,
    second: &Polygons,
    rows: &[i64],
    columns: &[i64],
    threads: usize,
) -> Vec<f64> {
    assert_eq!(rows.len(), columns.len(), "a row and a column per pair");
    let position = |number: i64| usize::try_from(number).expect("positions are not negative");
    fill(measure, first, second, rows.len(), &|place| (position(rows[place]), position(columns[place])), threads)
}

fn fill(
    measure: AreaMeasure,
    first: &Polygons,
    second: &Polygons,
    count: usize,
    pair: &(dyn Fn(usize) -> (usize, usize) + Sync),
    threads: usize,
) -> Vec<f64> {
    let mut values = vec![0.0; count];
    let part = |scratch: &mut Scratch, (number, values): (usize, &mut [f64])| {
        for (place, value) in (number * PART..).zip(values) {
            let (row, column) = pair(place);
            *value = first.measure(measure, row, second, column, scratch);
        }
    };
    each_with(values.chunks_mut(PART).enumerate(), threads, Scratch::default, part);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(x: f64, y: f64, side: f64) -> [Point; 4] {
        [[x, y], [x + side, y], [x + side, y + side], [x, y + side]]
    }

    #[test]
    fn either_way_around_and_any_number_of_corners() {
        let mut corners = square(0.0, 0.0, 2.0).to_vec();
        corners.extend([[1.0, 1.0], [1.0, 3.0], [3.0, 3.0], [3.0, 1.0]]); // clockwise
        corners.extend([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]);
        let set = Polygons::new(&corners, &[0, 4, 8, 8, 11]).unwrap();
        let shared = pairwise(AreaMeasure::Intersection, &set, &set, 1);
        assert_eq!(shared, [4.0, 1.0, 0.0, 4.0, 1.0, 4.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 4.0, 2.0, 0.0, 8.0]);
        assert_eq!(elementwise(AreaMeasure::Iou, &set, &set, 1), [1.0, 1.0, 0.0, 1.0]);
        assert_eq!(pairs(AreaMeasure::Iou, &set, &set, &[0, 3], &[1, 0], 1), [1.0 / 7.0, 0.5]);
    }

    #[test]
    fn threads_change_nothing() {
        let corners: Vec<_> = (0..60).flat_map(|k| square(f64::from(k % 7), f64::from(k % 5) * 0.3, 2.0)).collect();
        let offsets: Vec<_> = (0..=60).map(|k| 4 * k).collect();
        let set = Polygons::new(&corners, &offsets).unwrap();
        let one = pairwise(AreaMeasure::Iou, &set, &set, 1);
        assert_eq!(one, pairwise(AreaMeasure::Iou, &set, &set, 3));
        assert!((0..60).all(|i| (0..60).all(|j| one[60 * i + j] == one[60 * j + i])));
    }

    #[test]
    fn offsets_that_cut_nothing_up_are_refused() {
        for offsets in [&[][..], &[0, 3], &[1, 4], &[0, 5, 4], &[-1, 4]] {
            assert!(Polygons::new(&square(0.0, 0.0, 1.0), offsets).is_err());
        }
    }
}
