//! The influence of each row beside its definition: the number of the data without it, matched from the start.

use super::super::{
    Area, Drawing, Influence, LeftOut, NOWHERE, Outcomes, Quantity, Reading, Rules, Table, accumulate, influence,
};
use super::plain;
use super::{CATEGORIES, CapScope, Data, IMAGES, Matches, Random, rules};
use crate::evaluation::steps::pairwise_sum;
use crate::memory::{Vec, vec};

const RECALLS: [f64; 6] = [0.0, 0.2, 0.4, 0.5, 0.75, 1.0];

/// What number is read, of which range.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    quantity: Quantity,
    plain_precision: bool,
    range: usize,
    cap: u32,
    /// Whether a category without objects counts 0 where a detection counts.
    zero_if_detected: bool,
}

/// The number of a category.
struct Number {
    /// The sum of its defined points.
    total: f64,
    defined: i64,
    /// The mean of all points; NaN if one is not defined.
    mean: f64,
}

/// The number of each category.
fn numbers(table: &Matches, rules: &Rules<'_>, thresholds: &[usize], wanted: Wanted) -> Vec<Number> {
    let categories = if rules.class_agnostic { 1 } else { CATEGORIES };
    let of = |category: u32| if rules.class_agnostic { 0 } else { category };
    let ranges = rules.areas.len();
    let mut count = vec![0; categories * ranges];
    for (row, &category) in table.objects.category.iter().enumerate() {
        for range in 0..ranges {
            let ignored = table.objects.ignored[row * rules.range_bytes() + range / 8] >> (range % 8) & 1;
            count[of(category) as usize * ranges + range] += u64::from(ignored == 0);
        }
    }
    // Of all categories as one, equal scores are sorted by category; rows beyond the cap stand last and are ignored.
    let area = if let Quantity::Area(area) = wanted.quantity { Some(area) } else { None };
    let drawing = Drawing {
        recall_thresholds: RECALLS.into(),
        caps: vec![wanted.cap],
        caps_over_all_images: rules.cap_scope == CapScope::Category,
        plain_precision: wanted.plain_precision,
        area,
    };
    let category: Vec<u32> = table.detections.category.iter().map(|&category| of(category)).collect();
    let outcomes = Outcomes {
        category: &category,
        rank: &table.detections.rank,
        score: &table.detections.score,
        matched: &table.detections.matched,
        ignored: &table.detections.ignored,
        object_count: &count,
        ranges,
        thresholds: rules.thresholds.len(),
    };
    let curves = accumulate(outcomes, &drawing);
    let [precision, _] = curves.written_out(RECALLS.len());
    let is_counted = |place: usize, row: usize, threshold: usize| {
        let by_place = rules.cap_scope == CapScope::Category;
        let rank = if by_place { place } else { table.detections.rank[row] as usize };
        let at = (row * ranges + wanted.range) * rules.bytes() + threshold / 8;
        rank < wanted.cap as usize && table.detections.ignored[at] >> (threshold % 8) & 1 == 0
    };
    let is_detected = |of_category: usize, threshold: usize| {
        let mut rows: Vec<usize> = (0..category.len()).filter(|&row| category[row] as usize == of_category).collect();
        rows.sort_by(|&a, &b| table.detections.score[b].total_cmp(&table.detections.score[a]));
        rows.into_iter().enumerate().any(|(place, row)| is_counted(place, row, threshold))
    };
    let number = |category: usize| {
        let mut points = Vec::new();
        for &threshold in thresholds {
            let curve = (category * ranges + wanted.range) * rules.thresholds.len() + threshold;
            let precisions = &precision[curve * RECALLS.len()..][..RECALLS.len()];
            let start = points.len();
            match wanted.quantity {
                Quantity::Precisions => points.extend(precisions),
                Quantity::MeanPrecision => {
                    points.push(precisions.iter().fold(0.0, |sum, precision| sum + precision / RECALLS.len() as f64));
                }
                Quantity::Recall => points.push(curves.recall[curve]),
                Quantity::Area(_) => points.push(curves.area[curve]),
            }
            if points[start].is_nan() && wanted.zero_if_detected && is_detected(category, threshold) {
                points[start..].fill(0.0);
            }
        }
        let mean = pairwise_sum(&points) / points.len() as f64;
        points.retain(|point| !point.is_nan());
        Number { total: pairwise_sum(&points), defined: points.len() as i64, mean }
    };
    (0..categories).map(number).collect()
}

