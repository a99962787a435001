//! Matching, curves and influence, each beside its definition in plain code, over random scenes.
//!
//! Coordinates, scores and areas are small whole numbers: overlaps are exactly at a threshold, scores are equal and boxes
//! have no area as often as in the worst of data.

mod curves;
mod influence;
mod matching;
mod plain;
mod regions;

use super::regions::Boxes;
use super::{Areas, CapScope, Choice, Detections, Lists, Matches, NOWHERE, Objects, Rules, Scene, Verified, flag};
use super::{match_detections, special};

/// Random whole numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }
}

const IMAGES: usize = 3;
const CATEGORIES: usize = 3;

#[derive(Clone, Debug)]
struct Object {
    category: u32,
    image: u32,
    corners: [f64; 4],
    area: f64,
    flags: u8,
    /// The ranges that ignore it for another reason than its area.
    outside: [u8; 2],
}

#[derive(Clone, Debug)]
struct Detection {
    category: u32,
    image: u32,
    corners: [f64; 4],
    score: f64,
}

impl Detection {
    fn area(&self) -> f64 {
        self.corners[2] * self.corners[3]
    }
}

/// A scene by rows.
#[derive(Clone, Debug)]
struct Data {
    objects: Vec<Object>,
    detections: Vec<Detection>,
    /// For each image, the categories that are known to be absent, and those that may not be annotated completely; `None`
    /// if all categories are known on all images.
    verified: Option<[[Vec<u32>; IMAGES]; 2]>,
}

impl Data {
    fn random(random: &mut Random) -> Self {
        let corners = |random: &mut Random| [4, 2, 5, 3].map(|most| random.below(most) as f64);
        let strange = random.one_in(2);
        // All in one place, or spread.
        let spread = random.one_of(&[1, 1, usize::MAX]);
        let place = |random: &mut Random, count: usize| {
            if strange && random.one_in(12) { NOWHERE } else { random.below(count.min(spread)) as u32 }
        };
        let object = |random: &mut Random| {
            let corners = corners(random);
            let kinds = [0, flag::OVER_DETECTION, flag::REPEATED, flag::VOID, flag::MORE_THAN, flag::COUNTS_ONCE];
            let flags = if random.one_in(3) { random.one_of(&kinds) | random.one_of(&[0, flag::IGNORED]) } else { 0 };
            Object {
                category: place(random, CATEGORIES),
                image: place(random, IMAGES),
                corners,
                area: corners[2] * corners[3],
                flags,
                outside: if random.one_in(9) { [random.below(2) as u8, 1] } else { [0; 2] },
            }
        };
        let detection = |random: &mut Random| Detection {
            category: place(random, CATEGORIES),
            image: place(random, IMAGES),
            corners: corners(random),
            score: random.below(6) as f64 - 1.0,
        };
        let (count, detected) = (random.below(16), random.below(24));
        let list =
            |random: &mut Random| -> Vec<u32> { (0..random.below(3)).map(|_| place(random, CATEGORIES)).collect() };
        let mut data = Self {
            objects: (0..count).map(|_| object(random)).collect(),
            detections: (0..detected).map(|_| detection(random)).collect(),
            verified: random.one_in(3).then(|| [(); 2].map(|()| [(); IMAGES].map(|()| list(random)))),
        };
        if random.one_in(2) {
            data.objects.sort_by_key(|object| object.image);
            data.detections.sort_by_key(|detection| detection.image);
        }
        data
    }

