//! Upright boxes: tables, joins and suppression beside one pair at a time, on every instruction set.
#![no_main]

use arbitrary::{Result, Unstructured};
use ioukit_core::join::{Set, Threshold, join, self_join};
use ioukit_core::nms::soft::{Decay, soft_nms};
use ioukit_core::nms::{Rule, Scores, first_suppressors, survivors};
use ioukit_core::number::Float;
use ioukit_core::overlap::{Run, Variant, elementwise, pairwise, single};
use ioukit_core::simd::Level;
use ioukit_fuzz::coordinate;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut data = Unstructured::new(data);
    // An input that is too short is no case.
    let _ = if data.arbitrary().unwrap_or_default() { all::<f32>(&mut data) } else { all::<f64>(&mut data) };
});

fn all<F: Float>(data: &mut Unstructured<'_>) -> Result<()> {
    let variant = *data.choose(&Variant::ALL)?;
    let min = F::from_f64(*data.choose(&[0.5, 0.25, 1e-6, 0.75, 1.0, 0.0, -0.5, 1.5])?);
    let (first, second) = (boxes::<F>(data)?, boxes::<F>(data)?);
    dense(variant, &first, &second);
    let labels = |data: &mut Unstructured<'_>, count: usize| -> Result<Vec<i64>> {
        (0..count).map(|_| Ok(i64::from(data.arbitrary::<u8>()? % 3) - 1)).collect()
    };
    let labels = (labels(data, first.len())?, labels(data, second.len())?);
    let labels = if data.arbitrary()? { (Some(&labels.0[..]), Some(&labels.1[..])) } else { (None, None) };
    let one = Set { boxes: &first, labels: labels.0 };
    let other = Set { boxes: &second, labels: labels.1 };
    if let Some(threshold) = Threshold::new(variant, min) {
        joined(variant, min, threshold, one, other);
    }
    let scores: Vec<f64> =
        (0..first.len()).map(|_| Ok(f64::from(data.arbitrary::<u8>()? % 16) / 16.0)).collect::<Result<_>>()?;
    suppressed(variant, min, one, other, &scores);
    if variant == Variant::Iou && labels.0.is_none() {
        softly(min, &first, &scores);
    }
    Ok(())
}

/// Boxes that nest, touch and repeat; some have no area, some are huge.
fn boxes<F: Float>(data: &mut Unstructured<'_>) -> Result<Vec<[F; 4]>> {
    let most = F::MAX_COORDINATE.to_f64();
    let count = data.int_in_range(0..=40)?;
    let mut boxes: Vec<[F; 4]> = Vec::new();
    for _ in 0..count {
        let kind: u8 = data.arbitrary()?;
        if kind % 8 == 7 && !boxes.is_empty() {
            boxes.push(*data.choose(&boxes)?);
            continue;
        }
        let side = |data: &mut Unstructured<'_>| -> Result<(f64, f64)> {
            let (a, b) = (coordinate(data, most)?, coordinate(data, most)?);
            Ok((a.min(b), a.max(b)))
        };
        let ((x1, x2), (y1, y2)) = (side(data)?, side(data)?);
        boxes.push([x1, y1, x2, y2].map(F::from_f64));
    }
    Ok(boxes)
}

fn bits<F: Float>(value: F) -> u64 {
    let value = value.to_f64();
    if value.is_nan() { u64::MAX } else { value.to_bits() }
}

/// The value of each pair, whatever the instruction set, the rest of the sets, and where the result begins.
fn dense<F: Float>(variant: Variant, first: &[[F; 4]], second: &[[F; 4]]) {
    let expected: Vec<u64> =
        first.iter().flat_map(|a| second.iter().map(move |b| bits(single(variant, a, b)))).collect();
    let count = first.len().min(second.len());
    for level in Level::available() {
        for shift in [0, 1] {
            let mut out = vec![F::ONE; expected.len() + shift];
            let run = Run { threads: 1, level, reused: false };
            pairwise(variant, first, second, 1, &mut out[shift..], run);
            assert!(
                out[shift..].iter().map(|&value| bits(value)).eq(expected.iter().copied()),
                "{variant:?} {level:?}"
            );
        }
        let mut out = vec![F::ONE; count];
        elementwise(variant, &first[..count], &second[..count], &mut out, Run { threads: 1, level, reused: false });
        for (place, &value) in out.iter().enumerate() {
            assert_eq!(bits(value), expected[place * second.len() + place], "{variant:?} {level:?} {place}");
        }
    }
}

