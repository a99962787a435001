//! Matching of detections and objects, at all thresholds and for all area ranges at once.
//!
//! Owns: the order of the detections of an image, the cap, the groups of one image and category, what an ignored object
//! changes, and the rows of the match table. Does not own: overlaps (regions/), which candidate a detection takes
//! (choosing.rs), what counts as a flag (counting.py sends bits, scene.rs names them), curves (accumulate.rs).
//!
//! Cut here because the rules are the same for boxes, masks and keypoints, while overlaps are not. The kind of region
//! is asked once per group, and not once per pair, so matching is compiled once for all kinds.
//!
//! Thresholds are bits of a set. Thresholds that the same candidates reach have the same matches, and so have area
//! ranges that ignore the same objects: `assign` matches each such run once, and copies the bits. Runs of images go to
//! threads, and their rows are put together in order, so the number of threads changes nothing.

use std::ops::{ControlFlow, Range};

use super::choosing::{Candidate, Chooser};
use super::matches::{DetectionRows, Matches, ObjectRows, PairRows};
use super::regions::{Measurer, Overlap, Regions};
use super::rules::{CapScope, Rules, outside};
use super::scene::{ByImage, NOWHERE, Scene, flag};
use super::score::falling;
use super::together::Together;
use super::verified::{special, special_by};
use crate::ending::ask_after;
use crate::memory::Vec;
use crate::order::by_two_keys;
use crate::threads::{in_order, join};

/// Matches the detections of a scene to its objects.
pub fn match_detections(scene: Scene<'_>, regions: &dyn Regions, rules: Rules<'_>) -> Matches {
    let (objects, detections) =
        join(|| ByImage::new(scene.objects.image, scene.images), || ByImage::new(scene.detections.image, scene.images));
    let matcher = Matcher::new(scene, rules, &objects, &detections);
    // Runs of images with about the same number of detections, more of them than threads.
    let share = (scene.detections.image.len() / 64).max(1024);
    let mut runs = Vec::new();
    let (mut start, mut rows) = (0, 0);
    for image in 0..scene.images {
        rows += detections.count(image) + objects.count(image);
        if rows >= share || image + 1 == scene.images {
            runs.push(start..image + 1);
            (start, rows) = (image + 1, 0);
        }
    }
    let mut all = Matches::default();
    let produce = |scratch: &mut Scratch<'_>, run: usize| matcher.run(runs[run].clone(), scratch);
    in_order(
        runs.len(),
        || Scratch::new(regions.measurer()),
        produce,
        |mut part| {
            all.append(&mut part);
            ControlFlow::Continue(())
        },
    );
    all
}

struct Matcher<'a> {
    scene: Scene<'a>,
    rules: Rules<'a>,
    objects: &'a ByImage,
    detections: &'a ByImage,
    /// The set of all thresholds.
    full: Vec<u8>,
}

/// The detections and objects of one category on one image, or of all categories if they count as one.
#[derive(Clone, Copy)]
struct Group<'s> {
    /// Rows of the objects in the scene.
    objects: &'s [u32],
    /// The row of the first object in the table; the others follow.
    first_object: usize,
    /// Rows of the detections in the scene, best first.
    detections: &'s [u32],
    /// The row of the first detection in the table; the others follow.
    first_detection: usize,
}

impl<'a> Matcher<'a> {
    fn new(scene: Scene<'a>, rules: Rules<'a>, objects: &'a ByImage, detections: &'a ByImage) -> Self {
        let count = rules.thresholds.len();
        let full = (0..rules.bytes()).map(|byte| 0xFF >> (8 - (count - byte * 8).min(8))).collect();
        Self { scene, rules, objects, detections, full }
    }

