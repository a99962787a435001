//! How well do the tracks of a result follow the objects of a sequence? One pass over its frames, for one class.
//!
//! Owns: what is counted and added up for HOTA ([`association`]), CLEAR ([`clear`]), Identity ([`identity`]) and VACE
//! ([`vace`]), to the last bit of TrackEval 1.3.0. Does not own: the numbers that are made of these sums, and sums over sequences and
//! classes, which Python does with NumPy.
//!
//! Cut here because everything below needs the overlaps of each frame, which are too many to keep for dense scenes: they
//! are measured where they are used, twice. The order of additions decides the last bit, see [`sums`].

mod association;
mod clear;
mod identity;
mod sums;
mod vace;

use crate::assignment::assign;
use crate::ending::ask_after;
use crate::memory::{Vec, zeros};
use crate::overlap::formula::Measured;
use crate::overlap::{Run, Variant, pairwise};
use crate::simd::Level;
use association::Association;
pub use association::Hota;
use clear::Follower;
pub use clear::{Clear, Match};
use identity::Identities;
use vace::Durations;
pub use vace::Vace;

/// TrackEval allows this much for rounding at thresholds, and takes areas up to it for none.
pub(crate) const EPSILON: f64 = f64::EPSILON;

/// Regions of one side of a sequence, frame by frame.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// (F + 1) where the rows of each frame begin, and where those of the last one end.
    pub starts: &'a [i64],
    /// The track of each row of the whole data set, as its position among the tracks of its sequence.
    pub tracks: &'a [i64],
    /// How many tracks the sequence has.
    pub count: usize,
}

impl<'a> Side<'a> {
    fn rows(&self, frame: usize) -> std::ops::Range<usize> {
        self.starts[frame] as usize..self.starts[frame + 1] as usize
    }

    fn of(&self, frame: usize) -> &'a [i64] {
        &self.tracks[self.rows(frame)]
    }

    /// How many regions all frames have.
    fn total(&self) -> usize {
        (self.starts[self.starts.len() - 1] - self.starts[0]) as usize
    }
}

/// Where the overlaps of a frame come from.
#[derive(Clone, Copy, Debug)]
pub enum Overlaps<'a> {
    /// Upright boxes, `[x1, y1, x2, y2]`, of all rows of both sides.
    Boxes(&'a [[f64; 4]], &'a [[f64; 4]]),
    /// Tables of all frames, one behind the other: a row per object. The number is where that of the first frame begins.
    Given(&'a [f64], usize),
}

/// A sequence: its objects, and the tracks of a result.
#[derive(Clone, Copy, Debug)]
pub struct Sequence<'a> {
    /// The ground truth.
    pub objects: Side<'a>,
    /// The result.
    pub found: Side<'a>,
    /// How much they overlap.
    pub overlaps: Overlaps<'a>,
}

/// From which overlap on two regions can be a pair.
#[derive(Clone, Copy, Debug)]
pub struct Thresholds<'a> {
    /// Those of HOTA, in ascending order.
    pub hota: &'a [f64],
    /// That of CLEAR.
    pub clear: f64,
    /// That of Identity.
    pub identity: f64,
}

/// What is counted in a sequence.
#[derive(Debug)]
pub struct Counted {
    /// For HOTA.
    pub hota: Hota,
    /// For CLEAR.
    pub clear: Clear,
    /// For VACE.
    pub vace: Vace,
    /// Regions of an object that its track in the best assignment of whole tracks covers.
    pub id_matches: usize,
}

/// What all measures see of a frame.
struct Frame<'a> {
    objects: &'a [i64],
    found: &'a [i64],
    /// A row per object.
    overlaps: &'a [f64],
}

