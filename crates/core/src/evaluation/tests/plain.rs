//! The rules of matching, in the order in which one would say them.

use super::super::{CapScope, Choice, NOWHERE, Rules, flag, special};
use super::{Data, Object};

/// Whether an object is evaluated.
pub fn takes_part(object: &Object, rules: &Rules<'_>) -> bool {
    object.image != NOWHERE && object.category != NOWHERE && (object.area > 0.0 || !rules.leaves_out_empty_objects)
}

/// A detection in the table.
pub struct Listed {
    pub row: usize,
    /// Its place within the scope of the cap.
    pub rank: usize,
    /// Whether it is within the cap.
    pub counts: bool,
    pub special: u8,
}

/// The rows of the objects in the table.
pub fn listed_objects(data: &Data, rules: &Rules<'_>) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..data.objects.len()).filter(|&row| takes_part(&data.objects[row], rules)).collect();
    rows.sort_by_key(|&row| (data.objects[row].image, data.objects[row].category));
    rows
}

/// The detections in the table, in its order.
pub fn listed_detections(data: &Data, rules: &Rules<'_>) -> Vec<Listed> {
    let one = |row: usize| &data.detections[row];
    let mut rows: Vec<usize> = (0..data.detections.len()).collect();
    rows.retain(|&row| one(row).image != NOWHERE && one(row).category != NOWHERE);
    let best_first = |rows: &mut Vec<usize>| rows.sort_by(|&a, &b| one(b).score.total_cmp(&one(a).score));
    if rules.class_agnostic {
        rows.sort_by_key(|&row| one(row).category);
    }
    best_first(&mut rows);
    let mut by_score: Vec<usize> = rows.clone();
    if rules.cap_scope == CapScope::Image {
        by_score.sort_unstable();
        best_first(&mut by_score);
    }
    let same_scope = |a: usize, b: usize| {
        let all_categories = rules.class_agnostic || rules.cap_scope == CapScope::Image;
        one(a).image == one(b).image && (all_categories || one(a).category == one(b).category)
    };
    let mut listed: Vec<Listed> = rows
        .into_iter()
        .map(|row| {
            let rank =
                by_score.iter().take_while(|&&other| other != row).filter(|&&other| same_scope(other, row)).count();
            let counts = rules.cap_scope == CapScope::Category || rank < rules.max_detections;
            Listed { row, rank, counts, special: data.special(rules, one(row)) }
        })
        .filter(|listed| listed.counts || rules.near.is_some())
        .filter(|listed| rules.cap_scope == CapScope::Category || listed.special != special::LEFT_OUT)
        .collect();
    listed.sort_by_key(|listed| {
        let agnostic = rules.class_agnostic;
        (one(listed.row).image, if agnostic { u32::from(!listed.counts) } else { one(listed.row).category })
    });
    listed
}

/// The overlap of a detection and an object.
pub fn overlap(data: &Data, detection: usize, object: usize) -> f64 {
    let ([x1, y1, w1, h1], object) = (data.detections[detection].corners, &data.objects[object]);
    let [x2, y2, w2, h2] = object.corners;
    let width = ((x1 + w1).min(x2 + w2) - x1.max(x2)).max(0.0);
    let height = ((y1 + h1).min(y2 + h2) - y1.max(y2)).max(0.0);
    let common = width * height;
    let crowd = object.flags & flag::OVER_DETECTION != 0;
    if common == 0.0 { 0.0 } else { common / if crowd { w1 * h1 } else { w1 * h1 + w2 * h2 - common } }
}

/// Whether an area lies outside of a range, whose ends belong to it.
pub fn outside(area: f64, [low, high]: [f64; 2]) -> bool {
    !(low..=high).contains(&area)
}

/// Whether a range ignores an object.
pub fn is_ignored(object: &Object, rules: &Rules<'_>, range: usize) -> bool {
    object.flags & flag::IGNORED != 0
        || outside(object.area, rules.areas[range])
        || object.outside[range / 8] >> (range % 8) & 1 == 1
}

/// What becomes of a detection at one threshold in one range.
#[derive(Clone, Copy, Default)]
pub struct Outcome {
    /// The row of the object that it matches.
    pub object: Option<usize>,
    pub matched: bool,
    pub ignored: bool,
}

/// Matches all listed detections at one threshold in one range.
pub fn outcomes(data: &Data, rules: &Rules<'_>, listed: &[Listed], threshold: f64, range: usize) -> Vec<Outcome> {
    let objects = listed_objects(data, rules);
    let (mut taken, mut found_once) = (Vec::new(), Vec::new());
    let mut all = Vec::new();
    for one in listed {
        let detection = &data.detections[one.row];
        let mut outcome = Outcome {
            ignored: !one.counts || one.special != 0 || outside(detection.area(), rules.areas[range]),
            ..Outcome::default()
        };
        let same_group = |&row: &usize| {
            let object = &data.objects[row];
            object.image == detection.image && (rules.class_agnostic || object.category == detection.category)
        };
        let ignores = |row: usize| is_ignored(&data.objects[row], rules, range);
        let reaches = |row: usize| {
            let (value, more_than) = (overlap(data, one.row, row), data.objects[row].flags & flag::MORE_THAN != 0);
            if rules.more_than || more_than { value > threshold } else { value >= threshold.min(1.0 - 1e-10) }
        };
        let best = |rows: &mut dyn Iterator<Item = usize>| {
            rows.reduce(|best, next| {
                let (high, other) = (overlap(data, one.row, best), overlap(data, one.row, next));
                if other > high || (rules.last_of_equal && other == high) { next } else { best }
            })
        };
        let near = || objects.iter().copied().filter(same_group).filter(|&row| overlap(data, one.row, row) > 0.0);
        let of_all = |group: Option<bool>| {
            let is_wanted =
                |&row: &usize| group.is_none_or(|group| (data.objects[row].flags & flag::OVER_DETECTION != 0) == group);
            best(&mut near().filter(is_wanted)).filter(|&row| reaches(row) && (ignores(row) || !taken.contains(&row)))
        };
        let free = |ignored: bool| {
            best(&mut near().filter(|&row| ignores(row) == ignored && reaches(row) && !taken.contains(&row)))
        };
        if one.counts && one.special != special::LEFT_OUT {
            outcome.object = match rules.choice {
                Choice::BestFree => free(false).or_else(|| free(true)),
                Choice::Together | Choice::BestPairsFirst | Choice::InOrder => {
                    unreachable!("no order of detections decides: tests/evaluation/test_unranked.py")
                }
                Choice::BestOfAll => of_all(None),
                Choice::BestOfAllThenGroups => of_all(Some(false)).or_else(|| of_all(Some(true))),
            };
        }
        if let Some(row) = outcome.object {
            let flags = data.objects[row].flags;
            if flags & flag::REPEATED == 0 {
                taken.push(row);
            } else {
                taken.retain(|&other| other != row);
            }
            let found_before = flags & flag::COUNTS_ONCE != 0 && found_once.contains(&row);
            found_once.push(row);
            outcome.matched = flags & flag::VOID == 0;
            outcome.ignored = ignores(row) || found_before || (outcome.ignored && !outcome.matched);
        }
        all.push(outcome);
    }
    all
}
