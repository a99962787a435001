use super::order::by_score;
use super::{Rule, Scores, first_suppressors, of_pairs, survivors};
use crate::join::Set;
use crate::memory::{Vec, vec};
use crate::number::Float;
use crate::overlap::{Variant, single};

/// A generator of numbers in 0..1.
fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Boxes with corners on a coarse grid, so that exact thresholds are not rare, in several sizes.
fn boxes<F: Float>(count: usize, extent: f64, octaves: f64, seed: u64) -> Vec<[F; 4]> {
    let mut random = random(seed);
    let mut range = move || {
        let (low, side) = ((random() * extent).floor(), (random() * 8.0).floor());
        let scale = (octaves * (random() - 0.5)).round().exp2();
        (low * scale, (low + side) * scale)
    };
    let mut row = move || {
        let ((x1, x2), (y1, y2)) = (range(), range());
        [x1, y1, x2, y2].map(F::from_f64)
    };
    (0..count).map(|_| row()).collect()
}

fn scores(count: usize, seed: u64) -> Vec<f32> {
    let mut random = random(seed);
    (0..count).map(|_| (random() * 50.0).floor() as f32 - 25.0).collect()
}

/// The definition.
fn greedy<F: Float>(boxes: &[[F; 4]], scores: &[f32], labels: Option<&[i64]>, variant: Variant, min: F) -> Vec<i64> {
    let mut order: Vec<usize> = (0..boxes.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    let mut kept: Vec<usize> = Vec::new();
    for other in order {
        let removes = |&one: &usize| {
            labels.is_none_or(|labels| labels[one] == labels[other])
                && single(variant, &boxes[one], &boxes[other]) >= min
        };
        if !kept.iter().any(removes) {
            kept.push(other);
        }
    }
    kept.into_iter().map(|number| number as i64).collect()
}

const METRICS: [Variant; 7] =
    [Variant::Iou, Variant::IoaFirst, Variant::IoaSecond, Variant::Iom, Variant::Giou, Variant::Diou, Variant::Ciou];

fn survivors_are_those_of_the_definition<F: Float>() {
    for (seed, count, extent, octaves) in
        [(1, 60, 20.0, 0.0), (2, 400, 30.0, 0.0), (3, 500, 20.0, 12.0), (4, 300, 8.0, 60.0), (5, 700, 300.0, 2.0)]
    {
        let boxes = boxes::<F>(count, extent, octaves, seed);
        let scores = scores(count, seed + 50);
        // With one label for two thirds of the boxes, and with four that have less than a third each.
        let turn = if seed % 2 == 0 { 3 } else { 7 };
        let labels: Vec<i64> = (0..count as i64).map(|k| k * k % turn - 1).collect();
        for variant in METRICS {
            for min in [1e-30, 0.25, 0.5, 0.9, 1.0, 1.1, 0.0, -0.25].map(F::from_f64) {
                for labels in [None, Some(&labels[..])] {
                    let wanted = greedy(&boxes, &scores, labels, variant, min);
                    let rule = Rule::new(variant, min);
                    for threads in [1, 2] {
                        let found = survivors(&boxes, Scores::Single(&scores), labels, rule, None, threads);
                        assert_eq!(found.as_ref(), Ok(&wanted), "{variant:?} {seed} {}", min.to_f64());
                    }
                }
            }
        }
    }
}

#[test]
fn survivors_are_those_of_the_definition_in_single() {
    survivors_are_those_of_the_definition::<f32>();
}

#[test]
fn survivors_are_those_of_the_definition_in_double() {
    survivors_are_those_of_the_definition::<f64>();
}

#[test]
fn coordinates_whose_squares_overflow_are_compared() {
    let far = 2.0_f32.powi(100);
    let boxes = [[0.0, 0.0, far, far], [0.0, 0.0, far, 0.75 * far], [0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.5]];
    let found = survivors(&boxes, Scores::Single(&[1.0, 0.9, 0.8, 0.7]), None, Rule::new(Variant::Iou, 0.5), None, 1);
    assert_eq!(found, Ok(vec![0, 2]));
}

#[test]
fn a_chain_as_long_as_the_set_needs_no_deep_recursion() {
    // Each box overlaps the next; the best is at the end, so the first asks all.
    let count = 300_000;
    let boxes: Vec<[f64; 4]> = (0..count).map(|k| [f64::from(k), 0.0, f64::from(k) + 2.0, 1.0]).collect();
    let scores: Vec<f64> = (0..count).map(f64::from).collect();
    for threads in [1, 2] {
        let kept = survivors(&boxes, Scores::Double(&scores), None, Rule::new(Variant::Iou, 0.3), None, threads);
        assert_eq!(kept, Ok((0..i64::from(count)).rev().step_by(2).collect()));
    }
}

#[test]
fn identical_boxes_leave_the_best() {
    let boxes = vec![[1.0_f32, 2.0, 3.0, 4.0]; 100_000];
    let mut scores = vec![0.5_f64; boxes.len()];
    scores[70_000] = 0.75;
    scores[70_001] = 0.75;
    assert_eq!(
        survivors(&boxes, Scores::Double(&scores), None, Rule::new(Variant::Iou, 0.5), None, 0),
        Ok(vec![70_000])
    );
}

#[test]
fn scores_fall_and_equal_ones_keep_their_order() {
    let scores = [0.5, f64::NEG_INFINITY, -0.0, 0.0, f64::INFINITY, 0.5, 0.5 + f64::EPSILON];
    assert_eq!(by_score(&scores, None), Ok(vec![4, 6, 0, 5, 2, 3, 1]));
    assert_eq!(by_score(&scores, Some(0.0)), Ok(vec![4, 6, 0, 5, 2, 3]));
    assert_eq!(by_score(&scores, Some(0.25)), Ok(vec![4, 6, 0, 5]));
    assert_eq!(by_score(&[0.5_f32, f32::NAN], None), Err(1));
    assert_eq!(by_score::<f32>(&[], None), Ok(vec![]));
    let mut random = random(9);
    let many: Vec<f64> =
        (0..5_000).map(|_| (random() * 900.0).floor() / 900.0 - 0.3 + random().round() * 1e-12).collect();
    let mut wanted: Vec<u32> = (0..5_000).collect();
    wanted.sort_by(|&a, &b| many[b as usize].total_cmp(&many[a as usize]));
    assert_eq!(by_score(&many, None), Ok(wanted));
    let few: Vec<f32> = many.iter().map(|&score| score as f32).collect();
    let mut wanted: Vec<u32> = (0..5_000).collect();
    wanted.sort_by(|&a, &b| few[b as usize].total_cmp(&few[a as usize]));
    assert_eq!(by_score(&few, None), Ok(wanted));
}

#[test]
fn the_first_that_removes_a_box_is_named() {
    let all = boxes::<f32>(600, 25.0, 3.0, 7);
    let (kept, others) = all.split_at(200);
    let labels: Vec<i64> = (0..600).map(|k| k % 2).collect();
    for variant in METRICS {
        for min in [0.3_f32, -0.5] {
            let rule = Rule::new(variant, min);
            let of = |boxes, labels| Set { boxes, labels: Some(labels) };
            let found = first_suppressors(of(kept, &labels[..200]), of(others, &labels[200..]), rule, 2);
            for (k, other) in others.iter().enumerate() {
                let wanted = kept.iter().enumerate().find_map(|(number, one)| {
                    let value = single(variant, one, other);
                    (value >= min && labels[number] == labels[200 + k]).then_some((number as u32, value))
                });
                assert_eq!(found[k], wanted, "{variant:?} {min}");
            }
        }
    }
}

#[test]
fn pairs_say_who_removes_whom() {
    // 0 removes 1, which would have removed 2; 2 and 0 remove 3.
    let removed_by = of_pairs(5, &[0, 0, 1, 2], &[1, 3, 2, 3]);
    assert_eq!(removed_by, [None, Some(0), None, Some(0), None]);
}