impl Sequence<'_> {
    /// Everything that is counted. Both sides have the same frames.
    ///
    /// # Panics
    ///
    /// If the rows of frames, or tracks, lie outside of the data.
    pub fn count(&self, thresholds: Thresholds<'_>) -> Counted {
        let (objects, found) = (self.objects, self.found);
        if objects.total() == 0 || found.total() == 0 {
            let clear = Clear { lost: objects.count, ..Clear::default() };
            let vace = Vace { frames: self.frames_with_regions(), ..Vace::default() };
            return Counted { hota: Hota::new(thresholds.hota.len()), clear, vace, id_matches: 0 };
        }
        let mut association = Association::new(objects.count, found.count);
        let mut identities = Identities::new(objects.count, found.count);
        let mut durations = Durations::new(objects.count, found.count);
        self.each_frame(|_, frame| {
            association.look(frame);
            identities.look(frame, thresholds.identity);
            durations.look(frame);
        });
        let vace = durations.sums(&identities);
        let id_matches = identities.matches();
        let mut pairs = association.pairs(thresholds.hota);
        let mut follower = Follower::new(objects.count, thresholds.clear);
        self.each_frame(|number, frame| {
            pairs.look(frame);
            follower.look(frame, objects.rows(number).start, found.rows(number).start);
        });
        Counted { hota: pairs.sums(), clear: follower.counts(), vace, id_matches }
    }

    /// The pairs of CLEAR alone. In a sequence of one frame, they are the pairs with the highest sum of overlaps.
    ///
    /// # Panics
    ///
    /// As for [`Sequence::count`].
    pub fn pairs(&self, threshold: f64) -> Vec<Match> {
        let mut follower = Follower::new(self.objects.count, threshold);
        self.each_frame(|number, frame| {
            follower.look(frame, self.objects.rows(number).start, self.found.rows(number).start);
        });
        follower.counts().matches
    }

    fn frames_with_regions(&self) -> usize {
        let is_empty = |frame: &usize| self.objects.rows(*frame).is_empty() && self.found.rows(*frame).is_empty();
        (0..self.objects.starts.len() - 1).filter(|frame| !is_empty(frame)).count()
    }

    fn each_frame(&self, mut look: impl FnMut(usize, &Frame<'_>)) {
        let mut measured: Vec<f64> = Vec::new();
        let mut given = match self.overlaps {
            Overlaps::Given(_, start) => start,
            Overlaps::Boxes(..) => 0,
        };
        for number in 0..self.objects.starts.len() - 1 {
            let (objects, found) = (self.objects.of(number), self.found.of(number));
            let size = objects.len() * found.len();
            ask_after(1 + size / 64);
            let overlaps = match self.overlaps {
                Overlaps::Given(tables, _) => {
                    given += size;
                    &tables[given - size..given]
                }
                Overlaps::Boxes(of_objects, of_found) => {
                    measured.clear();
                    measure(&of_objects[self.objects.rows(number)], &of_found[self.found.rows(number)], &mut measured);
                    &measured[..]
                }
            };
            look(number, &Frame { objects, found, overlaps });
        }
    }
}

/// IoU of every box of one set with every box of another. Boxes whose area is next to none have no overlap.
fn measure(objects: &[[f64; 4]], found: &[[f64; 4]], overlaps: &mut Vec<f64>) {
    overlaps.resize(objects.len() * found.len(), 0.0);
    let run = Run { threads: 1, level: Level::best(), reused: false };
    pairwise(Variant::Iou, objects, found, 1, overlaps, run);
    let is_thin = |&one: &[f64; 4]| Measured::new(one, false).area <= EPSILON;
    for (row, _) in objects.iter().enumerate().filter(|(_, one)| is_thin(one)) {
        overlaps[row * found.len()..][..found.len()].fill(0.0);
    }
    for (column, _) in found.iter().enumerate().filter(|(_, one)| is_thin(one)) {
        overlaps.iter_mut().skip(column).step_by(found.len()).for_each(|overlap| *overlap = 0.0);
    }
}

/// A table of a row per track of the objects, and a column per track of the result.
struct PerTracks {
    values: Vec<f64>,
    columns: usize,
}

