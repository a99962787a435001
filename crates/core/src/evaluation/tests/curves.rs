//! Curves beside their definition, a sum over all detections for each point.

use super::super::drawer::{Area, Drawing};
use super::super::replicates::{self, Number, Weighed, replicate};
use super::super::{Curves, Outcomes, accumulate};
use super::Random;
use crate::memory::{Vec, vec};

const RECALLS: [f64; 7] = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0];

/// Random rows of a match table, sorted as it is sorted.
pub struct Rows {
    category: Vec<u32>,
    rank: Vec<u32>,
    score: Vec<f64>,
    matched: Vec<u8>,
    ignored: Vec<u8>,
    count: Vec<u64>,
    ranges: usize,
    thresholds: usize,
}

impl Rows {
    fn random(random: &mut Random, categories: usize, ranges: usize, thresholds: usize) -> Self {
        let (rows, bytes) = (random.below(30), thresholds.div_ceil(8));
        let full = |byte: usize| (0xFF_u16 >> (8 - (thresholds - byte * 8).min(8))) as u8;
        let some = random.one_of(&[1, 3, 9]);
        let set = |random: &mut Random| {
            let all = random.one_in(some);
            let byte = |byte: usize| full(byte) & if all { 0xFF } else { random.below(256) as u8 };
            (0..bytes).map(byte).collect::<Vec<u8>>()
        };
        let sets = |random: &mut Random| (0..rows * ranges).flat_map(|_| set(random)).collect();
        Self {
            category: (0..rows).map(|_| random.below(categories) as u32).collect(),
            rank: (0..rows).map(|_| random.below(4) as u32).collect(),
            score: (0..rows).map(|_| random.below(9) as f64 - 2.0).collect(),
            matched: sets(random),
            ignored: sets(random),
            count: (0..categories * ranges).map(|_| random.one_of(&[0, 9, 40])).collect(),
            ranges,
            thresholds,
        }
    }

    fn outcomes(&self) -> Outcomes<'_> {
        let Self { category, rank, score, matched, ignored, count, ranges, thresholds } = self;
        let (ranges, thresholds) = (*ranges, *thresholds);
        Outcomes { category, rank, score, matched, ignored, object_count: count, ranges, thresholds }
    }

    fn has(&self, sets: &[u8], row: usize, range: usize, threshold: usize) -> bool {
        let bytes = self.thresholds.div_ceil(8);
        sets[(row * self.ranges + range) * bytes + threshold / 8] >> (threshold % 8) & 1 == 1
    }

    /// The points of one curve, best first: for each detection that counts, whether it is a true positive, and its score.
    fn points(&self, drawing: &Drawing, at: [usize; 4]) -> Vec<(bool, f64)> {
        let [category, range, cap, threshold] = at;
        let mut rows: Vec<usize> = (0..self.score.len()).collect();
        rows.retain(|&row| self.category[row] as usize == category);
        rows.sort_by(|&a, &b| self.score[b].total_cmp(&self.score[a]));
        let (cap, over_all) = (drawing.caps[cap] as usize, drawing.caps_over_all_images);
        let within = rows.iter().enumerate();
        let within = within.filter(|&(place, &row)| (if over_all { place } else { self.rank[row] as usize }) < cap);
        let counted = within.map(|(_, &row)| row).filter(|&row| !self.has(&self.ignored, row, range, threshold));
        counted.map(|row| (self.has(&self.matched, row, range, threshold), self.score[row])).collect()
    }

    /// The highest score of a category.
    fn best(&self, category: usize) -> f64 {
        let rows = self.score.iter().zip(&self.category).filter(|row| *row.1 as usize == category);
        rows.map(|row| *row.0).reduce(f64::max).unwrap_or(0.0)
    }
}

/// Recall and precision at each detection that counts.
fn recall_and_precision(points: &[(bool, f64)], objects: f64, epsilon: f64) -> Vec<(f64, f64)> {
    let mut found = 0.0;
    let seen = (1..).map(f64::from);
    let point = |(seen, &(hit, _)): (f64, &(bool, f64))| {
        found += f64::from(u8::from(hit));
        (found / objects, found / (seen + epsilon))
    };
    seen.zip(points).map(point).collect()
}

fn highest(points: &[(f64, f64)]) -> f64 {
    points.iter().map(|point| point.1).fold(0.0, f64::max)
}

/// The height at a recall of straight lines between points. The last of the points with this recall counts.
fn height(line: &[(f64, f64)], at: f64) -> f64 {
    let last = line.partition_point(|point| point.0 <= at) - 1;
    let (start, leaves) = line[last];
    line.get(last + 1).map_or(0.0, |&(end, arrives)| leaves + (arrives - leaves) * (at - start) / (end - start))
}

