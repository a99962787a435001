//! Sums in the order in which NumPy adds numbers up, because TrackEval's last bits depend on it.
//!
//! NumPy adds neighbours in memory pairwise: halves of a long row, eight sums side by side in a row of up to 128
//! numbers. Along the first axis of a table it adds row after row. A table of one column is a row to it.
//! `tests/tracks/test_trackeval.py` compares what depends on them with TrackEval on the installed NumPy.

use crate::memory::Vec;

/// The longest row that is not halved (NumPy's `PW_BLOCKSIZE`).
const BLOCK: usize = 128;

/// The sum of `count` numbers by their position, from `start` on.
pub fn pairwise(start: usize, count: usize, number: &impl Fn(usize) -> f64) -> f64 {
    if count < 8 {
        return (start..start + count).fold(0.0, |sum, at| sum + number(at));
    }
    if count > BLOCK {
        let half = count / 2;
        let half = half - half % 8;
        return pairwise(start, half, number) + pairwise(start + half, count - half, number);
    }
    let mut lanes: [f64; 8] = std::array::from_fn(|lane| number(start + lane));
    let whole = count - count % 8;
    for at in (8..whole).step_by(8) {
        for (lane, sum) in lanes.iter_mut().enumerate() {
            *sum += number(start + at + lane);
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    let sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
    (start + whole..start + count).fold(sum, |sum, at| sum + number(at))
}

/// The sum of each row of a table.
pub fn of_rows(table: &[f64], columns: usize, sums: &mut Vec<f64>) {
    sums.clear();
    sums.extend(table.chunks_exact(columns.max(1)).map(|row| pairwise(0, columns, &|at| row[at])));
}

/// The sum of each column of a table.
pub fn of_columns(table: &[f64], columns: usize, sums: &mut Vec<f64>) {
    sums.clear();
    if columns == 1 {
        sums.push(pairwise(0, table.len(), &|at| table[at]));
        return;
    }
    sums.resize(columns, 0.0);
    for row in table.chunks_exact(columns.max(1)) {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up_pairwise() {
        for count in [0, 1, 7, 8, 9, 127, 128, 129, 1000] {
            let sum: usize = (3..3 + count).sum();
            assert_eq!(pairwise(3, count, &|at| at as f64), sum as f64, "{count} numbers");
        }
        // One after another, 1e16 would swallow every 1.
        let numbers = [1e16, 1., 1., 1., 1., 1., 1., 1., 1.];
        assert_eq!(pairwise(0, 9, &|at| numbers[at]), 1e16 + 8.);
    }

    #[test]
    fn adds_up_rows_and_columns() {
        let (table, mut sums) = ([1., 2., 3., 4., 5., 6.], Vec::new());
        of_rows(&table, 2, &mut sums);
        assert_eq!(sums[..], [3., 7., 11.]);
        of_columns(&table, 2, &mut sums);
        assert_eq!(sums[..], [9., 12.]);
        of_columns(&table, 1, &mut sums);
        assert_eq!(sums[..], [21.]);
        of_columns(&[], 3, &mut sums);
        assert_eq!(sums[..], [0., 0., 0.]);
    }
}
