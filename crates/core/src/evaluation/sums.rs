//! Sums over the rows of each category, at every threshold and in every area range: counts without curves.

use crate::ending::ask_after;
use crate::memory::{Vec, vec};

/// The sum of the values of the rows whose bit is set: `categories` x `ranges` x `thresholds` numbers.
///
/// Args: the category of each row; its sets of thresholds, `ranges` times as many bytes as a set has; its value; the
/// sizes of the result.
///
/// # Panics
///
/// If a row lacks its sets or its value, or has a category beyond the last.
pub fn sums_by_category(
    category: &[u32],
    sets: &[u8],
    values: &[f64],
    [categories, ranges, thresholds]: [usize; 3],
) -> Vec<f64> {
    let bytes = thresholds.div_ceil(8);
    assert_eq!([sets.len(), values.len()], [category.len() * ranges * bytes, category.len()], "a row of each column");
    let mut sums = vec![0.0; categories * ranges * thresholds];
    for (row, (&category, &value)) in category.iter().zip(values).enumerate() {
        if row % 4096 == 0 {
            ask_after(1);
        }
        let of_category = &mut sums[category as usize * ranges * thresholds..][..ranges * thresholds];
        let of_row = &sets[row * ranges * bytes..][..ranges * bytes];
        for (sums, set) in of_category.chunks_mut(thresholds).zip(of_row.chunks(bytes)) {
            for (sums, &byte) in sums.chunks_mut(8).zip(set) {
                let mut rest = byte;
                while rest != 0 {
                    sums[rest.trailing_zeros() as usize] += value;
                    rest &= rest - 1;
                }
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_the_values_at_set_bits() {
        // Two ranges of nine thresholds: the ninth has a byte of its own.
        let sets = [0b101, 0, 0, 1, 1, 1, 0, 0];
        let sums = sums_by_category(&[1, 1], &sets, &[2.0, 0.5], [2, 2, 9]);
        let mut expected = [0.0; 36];
        (expected[18], expected[20], expected[26], expected[35]) = (2.5, 2.0, 0.5, 2.0);
        assert_eq!(*sums, expected);
    }
}
