//! Upright boxes, with the IoU of pycocotools.

use super::Regions;
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
    /// The objects, and which of them are compared by the area of the detection.
    type Scratch = Vec<(CocoBox, bool)>;

    fn overlaps(
        &self,
        detections: &[u32],
        objects: &[u32],
        over_detection: impl Fn(u32) -> bool,
        least: f64,
        scratch: &mut Self::Scratch,
        mut found: impl FnMut(usize, usize, f64),
    ) {
        scratch.clear();
        scratch.extend(objects.iter().map(|&row| (CocoBox::new(&self.objects[row as usize]), over_detection(row))));
        // Lower than the threshold by far more than the rounding of a product.
        let almost_least = least * (1.0 - 1e-9);
        for (position, &row) in detections.iter().enumerate() {
            let detection = CocoBox::new(&self.detections[row as usize]);
            let almost_least = if detection.area < TINY { 0.0 } else { almost_least };
            for (position_of_object, (object, over_detection)) in scratch.iter().enumerate() {
                let (intersection, union) = detection.overlap(object, *over_detection);
                // Nearly every pair ends here, before the division and without further branches.
                if intersection <= almost_least * union {
                    continue;
                }
                found(position, position_of_object, intersection / union);
            }
        }
    }
}
