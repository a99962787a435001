//! Pairs as they are found, in any order, and the order they are given in.

use crate::memory::{Vec, vec, zeros};
use crate::number::Float;
use crate::threads::each;

/// Pairs of boxes and the overlap of each, by row and then by column: one entry per pair in each vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairs<F> {
    /// Positions in the first set.
    pub rows: Vec<i64>,
    /// Positions in the second set.
    pub columns: Vec<i64>,
    /// The overlaps.
    pub values: Vec<F>,
}

/// A pair.
#[derive(Clone, Copy)]
pub(super) struct Found<F> {
    pub row: u32,
    pub column: u32,
    pub value: F,
}

/// Pairs in buckets of consecutive rows: each bucket is put in order by itself, by one thread, within its cache.
pub(super) struct Buckets<F> {
    of_rows: Vec<Vec<Found<F>>>,
    shift: u32,
}

/// At most so many buckets, of at least so many rows: a power of two each.
const MAX_BUCKETS: usize = 1 << 6;
const MIN_ROWS: u32 = 12;

/// Room for so many pairs is made in a bucket when the first comes.
const FIRST_PAIRS: usize = 1 << 6;

impl<F> Buckets<F> {
    pub fn new(rows: usize) -> Self {
        let mut shift = MIN_ROWS;
        while rows >> shift >= MAX_BUCKETS {
            shift += 1;
        }
        Self { of_rows: (0..=rows >> shift).map(|_| Vec::new()).collect(), shift }
    }

    #[inline(always)]
    pub fn push(&mut self, found: Found<F>) {
        let bucket = &mut self.of_rows[(found.row >> self.shift) as usize];
        if bucket.len() == bucket.capacity() {
            bucket.reserve(bucket.len().max(FIRST_PAIRS)); // thousands of buckets would start with room for four
        }
        bucket.push(found);
    }
}

impl<F: Float> Pairs<F> {
    /// None yet, and room for so many.
    pub(super) fn with_room(count: usize) -> Self {
        Self { rows: Vec::with_capacity(count), columns: Vec::with_capacity(count), values: Vec::with_capacity(count) }
    }

    /// Puts what several parts of the work have found in order.
    pub(super) fn in_order(parts: Vec<Buckets<F>>, threads: usize) -> Self {
        let Some(first) = parts.first() else {
            return Self::with_room(0);
        };
        let shift = first.shift;
        // From the buckets of each part to the parts of each bucket: each can be given up once it has been copied.
        let mut buckets: Vec<Vec<Vec<Found<F>>>> = first.of_rows.iter().map(|_| Vec::new()).collect();
        for part in parts {
            for (bucket, found) in buckets.iter_mut().zip(part.of_rows) {
                bucket.push(found);
            }
        }
        let count = |bucket: &Vec<Vec<Found<F>>>| bucket.iter().map(|part| part.len()).sum::<usize>();
        let total = buckets.iter().map(count).sum();
        let mut pairs = Self { rows: vec![0; total], columns: vec![0; total], values: zeros(total) };
        let (mut rows, mut columns, mut values) = (&mut pairs.rows[..], &mut pairs.columns[..], &mut pairs.values[..]);
        let mut work = Vec::with_capacity(buckets.len());
        for (number, bucket) in buckets.into_iter().enumerate() {
            let size = count(&bucket);
            let out = (
                rows.split_off_mut(..size).expect("within the total"),
                columns.split_off_mut(..size).expect("within the total"),
                values.split_off_mut(..size).expect("within the total"),
            );
            work.push((number << shift, bucket, out));
        }
        each(work.into_iter(), threads, |(first_row, bucket, out)| put_in_order(first_row, shift, bucket, out));
        pairs
    }
}

type Out<'a, F> = (&'a mut [i64], &'a mut [i64], &'a mut [F]);

/// A counting sort by row, then each row by column.
fn put_in_order<F: Float>(
    first_row: usize,
    shift: u32,
    bucket: Vec<Vec<Found<F>>>,
    (rows, columns, values): Out<'_, F>,
) {
    if rows.is_empty() {
        return;
    }
    let mut ends = zeros::<usize>(1 << shift);
    for found in bucket.iter().flatten() {
        ends[found.row as usize - first_row] += 1;
    }
    let mut end = 0;
    for start in &mut ends {
        end += std::mem::replace(start, end);
    }
    let mut sorted = zeros(rows.len());
    for found in bucket.iter().flatten() {
        let next = &mut ends[found.row as usize - first_row];
        sorted[*next] = (found.column, found.value);
        *next += 1;
    }
    drop(bucket);
    let mut start = 0;
    for (row, &end) in ends.iter().enumerate().filter(|&(_, &end)| end > 0) {
        let of_row = &mut sorted[start..end];
        of_row.sort_unstable_by_key(|&(column, _)| column);
        rows[start..end].fill((first_row + row) as i64);
        for (k, &(column, value)) in (start..end).zip(&*of_row) {
            columns[k] = i64::from(column);
            values[k] = value;
        }
        start = end;
    }
}
