//! IoU of boxes in the order of COCO's operations, whose last bits differ from those of corners.

/// (N, M) for boxes `[x, y, width, height]`; over the area of the second where the first is a crowd. Boxes without a
/// positive overlap along both axes have 0; NaN is left out of a minimum or maximum, as in C.
pub fn pairwise(first: &[[f64; 4]], second: &[[f64; 4]], crowd: &[bool]) -> Vec<f64> {
    let mut out = Vec::with_capacity(first.len() * second.len());
    for (&[x, y, width, height], &crowd) in first.iter().zip(crowd) {
        out.extend(second.iter().map(|&[x2, y2, width2, height2]| {
            let wide = (width2 + x2).min(width + x) - x2.max(x);
            let high = (height2 + y2).min(height + y) - y2.max(y);
            let (area, common) = (width2 * height2, wide * high);
            let divisor = if crowd { area } else { area + width * height - common };
            // As COCO skips pairs: NaN is not at most 0.
            if wide <= 0.0 || high <= 0.0 { 0.0 } else { common / divisor }
        }));
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