    fn run(&self, images: Range<usize>, scratch: &mut Scratch<'_>) -> Matches {
        let mut matches = Matches::default();
        let (mut objects, mut detections) = (Vec::new(), Vec::new());
        let object_category = |row: u32| self.scene.objects.category[row as usize];
        for image in images {
            objects.clear();
            let counted = self.objects.rows(image).filter(|&row| object_category(row) != NOWHERE);
            let has_area =
                |&row: &u32| !self.rules.leaves_out_empty_objects || self.scene.objects.area[row as usize] > 0.0;
            scratch.keys.clear();
            scratch
                .keys
                .extend(counted.filter(has_area).map(|row| u128::from(object_category(row)) << 32 | u128::from(row)));
            scratch.keys.sort_unstable();
            objects.extend(scratch.keys.iter().map(|&key| key as u32));
            if let Some(verified) = self.scene.verified {
                verified.mark(image, objects.iter().map(|&row| object_category(row)), &mut scratch.marks);
            }
            let first_object = matches.objects.row.len();
            self.list_objects(image as u32, &objects, &mut matches.objects);
            self.rank(image, scratch, &mut detections);
            matches.image_detections.push(scratch.keys.len() as i64);
            let first_detection = matches.detections.row.len();
            self.list_detections(image as u32, &detections, &scratch.marks, &mut matches.detections);
            scratch.rows.clear();
            scratch.rows.extend(detections.iter().map(|&(row, _)| row));
            let rows = std::mem::take(&mut scratch.rows);
            let whole = Group { objects: &objects, first_object, detections: &rows, first_detection };
            if self.rules.class_agnostic {
                let count = detections.iter().take_while(|&&(_, rank)| self.counts(rank)).count();
                self.group(Group { detections: &rows[..count], ..whole }, scratch, &mut matches);
            } else {
                self.groups(whole, &detections, scratch, &mut matches);
            }
            if let Some(least) = self.rules.near {
                self.near(whole, least, scratch, &mut matches.near);
            }
            scratch.rows = rows;
        }
        matches
    }

    /// Whether a detection of this rank is within the cap.
    fn counts(&self, rank: u32) -> bool {
        self.rules.cap_scope == CapScope::Category || (rank as usize) < self.rules.max_detections
    }

    /// The listed detections of an image, by category and descending score, each with its rank.
    fn rank(&self, image: usize, scratch: &mut Scratch<'_>, out: &mut Vec<(u32, u32)>) {
        let columns = self.scene.detections;
        let category = |row: u32| columns.category[row as usize];
        // By category, then descending score, then position in the file, as one number (cocoeval 254). If all
        // categories count as one, detections with equal scores are still sorted by category (cocoeval 169).
        let key = |row: u32| {
            let (score, row_bits) = (u128::from(falling(columns.score[row as usize])), u128::from(row));
            if self.rules.class_agnostic {
                score << 64 | u128::from(category(row)) << 32 | row_bits
            } else {
                u128::from(category(row)) << 96 | score << 32 | row_bits
            }
        };
        let Scratch { keys, marks, .. } = scratch;
        keys.clear();
        keys.extend(self.detections.rows(image).filter(|&row| category(row) != NOWHERE).map(key));
        keys.sort_unstable();
        out.clear();
        if self.rules.cap_scope == CapScope::Image {
            // The rank among all detections of the image; among equal scores, the first in the file comes first.
            let rows = keys.iter().map(|&key| key as u32);
            let places = by_two_keys(rows.map(|row| (falling(columns.score[row as usize]), row)));
            out.resize(places.len(), (0, 0));
            for (rank, place) in (0..).zip(places) {
                out[place as usize] = (keys[place as usize] as u32, rank);
            }
        } else {
            let (mut last, mut rank) = (NOWHERE, 0);
            for &key in keys.iter() {
                let row = key as u32;
                let group = if self.rules.class_agnostic { 0 } else { category(row) };
                rank = if group == last { rank + 1 } else { 0 };
                last = group;
                out.push((row, rank));
            }
        }
        if self.rules.near.is_none() {
            out.retain(|&(_, rank)| self.counts(rank));
        } else if self.rules.class_agnostic {
            // Of equal scores, those within the cap first: the cap takes the first in the file, not in the category.
            let beyond: Vec<_> = out.iter().copied().filter(|&(_, rank)| !self.counts(rank)).collect();
            out.retain(|&(_, rank)| self.counts(rank));
            out.extend(beyond);
        }
        // Where the cap counts those of all images, the table needs every detection that takes a place.
        if self.tells_special() && self.rules.cap_scope != CapScope::Category {
            out.retain(|&(row, _)| self.special(row, marks) != special::LEFT_OUT);
        }
    }

    /// Whether there may be something special about a detection.
    fn tells_special(&self) -> bool {
        self.scene.verified.is_some() || self.rules.leaves_out_empty
    }

