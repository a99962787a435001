//! Masks, with the IoU of pycocotools.

use super::{Measurer, Overlap, Regions};
use crate::ending::ask_after;
use crate::memory::{Vec, vec};
use crate::regions::rle::{self, overlap::common_runs};
use crate::threads::{fill, join};

/// How many masks a thread measures at a time.
const MASKS_AT_ONCE: usize = 256;

/// Masks as runs. All masks of one image must have the same size.
pub struct Masks<'a> {
    objects: Side<'a>,
    detections: Side<'a>,
}

/// The masks of the objects, or of the detections.
struct Side<'a> {
    masks: rle::Masks<'a>,
    extents: Vec<Extent>,
}

/// The bounds of a mask, and its number of pixels.
#[derive(Clone, Copy, Default)]
struct Extent {
    left: u32,
    top: u32,
    right: u32,
    bottom: u32,
    area: u32,
}

impl<'a> Side<'a> {
    fn new(masks: rle::Masks<'a>) -> Self {
        let mut extents = vec![Extent::default(); masks.len()];
        fill(&mut extents, MASKS_AT_ONCE, 0, &|start, part| {
            for (index, extent) in (start..).zip(part) {
                let mask = masks.get(index);
                let [x, y, width, height] = mask.bounds();
                *extent = Extent { left: x, top: y, right: x + width, bottom: y + height, area: mask.area() };
            }
        });
        Self { masks, extents }
    }
}

impl Extent {
    /// No pixel is common to both if this is 0.
    #[inline(always)]
    fn common_box(&self, other: &Self) -> u64 {
        let width = self.right.min(other.right).saturating_sub(self.left.max(other.left));
        let height = self.bottom.min(other.bottom).saturating_sub(self.top.max(other.top));
        u64::from(width) * u64::from(height)
    }
}

impl<'a> Masks<'a> {
    /// The masks of all objects and all detections of a scene, in its order.
    pub fn new(objects: rle::Masks<'a>, detections: rle::Masks<'a>) -> Self {
        let (objects, detections) = join(|| Side::new(objects), || Side::new(detections));
        Self { objects, detections }
    }
}

impl Regions for Masks<'_> {
    fn measurer(&self) -> Box<dyn Measurer + '_> {
        Box::new(self)
    }
}

impl Measurer for &Masks<'_> {
    fn overlaps(
        &mut self,
        detections: &[u32],
        objects: &[u32],
        over_detection: &dyn Fn(u32) -> bool,
        least: f64,
        found: &mut Vec<Overlap>,
    ) {
        // Lower than the threshold by far more than the rounding of a product.
        let almost_least = least * (1.0 - 1e-9);
        for (position, &row) in (0..).zip(detections) {
            ask_after(objects.len() >> 6);
            let detection = &self.detections.extents[row as usize];
            let runs = self.detections.masks.get(row as usize).runs;
            for (object, &object_row) in (0..).zip(objects) {
                let extent = &self.objects.extents[object_row as usize];
                let over_detection = over_detection(object_row);
                let most = detection.common_box(extent).min(u64::from(detection.area.min(extent.area)));
                let least_union = if over_detection { detection.area } else { detection.area.max(extent.area) };
                if most as f64 <= almost_least * f64::from(least_union) {
                    continue;
                }
                let common = common_runs(runs, self.objects.masks.get(object_row as usize).runs);
                if common > 0 {
                    // Sums of whole numbers below 2^32: the order does not matter.
                    let (common, area) = (f64::from(common), f64::from(detection.area));
                    let union = if over_detection { area } else { area + f64::from(extent.area) - common };
                    found.push(Overlap { detection: position, object, value: common / union });
                }
            }
        }
    }
}
