use super::bound::{Bound, Interval, Reference, Shares, divisor};
use super::{Index, Pairs, Set, Threshold, join, self_join};
use crate::number::Float;
use crate::number::min as smaller;
use crate::overlap::formula::{Measured, intersection};
use crate::overlap::{Variant, single};
use crate::simd::MAX_LANES;

/// A generator of numbers in 0..1.
fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Boxes whose sizes and places differ by up to this many powers of two.
fn boxes<F: Float>(count: usize, octaves: f64, seed: u64) -> Vec<[F; 4]> {
    let mut random = random(seed);
    let mut side = move || (random(), (octaves * (random() - 0.5)).exp2());
    let mut range = move || {
        let ((place, size), (part, _)) = (side(), side());
        (size * 6.0 * place, size * 6.0 * place + size * part)
    };
    let mut row = move || {
        let ((x1, x2), (y1, y2)) = (range(), range());
        [x1, y1, x2, y2].map(F::from_f64)
    };
    (0..count).map(|_| row()).collect()
}

fn every_pair<F: Float>(a: &[[F; 4]], b: &[[F; 4]], variant: Variant, min: F) -> Pairs<F> {
    let mut pairs = Pairs::with_room(0);
    for (row, a) in a.iter().enumerate() {
        for (column, b) in b.iter().enumerate() {
            let value = single(variant, a, b);
            if value >= min {
                pairs.rows.push(row as i64);
                pairs.columns.push(column as i64);
                pairs.values.push(value);
            }
        }
    }
    pairs
}

fn ratios() -> impl Iterator<Item = Variant> {
    Variant::ALL.into_iter().filter(|&variant| Reference::of(variant).is_some())
}

fn joins_are_the_pairs_of_all<F: Float + std::fmt::Debug>() {
    for (seed, octaves) in [(1, 0.0), (2, 1.0), (3, 8.0), (4, 60.0)] {
        let (a, b) = (boxes::<F>(130, octaves, seed), boxes::<F>(170, octaves, seed + 100));
        for variant in ratios() {
            for min in [1e-6, 0.1, 0.5, 0.9].map(F::from_f64) {
                let threshold = Threshold::new(variant, min).expect("a ratio");
                let [first, second] = [&a, &b].map(|boxes| Set { boxes, labels: None });
                assert_eq!(join(first, second, threshold, 1), every_pair(&a, &b, variant, min), "{variant:?} {min:?}");
            }
        }
    }
}

#[test]
fn joins_are_the_pairs_of_all_in_single() {
    joins_are_the_pairs_of_all::<f32>();
}

#[test]
fn joins_are_the_pairs_of_all_in_double() {
    joins_are_the_pairs_of_all::<f64>();
}

#[test]
fn boxes_whose_areas_overflow_are_joined() {
    let far = |seed| {
        let all = boxes::<f32>(150, 2.0, seed).into_iter().enumerate();
        let far = |(k, corners): (usize, [f32; 4])| {
            corners.map(|value| if k % 2 == 0 { value * 2.0_f32.powi(100) } else { value })
        };
        all.map(far).collect::<Vec<_>>()
    };
    let (a, b) = (far(11), far(12));
    for variant in ratios() {
        for min in [0.1, 0.5] {
            let wanted = every_pair(&a, &b, variant, min);
            assert!(min > 0.1 || wanted.rows.iter().any(|row| row % 2 == 0), "{variant:?} finds no far pair");
            let threshold = Threshold::new(variant, min).expect("a ratio");
            let [first, second] = [&a, &b].map(|boxes| Set { boxes, labels: None });
            assert_eq!(join(first, second, threshold, 1), wanted, "{variant:?} {min}");
        }
    }
}