    /// What is special about a detection, given what is known of the categories on its image.
    fn special(&self, row: u32, marks: &[u8]) -> u8 {
        let columns = self.scene.detections;
        if self.rules.leaves_out_empty && columns.area.of(row) <= 0.0 {
            return special::LEFT_OUT;
        }
        if self.scene.verified.is_none() { 0 } else { special_by(marks[columns.category[row as usize] as usize]) }
    }

    fn list_objects(&self, image: u32, rows: &[u32], out: &mut ObjectRows) {
        let (columns, bytes) = (self.scene.objects, self.rules.range_bytes());
        out.row.extend_from_slice(rows);
        out.image.resize(out.row.len(), image);
        out.category.extend(rows.iter().map(|&row| columns.category[row as usize]));
        for &row in rows {
            let (start, always) = (out.ignored.len(), columns.has(row, flag::IGNORED));
            out.ignored.resize(start + bytes, 0);
            for (range, &limits) in self.rules.areas.iter().enumerate() {
                let ignored = always || outside(columns.area[row as usize], limits);
                out.ignored[start + range / 8] |= u8::from(ignored) << (range % 8);
            }
            if let Some(set) = columns.outside.chunks_exact(bytes).nth(row as usize) {
                out.ignored[start..].iter_mut().zip(set).for_each(|(ignored, &bits)| *ignored |= bits);
            }
        }
    }

    /// Lists detections without matches: special ones, those outside the area range, or beyond the cap, are ignored.
    fn list_detections(&self, image: u32, ranked: &[(u32, u32)], marks: &[u8], out: &mut DetectionRows) {
        let columns = self.scene.detections;
        let sets = self.rules.areas.len() * self.rules.bytes();
        out.row.extend(ranked.iter().map(|&(row, _)| row));
        out.rank.extend(ranked.iter().map(|&(_, rank)| rank));
        let rows = out.row.len();
        out.image.resize(rows, image);
        out.category.extend(ranked.iter().map(|&(row, _)| columns.category[row as usize]));
        out.score.extend(ranked.iter().map(|&(row, _)| columns.score[row as usize]));
        let tells_special = self.tells_special();
        if tells_special {
            out.special.extend(ranked.iter().map(|&(row, _)| self.special(row, marks)));
        }
        out.matched.resize(rows * sets, 0);
        out.ignored.resize(rows * sets, 0);
        let mut sets = out.ignored[(rows - ranked.len()) * sets..].iter_mut();
        for (at, &(row, rank)) in (rows - ranked.len()..).zip(ranked) {
            let area = columns.area.of(row);
            let beyond = !self.counts(rank) || (tells_special && out.special[at] != 0);
            for &limits in self.rules.areas {
                // An unmatched detection outside the area range is ignored (cocoeval 300).
                let mask = if beyond || outside(area, limits) { 0xFF } else { 0 };
                for (&full, set) in self.full.iter().zip(sets.by_ref()) {
                    *set = full & mask;
                }
            }
        }
    }

    /// Matches an image category by category.
    fn groups(&self, image: Group<'_>, ranked: &[(u32, u32)], scratch: &mut Scratch<'_>, matches: &mut Matches) {
        let of_detection = |row: u32| self.scene.detections.category[row as usize];
        let of_object = |row: u32| self.scene.objects.category[row as usize];
        let (mut start, mut first_object) = (0, 0);
        while start < image.detections.len() {
            let category = of_detection(image.detections[start]);
            let rest = &image.detections[start..];
            let same = rest.iter().take_while(|&&row| of_detection(row) == category).count();
            let within = ranked[start..start + same].iter().take_while(|&&(_, rank)| self.counts(rank)).count();
            first_object += image.objects[first_object..].partition_point(|&row| of_object(row) < category);
            let objects = &image.objects[first_object..];
            let group = Group {
                objects: &objects[..objects.partition_point(|&row| of_object(row) <= category)],
                first_object: image.first_object + first_object,
                detections: &rest[..within],
                first_detection: image.first_detection + start,
            };
            self.group(group, scratch, matches);
            start += same;
        }
    }

