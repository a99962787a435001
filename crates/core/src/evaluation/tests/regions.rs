//! Kinds of regions in matching: what each measures of the same shapes.

use super::super::regions::{Boxes, CornerBoxes, Masks, Overlap, Pairs, Regions, Side};
use super::Random;
use crate::memory::{Vec, vec};
use crate::regions::rle::{MaskList, Size, settle};

const SIDE: i64 = 9;

fn boxes(random: &mut Random) -> Vec<[f64; 4]> {
    let count = random.below(5);
    let side = |random: &mut Random| (random.below(5) as f64, random.below(5) as f64);
    (0..count)
        .map(|_| {
            let ((x, width), (y, height)) = (side(random), side(random));
            [x, y, width, height]
        })
        .collect()
}

/// The pixels of boxes, column by column.
fn masks(boxes: &[[f64; 4]]) -> MaskList {
    let size = Size::new(SIDE, SIDE).expect("a small image");
    let mut masks = MaskList::default();
    for &[x, y, width, height] in boxes {
        let is_inside = |at: f64, low: f64, side: f64| low <= at && at < low + side;
        let mut counts = vec![0];
        for pixel in 0..SIDE * SIDE {
            let inside = is_inside((pixel / SIDE) as f64, x, width) && is_inside((pixel % SIDE) as f64, y, height);
            if inside != (counts.len() % 2 == 0) {
                counts.push(0);
            }
            *counts.last_mut().expect("a run") += 1;
        }
        settle(&counts, size, &mut masks.runs).expect("all pixels");
        masks.close(size);
    }
    masks
}

/// The overlaps of some detections and some objects, and those of a second group after them.
fn measured(regions: &dyn Regions, groups: &[[Vec<u32>; 2]; 2], least: f64) -> Vec<(u32, u32, f64)> {
    let mut measurer = regions.measurer();
    let mut found: Vec<Overlap> = Vec::new();
    for [detections, objects] in groups {
        measurer.overlaps(detections, objects, &|row| row % 3 == 1, least, &mut found);
    }
    let reaches = found.iter().filter(|overlap| overlap.value >= least);
    reaches.map(|overlap| (overlap.detection, overlap.object, overlap.value)).collect()
}

#[test]
fn masks_and_listed_pairs_of_boxes_overlap_as_the_boxes_do() {
    for seed in 0..2_000 {
        let mut random = Random(seed);
        let (objects, detections) = (boxes(&mut random), boxes(&mut random));
        let some =
            |random: &mut Random, count: usize| (0..count as u32).filter(|_| !random.one_in(4)).collect::<Vec<_>>();
        let groups = [(); 2].map(|()| [some(&mut random, detections.len()), some(&mut random, objects.len())]);
        let least = random.one_of(&[1e-9, 0.25, 0.5, 1.0 - 1e-10]);
        let mut wanted = Vec::new();
        let (mut starts, mut object, mut overlap) = (vec![0], Vec::new(), Vec::new());
        let value = |[x1, y1, w1, h1]: [f64; 4], [x2, y2, w2, h2]: [f64; 4], crowd: bool| {
            let common =
                ((x1 + w1).min(x2 + w2) - x1.max(x2)).max(0.0) * ((y1 + h1).min(y2 + h2) - y1.max(y2)).max(0.0);
            if common == 0.0 { 0.0 } else { common / if crowd { w1 * h1 } else { w1 * h1 + w2 * h2 - common } }
        };
        for &one in &detections {
            for (row, &other) in objects.iter().enumerate() {
                let value = value(one, other, row % 3 == 1);
                if value > 0.0 {
                    object.push(row as u32);
                    overlap.push(value);
                }
            }
            starts.push(object.len());
        }
        for [listed, others] in &groups {
            for (at, &one) in (0..).zip(listed) {
                for (place, &other) in (0..).zip(others) {
                    let value = value(detections[one as usize], objects[other as usize], other % 3 == 1);
                    if value >= least {
                        wanted.push((at, place, value));
                    }
                }
            }
        }
        let side = |boxes| Side { boxes, images: &[] };
        let corners = CornerBoxes { objects: side(&objects), detections: side(&detections), extra: 0.0, epsilon: 0.0 };
        let (object_masks, detection_masks) = (masks(&objects), masks(&detections));
        // Areas below 1, as of relative coordinates.
        let small =
            |boxes: &[[f64; 4]]| boxes.iter().map(|corners| corners.map(|value| value / 64.0)).collect::<Vec<_>>();
        let (small_objects, small_detections) = (small(&objects), small(&detections));
        let kinds: [&dyn Regions; 5] = [
            &Boxes { objects: &small_objects, detections: &small_detections },
            &Boxes { objects: &objects, detections: &detections },
            &corners,
            &Masks::new(object_masks.view(), detection_masks.view()),
            &Pairs { starts: &starts, object: &object, overlap: &overlap },
        ];
        for (kind, regions) in kinds.into_iter().enumerate() {
            assert_eq!(measured(regions, &groups, least), wanted, "{kind} {seed} {least} {objects:?} {detections:?}");
        }
    }
}

#[test]
fn boxes_too_small_for_a_product_with_a_threshold_are_divided() {
    let tiny = [[0.0, 0.0, 1e-160, 1e-160]];
    let groups = [[vec![0], vec![0]], [vec![], vec![]]];
    assert_eq!(measured(&Boxes { objects: &tiny, detections: &tiny }, &groups, 0.5), [(0, 0, 1.0)]);
}
