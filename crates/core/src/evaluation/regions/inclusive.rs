//! Upright boxes whose far edges are pixels that belong to them: the convention of PASCAL VOC.

use super::Regions;

/// Boxes `[x, y, width, height]` from pixel `x` to pixel `x + width`, both within: each is `width + 1` pixels wide.
pub struct InclusiveBoxes<'a> {
    /// Of the objects.
    pub objects: &'a [[f64; 4]],
    /// Of the detections.
    pub detections: &'a [[f64; 4]],
}

/// A box by its first and its last pixels, as `voc_eval.py` of py-faster-rcnn compares it.
pub struct PixelBox {
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
    /// The objects, and which of them are compared by the area of the detection.
    type Scratch = Vec<(PixelBox, bool)>;

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
        scratch.extend(objects.iter().map(|&row| (PixelBox::new(&self.objects[row as usize]), over_detection(row))));
        // Lower by far more than the rounding of a product.
        let almost_least = least * (1.0 - 1e-9);
        for (position, &row) in detections.iter().enumerate() {
            let detection = PixelBox::new(&self.detections[row as usize]);
            for (position_of_object, (object, over_detection)) in scratch.iter().enumerate() {
                let (intersection, union) = detection.overlap(object, *over_detection);
                if intersection > almost_least * union {
                    found(position, position_of_object, intersection / union);
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
        let mut pairs = Vec::new();
        let crowd = |row| row == 1;
        regions.overlaps(&[0, 2], &[0, 1, 2], crowd, 0.0, &mut Vec::new(), |detection, object, overlap| {
            pairs.push((detection, object, overlap));
        });
        // 4 x 4 pixels each; the first two share a column of 4. The last box is one pixel, in the crowd.
        assert_eq!(pairs, [(0, 0, 1.0), (0, 1, 4.0 / 16.0), (1, 1, 1.0), (1, 2, 1.0)]);
    }
}
