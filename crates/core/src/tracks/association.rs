//! What HOTA counts: which regions are pairs at each threshold, and how well the pairs of two tracks go together.
//!
//! Source: Luiten et al., HOTA: A Higher Order Metric for Evaluating Multi-Object Tracking, IJCV 2020.

use super::sums::{of_columns, of_rows, pairwise};
use super::{EPSILON, Frame, PerTracks, best};
use crate::ending::ask_after;
use crate::memory::{Vec, filled, zeros};

/// The sums of HOTA, one item per threshold.
#[derive(Debug)]
pub struct Hota {
    /// How many pairs there are.
    pub matches: Vec<i64>,
    /// The sum of their overlaps.
    pub overlap_sums: Vec<f64>,
    /// The sum over pairs of the Jaccard index of their tracks, of recall and of precision.
    pub association_sums: Vec<[f64; 3]>,
    /// An object's track and one of the result that are a pair somewhere, at the first threshold.
    pub shared_tracks: Vec<[i64; 2]>,
    /// In how many frames these two are a pair: an item per threshold, for one two after the other.
    pub shared_counts: Vec<i64>,
}

impl Hota {
    pub(super) fn new(thresholds: usize) -> Self {
        Self {
            matches: zeros(thresholds),
            overlap_sums: zeros(thresholds),
            association_sums: filled([0.0; 3], thresholds),
            shared_tracks: Vec::new(),
            shared_counts: Vec::new(),
        }
    }
}

/// How much two tracks overlap in all frames together, before anything is matched.
pub struct Association {
    together: PerTracks,
    object_lengths: Vec<f64>,
    found_lengths: Vec<f64>,
    row_sums: Vec<f64>,
    column_sums: Vec<f64>,
}

impl Association {
    pub fn new(objects: usize, found: usize) -> Self {
        Self {
            together: PerTracks::new(objects, found),
            object_lengths: zeros(objects),
            found_lengths: zeros(found),
            row_sums: Vec::new(),
            column_sums: Vec::new(),
        }
    }

    /// Adds the overlaps of a frame, each divided by all that its row and its column have.
    pub fn look(&mut self, frame: &Frame<'_>) {
        frame.objects.iter().for_each(|&track| self.object_lengths[track as usize] += 1.0);
        frame.found.iter().for_each(|&track| self.found_lengths[track as usize] += 1.0);
        let columns = frame.found.len();
        of_rows(frame.overlaps, columns, &mut self.row_sums);
        of_columns(frame.overlaps, columns, &mut self.column_sums);
        for (row, overlaps) in frame.overlaps.chunks_exact(columns.max(1)).enumerate() {
            for (column, &overlap) in overlaps.iter().enumerate() {
                let all = self.column_sums[column] + self.row_sums[row] - overlap;
                if overlap != 0.0 && all > EPSILON {
                    let at = self.together.at(frame.objects[row], frame.found[column]);
                    self.together.values[at] += overlap / all;
                }
            }
        }
    }

    /// Makes of the sums how well each two tracks go together, and begins with the pairs.
    pub fn pairs(mut self, thresholds: &[f64]) -> Pairs<'_> {
        let columns = self.together.columns;
        for (row, values) in self.together.values.chunks_exact_mut(columns).enumerate() {
            for (value, length) in values.iter_mut().zip(&self.found_lengths) {
                *value /= self.object_lengths[row] + length - *value;
            }
        }
        Pairs {
            tracks: self,
            thresholds,
            scores: Vec::new(),
            hota: Hota::new(thresholds.len()),
            cells: Vec::new(),
            overlaps: Vec::new(),
        }
    }
}

/// The pairs of all frames: one assignment per frame, from which each threshold takes those that overlap enough.
pub struct Pairs<'a> {
    tracks: Association,
    thresholds: &'a [f64],
    scores: Vec<f64>,
    hota: Hota,
    /// Where the tracks of each pair are in the table, and the overlap of the pair.
    cells: Vec<usize>,
    overlaps: Vec<f64>,
}

impl Pairs<'_> {
    pub fn look(&mut self, frame: &Frame<'_>) {
        let (rows, columns) = (frame.objects.len(), frame.found.len());
        if rows == 0 || columns == 0 {
            return;
        }
        let table = &self.tracks.together;
        self.scores.clear();
        for (row, overlaps) in frame.overlaps.chunks_exact(columns).enumerate() {
            self.scores.extend(overlaps.iter().zip(frame.found).map(|(overlap, &found)| {
                -(table.values[table.at(frame.objects[row], found)] * overlap) // the sign after the product, as there
            }));
        }
        let first = self.cells.len();
        for &(row, column) in best(&self.scores, rows, columns).iter() {
            self.cells.push(table.at(frame.objects[row], frame.found[column]));
            self.overlaps.push(frame.overlaps[row * columns + column]);
        }
        for (number, threshold) in self.thresholds.iter().enumerate() {
            let (mut count, mut sum) = (0, 0.0);
            for &overlap in self.overlaps[first..].iter().filter(|overlap| **overlap >= threshold - EPSILON) {
                count += 1;
                sum += overlap;
            }
            self.hota.matches[number] += count;
            self.hota.overlap_sums[number] += sum;
        }
    }

    /// Ends with what each threshold says about the tracks.
    pub fn sums(mut self) -> Hota {
        let (objects, found) = (&self.tracks.object_lengths, &self.tracks.found_lengths);
        let (count, columns) = (self.tracks.together.values.len(), found.len());
        let mut matches = zeros::<f64>(count);
        let mut shared = Vec::new(); // all that are a pair at any threshold: the first one is the lowest
        for (number, threshold) in self.thresholds.iter().enumerate() {
            ask_after(1 + count / 64);
            matches.iter_mut().for_each(|matches| *matches = 0.0);
            for (&cell, &overlap) in self.cells.iter().zip(&self.overlaps) {
                if overlap >= threshold - EPSILON {
                    matches[cell] += 1.0;
                }
            }
            if number == 0 {
                shared.extend((0..count).filter(|at| matches[*at] != 0.0));
                let tracks = shared.iter().map(|at| [at / columns, at % columns].map(|track| track as i64));
                self.hota.shared_tracks.extend(tracks);
                self.hota.shared_counts = zeros(shared.len() * self.thresholds.len());
            }
            for (row, &at) in shared.iter().enumerate() {
                self.hota.shared_counts[row * self.thresholds.len() + number] = matches[at] as i64;
            }
            let sum = |whole: &dyn Fn(f64, f64, f64) -> f64| {
                pairwise(0, count, &|at| match matches[at] {
                    0.0 => 0.0, // as most are; 0 times a ratio is 0, too
                    both => both * (both / whole(objects[at / columns], found[at % columns], both).max(1.0)),
                })
            };
            self.hota.association_sums[number] = [
                sum(&|object, found, both| object + found - both),
                sum(&|object, _, _| object),
                sum(&|_, found, _| found),
            ];
        }
        self.hota
    }
}