fn same_label<F>(one: Set<'_, F>, a: usize, other: Set<'_, F>, b: usize) -> bool {
    one.labels.zip(other.labels).is_none_or(|(one, other)| one[a] == other[b])
}

type Found = Vec<(i64, i64, u64)>;

fn joined<F: Float>(variant: Variant, min: F, threshold: Threshold<F>, one: Set<'_, F>, other: Set<'_, F>) {
    let of_pairs = |one: Set<'_, F>, other: Set<'_, F>, is_pair: &dyn Fn(usize, usize) -> bool| -> Found {
        let mut pairs = Vec::new();
        for (row, a) in one.boxes.iter().enumerate() {
            for (column, b) in other.boxes.iter().enumerate() {
                let value = single(variant, a, b);
                if is_pair(row, column) && value >= min && same_label(one, row, other, column) {
                    pairs.push((row as i64, column as i64, bits(value)));
                }
            }
        }
        pairs
    };
    let found = |pairs: ioukit_core::join::Pairs<F>| -> Found {
        let places = pairs.rows.into_iter().zip(pairs.columns);
        places.zip(pairs.values).map(|((row, column), value)| (row, column, bits(value))).collect()
    };
    assert_eq!(found(join(one, other, threshold, 1)), of_pairs(one, other, &|_, _| true), "{variant:?}");
    assert_eq!(found(self_join(one, threshold, 1)), of_pairs(one, one, &|row, column| row < column), "{variant:?}");
}

fn suppressed<F: Float>(variant: Variant, min: F, one: Set<'_, F>, other: Set<'_, F>, scores: &[f64]) {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    let mut kept: Vec<usize> = Vec::new();
    for candidate in order {
        let removes = |&better: &usize| {
            same_label(one, better, one, candidate) && single(variant, &one.boxes[better], &one.boxes[candidate]) >= min
        };
        if !kept.iter().any(removes) {
            kept.push(candidate);
        }
    }
    let rule = Rule::new(variant, min);
    let expected: Vec<i64> = kept.iter().map(|&number| number as i64).collect();
    let found = survivors(one.boxes, Scores::Double(scores), one.labels, rule, None, 1);
    assert_eq!(found.as_deref(), Ok(&expected[..]), "{variant:?} {}", min.to_f64());

    let suppressors = first_suppressors(one, other, rule, 1);
    for (place, found) in suppressors.into_iter().enumerate() {
        let expected = one.boxes.iter().enumerate().find_map(|(number, a)| {
            let value = single(variant, a, &other.boxes[place]);
            (value >= min && same_label(one, number, other, place)).then_some((number as u32, bits(value)))
        });
        assert_eq!(found.map(|(number, value)| (number, bits(value))), expected, "{variant:?} {}", min.to_f64());
    }
}

/// Soft-NMS by its definition: the best, then all others again.
fn softly<F: Float>(min: F, boxes: &[[F; 4]], scores: &[f64]) {
    let least = F::from_f64(1e-3).max(min);
    let Some(threshold) = Threshold::new(Variant::Iou, least) else { return };
    let pairs = self_join(Set { boxes, labels: None }, threshold, 1);
    let (keep, kept_scores) = soft_nms(scores, &pairs, Decay::Linear, 0.05, usize::MAX);
    let (mut current, mut left) = (scores.to_vec(), (0..scores.len()).collect::<Vec<_>>());
    let (mut expected, mut expected_scores) = (Vec::new(), Vec::new());
    while let Some(&best) = left.iter().max_by(|&&a, &&b| current[a].total_cmp(&current[b]).then(b.cmp(&a))) {
        if current[best] < 0.05 {
            break;
        }
        left.retain(|&number| number != best);
        expected.push(best as i64);
        expected_scores.push(current[best]);
        for &number in &left {
            let overlap = single(Variant::Iou, &boxes[best], &boxes[number]);
            if overlap >= least {
                current[number] *= 1.0 - overlap.to_f64();
            }
        }
    }
    assert_eq!((&keep[..], &kept_scores[..]), (&expected[..], &expected_scores[..]));
}