#[test]
fn threads_change_nothing_and_a_set_meets_itself_once() {
    let mut set = boxes::<f32>(9_000, 2.0, 5);
    for (k, corners) in set.iter_mut().enumerate() {
        let shift = (k % 10) as f32;
        *corners = [corners[0] + shift, corners[1], corners[2] + shift, corners[3]];
    }
    let threshold = Threshold::new(Variant::Iou, 0.5).expect("a ratio");
    let set = Set { boxes: &set, labels: None };
    let (with_itself, both_ways) = (self_join(set, threshold, 1), join(set, set, threshold, 1));
    assert!(with_itself.rows.len() > 2_000);
    let ascending = both_ways.rows.iter().zip(&both_ways.columns).filter(|(row, column)| row < column);
    assert!(ascending.eq(with_itself.rows.iter().zip(&with_itself.columns)));
    for threads in [0, 2, 5] {
        assert_eq!(self_join(set, threshold, threads), with_itself);
        assert_eq!(join(set, set, threshold, threads), both_ways);
    }
}

#[test]
fn an_index_serves_many_thresholds() {
    let (a, b) = (boxes::<f64>(60, 4.0, 6), boxes::<f64>(90, 4.0, 7));
    let (queries, index) = (Index::build(&a, None), Index::build(&b, None));
    assert_eq!((queries.len(), index.len(), Index::<f32>::build(&[], None).is_empty()), (60, 90, true));
    for (variant, min) in [(Variant::Iou, 0.3), (Variant::IoaFirst, 0.9), (Variant::Ciou, 0.01)] {
        let threshold = Threshold::new(variant, min).expect("a ratio");
        assert_eq!(index.join(&queries, threshold, 1), every_pair(&a, &b, variant, min));
    }
}

/// Sets smaller than a vector, and larger by any part of one: what is read beyond the boxes is padding.
#[test]
fn sets_of_every_size_have_all_their_pairs() {
    for count in 0..=2 * MAX_LANES + 1 {
        let a = boxes::<f32>(count, 1.0, 3);
        for others in [count, 1, MAX_LANES] {
            let b = boxes::<f32>(others, 1.0, 4);
            let threshold = Threshold::new(Variant::Iou, 0.1).expect("a ratio");
            let (one, other) = (Set { boxes: &a, labels: None }, Set { boxes: &b, labels: None });
            assert_eq!(join(one, other, threshold, 1), every_pair(&a, &b, Variant::Iou, 0.1), "{count} {others}");
        }
    }
}

#[test]
fn what_has_no_bound_has_no_threshold() {
    assert!(Threshold::new(Variant::Intersection, 0.5).is_none());
    for min in [0.0, -1.0, f64::NAN] {
        assert!(Threshold::new(Variant::Iou, min).is_none());
    }
}

#[test]
#[should_panic(expected = "labels of one set")]
fn labels_of_one_set_alone_are_refused() {
    let set = boxes::<f32>(2, 1.0, 8);
    let threshold = Threshold::new(Variant::Iou, 0.5).expect("a ratio");
    join(Set { boxes: &set, labels: Some(&[1, 2]) }, Set { boxes: &set, labels: None }, threshold, 1);
}

/// The bound alone, without the grid: every pair that reaches the threshold obeys it along both axes.
#[test]
fn no_pair_is_outside_of_its_bound() {
    for (seed, octaves) in [(1, 0.5), (2, 6.0)] {
        let (a, b) = (boxes::<f32>(300, octaves, seed), boxes::<f32>(300, octaves, seed + 9));
        for variant in ratios() {
            for min in [0.01, 0.5, 0.8_f32] {
                let bound = Bound::new(Reference::of(variant).expect("a ratio"), min);
                let pairs = every_pair(&a, &b, variant, min);
                for (&row, &column) in pairs.rows.iter().zip(&pairs.columns) {
                    let [a, b] = [a[row as usize], b[column as usize]].map(|corners| corners.map(f64::from));
                    for axis in [0, 1] {
                        let (side, other) = (a[axis + 2] - a[axis], b[axis + 2] - b[axis]);
                        let (corner, side) = (Interval::only(a[axis]), Interval::only(side));
                        let near = bound.corners(corner, side, Interval::only(other)).expect("a side that will do");
                        assert!(near.least <= b[axis] && b[axis] <= near.largest, "{variant:?} {min} {a:?} {b:?}");
                    }
                }
            }
        }
    }
}