    /// The match table by the rules.
    fn matches(&self, rules: Rules<'_>) -> Matches {
        let of_objects = |value: fn(&Object) -> u32| self.objects.iter().map(value).collect::<Vec<_>>();
        let of_detections = |value: fn(&Detection) -> u32| self.detections.iter().map(value).collect::<Vec<_>>();
        let (category, image) = (of_objects(|object| object.category), of_objects(|object| object.image));
        let (detected, seen_on) = (of_detections(|one| one.category), of_detections(|one| one.image));
        let area: Vec<f64> = self.objects.iter().map(|object| object.area).collect();
        let flags: Vec<u8> = self.objects.iter().map(|object| object.flags).collect();
        let bytes = rules.range_bytes();
        let outside: Vec<u8> = self.objects.iter().flat_map(|object| object.outside[..bytes].to_vec()).collect();
        let score: Vec<f64> = self.detections.iter().map(|one| one.score).collect();
        let lists = self.verified.as_ref().map(|verified| {
            verified.each_ref().map(|lists| {
                let ends = lists.iter().scan(0, |end, list| {
                    *end += list.len();
                    Some(*end)
                });
                (lists.concat(), ends.collect::<Vec<_>>())
            })
        });
        let verified = lists.as_ref().map(|lists| {
            let [negative, not_exhaustive] = lists.each_ref().map(|(category, ends)| Lists { category, ends });
            Verified { categories: CATEGORIES, negative, not_exhaustive }
        });
        let boxes: Vec<[f64; 4]> = self.objects.iter().map(|object| object.corners).collect();
        let found: Vec<[f64; 4]> = self.detections.iter().map(|one| one.corners).collect();
        let scene = Scene {
            images: IMAGES,
            objects: Objects { category: &category, image: &image, area: &area, flags: &flags, outside: &outside },
            detections: Detections {
                category: &detected,
                image: &seen_on,
                score: &score,
                area: Areas::OfBoxes(&found),
            },
            verified,
        };
        match_detections(scene, &Boxes { objects: &boxes, detections: &found }, rules)
    }

    /// Whether the category is known on the image: it has an object there, or is known to be absent.
    fn is_known(&self, rules: &Rules<'_>, category: u32, image: u32, without: Option<usize>) -> bool {
        let is_object = |(row, object): (usize, &Object)| {
            Some(row) != without
                && plain::takes_part(object, rules)
                && (object.category, object.image) == (category, image)
        };
        self.verified.as_ref().is_none_or(|[negative, _]| negative[image as usize].contains(&category))
            || self.objects.iter().enumerate().any(is_object)
    }

    /// What is special about a detection.
    fn special(&self, rules: &Rules<'_>, one: &Detection) -> u8 {
        if (rules.leaves_out_empty && one.area() <= 0.0) || !self.is_known(rules, one.category, one.image, None) {
            return special::LEFT_OUT;
        }
        let not_exhaustive =
            self.verified.as_ref().is_some_and(|[_, not]| not[one.image as usize].contains(&one.category));
        u8::from(not_exhaustive) * special::NOT_EXHAUSTIVE
    }
}

const THRESHOLDS: [f64; 10] = [0.1, 0.25, 0.3, 1.0 / 3.0, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0];
const AREAS: [[f64; 2]; 10] = [
    [0.0, 1e9],
    [0.0, 2.0],
    [2.0, 4.0],
    [3.0, 9.0],
    [0.0, 1e9],
    [1.0, 1e9],
    [9.0, 9.0],
    [0.0, 0.0],
    [2.0, 6.0],
    [4.0, 8.0],
];

/// Rules of any kind.
fn rules(random: &mut Random) -> Rules<'static> {
    let first = random.below(THRESHOLDS.len());
    let thresholds = if random.one_in(2) { &THRESHOLDS[..] } else { &THRESHOLDS[first..=first] };
    Rules {
        thresholds,
        more_than: random.one_in(3),
        areas: &AREAS[..random.one_of(&[1, 3, 10])],
        max_detections: random.one_of(&[1, 2, 3, 100]),
        cap_scope: random.one_of(&[CapScope::ImageAndCategory, CapScope::Image, CapScope::Category]),
        class_agnostic: random.one_in(3),
        choice: random.one_of(&[Choice::BestFree, Choice::BestFree, Choice::BestOfAll, Choice::BestOfAllThenGroups]),
        last_of_equal: random.one_in(2),
        leaves_out_empty: random.one_in(4),
        leaves_out_empty_objects: random.one_in(4),
        near: random.one_in(2).then(|| random.one_of(&[0.05, 0.1])),
    }
}
