//! The assignment problem: each row gets a column of its own, so that the sum of the costs is lowest.
//!
//! Shortest augmenting paths after Jonker and Volgenant, for rectangular tables as Crouse gives them (On implementing 2D
//! rectangular assignment algorithms, IEEE Transactions on Aerospace and Electronic Systems 52, 2016). Among assignments
//! of equal cost, the order in which columns are looked at decides. It is that of SciPy's `linear_sum_assignment`, which
//! the tools of the field use: so their numbers can be had to the last bit.

use std::mem::replace;

use crate::ending::ask_after;
use crate::memory::{Vec, vec};

/// In the place of a row or a column: none yet.
const NONE: usize = usize::MAX;

/// For each row of a table of costs, its column, or `None` where a finite sum is impossible.
///
/// If there are more rows than columns, some rows get none: only pairs are listed, by row. A pair whose cost is infinite
/// is forbidden. No cost may be NaN or negative infinity.
///
/// # Panics
///
/// If there are not `rows * columns` costs.
pub fn assign(costs: &[f64], rows: usize, columns: usize) -> Option<Vec<(usize, usize)>> {
    assert_eq!(costs.len(), rows * columns, "a cost for each row and column");
    if rows <= columns {
        let column_of = Search::new(costs, rows, columns).assigned()?;
        return Some((0..rows).map(|row| (row, column_of[row])).collect());
    }
    let mut turned: Vec<f64> = vec![0.0; costs.len()];
    for (row, of_row) in costs.chunks_exact(columns.max(1)).enumerate() {
        for (column, &cost) in of_row.iter().enumerate() {
            turned[column * rows + row] = cost;
        }
    }
    let row_of = Search::new(&turned, columns, rows).assigned()?;
    let mut pairs: Vec<(usize, usize)> = (0..columns).map(|column| (row_of[column], column)).collect();
    pairs.sort_unstable();
    Some(pairs)
}

/// The pairs of the highest sum of values, no row and no column in two of them: their places, which ascend.
///
/// The pairs are sorted by row and then by column, and no two are equal. Of choices with the same sum, it is the one that
/// [`assign`] makes on the whole table, where cells without a pair cost 0 and pairs cost minus their values.
///
/// # Panics
///
/// If there is not a row, a column and a value for each pair, or a pair lies outside of the table.
pub fn highest_pairs(pairs: [&[i64]; 2], values: &[f64], shape: [usize; 2]) -> Vec<usize> {
    let cell = |place: usize| {
        let [row, column] = pairs.map(|numbers| numbers[place] as usize);
        assert!(row < shape[0] && column < shape[1], "a cell of the table");
        row * shape[1] + column
    };
    if are_apart(pairs, shape) && values.iter().all(|&value| value > 0.0) {
        return (0..values.len()).collect(); // each adds to the sum: no table is needed to see it
    }
    let mut costs: Vec<f64> = vec![0.0; shape[0] * shape[1]];
    for (place, value) in values.iter().enumerate() {
        costs[cell(place)] = -value;
    }
    let mut place = 0;
    let mut found = Vec::new();
    for (row, column) in assign(&costs, shape[0], shape[1]).expect("no cell is forbidden") {
        let wanted = row * shape[1] + column;
        while place < values.len() && cell(place) < wanted {
            place += 1;
        }
        if place < values.len() && cell(place) == wanted {
            found.push(place);
        }
    }
    found
}

/// Whether no two pairs, which are sorted by row, have a row or a column in common.
fn are_apart([rows, columns]: [&[i64]; 2], shape: [usize; 2]) -> bool {
    assert!(rows.last().is_none_or(|&row| (row as usize) < shape[0]), "rows of the table");
    let mut taken = vec![false; shape[1]];
    rows.windows(2).all(|two| two[0] < two[1])
        && columns.iter().all(|&column| !replace(&mut taken[column as usize], true))
}

/// An assignment that grows by a row at a time.
struct Search<'a> {
    costs: &'a [f64],
    rows: Vec<Row>,
    columns: Vec<Column>,
    /// Columns that the tree of shortest paths does not have, and the columns and rows that it has.
    left: Vec<usize>,
    tree_columns: Vec<usize>,
    tree_rows: Vec<usize>,
}

/// The prices of rows and columns keep a cost less both at 0 for pairs, and never negative.
#[derive(Clone, Copy)]
struct Row {
    price: f64,
    /// Its column, or `NONE`.
    pair: usize,
}

#[derive(Clone, Copy)]
struct Column {
    price: f64,
    /// Its row, or `NONE`.
    pair: usize,
    /// The length of the shortest path from the row that is added, and the row before it there.
    length: f64,
    before: usize,
}

impl<'a> Search<'a> {
    fn new(costs: &'a [f64], rows: usize, columns: usize) -> Self {
        Self {
            costs,
            rows: vec![Row { price: 0.0, pair: NONE }; rows],
            columns: vec![Column { price: 0.0, pair: NONE, length: 0.0, before: NONE }; columns],
            left: Vec::with_capacity(columns),
            tree_columns: Vec::with_capacity(columns),
            tree_rows: Vec::with_capacity(rows),
        }
    }

    /// The column of each row.
    fn assigned(mut self) -> Option<Vec<usize>> {
        for row in 0..self.rows.len() {
            let (end, length) = self.shortest_path(row)?;
            self.change_prices(row, length);
            self.exchange(row, end);
        }
        Some(self.rows.iter().map(|row| row.pair).collect())
    }