/// What each row adds, by the table alone.
fn found(data: &Data, rules: Rules<'_>, thresholds: &[usize], wanted: Wanted, left_out: LeftOut) -> Influence {
    let table = data.matches(rules);
    let listed = plain::listed_objects(data, &rules);
    let rows = table.detections.row.len();
    let mut near_starts = vec![0; rows + 1];
    table.near.detection.iter().for_each(|&row| near_starts[row as usize + 1] += 1);
    (0..rows).for_each(|row| near_starts[row + 1] += near_starts[row]);
    let is_out = |&row: &u32| plain::outside(data.detections[row as usize].area(), rules.areas[wanted.range]);
    let outside: Vec<bool> = table.detections.row.iter().map(is_out).collect();
    let flags: Vec<u8> = listed.iter().map(|&row| data.objects[row].flags).collect();
    let ignored: Vec<bool> =
        listed.iter().map(|&row| plain::is_ignored(&data.objects[row], &rules, wanted.range)).collect();
    let unknown = |&row: &usize| !data.is_known(&rules, data.objects[row].category, data.objects[row].image, Some(row));
    let unverified: Vec<bool> = listed.iter().map(unknown).collect();
    let categories = if rules.class_agnostic { 1 } else { CATEGORIES };
    let table = Table {
        images: IMAGES,
        categories,
        category: &table.detections.category,
        image: &table.detections.image,
        rank: &table.detections.rank,
        row: &table.detections.row.iter().map(|&row| i64::from(row)).collect::<Vec<_>>(),
        score: &table.detections.score,
        matched: &table.detections.matched,
        ignored: &table.detections.ignored,
        special_of: &table.detections.special,
        outside: &outside,
        object_category: &table.objects.category,
        object_image: &table.objects.image,
        object_flags: &flags,
        object_ignored: &ignored,
        unverified: if data.verified.is_some() { &unverified } else { &[] },
        near_starts: &near_starts,
        near_object: &table.near.object.iter().map(|&row| i64::from(row)).collect::<Vec<_>>(),
        near_overlap: &table.near.overlap,
        ranges: rules.areas.len(),
        range: wanted.range,
        cap: wanted.cap,
    };
    let reading = Reading {
        quantity: wanted.quantity,
        recall_thresholds: &RECALLS,
        plain_precision: wanted.plain_precision,
        zero_if_detected: wanted.zero_if_detected,
    };
    influence(table, rules, reading, thresholds, &vec![true; categories], left_out).expect("the pairs give the matches")
}

/// The data without one row of the table.
fn without(data: &Data, rules: &Rules<'_>, row: usize, left_out: LeftOut) -> Data {
    let mut rest = data.clone();
    // Rows stay where they are, so that nothing else changes.
    match left_out {
        LeftOut::Detections => rest.detections[plain::listed_detections(data, rules)[row].row].image = NOWHERE,
        LeftOut::Objects => rest.objects[plain::listed_objects(data, rules)[row]].image = NOWHERE,
        LeftOut::Images => {
            rest.detections.iter_mut().filter(|one| one.image == row as u32).for_each(|one| one.image = NOWHERE);
            rest.objects.iter_mut().filter(|one| one.image == row as u32).for_each(|one| one.image = NOWHERE);
        }
    }
    rest
}

#[test]
fn a_row_adds_what_the_number_loses_without_it() {
    for seed in 0..3_000 {
        let mut random = Random(seed);
        let data = Data::random(&mut random);
        let mut rules = rules(&mut random);
        rules.near = Some(0.05);
        let mut thresholds: Vec<usize> = (0..rules.thresholds.len()).filter(|_| random.one_in(2)).collect();
        if thresholds.is_empty() {
            thresholds.push(0);
        }
        let wanted = Wanted {
            quantity: random.one_of(&[
                Quantity::Precisions,
                Quantity::MeanPrecision,
                Quantity::Recall,
                Quantity::Area(Area::Steps),
                Quantity::Area(Area::Trapezoid),
            ]),
            plain_precision: random.one_in(2),
            range: random.below(rules.areas.len()),
            zero_if_detected: random.one_in(2),
            cap: random.one_of(&[1, 2, 3, 100]).min(rules.max_detections as u32),
        };
        let table = data.matches(rules);
        let all = numbers(&table, &rules, &thresholds, wanted);
        for left_out in [LeftOut::Detections, LeftOut::Objects, LeftOut::Images] {
            let result = found(&data, rules, &thresholds, wanted, left_out);
            let what = format!("{seed} {left_out:?} {wanted:?} {thresholds:?} {rules:?} {data:?}");
            for (category, &Number { total, defined, .. }) in all.iter().enumerate() {
                assert_eq!(result.total[category], total, "{what}");
                assert_eq!(result.defined[category], defined, "{what}");
            }
            for row in 0..result.change.len() {
                let rest = numbers(&without(&data, &rules, row, left_out).matches(rules), &rules, &thresholds, wanted);
                let change = |(sum, more): (f64, i64), (after, before): (&Number, &Number)| {
                    (sum + (after.total - before.total), more + after.defined - before.defined)
                };
                let wanted = rest.iter().zip(&all).fold((0.0, 0), change);
                assert_eq!((result.change[row], result.more_defined[row]), wanted, "{row} {what}");
                let category = match left_out {
                    LeftOut::Detections => table.detections.category[row],
                    LeftOut::Objects => table.objects.category[row],
                    LeftOut::Images => continue,
                };
                let mean = rest[if rules.class_agnostic { 0 } else { category as usize }].mean;
                let found = result.mean[row];
                assert!(found == mean || (found.is_nan() && mean.is_nan()), "{row} {found} {mean} {what}");
            }
        }
    }
}
