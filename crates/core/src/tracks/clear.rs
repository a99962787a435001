//! What CLEAR counts: who follows whom from frame to frame, and where that changes.
//!
//! Source: Bernardin and Stiefelhagen, Evaluating Multiple Object Tracking Performance: The CLEAR MOT Metrics, 2008. A
//! pair of the frame before stays together while it can; frames in which a side has nothing are passed over.

use super::{EPSILON, Frame, best};
use crate::memory::{Vec, filled, zeros};

/// In the place of a track: none yet.
const NONE: i64 = -1;

/// What a pair of the frame before is worth beside overlaps, of which a frame has fewer than this.
const STAY: f64 = 1000.0;

/// An object and the region that follows it in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
    /// The row of the object.
    pub object: usize,
    /// The row of the region.
    pub found: usize,
    /// Their overlap.
    pub overlap: f64,
    /// Whether another track followed the object before.
    pub switch: bool,
    /// Whether the object was followed before, but not in the frame before.
    pub resumed: bool,
}

/// The counts of CLEAR.
#[derive(Debug, Default)]
pub struct Clear {
    /// The pairs of all frames.
    pub matches: Vec<Match>,
    /// The sum of their overlaps.
    pub overlap_sum: f64,
    /// How often the track of an object is another one than before.
    pub switches: usize,
    /// How often an object is followed again after a gap.
    pub fragments: usize,
    /// Objects that are followed in more than 80 % of their frames.
    pub mostly: usize,
    /// Objects that are followed in at least 20 % of their frames, without those.
    pub partly: usize,
    /// The other objects.
    pub lost: usize,
}

/// Who follows each object, up to a frame.
pub struct Follower {
    threshold: f64,
    /// The last track of each object, and that of the frame before.
    last: Vec<i64>,
    before: Vec<i64>,
    /// The objects that have one in `before`.
    followed: Vec<usize>,
    seen: Vec<f64>,
    matched: Vec<f64>,
    /// How often each object begins to be followed.
    begun: Vec<usize>,
    scores: Vec<f64>,
    clear: Clear,
}

impl Follower {
    pub fn new(objects: usize, threshold: f64) -> Self {
        Self {
            threshold,
            last: filled(NONE, objects),
            before: filled(NONE, objects),
            followed: Vec::new(),
            seen: zeros(objects),
            matched: zeros(objects),
            begun: zeros(objects),
            scores: Vec::new(),
            clear: Clear::default(),
        }
    }

    /// Takes the next frame, whose rows begin at these of all rows.
    pub fn look(&mut self, frame: &Frame<'_>, first_object: usize, first_found: usize) {
        frame.objects.iter().for_each(|&object| self.seen[object as usize] += 1.0);
        let (rows, columns) = (frame.objects.len(), frame.found.len());
        if rows == 0 || columns == 0 {
            return;
        }
        self.scores.clear();
        for (row, overlaps) in frame.overlaps.chunks_exact(columns).enumerate() {
            let before = self.before[frame.objects[row] as usize];
            self.scores.extend(overlaps.iter().zip(frame.found).map(|(&overlap, &found)| match overlap {
                _ if overlap < self.threshold - EPSILON => -0.0,
                _ if found == before => -(STAY + overlap),
                _ => -overlap,
            }));
        }
        let pairs = best(&self.scores, rows, columns);
        let pairs = pairs.iter().filter(|(row, column)| -self.scores[row * columns + column] > EPSILON);
        let (mut sum, first) = (0.0, self.clear.matches.len());
        for &(row, column) in pairs {
            let (object, track) = (frame.objects[row] as usize, frame.found[column]);
            let overlap = frame.overlaps[row * columns + column];
            let begins = self.before[object] == NONE;
            self.matched[object] += 1.0;
            self.begun[object] += usize::from(begins);
            self.clear.matches.push(Match {
                object: first_object + row,
                found: first_found + column,
                overlap,
                switch: self.last[object] != NONE && self.last[object] != track,
                resumed: begins && self.last[object] != NONE,
            });
            self.last[object] = track;
            sum += overlap;
        }
        self.followed.drain(..).for_each(|object| self.before[object] = NONE);
        for one in self.clear.matches[first..].iter() {
            let object = frame.objects[one.object - first_object] as usize;
            self.before[object] = self.last[object];
            self.followed.push(object);
        }
        self.clear.overlap_sum += sum;
    }

    /// Ends with the counts.
    pub fn counts(mut self) -> Clear {
        let clear = &mut self.clear;
        clear.switches = clear.matches.iter().filter(|one| one.switch).count();
        clear.fragments = self.begun.iter().map(|begun| begun.saturating_sub(1)).sum();
        let ratios = self.matched.iter().zip(&self.seen).filter(|(_, seen)| **seen > 0.0).map(|(one, seen)| one / seen);
        let at_least_partly: usize;
        (clear.mostly, at_least_partly) = ratios.fold((0, 0), |(mostly, partly), ratio| {
            (mostly + usize::from(ratio > 0.8), partly + usize::from(ratio >= 0.2))
        });
        clear.partly = at_least_partly - clear.mostly;
        clear.lost = self.seen.len() - at_least_partly;
        self.clear
    }
}
