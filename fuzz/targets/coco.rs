//! COCO's files: columns beside those of serde_json's values; files in memory, in pieces and in parts; masks and keypoints.
#![no_main]

use std::cell::RefCell;

use ioukit_core::coco::{
    Detections, Dialect, FirstMasks, GroundTruth, Keypoints, OnInvalid, Part, ReadError, Segmentations, Source, Spans,
    find_parts, read_detections, read_ground_truth, read_keypoints, read_mask_areas, read_masks, read_part,
};
use ioukit_fuzz::{Nameless, without_constants};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

thread_local!(static FILE: RefCell<Nameless> = RefCell::new(Nameless::new("coco")));

const POLICIES: [OnInvalid; 3] = [OnInvalid::Error, OnInvalid::Drop, OnInvalid::Pycocotools];

fuzz_target!(|text: &[u8]| {
    let memory = Source::Memory(text.to_vec().into());
    let file = FILE.with_borrow_mut(|file| file.source(text));
    let expected =
        str::from_utf8(text).ok().and_then(|text| serde_json::from_str::<Value>(&without_constants(text)).ok());
    for policy in POLICIES {
        for lines in [false, true] {
            let read = read_detections(&memory, policy, lines, 0);
            assert_eq!(shown(&read_detections(&file, policy, lines, 0)), shown(&read), "in a file");
            in_parts(&file, policy, lines, &read);
            if let Ok(read) = &read {
                let count = read.scores.len();
                regions(&memory, "detections", count, &read.segmentations, &read.keypoints);
            }
        }
        for dialect in [Dialect::Coco, Dialect::Lvis] {
            let read = read_ground_truth(&memory, policy, dialect, 0);
            assert_eq!(shown(&read_ground_truth(&file, policy, dialect, 0)), shown(&read), "in a file");
            if let Ok(read) = &read {
                let of = &read.annotations;
                regions(&memory, "annotations", of.ids.len(), &of.segmentations, &of.keypoints);
            }
        }
    }
    if let Some(expected) = &expected {
        let read = read_detections(&memory, OnInvalid::Error, false, 0);
        check_detections(read.ok(), expected);
        let read = read_ground_truth(&memory, OnInvalid::Error, Dialect::Coco, 0);
        check_ground_truth(read.ok(), expected);
    }
});

/// A result as text: NaN is not equal to itself.
fn shown<T: std::fmt::Debug>(read: &Result<T, ReadError>) -> String {
    match read {
        Ok(read) => format!("{read:?}"),
        Err(ReadError::Invalid(message)) => message.clone(),
        Err(ReadError::Io(error)) => panic!("{error}"),
    }
}

/// Parts of a file have the rows of the whole, and the first message.
fn in_parts(file: &Source, policy: OnInvalid, lines: bool, whole: &Result<Detections, ReadError>) {
    let parts = match find_parts(file, policy, lines, 40, 0) {
        Ok(parts) => parts,
        Err(error) => {
            let (Err(ReadError::Invalid(found)), Err(ReadError::Invalid(message))) = (Err::<(), _>(error), whole)
            else {
                panic!("parts alone are refused")
            };
            assert_eq!(found, *message);
            return;
        }
    };
    let mut end = file.length();
    let mut ranges = Vec::new();
    for &[start, record] in parts.starts.iter().rev() {
        ranges.push((start, end, record as usize));
        end = start;
    }
    let (mut ids, mut scores, mut boxes, mut dropped) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let mut without_boxes = false;
    for (start, end, record) in ranges.into_iter().rev() {
        let part = Part { start, end, record, without_boxes };
        match read_part(file, policy, parts.lines, part, 0) {
            Ok(read) => {
                without_boxes |= record == 0 && read.without_box.first() == Some(&0);
                ids.extend_from_slice(&read.image_ids);
                scores.extend_from_slice(&read.scores);
                boxes.extend_from_slice(&read.boxes);
                dropped += read.dropped;
            }
            Err(error) => {
                let (Err(ReadError::Invalid(found)), Err(ReadError::Invalid(message))) = (Err::<(), _>(error), whole)
                else {
                    panic!("a part alone is refused")
                };
                assert_eq!(found, *message);
                return;
            }
        }
    }
    let whole = whole.as_ref().expect("all parts are read");
    assert_eq!(format!("{:?}", (&ids, &scores, &boxes, dropped)), {
        format!("{:?}", (&whole.image_ids, &whole.scores, &whole.boxes, whole.dropped))
    });
}

