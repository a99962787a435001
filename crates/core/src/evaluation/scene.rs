//! The input of matching: objects and detections as columns.

use std::ops::Range;

use super::verified::Verified;
use crate::memory::{Vec, vec};

/// The position of a row that is not evaluated, because its image or its category is not.
pub const NOWHERE: u32 = u32::MAX;

/// Special rules for an object: bits of [`Objects::flags`].
pub mod flag {
    /// It is ignored in every range: neither finding nor missing it counts.
    pub const IGNORED: u8 = 1;
    /// Its overlap is the intersection over the area of the detection, instead of the IoU.
    pub const OVER_DETECTION: u8 = 2;
    /// Any number of detections may match it.
    pub const REPEATED: u8 = 4;
    /// A detection that matches it does not count as matched, as pycocotools treats objects with id 0.
    pub const VOID: u8 = 8;
    /// A match needs more than the threshold, whatever the other objects need.
    pub const MORE_THAN: u8 = 16;
    /// It counts, and any number of detections may match it: the first finds it, the others are ignored.
    pub const COUNTS_ONCE: u8 = 32;
}

/// Ground truth and detections. Images and categories are positions, or [`NOWHERE`].
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// How many images there are, in the order in which ties of score are broken.
    pub images: usize,
    /// The objects.
    pub objects: Objects<'a>,
    /// The detections.
    pub detections: Detections<'a>,
    /// Which categories were looked for on each image; `None` for all of them.
    pub verified: Option<Verified<'a>>,
}

/// The columns of the objects.
#[derive(Clone, Copy)]
pub struct Objects<'a> {
    /// The category of each.
    pub category: &'a [u32],
    /// The image of each.
    pub image: &'a [u32],
    /// The area of each, which need not be that of its region.
    pub area: &'a [f64],
    /// The special rules for each, see [`flag`]; empty if no object has any.
    pub flags: &'a [u8],
    /// For each, the set of ranges that ignore it for another reason than its area; empty if there is none.
    pub outside: &'a [u8],
}

impl Objects<'_> {
    /// Whether an object has any of these flags.
    #[inline]
    pub fn has(&self, row: u32, flags: u8) -> bool {
        self.flags_of(row) & flags != 0
    }

    /// The flags of an object.
    #[inline]
    pub fn flags_of(&self, row: u32) -> u8 {
        self.flags.get(row as usize).copied().unwrap_or(0)
    }
}

/// The columns of the detections.
#[derive(Clone, Copy)]
pub struct Detections<'a> {
    /// The category of each.
    pub category: &'a [u32],
    /// The image of each.
    pub image: &'a [u32],
    /// The score of each.
    pub score: &'a [f64],
    /// The area of each.
    pub area: Areas<'a>,
}

/// Areas of detections, which decide whether unmatched ones are ignored.
#[derive(Clone, Copy)]
pub enum Areas<'a> {
    /// One for each.
    Given(&'a [f64]),
    /// The areas of boxes `[x, y, width, height]`.
    OfBoxes(&'a [[f64; 4]]),
}

impl Areas<'_> {
    /// The area of a detection.
    #[inline]
    pub fn of(&self, row: u32) -> f64 {
        match self {
            Self::Given(areas) => areas[row as usize],
            Self::OfBoxes(boxes) => {
                let [_, _, width, height] = boxes[row as usize];
                width * height
            }
        }
    }
}

/// The rows of every image, in the given order.
pub struct ByImage {
    /// Rows by image; `None` if they are sorted by image already.
    order: Option<Vec<u32>>,
    /// Where the rows of each image end.
    ends: Vec<u32>,
}

impl ByImage {
    /// Groups rows by `image`, a position below `images` or [`NOWHERE`].
    pub fn new(image: &[u32], images: usize) -> Self {
        let mut starts = vec![0; images + 1];
        for &image in image.iter().filter(|&&image| image != NOWHERE) {
            starts[image as usize + 1] += 1;
        }
        for image in 0..images {
            starts[image + 1] += starts[image];
        }
        if image.is_sorted() && image.last() != Some(&NOWHERE) {
            return Self { order: None, ends: starts.split_off(1) };
        }
        let mut order = vec![0; starts[images] as usize];
        for (row, &image) in (0..).zip(image).filter(|&(_, &image)| image != NOWHERE) {
            let next = &mut starts[image as usize];
            order[*next as usize] = row;
            *next += 1;
        }
        starts.truncate(images);
        Self { order: Some(order), ends: starts }
    }

    fn range(&self, image: usize) -> Range<usize> {
        let start = if image == 0 { 0 } else { self.ends[image - 1] };
        start as usize..self.ends[image] as usize
    }

    /// How many rows an image has.
    pub fn count(&self, image: usize) -> usize {
        self.range(image).len()
    }

    /// The rows of an image.
    pub fn rows(&self, image: usize) -> impl Iterator<Item = u32> + '_ {
        self.range(image).map(|at| self.order.as_ref().map_or(at as u32, |order| order[at]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::vec;

    fn grouped(image: &[u32], images: usize) -> Vec<Vec<u32>> {
        let by_image = ByImage::new(image, images);
        (0..images)
            .map(|image| {
                let rows: Vec<u32> = by_image.rows(image).collect();
                assert_eq!(rows.len(), by_image.count(image));
                rows
            })
            .collect()
    }

    #[test]
    fn keeps_the_order_within_an_image() {
        assert_eq!(grouped(&[2, 0, 2, NOWHERE, 0], 4), [vec![1, 4], vec![], vec![0, 2], vec![]]);
        assert_eq!(grouped(&[0, 0, 2], 3), [vec![0, 1], vec![], vec![2]]);
        assert_eq!(grouped(&[0, NOWHERE], 1), [vec![0]]);
        assert_eq!(grouped(&[], 2), [vec![], vec![]]);
        assert!(grouped(&[], 0).is_empty());
    }
}
