//! Upright boxes, with the IoU of pycocotools.

use super::{Measurer, Overlap, Regions};
use crate::ending::ask_after;
use crate::memory::Vec;
use crate::regions::boxes::CocoBox;

/// Boxes `[x, y, width, height]`.
pub struct Boxes<'a> {
    /// Of the objects.
    pub objects: &'a [[f64; 4]],
    /// Of the detections.
    pub detections: &'a [[f64; 4]],
}

/// Below this area, the product of an area and a threshold may lose digits, so such detections are always divided.
const TINY: f64 = 1e-290;

impl Regions for Boxes<'_> {
    fn measurer(&self) -> Box<dyn Measurer + '_> {
        Box::new(BoxMeasurer { boxes: self, objects: Vec::new() })
    }
}

struct BoxMeasurer<'a> {
    boxes: &'a Boxes<'a>,
    /// The objects of a group, and which of them are compared by the area of the detection.
    objects: Vec<(CocoBox, bool)>,
}

impl Measurer for BoxMeasurer<'_> {
    fn overlaps(
        &mut self,
        detections: &[u32],
        objects: &[u32],
        over_detection: &dyn Fn(u32) -> bool,
        least: f64,
        found: &mut Vec<Overlap>,
    ) {
        let object = |&row: &u32| (CocoBox::new(&self.boxes.objects[row as usize]), over_detection(row));
        self.objects.clear();
        self.objects.extend(objects.iter().map(object));
        // Lower than the threshold by far more than the rounding of a product.
        let almost_least = least * (1.0 - 1e-9);
        for (position, &row) in (0..).zip(detections) {
            ask_after(objects.len() >> 6);
            let detection = CocoBox::new(&self.boxes.detections[row as usize]);
            let almost_least = if detection.area < TINY { 0.0 } else { almost_least };
            for (object, (region, over_detection)) in (0..).zip(&self.objects) {
                let (intersection, union) = detection.overlap(region, *over_detection);
                // Nearly every pair ends here, before the division and without further branches.
                if intersection <= almost_least * union {
                    continue;
                }
                found.push(Overlap { detection: position, object, value: intersection / union });
            }
        }
    }
}