/// Reads the masks and keypoints of records; the areas are those of the masks.
fn regions(source: &Source, array: &'static str, count: usize, masks: &Spans, keypoints: &Spans) {
    let records: Vec<i64> = (0..count as i64).collect();
    let mut spans = masks.0.clone();
    spans.resize(count, [0, 0]);
    let image_sizes: Vec<_> = (0..count).map(|row| [12.0, if row % 4 == 3 { f64::NAN } else { 9.0 }]).collect();
    let all = |rows: std::ops::Range<usize>| Segmentations {
        array,
        records: &records[rows.clone()],
        spans: &spans[rows.clone()],
        image_sizes: &image_sizes[rows],
    };
    let areas = read_mask_areas(source, all(0..count), true, 0).expect("areas, and infinity for masks that are none");
    for (row, area) in areas.into_iter().enumerate() {
        match read_masks(source, all(row..row + 1), FirstMasks::default(), 0) {
            Ok(masks) => {
                let mask = masks.view().get(0);
                assert!(mask.size.pixels() == mask.runs.iter().sum::<u32>(), "runs that cover the mask");
                assert!(area.is_nan() || area == f64::from(mask.area()), "the area of the mask");
            }
            Err(ReadError::Invalid(_)) => assert!(area.is_nan() || area == f64::INFINITY, "no mask"),
            Err(ReadError::Io(error)) => panic!("{error}"),
        }
    }
    let mut spans = keypoints.0.clone();
    spans.resize(count, [0, 0]);
    for points in [None, Some(1)] {
        let keypoints = Keypoints { array, records: &records, spans: &spans, points };
        if let Ok((values, points)) = read_keypoints(source, keypoints, 0) {
            assert_eq!(values.len(), 3 * points * count, "x, y and visibility of every point");
        }
    }
}

/// An id as the format allows it: a whole number of 64 bits, also written as a float.
fn id(value: &Value) -> Option<i64> {
    let most = 2f64.powi(53);
    value.as_i64().or_else(|| value.as_f64().filter(|id| id.fract() == 0.0 && id.abs() < most).map(|id| id as i64))
}

/// Four numbers that are a box.
fn four(value: &Value) -> Option<[f64; 4]> {
    let numbers: Option<Vec<f64>> = value.as_array()?.iter().map(Value::as_f64).collect();
    let numbers: [f64; 4] = numbers?.try_into().ok()?;
    let small = numbers.iter().all(|number| number.abs() <= 2f64.powi(53));
    (small && numbers[2] >= 0.0 && numbers[3] >= 0.0).then_some(numbers)
}

/// The detections of a file whose records have boxes alone, or why they are refused; nothing for other files.
fn check_detections(read: Option<Detections>, text: &Value) {
    let Some(records) = text.as_array() else { return };
    if records.iter().any(|record| record.get("segmentation").or(record.get("keypoints")).is_some()) {
        return;
    }
    let row = |record: &Value| {
        let number = |key| id(record.get(key)?);
        let score = record.get("score")?.as_f64()?;
        Some((number("image_id")?, number("category_id")?, four(record.get("bbox")?)?, score))
    };
    let expected: Option<Vec<_>> = records.iter().map(row).collect();
    let found = read.map(|of| {
        let rows = of.image_ids.into_iter().zip(of.category_ids).zip(of.boxes).zip(of.scores);
        rows.map(|(((image, category), corners), score)| (image, category, corners, score)).collect::<Vec<_>>()
    });
    assert_eq!(found, expected, "the detections");
}

/// The ids and boxes of a ground truth that is read.
fn check_ground_truth(read: Option<GroundTruth>, text: &Value) {
    let Some(read) = read else { return };
    let ids = |array: &str, key: &str| -> Vec<Option<i64>> {
        text[array].as_array().expect("an array").iter().map(|record| id(&record[key])).collect()
    };
    let some = |ids: &[i64]| ids.iter().copied().map(Some).collect::<Vec<_>>();
    assert_eq!(some(&read.images.ids), ids("images", "id"));
    assert_eq!(some(&read.categories.ids), ids("categories", "id"));
    assert_eq!(some(&read.annotations.image_ids), ids("annotations", "image_id"));
    assert_eq!(some(&read.annotations.category_ids), ids("annotations", "category_id"));
}
