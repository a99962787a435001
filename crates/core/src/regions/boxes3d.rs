//! Boxes in space that turn about the vertical axis: what they share is what their bird's-eye rectangles share, times
//! what their heights share.

use crate::memory::Vec;
use crate::overlap::areas::AreaMeasure;
use crate::regions::rotated::{self, Rectangles, Turn, shared::overlap};

/// Boxes, ready to be compared.
pub struct Boxes3d {
    rectangles: Rectangles,
    /// The middle of each along the vertical axis, and half its height.
    heights: Vec<[f64; 2]>,
    volumes: Vec<f64>,
}

impl Boxes3d {
    /// From bird's-eye rectangles, rows of cx, cy, width, height and an angle, and as many middles and heights along the
    /// vertical axis.
    ///
    /// # Panics
    ///
    /// If there are not as many.
    pub fn new(rectangles: &[[f64; 5]], turn: Turn, heights: &[[f64; 2]]) -> Self {
        assert_eq!(rectangles.len(), heights.len(), "a height per rectangle");
        let volume = |(row, height): (&[f64; 5], &[f64; 2])| (row[2] * row[3]) * height[1];
        Self {
            volumes: rectangles.iter().zip(heights).map(volume).collect(),
            rectangles: Rectangles::new(rectangles, turn),
            heights: heights.iter().map(|&[middle, height]| [middle, height / 2.0]).collect(),
        }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.heights.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.heights.is_empty()
    }
}

/// What two boxes have in common, of whose rectangles this much is.
fn measured(measure: AreaMeasure, area: f64, first: &Boxes3d, row: usize, second: &Boxes3d, column: usize) -> f64 {
    let ([middle1, half1], [middle2, half2]) = (first.heights[row], second.heights[column]);
    let (volume1, volume2) = (first.volumes[row], second.volumes[column]);
    let shared = area * overlap(half1, half2, middle2 - middle1);
    measure.of(shared.min(volume1).min(volume2), volume1, volume2)
}

/// Every box of one set against every box of the other: row by row.
pub fn pairwise(measure: AreaMeasure, first: &Boxes3d, second: &Boxes3d, threads: usize) -> Vec<f64> {
    let mut values = rotated::pairwise(AreaMeasure::Intersection, &first.rectangles, &second.rectangles, threads);
    for (row, values) in values.chunks_mut(second.len().max(1)).enumerate() {
        for (column, value) in values.iter_mut().enumerate() {
            *value = measured(measure, *value, first, row, second, column);
        }
    }
    values
}

/// The pairs of two sequences of one length.
///
/// # Panics
///
/// If their lengths differ.
pub fn elementwise(measure: AreaMeasure, first: &Boxes3d, second: &Boxes3d, threads: usize) -> Vec<f64> {
    let mut values = rotated::elementwise(AreaMeasure::Intersection, &first.rectangles, &second.rectangles, threads);
    for (place, value) in values.iter_mut().enumerate() {
        *value = measured(measure, *value, first, place, second, place);
    }
    values
}

/// The pairs with these positions.
///
/// # Panics
///
/// If there are not as many of either, or one is outside its set.
pub fn pairs(
    measure: AreaMeasure,
    first: &Boxes3d,
    second: &Boxes3d,
    rows: &[i64],
    columns: &[i64],
    threads: usize,
) -> Vec<f64> {
    let (rectangles1, rectangles2) = (&first.rectangles, &second.rectangles);
    let mut values = rotated::pairs(AreaMeasure::Intersection, rectangles1, rectangles2, rows, columns, threads);
    for (value, (&row, &column)) in values.iter_mut().zip(rows.iter().zip(columns)) {
        *value = measured(measure, *value, first, row as usize, second, column as usize);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_is_an_area_times_a_height() {
        let turn = Turn { degrees: true, clockwise: false };
        let rows = [[1.0, 1.0, 2.0, 2.0, 0.0], [1.0, 1.0, 2.0, 2.0, 90.0], [2.0, 2.0, 2.0, 2.0, 0.0]];
        let set = Boxes3d::new(&rows, turn, &[[1.0, 2.0], [2.0, 2.0], [1.5, 1.0]]);
        let shared = pairwise(AreaMeasure::Intersection, &set, &set, 1);
        assert_eq!(shared, [8.0, 4.0, 1.0, 4.0, 8.0, 1.0, 1.0, 1.0, 4.0]);
        assert_eq!(elementwise(AreaMeasure::Iou, &set, &set, 1), [1.0; 3]);
        assert_eq!(pairs(AreaMeasure::IoaSecond, &set, &set, &[0], &[2], 1), [0.25]);
    }
}
