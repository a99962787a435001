use super::*;
use crate::evaluation::{Drawing, accumulate};
use crate::memory::vec;

const RECALLS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// A match table of one category, range and threshold, with one object on each of three images.
fn outcomes<'a>(
    score: &'a [f64],
    matched: &'a [u8],
    ignored: &'a [u8],
    zeros: &'a [u32],
    count: &'a [u64],
) -> Outcomes<'a> {
    let (category, rank) = (&zeros[..score.len()], &zeros[..score.len()]);
    Outcomes { category, rank, score, matched, ignored, object_count: count, ranges: 1, thresholds: 1 }
}

/// The mean precision of a data set in which images stand as often as they are listed.
fn written_out(copies: &[(f64, u8, u8, usize)], weights: &[u16]) -> (f64, f64) {
    let repeated = |&(score, matched, ignored, image): &(f64, u8, u8, usize)| {
        std::iter::repeat_n((score, matched, ignored), usize::from(weights[image]))
    };
    let rows: Vec<(f64, u8, u8)> = copies.iter().flat_map(repeated).collect();
    let score: Vec<f64> = rows.iter().map(|row| row.0).collect();
    let matched: Vec<u8> = rows.iter().map(|row| row.1).collect();
    let ignored: Vec<u8> = rows.iter().map(|row| row.2).collect();
    let count = [weights.iter().map(|&weight| u64::from(weight)).sum()];
    let zeros = vec![0; rows.len()];
    let drawing = Drawing {
        recall_thresholds: RECALLS.into(),
        caps: vec![1],
        caps_over_all_images: false,
        plain_precision: false,
        area: None,
    };
    let curves = accumulate(outcomes(&score, &matched, &ignored, &zeros, &count), &drawing);
    (pairwise_sum(&curves.written_out(RECALLS.len())[0]) / RECALLS.len() as f64, curves.recall[0])
}

#[test]
fn weighs_copies_as_if_they_were_written_out() {
    // Score, whether it is matched and ignored, and the image.
    let rows = [(0.9, 0, 0, 2), (0.8, 1, 0, 0), (0.7, 1, 1, 1), (0.6, 1, 0, 1), (0.5, 0, 0, 0), (0.4, 1, 0, 2)];
    let (score, matched) = (rows.map(|row| row.0), rows.map(|row| row.1));
    let (ignored, image) = (rows.map(|row| row.2), rows.map(|row| row.3 as u32));
    let weighed = Weighed {
        outcomes: outcomes(&score, &matched, &ignored, &[0; 6], &[3]),
        image: &image,
        object_category: &[0; 3],
        object_image: &[0, 1, 2],
        object_ignored: &[0; 3],
        images: 3,
    };
    let number = |reading| Number { reading, range: 0, cap: 1, thresholds: vec![0], of_category: vec![true] };
    let numbers = [number(Reading::LastRecall), number(Reading::Recalls)];
    let rules = Rules { recall_thresholds: &RECALLS, plain_precision: false, zero_where_only_detected: false };
    let weights = [1, 1, 1, 5, 0, 1, 0, 7, 2, 0, 0, 1, 300, 1, 0, 0, 0, 0];
    let found = replicate(weighed, 6, &weights, &numbers, rules, true);
    assert_eq!(format!("{:?}", found.values), format!("{:?}", found.of_categories));
    for (weights, values) in weights.chunks(3).zip(found.values.chunks(2)) {
        let (precision, recall) = written_out(&rows, weights);
        assert_eq!(format!("{values:?}"), format!("[{recall:?}, {precision:?}]"), "{weights:?}");
    }
}

#[test]
fn has_nothing_to_say_about_nothing() {
    let weighed = Weighed {
        outcomes: outcomes(&[], &[], &[], &[], &[0]),
        image: &[],
        object_category: &[],
        object_image: &[],
        object_ignored: &[],
        images: 2,
    };
    let number = Number { reading: Reading::Steps, range: 0, cap: 9, thresholds: vec![0], of_category: vec![true] };
    let rules = Rules { recall_thresholds: &RECALLS, plain_precision: true, zero_where_only_detected: true };
    let found = replicate(weighed, 1, &[1, 3], &[number], rules, false);
    assert!(found.values[0].is_nan());
    assert!(found.of_categories.is_empty());
}
