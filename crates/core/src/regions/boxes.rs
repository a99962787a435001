//! Upright boxes: which rows of an array are valid, and the IoU of two boxes as COCO computes it.

use crate::number::Float;

/// A box as COCO compares it: the sums and the product that pycocotools' `bbIou` forms for every pair.
///
/// COCO keeps x, y, width and height, and adds before it subtracts. The last bit of an IoU depends on that order, so
/// these values differ from those of a box given by its corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CocoBox {
    /// The smallest x.
    pub left: f64,
    /// The smallest y.
    pub top: f64,
    /// The largest x: width plus x.
    pub right: f64,
    /// The largest y: height plus y.
    pub bottom: f64,
    /// Width times height.
    pub area: f64,
}

impl CocoBox {
    /// The box of a row `[x, y, width, height]`.
    #[inline(always)]
    pub fn new(&[x, y, width, height]: &[f64; 4]) -> Self {
        Self { left: x, top: y, right: width + x, bottom: height + y, area: width * height }
    }

    /// Width and height of the intersection. One of them is not positive if the boxes share no area.
    ///
    /// A NaN is left out of a minimum or maximum, as in C.
    #[inline(always)]
    fn shared_sides(&self, other: &Self) -> (f64, f64) {
        (
            self.right.min(other.right) - self.left.max(other.left),
            self.bottom.min(other.bottom) - self.top.max(other.top),
        )
    }

    /// The union of a detection with an object, or the area of the detection if the object is a crowd.
    #[inline(always)]
    fn union(&self, object: &Self, crowd: bool, intersection: f64) -> f64 {
        if crowd { self.area } else { self.area + object.area - intersection }
    }

    /// The area that a detection shares with an object, and their union.
    ///
    /// If the object is a crowd, the area of the detection takes the place of the union. The quotient of the two is
    /// [`Self::iou`] wherever the first number is positive. There is no branch, so a caller that passes over most pairs
    /// needs no division for them.
    #[inline(always)]
    pub fn overlap(&self, object: &Self, crowd: bool) -> (f64, f64) {
        let (width, height) = self.shared_sides(object);
        let intersection = width.max(0.0) * height.max(0.0);
        (intersection, self.union(object, crowd, intersection))
    }

    /// The IoU of a detection with an object, to the last bit that of pycocotools' `bbIou`.
    ///
    /// It is 0 where the boxes share no width or no height, and NaN where a product underflows and both numbers are 0.
    #[inline(always)]
    pub fn iou(&self, object: &Self, crowd: bool) -> f64 {
        let (width, height) = self.shared_sides(object);
        // Written as COCO skips pairs: a side that is NaN does not skip one.
        if width <= 0.0 || height <= 0.0 {
            return 0.0;
        }
        let intersection = width * height;
        intersection / self.union(object, crowd, intersection)
    }
}

/// What the last two of the four numbers of a box mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The far corner: neither coordinate may be smaller than that of the first corner.
    Corners,
    /// Width and height: neither may be negative.
    Sides,
}

/// The position of the first invalid row, or `None`.
///
/// A row is invalid if a number is NaN, infinite or beyond [`Float::MAX_COORDINATE`], or if a side is negative.
pub fn first_invalid<F: Float>(boxes: &[[F; 4]], layout: Layout) -> Option<usize> {
    // There is no branch inside a block, so that the compiler vectorises the loop.
    const BLOCK: usize = 64;
    for (number, block) in boxes.chunks(BLOCK).enumerate() {
        if !block.iter().fold(true, |valid, row| valid & is_valid(row, layout)) {
            let inside = block.iter().position(|row| !is_valid(row, layout))?;
            return Some(number * BLOCK + inside);
        }
    }
    None
}

#[inline(always)]
fn is_valid<F: Float>(&[a, b, c, d]: &[F; 4], layout: Layout) -> bool {
    let bounded = |x: F| x.abs() <= F::MAX_COORDINATE; // false for NaN
    let ordered = match layout {
        Layout::Corners => (c >= a) & (d >= b),
        Layout::Sides => (c >= F::ZERO) & (d >= F::ZERO),
    };
    bounded(a) & bounded(b) & bounded(c) & bounded(d) & ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_and_iou_agree_where_boxes_meet() {
        let rows = [[0.0, 0.0, 4.0, 4.0], [2.0, 0.1, 4.3, 4.0], [4.0, 0.0, 1.0, 1.0], [0.7, 0.3, 0.0, 2.0]];
        for (one, other) in rows.iter().flat_map(|one| rows.iter().map(move |other| (one, other))) {
            for crowd in [false, true] {
                let (detection, object) = (CocoBox::new(one), CocoBox::new(other));
                let (intersection, union) = detection.overlap(&object, crowd);
                let iou = detection.iou(&object, crowd);
                assert!(if intersection > 0.0 { iou == intersection / union } else { iou == 0.0 });
            }
        }
    }

    #[test]
    fn iou_of_products_that_underflow_is_that_of_bbiou() {
        let (tiny, empty) = (CocoBox::new(&[0.0, 0.0, 1e-170, 1e-170]), CocoBox::new(&[0.0, 0.0, 0.0, 1.0]));
        assert!(tiny.iou(&tiny, false).is_nan());
        assert_eq!(empty.iou(&empty, false), 0.0);
    }

    #[test]
    fn the_first_bad_row_is_found_wherever_it_stands() {
        for rows in [1, 63, 64, 65, 200] {
            for bad in 0..rows {
                let mut boxes = vec![[0.0, 0.0, 1.0, 1.0]; rows];
                boxes[bad][2] = -1.0;
                boxes[rows - 1][3] = f32::NAN;
                assert_eq!(first_invalid(&boxes, Layout::Corners), Some(bad));
            }
        }
    }

    #[test]
    fn layouts_differ_in_what_the_last_two_numbers_mean() {
        let boxes = [[5.0, 5.0, 2.0, 2.0]];
        assert_eq!(first_invalid(&boxes, Layout::Corners), Some(0));
        assert_eq!(first_invalid(&boxes, Layout::Sides), None);
        assert_eq!(first_invalid(&[[0.0, 0.0, 0.0, -1.0]], Layout::Sides), Some(0));
    }

    #[test]
    fn zero_area_is_valid_and_nothing_unbounded_is() {
        assert_eq!(first_invalid(&[[1.0, 1.0, 1.0, 1.0_f64]], Layout::Corners), None);
        for value in [f64::NAN, f64::INFINITY, 1e200] {
            assert_eq!(first_invalid(&[[0.0, 0.0, value, 1.0]], Layout::Corners), Some(0));
            assert_eq!(first_invalid(&[[0.0, 0.0, value, 1.0]], Layout::Sides), Some(0));
        }
        assert_eq!(first_invalid(&[[0.0, 0.0, f32::MAX, 1.0]], Layout::Corners), Some(0));
        assert_eq!(first_invalid::<f32>(&[], Layout::Corners), None);
    }
}
