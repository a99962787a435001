//! What VACE counts: how long the pairs of the best assignment of whole tracks are together, and how well the pairs of
//! each frame overlap.
//!
//! Source: Manohar et al., Performance Evaluation of Object Detection and Tracking in Video, 2006, in the form of
//! TrackEval, where two tracks are together in the frames in which they overlap enough.

use super::identity::Identities;
use super::sums::pairwise;
use super::{Frame, PerTracks, best};
use crate::memory::{Vec, zeros};

/// The sums of VACE.
#[derive(Debug, Default)]
pub struct Vace {
    /// Over the pairs of whole tracks: frames in which they overlap enough, divided by frames in which either is.
    pub track_overlaps: f64,
    /// Over frames: the overlaps of the pairs, divided by the mean number of regions of both sides.
    pub frame_overlaps: f64,
    /// Frames in which either side has a region.
    pub frames: usize,
}

/// The frames so far.
pub struct Durations {
    /// In how many frames two tracks are both.
    both: PerTracks,
    object_lengths: Vec<f64>,
    found_lengths: Vec<f64>,
    scores: Vec<f64>,
    vace: Vace,
}

impl Durations {
    pub fn new(objects: usize, found: usize) -> Self {
        Self {
            both: PerTracks::new(objects, found),
            object_lengths: zeros(objects),
            found_lengths: zeros(found),
            scores: Vec::new(),
            vace: Vace::default(),
        }
    }

    pub fn look(&mut self, frame: &Frame<'_>) {
        let (rows, columns) = (frame.objects.len(), frame.found.len());
        frame.objects.iter().for_each(|&track| self.object_lengths[track as usize] += 1.0);
        frame.found.iter().for_each(|&track| self.found_lengths[track as usize] += 1.0);
        self.vace.frames += usize::from(rows + columns > 0);
        if rows == 0 || columns == 0 {
            return;
        }
        for &object in frame.objects {
            for &found in frame.found {
                let at = self.both.at(object, found);
                self.both.values[at] += 1.0;
            }
        }
        self.scores.clear();
        self.scores.extend(frame.overlaps.iter().map(|overlap| -overlap));
        let pairs = best(&self.scores, rows, columns);
        let sum = pairwise(0, pairs.len(), &|at| frame.overlaps[pairs[at].0 * columns + pairs[at].1]);
        self.vace.frame_overlaps += sum / (0.5 * (rows + columns) as f64);
    }

    /// Ends with the assignment of whole tracks, of which `together` has the frames in which they overlap enough.
    pub fn sums(mut self, together: &Identities) -> Vace {
        let (rows, columns) = (self.object_lengths.len(), self.found_lengths.len());
        let ratios = &mut self.both.values;
        for (at, (both, negative)) in ratios.iter_mut().zip(together.negative()).enumerate() {
            *both = negative / (self.object_lengths[at / columns] + self.found_lengths[at % columns] - *both);
        }
        let pairs = best(ratios, rows, columns);
        self.vace.track_overlaps = pairwise(0, pairs.len(), &|at| -ratios[pairs[at].0 * columns + pairs[at].1]);
        self.vace
    }
}