fn area(points: &[(f64, f64)], objects: f64, kind: Area) -> f64 {
    let Some(&(last, _)) = points.last() else { return 0.0 };
    if kind == Area::Steps {
        let hits = (0..points.len()).filter(|&at| points[at].0 > if at == 0 { 0.0 } else { points[at - 1].0 });
        return hits.map(|at| highest(&points[at..]) / objects).sum();
    }
    if last == 0.0 {
        return 0.0;
    }
    let mut line = vec![(0.0, 1.0)];
    line.extend((0..points.len()).map(|at| (points[at].0, highest(&points[at..]))));
    if kind == Area::Trapezoid {
        line.push((last, 0.0));
    }
    line.push((1.0, 0.0));
    let part = |pair: &[f64]| (pair[1] - pair[0]) * (height(&line, pair[0]) + height(&line, pair[1])) / 2.0;
    RECALLS.windows(2).map(part).sum()
}

fn same(found: f64, wanted: f64) -> bool {
    (found - wanted).abs() <= 1e-12 * wanted.abs()
        || found.to_bits() == wanted.to_bits()
        || (found.is_nan() && wanted.is_nan())
}

#[test]
fn curves_are_those_of_the_definition() {
    for seed in 0..400 {
        let mut random = Random(seed);
        let (categories, ranges) = (random.below(3) + 1, random.below(3) + 1);
        let thresholds = random.one_of(&[1, 3, 8, 10, 70, 130]);
        let rows = Rows::random(&mut random, categories, ranges, thresholds);
        let drawing = Drawing {
            recall_thresholds: RECALLS.into(),
            caps: random.one_of(&[&[2_u32][..], &[1, 3], &[100]]).to_vec().into(),
            caps_over_all_images: random.one_in(3),
            plain_precision: random.one_in(2),
            area: random.one_of(&[None, Some(Area::Steps), Some(Area::Trapezoid), Some(Area::SlopingTrapezoid)]),
        };
        let curves = accumulate(rows.outcomes(), &drawing);
        let [precision, scores] = curves.written_out(RECALLS.len());
        let Curves { recall, area: areas, .. } = curves;
        let epsilon = if drawing.plain_precision { 0.0 } else { f64::EPSILON };
        let mut curve = 0;
        for category in 0..categories {
            for range in 0..ranges {
                for cap in 0..drawing.caps.len() {
                    for threshold in 0..thresholds {
                        let objects = rows.count[category * ranges + range] as f64;
                        let points = rows.points(&drawing, [category, range, cap, threshold]);
                        let along = recall_and_precision(&points, objects, epsilon);
                        let none = objects == 0.0;
                        let wanted = |value: f64| if none { f64::NAN } else { value };
                        let what = format!("{seed} {category} {range} {cap} {threshold}");
                        assert!(same(recall[curve], wanted(along.last().map_or(0.0, |point| point.0))), "{what}");
                        for (at, &least) in RECALLS.iter().enumerate() {
                            let first = along.iter().position(|point| point.0 >= least);
                            let height = first.map_or(0.0, |first| highest(&along[first..]));
                            assert!(same(precision[curve * RECALLS.len() + at], wanted(height)), "{what} {least}");
                            let score =
                                if least == 0.0 { rows.best(category) } else { first.map_or(0.0, |at| points[at].1) };
                            assert!(same(scores[curve * RECALLS.len() + at], wanted(score)), "{what} {least}");
                        }
                        // More true positives than objects, which no data have, are no curve with an area.
                        if let Some(kind) = drawing.area.filter(|_| recall[curve].is_nan() || recall[curve] <= 1.0) {
                            let value = wanted(area(&along, objects, kind));
                            let found = areas[curve];
                            assert!(
                                (found - value).abs() < 1e-12 || same(found, value),
                                "{what} {kind:?} {found} {value}"
                            );
                        }
                        curve += 1;
                    }
                }
            }
        }
        assert_eq!(recall.len(), curve);
    }
}

/// The rows of a data set in which the images stand as often as they weigh.
fn written_out(rows: &Rows, image: &[u32], weights: &[u16]) -> Rows {
    let sets = rows.ranges * rows.thresholds.div_ceil(8);
    let copies: Vec<usize> =
        (0..image.len()).flat_map(|row| std::iter::repeat_n(row, usize::from(weights[image[row] as usize]))).collect();
    let sets_of = |all: &[u8]| copies.iter().flat_map(|&row| all[row * sets..][..sets].to_vec()).collect();
    Rows {
        category: copies.iter().map(|&row| rows.category[row]).collect(),
        rank: copies.iter().map(|&row| rows.rank[row]).collect(),
        score: copies.iter().map(|&row| rows.score[row]).collect(),
        matched: sets_of(&rows.matched),
        ignored: sets_of(&rows.ignored),
        count: Vec::new(),
        ..*rows
    }
}

