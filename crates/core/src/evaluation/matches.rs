//! A match table: what matching finds, and every number is read from.

use crate::memory::Vec;

/// The columns of a match table.
///
/// Rows of detections are sorted by image, category and descending score; rows of objects by image and category, then
/// in the order of the scene. A set of thresholds is [`super::Rules::bytes`] bytes, threshold `t` in bit `t % 8` of byte `t / 8`;
/// a set of area ranges likewise.
#[derive(Debug, Default, PartialEq)]
pub struct Matches {
    /// One row per detection that counts.
    pub detections: DetectionRows,
    /// One row per object.
    pub objects: ObjectRows,
    /// One row per pair that matches at some threshold in some range.
    pub pairs: PairRows,
    /// For each of these pairs and each range, the thresholds at which it matches.
    pub pair_matched: Vec<u8>,
    /// One row per near pair: its overlap is at least that of the rules, within and across categories.
    pub near: PairRows,
    /// The number of detections of each image, including those beyond the cap.
    pub image_detections: Vec<i64>,
}

/// Detections.
#[derive(Debug, Default, PartialEq)]
pub struct DetectionRows {
    /// The category of each.
    pub category: Vec<u32>,
    /// The image of each.
    pub image: Vec<u32>,
    /// The place of each within the scope of the cap, best first.
    pub rank: Vec<u32>,
    /// The row of each in the scene.
    pub row: Vec<u32>,
    /// The score of each.
    pub score: Vec<f64>,
    /// For each detection and range, the thresholds at which it has a match.
    pub matched: Vec<u8>,
    /// For each detection and range, the thresholds at which it is ignored.
    pub ignored: Vec<u8>,
    /// What is special about each, see [`super::special`]; empty if the rules know of nothing special.
    pub special: Vec<u8>,
}

/// Objects.
#[derive(Debug, Default, PartialEq)]
pub struct ObjectRows {
    /// The category of each.
    pub category: Vec<u32>,
    /// The image of each.
    pub image: Vec<u32>,
    /// The row of each in the scene.
    pub row: Vec<u32>,
    /// For each object, the ranges that ignore it.
    pub ignored: Vec<u8>,
}

/// Pairs of a detection and an object, by their rows in the table.
#[derive(Debug, Default, PartialEq)]
pub struct PairRows {
    /// The detection of each.
    pub detection: Vec<u32>,
    /// The object of each.
    pub object: Vec<u32>,
    /// The overlap of each.
    pub overlap: Vec<f64>,
}

impl PairRows {
    pub(super) fn push(&mut self, detection: u32, object: u32, overlap: f64) {
        self.detection.push(detection);
        self.object.push(object);
        self.overlap.push(overlap);
    }

    /// Moves all pairs of `other` to the end, and adds the offsets to their rows.
    fn append(&mut self, other: &mut Self, detections: u32, objects: u32) {
        self.detection.extend(other.detection.drain(..).map(|row| row + detections));
        self.object.extend(other.object.drain(..).map(|row| row + objects));
        self.overlap.append(&mut other.overlap);
    }
}

impl Matches {
    /// Moves all rows of `other`, whose images follow, to the end.
    pub(super) fn append(&mut self, other: &mut Self) {
        let (detections, objects) = (self.detections.row.len() as u32, self.objects.row.len() as u32);
        self.detections.category.append(&mut other.detections.category);
        self.detections.image.append(&mut other.detections.image);
        self.detections.rank.append(&mut other.detections.rank);
        self.detections.row.append(&mut other.detections.row);
        self.detections.score.append(&mut other.detections.score);
        self.detections.matched.append(&mut other.detections.matched);
        self.detections.ignored.append(&mut other.detections.ignored);
        self.detections.special.append(&mut other.detections.special);
        self.objects.category.append(&mut other.objects.category);
        self.objects.image.append(&mut other.objects.image);
        self.objects.row.append(&mut other.objects.row);
        self.objects.ignored.append(&mut other.objects.ignored);
        self.pairs.append(&mut other.pairs, detections, objects);
        self.pair_matched.append(&mut other.pair_matched);
        self.near.append(&mut other.near, detections, objects);
        self.image_detections.append(&mut other.image_detections);
    }
}