impl PerTracks {
    fn new(rows: usize, columns: usize) -> Self {
        let size = rows.saturating_mul(columns);
        Self { values: zeros(size), columns }
    }

    fn at(&self, row: i64, column: i64) -> usize {
        row as usize * self.columns + column as usize
    }
}

/// The pairs of the assignment with the highest sum of scores, by row: SciPy's, of the negative scores.
fn best(negative: &[f64], rows: usize, columns: usize) -> Vec<(usize, usize)> {
    assign(negative, rows, columns).expect("all scores are finite")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALPHAS: [f64; 2] = [0.05, 0.5];

    fn count(objects: Side<'_>, found: Side<'_>, boxes: &[[f64; 4]], others: &[[f64; 4]]) -> Counted {
        let overlaps = Overlaps::Boxes(boxes, others);
        Sequence { objects, found, overlaps }.count(Thresholds { hota: &ALPHAS, clear: 0.5, identity: 0.5 })
    }

    #[test]
    fn counts_a_switch_and_a_gap() {
        // One object in four frames. The result has its track 0, none, and then its track 1 twice.
        let boxes = [[0., 0., 10., 10.]; 4];
        let objects = Side { starts: &[0, 1, 2, 3, 4], tracks: &[0; 4], count: 1 };
        let found = Side { starts: &[0, 1, 2, 3, 4], tracks: &[0, 1, 2, 2], count: 3 };
        let others = [[0., 0., 10., 8.], [20., 0., 30., 10.], [0., 0., 10., 10.], [0., 0., 10., 10.]];
        let counted = count(objects, found, &boxes, &others);
        assert_eq!(counted.hota.matches[..], [3, 3]);
        assert_eq!(counted.hota.shared_tracks[..], [[0, 0], [0, 2]]);
        assert_eq!(counted.hota.shared_counts[..], [1, 1, 2, 2]);
        assert_eq!(counted.clear.matches.len(), 3);
        assert_eq!((counted.clear.switches, counted.clear.fragments), (1, 1));
        assert_eq!((counted.clear.mostly, counted.clear.partly, counted.clear.lost), (0, 1, 0));
        assert_eq!(counted.clear.overlap_sum, 2.8);
        assert_eq!(counted.id_matches, 2);
        assert_eq!((counted.vace.track_overlaps, counted.vace.frame_overlaps), (0.5, 2.8));
        assert_eq!(counted.vace.frames, 4);
    }

    #[test]
    fn counts_nothing_where_a_side_is_empty() {
        let objects = Side { starts: &[0, 1], tracks: &[0], count: 1 };
        let found = Side { starts: &[0, 0], tracks: &[], count: 0 };
        let counted = count(objects, found, &[[0., 0., 1., 1.]], &[]);
        assert_eq!((counted.clear.lost, counted.id_matches, counted.vace.frames), (1, 0, 1));
        assert_eq!(counted.hota.matches[..], [0, 0]);
    }

    #[test]
    fn pairs_the_regions_of_a_frame() {
        let side = Side { starts: &[0, 2], tracks: &[0, 1], count: 2 };
        let (objects, found) = ([[0., 0., 10., 10.], [0., 0., 9., 10.]], [[0., 0., 10., 8.], [20., 0., 30., 10.]]);
        let overlaps = Overlaps::Boxes(&objects, &found);
        let pairs = Sequence { objects: side, found: side, overlaps }.pairs(0.5);
        assert_eq!((pairs.len(), pairs[0].object, pairs[0].found), (1, 0, 0));
    }

    #[test]
    fn takes_an_area_next_to_none_for_none() {
        let mut overlaps = Vec::new();
        measure(&[[0., 0., 1e-8, 1e-8], [0., 0., 1., 1.]], &[[0., 0., 1e-8, 1e-8], [0., 0., 1., 1.]], &mut overlaps);
        assert_eq!(overlaps[..], [0., 0., 0., 1.]);
    }
}
