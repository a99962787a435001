use std::collections::BTreeMap;

use super::plain::{self, Outcome};
use super::{CATEGORIES, Data, Detection, IMAGES, Object, Random, Rules, rules};
use crate::evaluation::PairRows;
use crate::memory::Vec;

fn has(sets: &[u8], at: usize, bytes: usize, bit: usize) -> bool {
    sets[at * bytes + bit / 8] >> (bit % 8) & 1 == 1
}

#[test]
fn a_match_table_is_that_of_the_plain_rules() {
    for seed in 0..1_500 {
        let mut random = Random(seed);
        let (data, rules) = (Data::random(&mut random), rules(&mut random));
        let (found, listed) = (data.matches(rules), plain::listed_detections(&data, &rules));
        let what = format!("{seed} {rules:?} {data:?}");
        let (objects, bytes) = (plain::listed_objects(&data, &rules), rules.bytes());
        let rows = |rows: &[u32]| rows.iter().map(|&row| row as usize).collect::<Vec<_>>();
        assert_eq!(rows(&found.detections.row), listed.iter().map(|one| one.row).collect::<Vec<_>>(), "{what}");
        assert_eq!(rows(&found.detections.rank), listed.iter().map(|one| one.rank).collect::<Vec<_>>(), "{what}");
        assert_eq!(rows(&found.objects.row), objects, "{what}");
        for (at, one) in listed.iter().enumerate() {
            let row = &data.detections[one.row];
            let columns = (found.detections.image[at], found.detections.category[at], found.detections.score[at]);
            assert_eq!(columns, (row.image, row.category, row.score), "{what}");
            assert_eq!(found.detections.special.get(at).copied().unwrap_or(0), one.special, "{what}");
        }
        let mut pairs: BTreeMap<(usize, usize), Vec<(usize, usize)>> = BTreeMap::new();
        for range in 0..rules.areas.len() {
            for (at, &row) in objects.iter().enumerate() {
                let object = &data.objects[row];
                assert_eq!((found.objects.image[at], found.objects.category[at]), (object.image, object.category));
                let ignored = has(&found.objects.ignored, at, rules.range_bytes(), range);
                assert_eq!(ignored, plain::is_ignored(object, &rules, range), "{what}");
            }
            for (bit, &threshold) in rules.thresholds.iter().enumerate() {
                let outcomes = plain::outcomes(&data, &rules, &listed, threshold, range);
                for (at, &Outcome { object, matched, ignored }) in outcomes.iter().enumerate() {
                    let of = |sets: &[u8]| has(sets, at * rules.areas.len() + range, bytes, bit);
                    let is = (of(&found.detections.matched), of(&found.detections.ignored));
                    assert_eq!(is, (matched, ignored), "{at} {range} {threshold} {what}");
                    if let Some(object) = object {
                        let place = objects.iter().position(|&row| row == object).expect("it is listed");
                        pairs.entry((at, place)).or_default().push((range, bit));
                    }
                }
            }
        }
        let places = |detection: &[u32], object: &[u32]| {
            detection.iter().zip(object).map(|(&one, &other)| (one as usize, other as usize)).collect::<Vec<_>>()
        };
        let found_pairs = places(&found.pairs.detection, &found.pairs.object);
        assert_eq!(found_pairs, pairs.keys().copied().collect::<Vec<_>>(), "{what}");
        for (at, (&(one, other), sets)) in pairs.iter().enumerate() {
            assert_eq!(found.pairs.overlap[at], plain::overlap(&data, listed[one].row, objects[other]), "{what}");
            for range in 0..rules.areas.len() {
                for bit in 0..rules.thresholds.len() {
                    let matches = has(&found.pair_matched, at * rules.areas.len() + range, bytes, bit);
                    assert_eq!(matches, sets.contains(&(range, bit)), "{what}");
                }
            }
        }
        let mut near = Vec::new();
        for (at, one) in listed.iter().enumerate() {
            for (place, &object) in objects.iter().enumerate() {
                let value = plain::overlap(&data, one.row, object);
                let same = data.detections[one.row].image == data.objects[object].image;
                if same && rules.near.is_some_and(|least| value >= least) {
                    near.push((at, place, value));
                }
            }
        }
        let found_near = places(&found.near.detection, &found.near.object);
        let found_near: Vec<_> =
            found_near.iter().zip(&found.near.overlap).map(|(&(one, other), &value)| (one, other, value)).collect();
        assert_eq!(found_near, near, "{what}");
        let on_image = |image| {
            let is_there = |one: &&Detection| one.image == image && (one.category as usize) < CATEGORIES;
            data.detections.iter().filter(is_there).count() as i64
        };
        assert_eq!(found.image_detections, (0..IMAGES as u32).map(on_image).collect::<Vec<_>>(), "{what}");
    }
}

#[test]
fn a_scene_of_many_runs_is_the_sum_of_its_images() {
    // More rows than one run of images holds.
    let rules = Rules { max_detections: 5, near: Some(0.05), ..rules(&mut Random(7)) };
    let place = |at: usize| (at as u32 % 3, [at as f64, 0.0, 4.0, 2.0]);
    let object = |at: usize| {
        let (image, corners) = place(at);
        Object { category: 0, image, corners, area: 8.0, flags: 0, outside: [0; 2] }
    };
    let detection = |at: usize| {
        let (image, corners) = place(at);
        Detection { category: 0, image, corners, score: (at % 100) as f64 }
    };
    let (objects, detections) = ((0..900).map(object).collect(), (0..900).map(detection).collect());
    let data = Data { objects, detections, verified: None };
    let all = data.matches(rules);
    let (mut detections, mut objects, mut pairs, mut near) = (0, 0, Vec::new(), Vec::new());
    for image in 0..IMAGES as u32 {
        let mut part = data.clone();
        part.objects.retain(|object| object.image == image);
        part.detections.retain(|one| one.image == image);
        let part = part.matches(rules);
        let moved = |rows: &PairRows| {
            let rows = rows.detection.iter().zip(&rows.object).zip(&rows.overlap);
            rows.map(|((one, other), &value)| (one + detections, other + objects, value)).collect::<Vec<_>>()
        };
        pairs.extend(moved(&part.pairs));
        near.extend(moved(&part.near));
        assert_eq!(all.detections.score[detections as usize..][..part.detections.score.len()], *part.detections.score);
        detections += part.detections.row.len() as u32;
        objects += part.objects.row.len() as u32;
    }
    let listed = |rows: &PairRows| {
        let rows = rows.detection.iter().zip(&rows.object).zip(&rows.overlap);
        rows.map(|((&one, &other), &value)| (one, other, value)).collect::<Vec<_>>()
    };
    assert!(!pairs.is_empty() && near.len() >= pairs.len());
    assert_eq!((listed(&all.pairs), listed(&all.near)), (pairs, near));
    assert_eq!((all.detections.row.len(), all.objects.row.len()), (detections as usize, objects as usize));
}
