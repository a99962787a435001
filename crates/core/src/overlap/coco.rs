//! IoU of boxes in the order of COCO's operations. Its last bits differ from those of boxes given by corners.

use crate::memory::Vec;
use crate::regions::boxes::CocoBox;

/// The (N, M) table of objects, `first`, and detections, `second`, all of them rows `[x, y, width, height]`.
///
/// The intersection is divided by the union, or by the area of the detection if the object is a crowd.
pub fn pairwise(first: &[[f64; 4]], second: &[[f64; 4]], crowd: &[bool]) -> Vec<f64> {
    let detections: Vec<CocoBox> = second.iter().map(CocoBox::new).collect();
    let mut out = Vec::with_capacity(first.len() * second.len());
    for (object, &crowd) in first.iter().map(CocoBox::new).zip(crowd) {
        out.extend(detections.iter().map(|detection| detection.iou(&object, crowd)));
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn crowds_take_the_area_of_the_other() {
        let boxes = [[0.0, 0.0, 4.0, 4.0], [2.0, 0.0, 4.0, 4.0], [4.0, 0.0, 1.0, 1.0]];
        let table = super::pairwise(&boxes[..2], &boxes, &[false, true]);
        assert_eq!(table, [1.0, 8.0 / 24.0, 0.0, 0.5, 1.0, 1.0]);
    }
}
