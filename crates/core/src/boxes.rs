//! Is an array of boxes what its format says?

use crate::float::Float;

/// What the last two of a box's four numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The far corner: neither may be smaller than the corner before it.
    Corners,
    /// Width and height: neither may be negative.
    Sides,
}

/// The first row that is no box: NaN, infinite or beyond [`Float::MAX_COORDINATE`], inverted, or of negative size.
pub fn first_invalid<F: Float>(boxes: &[[F; 4]], layout: Layout) -> Option<usize> {
    // Whole blocks first, without a branch inside: the compiler makes vectors of that.
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
