//! What each detection, object and image adds to a number: the number with it minus the number without it.
//!
//! Without a detection or an object, the other detections of its group may match others, and the ranks of detections
//! move up. This changes a few places of the curves of a category. A changed curve is computed from the true positives
//! between these places: the highest precisions of most parts of a curve are known from an earlier change of the same
//! kind. All false positives between two true positives have the same influence, so it is computed once for them.

mod curve;
mod data;
mod group;
mod images;
mod leaving_out;
mod reading;
mod spans;

pub use leaving_out::{Inconsistent, Influence, LeftOut, influence};
pub use reading::{Quantity, Reading};

use std::ops::Range;

use super::rules::{CapScope, Rules};
use curve::State;

/// A match table with near pairs, and what of it a number is about.
#[derive(Clone, Copy)]
pub struct Table<'a> {
    /// How many images there are.
    pub images: usize,
    /// How many categories are evaluated.
    pub categories: usize,
    /// The category of each detection.
    pub category: &'a [u32],
    /// The image of each detection.
    pub image: &'a [u32],
    /// The rank of each detection within the scope of the cap.
    pub rank: &'a [u32],
    /// The row of each detection in the data.
    pub row: &'a [i64],
    /// The score of each detection.
    pub score: &'a [f64],
    /// For each detection and area range, the thresholds at which it has a match.
    pub matched: &'a [u8],
    /// For each detection and area range, the thresholds at which it is ignored.
    pub ignored: &'a [u8],
    /// What is special about each detection, see [`super::special`]; empty if nothing is.
    pub special_of: &'a [u8],
    /// Whether each detection is outside of the area range of the number.
    pub outside: &'a [bool],
    /// The category of each object.
    pub object_category: &'a [u32],
    /// The image of each object.
    pub object_image: &'a [u32],
    /// The special rules for each object, see [`super::flag`].
    pub object_flags: &'a [u8],
    /// Whether the area range of the number ignores each object.
    pub object_ignored: &'a [bool],
    /// Whether the category of each object is not verified on its image without the object; empty if all are.
    pub unverified: &'a [bool],
    /// Where the near pairs of each detection start, and where those of the last one end.
    pub near_starts: &'a [usize],
    /// The object of each near pair.
    pub near_object: &'a [i64],
    /// The overlap of each near pair.
    pub near_overlap: &'a [f64],
    /// How many area ranges there are.
    pub ranges: usize,
    /// The area range of the number.
    pub range: usize,
    /// The cap on detections of the number.
    pub cap: u32,
}

impl Table<'_> {
    fn special(&self, row: u32) -> u8 {
        self.special_of.get(row as usize).copied().unwrap_or(0)
    }

    /// What a detection is if it has no match.
    fn unmatched(&self, row: u32) -> State {
        if self.outside[row as usize] || self.special(row) != 0 { State::Out } else { State::FalsePositive }
    }

    /// Whether matching considers a detection.
    fn is_matched(&self, row: u32, rules: &Rules<'_>) -> bool {
        rules.cap_scope == CapScope::Category || (self.rank[row as usize] as usize) < rules.max_detections
    }

    /// What a detection is at a threshold, by the table.
    fn state(&self, row: u32, threshold: usize, rules: &Rules<'_>) -> State {
        let at = (row as usize * self.ranges + self.range) * rules.bytes() + threshold / 8;
        let has = |sets: &[u8]| sets[at] >> (threshold % 8) & 1 == 1;
        if has(self.ignored) {
            State::Out
        } else if has(self.matched) {
            State::TruePositive
        } else {
            State::FalsePositive
        }
    }

    /// The position of the category of a detection among those that are evaluated.
    fn evaluated(&self, category: u32, rules: &Rules<'_>) -> usize {
        if rules.class_agnostic { 0 } else { category as usize }
    }
}

/// The rows of one category on one image, or of all categories if they count as one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Span {
    image: u32,
    detections: Range<usize>,
    objects: Range<usize>,
}