    /// The free column with the shortest path from a free row, and its length.
    fn shortest_path(&mut self, start: usize) -> Option<(usize, f64)> {
        let (column, mut shortest) = self.nearest_of_all(start)?;
        self.tree_columns.clear();
        self.tree_columns.push(column);
        self.tree_rows.clear();
        let columns = &mut self.columns[..];
        let mut row = columns[column].pair;
        if row == NONE {
            return Some((column, shortest));
        }
        self.left.clear();
        self.left.extend((0..columns.len()).rev());
        self.left.swap_remove(columns.len() - 1 - column);
        loop {
            self.tree_rows.push(row);
            ask_after(1 + self.left.len() / 1024);
            let (so_far, price) = (shortest, self.rows[row].price);
            let costs = &self.costs[row * columns.len()..][..columns.len()];
            let mut nearest = 0;
            shortest = f64::INFINITY;
            for (at, &number) in self.left.iter().enumerate() {
                let column = &mut columns[number];
                // In this order: the last bit decides between paths that are equally long on paper.
                let through = so_far + costs[number] - price - column.price;
                if through < column.length {
                    (column.length, column.before) = (through, row);
                }
                // Of equal ones a free column, which ends the path.
                if column.length < shortest || (column.length == shortest && column.pair == NONE) {
                    (shortest, nearest) = (column.length, at);
                }
            }
            if shortest == f64::INFINITY {
                return None;
            }
            let column = self.left.swap_remove(nearest);
            self.tree_columns.push(column);
            row = columns[column].pair;
            if row == NONE {
                return Some((column, shortest));
            }
        }
    }

    /// The first step of a path: the column that is nearest to a free row, and its distance.
    ///
    /// A loop of its own, without a list of the columns that are left: most paths end here.
    fn nearest_of_all(&mut self, row: usize) -> Option<(usize, f64)> {
        ask_after(1 + self.columns.len() / 1024);
        let costs = &self.costs[row * self.columns.len()..][..self.columns.len()];
        let (mut nearest, mut shortest) = (0, f64::INFINITY);
        // From the last one on, so that equal costs give each row the column of its number.
        for (number, (column, cost)) in self.columns.iter_mut().zip(costs).enumerate().rev() {
            (column.length, column.before) = (cost - column.price, row); // a free row has the price 0
            if column.length < shortest || (column.length == shortest && column.pair == NONE) {
                (shortest, nearest) = (column.length, number);
            }
        }
        (shortest < f64::INFINITY).then_some((nearest, shortest))
    }

    /// Keeps the prices true to the tree of shortest paths from a row.
    fn change_prices(&mut self, start: usize, shortest: f64) {
        self.rows[start].price += shortest;
        for &row in &self.tree_rows {
            let row = &mut self.rows[row];
            row.price += shortest - self.columns[row.pair].length;
        }
        for &column in &self.tree_columns {
            let column = &mut self.columns[column];
            column.price -= shortest - column.length;
        }
    }

    /// Gives every row of a path the column that follows it.
    fn exchange(&mut self, start: usize, end: usize) {
        let mut column = end;
        loop {
            let row = self.columns[column].before;
            self.columns[column].pair = row;
            column = replace(&mut self.rows[row].pair, column);
            if row == start {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(costs: &[f64], rows: usize, columns: usize) -> Option<std::vec::Vec<(usize, usize)>> {
        assign(costs, rows, columns).map(|pairs| pairs.iter().copied().collect())
    }

    #[test]
    fn finds_the_lowest_sum_and_forbids_what_is_infinite() {
        const FAR: f64 = f64::INFINITY;
        assert_eq!(pairs(&[4., 1., 3., 2., 0., 5., 3., 2., 2.], 3, 3), Some([(0, 1), (1, 0), (2, 2)].to_vec()));
        assert_eq!(pairs(&[1., 2., 3., 0., 9., 1.], 2, 3), Some([(0, 1), (1, 0)].to_vec()));
        assert_eq!(pairs(&[1., 0., 2., 9., 3., 1.], 3, 2), Some([(0, 1), (1, 0)].to_vec()));
        assert_eq!(pairs(&[FAR, 1., 5., FAR], 2, 2), Some([(0, 1), (1, 0)].to_vec()));
        assert_eq!(pairs(&[FAR, 1., FAR, 2.], 2, 2), None);
        assert_eq!(pairs(&[], 0, 3), Some([].to_vec()));
        assert_eq!(pairs(&[], 3, 0), Some([].to_vec()));
    }

    #[test]
    fn lists_the_pairs_of_the_highest_sum() {
        // 0.9 and nothing is less than 0.8 and 0.7; the last row has no pair.
        let (rows, columns, values) = ([0, 0, 1], [0, 1, 0], [0.9, 0.8, 0.7]);
        assert_eq!(*highest_pairs([&rows, &columns], &values, [3, 2]), [1, 2]);
        // Pairs that share nothing are all chosen, also if the first row would take the column of another one for 0.
        assert_eq!(*highest_pairs([&[1, 2], &[0, 3]], &[1e-300, 1.0], [3, 4]), [0, 1]);
        assert_eq!(*highest_pairs([&[0, 1], &[0, 1]], &[-1.0, 0.5], [2, 2]), []);
        assert_eq!(*highest_pairs([&[], &[]], &[], [3, 2]), []);
        assert_eq!(*highest_pairs([&[], &[]], &[], [0, 2]), []);
    }

    #[test]
    fn gives_rows_the_columns_of_their_numbers_if_all_cost_the_same() {
        assert_eq!(pairs(&[7.; 16], 4, 4), Some((0..4).map(|at| (at, at)).collect()));
        assert_eq!(pairs(&[0.; 15], 5, 3), Some((0..3).map(|at| (at, at)).collect()));
    }
}
