//! The kinds of regions that can be matched: the trait that matching needs, and one file per kind.
//!
//! A new kind is a type that implements [`Regions`]; the rest of the evaluation does not depend on the kind.
//!
//! Matching needs two facts about a group, which is the detections and objects of one image and category: how much each
//! pair overlaps, and how large each detection is. The trait is asked once per group and not once per pair, so matching
//! is compiled once, and slow kinds do not slow boxes down.

use crate::memory::Vec;

mod boxes;
mod corners;
mod masks;
mod pairs;

pub use boxes::Boxes;
pub use corners::{CornerBoxes, Side};
pub use masks::Masks;
pub use pairs::Pairs;

/// The objects and the detections of a scene, as regions of one kind.
pub trait Regions: Sync {
    /// What a thread measures the groups with that it matches.
    fn measurer(&self) -> Box<dyn Measurer + '_>;
}

/// Measures one group after the other, in memory that it keeps.
///
/// Matching calls it once per group and not once per pair, so that matching is compiled once and not for every kind.
pub trait Measurer {
    /// Appends the overlaps of a group: some detections and some objects of one image.
    ///
    /// They come detection by detection and object by object: every pair whose overlap is at least `least`, and perhaps
    /// others, but none without an overlap.
    ///
    /// Args: rows of the detections; rows of the objects; which objects are compared by the intersection over the area
    /// of the detection (a crowd, for example).
    fn overlaps(
        &mut self,
        detections: &[u32],
        objects: &[u32],
        over_detection: &dyn Fn(u32) -> bool,
        least: f64,
        found: &mut Vec<Overlap>,
    );
}

/// How much a detection and an object of a group overlap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// Position among the detections of the group.
    pub detection: u32,
    /// Position among the objects of the group.
    pub object: u32,
    /// Above 0.
    pub value: f64,
}
