//! The kinds of regions that can be matched: the trait that matching needs, and one file per kind.
//!
//! A new kind is a type that implements [`Regions`]; the rest of the evaluation does not depend on the kind.

mod boxes;
mod inclusive;
mod masks;
mod pairs;

pub use boxes::Boxes;
pub use inclusive::InclusiveBoxes;
pub use masks::Masks;
pub use pairs::Pairs;

/// The objects and the detections of a scene, as regions of one kind.
pub trait Regions: Sync {
    /// Memory for one group, kept from one group to the next.
    type Scratch: Default + Send;

    /// Reports the overlaps of a group: some detections and some objects of one image.
    ///
    /// Calls `found` with the position of the detection, the position of the object and their overlap, detection by
    /// detection and object by object, for every pair whose overlap is at least `least`, and perhaps for others. A pair
    /// with no overlap is never reported.
    ///
    /// Args: rows of the detections; rows of the objects; which objects are compared by the intersection over the area
    /// of the detection (a crowd, for example).
    fn overlaps(
        &self,
        detections: &[u32],
        objects: &[u32],
        over_detection: impl Fn(u32) -> bool,
        least: f64,
        scratch: &mut Self::Scratch,
        found: impl FnMut(usize, usize, f64),
    );
}
