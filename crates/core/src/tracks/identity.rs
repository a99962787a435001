//! What Identity counts: which track of the result is which object, over the whole sequence.
//!
//! Source: Ristani et al., Performance Measures and a Data Set for Multi-Target, Multi-Camera Tracking, 2016. The paper
//! and TrackEval assign in a square table in which tracks may also stay alone. As leaving two alone costs what pairing
//! them without a common frame costs, the assignment of objects to tracks with the most common frames has the same sums,
//! which are whole numbers.

use super::{Frame, PerTracks, best};

/// In how many frames two tracks overlap enough; negative, as the assignment wants it.
pub struct Identities {
    together: PerTracks,
    rows: usize,
}

impl Identities {
    pub fn new(objects: usize, found: usize) -> Self {
        Self { together: PerTracks::new(objects, found), rows: objects }
    }

    pub fn look(&mut self, frame: &Frame<'_>, threshold: f64) {
        for (row, overlaps) in frame.overlaps.chunks_exact(frame.found.len().max(1)).enumerate() {
            for (column, _) in overlaps.iter().enumerate().filter(|(_, overlap)| **overlap >= threshold) {
                let at = self.together.at(frame.objects[row], frame.found[column]);
                self.together.values[at] -= 1.0;
            }
        }
    }

    /// The table, row by row.
    pub fn negative(&self) -> &[f64] {
        &self.together.values
    }

    /// The common frames of the best assignment.
    pub fn matches(self) -> usize {
        let (table, columns) = (&self.together.values, self.together.columns);
        best(table, self.rows, columns).iter().map(|(row, column)| -table[row * columns + column] as usize).sum()
    }
}