    /// Matches the detections of a group, best first.
    fn group(&self, group: Group<'_>, scratch: &mut Scratch<'_>, matches: &mut Matches) {
        let Scratch { measurer, overlaps, candidates, starts, pairs, .. } = scratch;
        overlaps.clear();
        let over_detection = |row| self.scene.objects.has(row, flag::OVER_DETECTION);
        let least = self.rules.least();
        measurer.overlaps(group.detections, group.objects, &over_detection, least, overlaps);
        candidates.clear();
        starts.clear();
        let tells_special = self.tells_special();
        let of_detections = &matches.detections.special;
        let left_out =
            |detection| tells_special && of_detections[group.first_detection + detection] == special::LEFT_OUT;
        for &Overlap { detection, object, value: overlap } in overlaps.iter() {
            let (detection, object) = (detection as usize, object as usize);
            let exceed = self.scene.objects.has(group.objects[object], flag::MORE_THAN);
            let level = if exceed { self.rules.level_above(overlap) } else { self.rules.level(overlap) };
            // The best object of all may be one that needs more than a threshold, which no object exceeds.
            let is_in_the_way = || exceed && self.rules.choice.takes_best_or_none() && self.rules.level(overlap) > 0;
            if (level > 0 || is_in_the_way()) && !left_out(detection) {
                starts.resize(detection + 1, candidates.len());
                candidates.push(Candidate { object, overlap, level });
            }
        }
        if candidates.is_empty() {
            return;
        }
        starts.resize(group.detections.len() + 1, candidates.len());
        let size = self.rules.areas.len() * self.rules.bytes();
        pairs.clear();
        pairs.resize(candidates.len() * size, 0);
        self.assign(group, scratch, matches);
        for (row, window) in (group.first_detection as u32..).zip(scratch.starts.windows(2)) {
            for pair in window[0]..window[1] {
                let matched = &scratch.pairs[pair * size..(pair + 1) * size];
                if matched.iter().any(|&byte| byte != 0) {
                    let Candidate { object, overlap, .. } = scratch.candidates[pair];
                    matches.pairs.push(row, (group.first_object + object) as u32, overlap);
                    matches.pair_matched.extend_from_slice(matched);
                }
            }
        }
    }

    /// Matches the candidates of a group at every threshold and for every range of areas (cocoeval 268 to 298).
    fn assign(&self, group: Group<'_>, scratch: &mut Scratch<'_>, matches: &mut Matches) {
        let (ranges, bytes, range_bytes) = (self.rules.areas.len(), self.rules.bytes(), self.rules.range_bytes());
        let Scratch {
            candidates,
            starts,
            pairs,
            ignored,
            taken,
            found_once,
            together,
            ordered,
            by_tier,
            levels,
            set,
            ..
        } = scratch;
        // Thresholds that the same candidates reach have the same matches: one of each such run is enough.
        levels.clear();
        levels.extend(candidates.iter().map(|candidate| candidate.level).filter(|&level| level > 0));
        levels.sort_unstable();
        levels.dedup();
        let count = group.objects.len();
        let of_group = &matches.objects.ignored[group.first_object * range_bytes..][..count * range_bytes];
        ignored.clear();
        for range in 0..ranges {
            let bit = |of_object: &[u8]| of_object[range / 8] >> (range % 8) & 1 == 1;
            ignored.extend(of_group.chunks(range_bytes).map(bit));
        }
        for range in 0..ranges {
            // Ranges that ignore the same objects have the same matches: only the first of them is matched.
            let of = |range: usize| &ignored[range * count..(range + 1) * count];
            if (0..range).any(|earlier| of(earlier) == of(range)) {
                continue;
            }
            let (alike, ignored) = ((range..ranges).filter(|&other| of(other) == of(range)), of(range));
            let chooser =
                Chooser { choice: self.rules.choice, last_of_equal: self.rules.last_of_equal, candidates, ignored };
            ordered.clear();
            starts.windows(2).for_each(|window| chooser.order(window[0]..window[1], ordered));
            let mut below = 0;
            for &level in levels.iter() {
                ask_after(group.detections.len() >> 6);
                set.clear();
                set.resize(bytes, 0);
                (below..level).for_each(|threshold| set[threshold / 8] |= 1 << (threshold % 8));
                below = level;
                taken.clear();
                taken.resize(count, false);
                found_once.clear();
                if self.rules.choice.chooses_as_group() {
                    together.choose(self.rules.choice, starts, candidates, level, ignored);
                    together.taken.iter().flatten().for_each(|&pair| taken[candidates[pair].object] = true);
                }
                for (detection, window) in starts.windows(2).enumerate() {
                    let row = group.first_detection + detection;
                    let pairs_of_row = &ordered[window[0]..window[1]];
                    let is_group = |object: usize| self.scene.objects.has(group.objects[object], flag::OVER_DETECTION);
                    let chosen = match together.taken.get(detection) {
                        Some(&Some(pair)) => Some(pair),
                        _ => chooser.chosen(pairs_of_row, level, taken, is_group, by_tier),
                    };
                    let Some(pair) = chosen else { continue };
                    let object = candidates[pair].object;
                    let object_row = group.objects[object];
                    let flags = self.scene.objects.flags_of(object_row);
                    taken[object] = flags & flag::REPEATED == 0;
                    let void = flags & flag::VOID != 0;
                    let mut is_ignored = ignored[object];
                    if flags & flag::COUNTS_ONCE != 0 {
                        if found_once.contains(&object) {
                            is_ignored = true;
                        } else {
                            found_once.push(object);
                        }
                    }
                    for range in alike.clone() {
                        let (at, at_pair) = ((row * ranges + range) * bytes, (pair * ranges + range) * bytes);
                        for (byte, &bits) in set.iter().enumerate() {
                            pairs[at_pair + byte] |= bits;
                            if !void {
                                matches.detections.matched[at + byte] |= bits;
                                matches.detections.ignored[at + byte] &= !bits;
                            }
                            if is_ignored {
                                matches.detections.ignored[at + byte] |= bits;
                            }
                        }
                    }
                }
            }
        }
    }

