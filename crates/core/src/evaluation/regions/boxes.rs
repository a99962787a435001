//! Upright boxes, with the IoU of pycocotools.

use super::Regions;

/// Boxes `[x, y, width, height]`.
pub struct Boxes<'a> {
    /// Of the objects.
    pub objects: &'a [[f64; 4]],
    /// Of the detections.
    pub detections: &'a [[f64; 4]],
}

/// A box by its sides, with the sums and the product that pycocotools' `bbIou` forms for every pair.
#[derive(Clone, Copy)]
pub struct Sides {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
    area: f64,
}

impl Sides {
    #[inline]
    fn new(&[x, y, width, height]: &[f64; 4]) -> Self {
        Self { left: x, top: y, right: width + x, bottom: height + y, area: width * height }
    }

    /// The intersection with an object, and their union; the area of the detection in its place if asked for.
    #[inline(always)]
    fn overlap(&self, object: &Self, over_detection: bool) -> (f64, f64) {
        let width = self.right.min(object.right) - self.left.max(object.left);
        let height = self.bottom.min(object.bottom) - self.top.max(object.top);
        let intersection = width.max(0.0) * height.max(0.0);
        (intersection, if over_detection { self.area } else { self.area + object.area - intersection })
    }
}

/// Below this area a product of an area and a threshold may lose its digits: such detections are always divided.
const TINY: f64 = 1e-290;

impl Regions for Boxes<'_> {
    /// The objects, and which of them are compared by the area of the detection.
    type Scratch = Vec<(Sides, bool)>;

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
        scratch.extend(objects.iter().map(|&row| (Sides::new(&self.objects[row as usize]), over_detection(row))));
        // Lower by far more than the rounding of a product.
        let almost_least = least * (1.0 - 1e-9);
        for (position, &row) in detections.iter().enumerate() {
            let detection = Sides::new(&self.detections[row as usize]);
            let almost_least = if detection.area < TINY { 0.0 } else { almost_least };
            for (object, (sides, over_detection)) in scratch.iter().enumerate() {
                let (intersection, union) = detection.overlap(sides, *over_detection);
                // Nearly every pair ends here, before the division, and without a branch on how they miss each other.
                if intersection <= almost_least * union {
                    continue;
                }
                found(position, object, intersection / union);
            }
        }
    }
}
