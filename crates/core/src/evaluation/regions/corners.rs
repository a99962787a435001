//! Upright boxes by their corners, with what protocols other than COCO's do to them before they are compared.

use super::{Measurer, Overlap, Regions};
use crate::ending::ask_after;
use crate::memory::Vec;

/// Boxes `[x, y, width, height]`.
#[derive(Clone, Copy)]
pub struct CornerBoxes<'a> {
    /// Of the objects.
    pub objects: Side<'a>,
    /// Of the detections.
    pub detections: Side<'a>,
    /// How much wider and higher a box is than the distance of its corners: 1 if a box goes from pixel `x` to pixel
    /// `x + width`, both within it (PASCAL VOC), else 0.
    pub extra: f64,
    /// What is added to the area of the union, or of the detection, that an intersection is divided by.
    pub epsilon: f64,
}

/// The boxes of the objects, or of the detections.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// The boxes.
    pub boxes: &'a [[f64; 4]],
    /// Width and height of the image of each, to which it is cut; empty if boxes are not cut.
    pub images: &'a [[f64; 2]],
}

impl Side<'_> {
    fn corners(&self, row: u32, extra: f64) -> Corners {
        let [x, y, width, height] = self.boxes[row as usize];
        let (mut first, mut last) = ([x, y], [x + width, y + height]);
        if let Some(size) = self.images.get(row as usize) {
            // As CrowdDet cuts boxes: the low corner ends a pixel before the border.
            for axis in 0..2 {
                first[axis] = first[axis].max(0.0).min(size[axis] - 1.0);
                last[axis] = last[axis].min(size[axis]).max(0.0);
            }
        }
        let area = (last[0] - first[0] + extra) * (last[1] - first[1] + extra);
        Corners { first, last, area }
    }
}

/// A box by its low and its high corner.
struct Corners {
    first: [f64; 2],
    last: [f64; 2],
    area: f64,
}

impl Regions for CornerBoxes<'_> {
    fn measurer(&self) -> Box<dyn Measurer + '_> {
        Box::new(CornerMeasurer { boxes: self, objects: Vec::new() })
    }
}

struct CornerMeasurer<'a> {
    boxes: &'a CornerBoxes<'a>,
    /// The objects of a group, and which of them are compared by the area of the detection.
    objects: Vec<(Corners, bool)>,
}

impl CornerMeasurer<'_> {
    /// The area that a detection shares with an object, and what it is divided by.
    ///
    /// Args: both, and whether their overlap is the intersection over the area of the detection.
    fn overlap(&self, detection: &Corners, object: &Corners, over_detection: bool) -> (f64, f64) {
        let CornerBoxes { extra, epsilon, .. } = *self.boxes;
        let side = |axis: usize| {
            detection.last[axis].min(object.last[axis]) - detection.first[axis].max(object.first[axis]) + extra
        };
        let intersection = side(0).max(0.0) * side(1).max(0.0);
        let whole = if over_detection { detection.area } else { detection.area + object.area - intersection };
        (intersection, whole + epsilon)
    }
}

impl Measurer for CornerMeasurer<'_> {
    fn overlaps(
        &mut self,
        detections: &[u32],
        objects: &[u32],
        over_detection: &dyn Fn(u32) -> bool,
        least: f64,
        found: &mut Vec<Overlap>,
    ) {
        let extra = self.boxes.extra;
        let object = |&row: &u32| (self.boxes.objects.corners(row, extra), over_detection(row));
        self.objects.clear();
        self.objects.extend(objects.iter().map(object));
        // Lower than the threshold by far more than the rounding of a product.
        let almost_least = least * (1.0 - 1e-9);
        for (position, &row) in (0..).zip(detections) {
            ask_after(objects.len() >> 6);
            let detection = self.boxes.detections.corners(row, extra);
            for (object, (region, over_detection)) in (0..).zip(&self.objects) {
                let (intersection, whole) = self.overlap(&detection, region, *over_detection);
                if intersection > almost_least * whole {
                    found.push(Overlap { detection: position, object, value: intersection / whole });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOXES: [[f64; 4]; 3] = [[1.0, 1.0, 3.0, 3.0], [4.0, 1.0, 3.0, 3.0], [5.0, 1.0, 0.0, 0.0]];

    fn pairs(regions: &CornerBoxes<'_>, detections: &[u32]) -> Vec<(u32, u32, f64)> {
        let mut found = Vec::new();
        regions.measurer().overlaps(detections, &[0, 1, 2], &|row| row == 1, 0.0, &mut found);
        found.iter().map(|pair| (pair.detection, pair.object, pair.value)).collect()
    }

    #[test]
    fn counts_the_pixels_at_both_ends() {
        let side = Side { boxes: &BOXES, images: &[] };
        let regions = CornerBoxes { objects: side, detections: side, extra: 1.0, epsilon: 0.0 };
        // 4 x 4 pixels each; the first two share a column of 4. The last box is one pixel, in the crowd.
        assert_eq!(pairs(&regions, &[0, 2]), [(0, 0, 1.0), (0, 1, 4.0 / 16.0), (1, 1, 1.0), (1, 2, 1.0)]);
    }

    #[test]
    fn cuts_boxes_at_the_image() {
        let side = Side { boxes: &BOXES, images: &[[5.0, 3.0]; 3] };
        let regions = CornerBoxes { objects: side, detections: side, extra: 0.0, epsilon: 0.5 };
        // The first two become 3 x 2 and 1 x 2; the last keeps no area.
        assert_eq!(pairs(&regions, &[0, 1, 2]), [(0, 0, 6.0 / 6.5), (1, 1, 2.0 / 2.5)]);
    }
}