    /// Lists all pairs of an image with an overlap of at least `least`.
    fn near(&self, image: Group<'_>, least: f64, scratch: &mut Scratch<'_>, out: &mut PairRows) {
        let over_detection = |row| self.scene.objects.has(row, flag::OVER_DETECTION);
        let Scratch { measurer, overlaps, .. } = scratch;
        overlaps.clear();
        measurer.overlaps(image.detections, image.objects, &over_detection, least, overlaps);
        for &Overlap { detection, object, value } in overlaps.iter().filter(|overlap| overlap.value >= least) {
            out.push(image.first_detection as u32 + detection, image.first_object as u32 + object, value);
        }
    }
}

/// Memory for one group, kept from one group to the next.
struct Scratch<'a> {
    /// Measures groups of the kind of region.
    measurer: Box<dyn Measurer + 'a>,
    /// What it found in the last group.
    overlaps: Vec<Overlap>,
    /// Objects or detections of an image as numbers that sort.
    keys: Vec<u128>,
    /// Rows of the detections of an image.
    rows: Vec<u32>,
    /// What is known of every category on an image.
    marks: Vec<u8>,
    /// The pairs that overlap enough, detection by detection.
    candidates: Vec<Candidate>,
    /// Where the candidates of each detection start, and where those of the last detection end.
    starts: Vec<usize>,
    /// For each candidate and range, the thresholds at which it is the match.
    pairs: Vec<u8>,
    /// For each range, which objects are ignored.
    ignored: Vec<bool>,
    /// Which objects are no longer free.
    taken: Vec<bool>,
    /// Objects that count once and have been found.
    found_once: Vec<usize>,
    /// What all detections choose together, if the rules say so.
    together: Together,
    /// The candidates of each detection in the order in which they are tried.
    ordered: Vec<usize>,
    /// Those of one detection: pairs with objects, then those with groups.
    by_tier: Vec<usize>,
    /// The levels of the candidates, in ascending order, each once.
    levels: Vec<usize>,
    /// A set of thresholds.
    set: Vec<u8>,
}

impl<'a> Scratch<'a> {
    fn new(measurer: Box<dyn Measurer + 'a>) -> Self {
        Self {
            measurer,
            overlaps: Vec::new(),
            keys: Vec::new(),
            rows: Vec::new(),
            marks: Vec::new(),
            candidates: Vec::new(),
            starts: Vec::new(),
            pairs: Vec::new(),
            ignored: Vec::new(),
            taken: Vec::new(),
            found_once: Vec::new(),
            together: Together::default(),
            ordered: Vec::new(),
            by_tier: Vec::new(),
            levels: Vec::new(),
            set: Vec::new(),
        }
    }
}