/// And it does leave boxes out: at IoU 0.5 no side beyond twice the query's, no corner a whole side away.
#[test]
fn a_bound_is_tight() {
    let bound = Bound::new(Reference::Larger, 0.5_f64);
    let (corner, equal) = (Interval::only(100.0), Interval::only(8.0));
    let sides = bound.sides(equal);
    assert!((sides.least - 4.0).abs() < 1e-9 && (sides.largest - 16.0).abs() < 1e-9);
    let near = bound.corners(corner, equal, equal).expect("equal sides will do");
    assert!((near.least - 96.0).abs() < 1e-9 && (near.largest - 104.0).abs() < 1e-9);
    assert!(bound.corners(corner, equal, Interval { least: 17.0, largest: 99.0 }).is_none());
    let near = bound.intersecting().corners(corner, equal, equal).expect("any side will do");
    assert!(near.least <= 92.0 && near.largest >= 108.0);
}

/// The shares alone: no pair whose computed ratio reaches the threshold has a smaller intersection, for areas and
/// thresholds of all sizes.
#[test]
fn no_pair_has_less_than_its_shares() {
    fn check<F: Float>(thresholds: &[f64]) {
        // The last are so small that the areas of most are subnormal.
        let tiny = F::MIN_POSITIVE.to_f64().sqrt() * 1e-3;
        for (seed, octaves, scale) in [(1, 0.0, 1.0), (2, 6.0, 1.0), (3, 120.0, 1.0), (4, 1.0, tiny)] {
            let scaled = |corners: [F; 4]| corners.map(|corner| corner * F::from_f64(scale));
            let set: Vec<_> = boxes::<F>(120, octaves, seed).into_iter().map(scaled).collect();
            for (variant, &threshold) in ratios().flat_map(|variant| thresholds.iter().map(move |min| (variant, min))) {
                let (reference, min) = (Reference::of(variant).expect("a ratio"), F::from_f64(threshold));
                let [exact, inexact] = [true, false].map(|exact| Shares::new(reference, min, exact));
                for (a, b) in set.iter().flat_map(|a| set.iter().map(move |b| (*a, *b))) {
                    let [a, b] = [a, b].map(|corners| Measured::new(corners, false));
                    let inter = intersection(&a, &b);
                    let reaches = inter / divisor(reference, &a, &b, inter) >= min; // false for 0 / 0
                    if !reaches {
                        continue;
                    }
                    let is_exact = [a, b].iter().all(|of| Bound::is_exact::<F>(of.area.to_f64()));
                    for shares in [Some(inexact), is_exact.then_some(exact)].into_iter().flatten() {
                        let (one, other) = (shares.of_query(a.area), shares.of_others(b.area));
                        let enough = if shares.is_smaller() { smaller(one, other) } else { one + other };
                        assert!(inter >= enough, "{variant:?} {threshold}");
                    }
                }
            }
        }
    }
    check::<f32>(&[1e-30, 1e-7, 0.01, 1.0 / 3.0, 0.5, 0.999, 1.0]);
    check::<f64>(&[1e-300, 1e-7, 0.01, 1.0 / 3.0, 0.5, 0.999, 1.0]);
}

/// And they do leave pairs out.
#[test]
fn shares_are_tight() {
    for (reference, enough) in [
        (Reference::Larger, 0.5 / 1.5 * 7.0),
        (Reference::First, 1.5),
        (Reference::Second, 2.0),
        (Reference::Smaller, 1.5),
    ] {
        let shares = Shares::new(reference, 0.5_f64, true);
        let (one, other) = (shares.of_query(3.0), shares.of_others(4.0));
        let found = if shares.is_smaller() { smaller(one, other) } else { one + other };
        assert!((found - enough).abs() < 1e-12, "{reference:?} {found}");
    }
}