#[test]
fn numbers_of_weighed_images_are_those_of_their_copies() {
    const IMAGES: usize = 20;
    use replicates::Reading::{LastRecall, Points, Recalls, Steps};
    for seed in 0..300 {
        let mut random = Random(seed);
        let (categories, ranges, thresholds) =
            (random.below(3) + 1, random.one_of(&[1, 3, 9]), random.one_of(&[1, 3, 10]));
        let rows = Rows::random(&mut random, categories, ranges, thresholds);
        let mut image: Vec<u32> = rows.score.iter().map(|_| random.below(IMAGES) as u32).collect();
        image.sort_unstable();
        let objects: Vec<[u32; 2]> =
            (0..random.below(40)).map(|_| [random.below(categories) as u32, random.below(IMAGES) as u32]).collect();
        let ignored: Vec<u8> = (0..objects.len() * ranges.div_ceil(8))
            .map(|_| random.below(256) as u8 & random.below(256) as u8)
            .collect();
        let (object_category, object_image): (Vec<u32>, Vec<u32>) =
            objects.iter().map(|&[one, other]| (one, other)).unzip();
        let numbers: Vec<Number> = (0..4)
            .map(|_| Number {
                reading: random.one_of(&[Recalls, Points, Steps, LastRecall]),
                range: random.below(ranges),
                cap: random.one_of(&[1, 2, 100]),
                thresholds: (0..thresholds).filter(|_| random.one_in(2)).collect(),
                of_category: (0..categories).map(|_| !random.one_in(3)).collect(),
            })
            .collect();
        // Few images stand several times in some of them, many in others.
        let sets: Vec<Vec<u16>> = (0..4)
            .map(|set| {
                (0..IMAGES)
                    .map(|_| if set % 2 == 0 && !random.one_in(12) { 1 } else { random.one_of(&[0, 0, 1, 2, 3, 9]) })
                    .collect()
            })
            .collect();
        let rules = replicates::Rules {
            recall_thresholds: &RECALLS,
            plain_precision: random.one_in(2),
            zero_where_only_detected: random.one_in(2),
        };
        let weighed = Weighed {
            outcomes: Outcomes { object_count: &vec![0; categories * ranges], ..rows.outcomes() },
            image: &image,
            object_category: &object_category,
            object_image: &object_image,
            object_ignored: &ignored,
            images: IMAGES,
        };
        let found = replicate(weighed, sets.len(), &sets.concat(), &numbers, rules, true);
        let epsilon = if rules.plain_precision { 0.0 } else { f64::EPSILON };
        for (set, weights) in sets.iter().enumerate() {
            let copies = written_out(&rows, &image, weights);
            for (column, number) in numbers.iter().enumerate() {
                let drawing = Drawing {
                    recall_thresholds: RECALLS.into(),
                    caps: vec![number.cap],
                    caps_over_all_images: false,
                    plain_precision: rules.plain_precision,
                    area: None,
                };
                // The points of each category, and whether each threshold is defined.
                let of_category = |category: usize| {
                    let bit =
                        |row: usize| ignored[row * ranges.div_ceil(8) + number.range / 8] >> (number.range % 8) & 1;
                    let counted =
                        (0..objects.len()).filter(|&row| objects[row][0] as usize == category && bit(row) == 0);
                    let count: u16 = counted.map(|row| weights[objects[row][1] as usize]).sum();
                    let mut points = Vec::new();
                    for &threshold in &number.thresholds {
                        let curve = copies.points(&drawing, [category, number.range, 0, threshold]);
                        let along = recall_and_precision(&curve, f64::from(count), epsilon);
                        let at = |&least: &f64| {
                            along
                                .iter()
                                .position(|point| point.0 >= least)
                                .map_or(0.0, |first| highest(&along[first..]))
                        };
                        let read: Vec<f64> = match number.reading {
                            Recalls => RECALLS.iter().map(at).collect(),
                            Points => vec![RECALLS.iter().map(|least| at(least) / RECALLS.len() as f64).sum()],
                            Steps => vec![area(&along, f64::from(count), Area::Steps)],
                            LastRecall => vec![along.last().map_or(0.0, |point| point.0)],
                        };
                        let only_detected = rules.zero_where_only_detected && !curve.is_empty();
                        let value = |value: f64| if count > 0 { Some(value) } else { only_detected.then_some(0.0) };
                        points.extend(read.into_iter().map(value));
                    }
                    points
                };
                let is_wanted = |category: &usize| number.of_category[*category];
                let all: Vec<Vec<Option<f64>>> = (0..categories).map(of_category).collect();
                let mean = |points: &mut dyn Iterator<Item = f64>| {
                    let points: Vec<f64> = points.collect();
                    points.iter().sum::<f64>() / points.len() as f64
                };
                let wanted = mean(
                    &mut (0..categories).filter(is_wanted).flat_map(|category| all[category].iter().copied().flatten()),
                );
                let value = found.values[set * numbers.len() + column];
                let close = |a: f64, b: f64| (a - b).abs() < 1e-12 || (a.is_nan() && b.is_nan());
                // Recalls where recall alone is read do not know of detections that only count.
                let knows = number.reading != LastRecall || !rules.zero_where_only_detected;
                assert!(!knows || close(value, wanted), "{seed} {set} {column} {value} {wanted}");
                for category in (0..categories).filter(is_wanted) {
                    let value = found.of_categories[(set * categories + category) * numbers.len() + column];
                    let wanted = mean(&mut all[category].iter().map(|point| point.unwrap_or(f64::NAN)));
                    assert!(!knows || close(value, wanted), "{seed} {set} {column} {category} {value} {wanted}");
                }
            }
        }
    }
}
