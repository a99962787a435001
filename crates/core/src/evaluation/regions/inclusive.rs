//! Upright boxes whose far edges are pixels that belong to them: the convention of PASCAL VOC.

use super::{Measurer, Overlap, Regions};

/// Boxes `[x, y, width, height]` from pixel `x` to pixel `x + width`, both within: each is `width + 1` pixels wide.
pub struct InclusiveBoxes<'a> {
    /// Of the objects.
    pub objects: &'a [[f64; 4]],
    /// Of the detections.
    pub detections: &'a [[f64; 4]],
}

/// A box by its first and its last pixels, as `voc_eval.py` of py-faster-rcnn compares it.
struct PixelBox {
    first: [f64; 2],
    last: [f64; 2],
    area: f64,
}

impl PixelBox {
    fn new(&[x, y, width, height]: &[f64; 4]) -> Self {
        let last = [x + width, y + height];
        Self { first: [x, y], last, area: (last[0] - x + 1.0) * (last[1] - y + 1.0) }
    }

    /// The number of pixels that a detection shares with an object, and the number of those in either.
    ///
    /// Args: the object, and whether its overlap is the intersection over the area of the detection.
    fn overlap(&self, object: &Self, over_detection: bool) -> (f64, f64) {
        let side =
            |axis: usize| self.last[axis].min(object.last[axis]) - self.first[axis].max(object.first[axis]) + 1.0;
        let intersection = side(0).max(0.0) * side(1).max(0.0);
        (intersection, if over_detection { self.area } else { self.area + object.area - intersection })
    }
}

impl Regions for InclusiveBoxes<'_> {
    fn measurer(&self) -> Box<dyn Measurer + '_> {
        Box::new(InclusiveMeasurer { boxes: self, objects: Vec::new() })
    }
}

struct InclusiveMeasurer<'a> {
    boxes: &'a InclusiveBoxes<'a>,
    /// The objects of a group, and which of them are compared by the area of the detection.
    objects: Vec<(PixelBox, bool)>,
}

impl Measurer for InclusiveMeasurer<'_> {
    fn overlaps(
        &mut self,
        detections: &[u32],
        objects: &[u32],
        over_detection: &dyn Fn(u32) -> bool,
        least: f64,
        found: &mut Vec<Overlap>,
    ) {
        let object = |&row: &u32| (PixelBox::new(&self.boxes.objects[row as usize]), over_detection(row));
        self.objects.clear();
        self.objects.extend(objects.iter().map(object));
        // Lower than the threshold by far more than the rounding of a product.
        let almost_least = least * (1.0 - 1e-9);
        for (position, &row) in (0..).zip(detections) {
            let detection = PixelBox::new(&self.boxes.detections[row as usize]);
            for (object, (region, over_detection)) in (0..).zip(&self.objects) {
                let (intersection, union) = detection.overlap(region, *over_detection);
                if intersection > almost_least * union {
                    found.push(Overlap { detection: position, object, value: intersection / union });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_pixels_at_both_ends() {
        let boxes = [[1.0, 1.0, 3.0, 3.0], [4.0, 1.0, 3.0, 3.0], [5.0, 1.0, 0.0, 0.0]];
        let regions = InclusiveBoxes { objects: &boxes, detections: &boxes };
        let mut found = Vec::new();
        regions.measurer().overlaps(&[0, 2], &[0, 1, 2], &|row| row == 1, 0.0, &mut found);
        let pairs: Vec<_> = found.iter().map(|pair| (pair.detection, pair.object, pair.value)).collect();
        // 4 x 4 pixels each; the first two share a column of 4. The last box is one pixel, in the crowd.
        assert_eq!(pairs, [(0, 0, 1.0), (0, 1, 4.0 / 16.0), (1, 1, 1.0), (1, 2, 1.0)]);
    }
}
