//! Leaves out every detection, object or image, one at a time.
//!
//! Owns: what changes in the group of the row that is left out, as edits of the list of true positives. Between two edits
//! the counts differ by a constant, so the highest precision of a whole block between recall thresholds comes from a
//! table, one per constant (`reading`), and only the blocks with an edit are computed. Who takes whom is `choosing`'s,
//! as in matching.

use std::ops::Range;

use super::super::rules::{CapScope, Rules};
use super::curve::{Curve, Edit, State};
use super::data::{Category, Data};
use super::group::{Change, Group};
use super::reading::{Number, Reader, Reading};
use super::{Span, Table, images};
use crate::memory::{Vec, vec};
use crate::threads::{each_with, map};

/// What is left out, one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// Every detection.
    Detections,
    /// Every object.
    Objects,
    /// Every image, with its detections and objects.
    Images,
}

/// The numbers of all categories, and what they become without each row.
#[derive(Debug, Default, PartialEq)]
pub struct Influence {
    /// For each category, the sum of the points that are defined.
    pub total: Vec<f64>,
    /// For each category, how many points are defined.
    pub defined: Vec<i64>,
    /// For each row, the number of its category without it; NaN for images, which have several.
    pub mean: Vec<f64>,
    /// For each row, by how much the sum over all categories that count changes without it.
    pub change: Vec<f64>,
    /// For each row, how many more points are defined without it.
    pub more_defined: Vec<i64>,
}

/// The matches of a table are not those that its near pairs give: the row of a detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inconsistent(pub usize);

/// Work for one thread at a time: some groups of a category, or a run of places.
enum Work {
    Groups(usize, Range<usize>),
    Places(usize, Range<usize>),
}

/// What one piece of work finds: numbers by row, and by image the number when the detection at the cap enters.
#[derive(Default)]
struct Found {
    numbers: Vec<(u32, Number)>,
    entering: Vec<(u32, Number)>,
    inconsistent: Option<Inconsistent>,
}

/// Memory of a thread.
struct Worker<'a> {
    data: &'a Data<'a>,
    category: usize,
    reader: Option<Reader<'a>>,
    /// The number of the category without an object that no detection matches.
    without_missed: Option<Number>,
    group: Group<'a>,
    /// The rows of a group, in the order in which they choose.
    rows: Vec<u32>,
    /// By threshold: the state and the object of each member, and the state of the detection that enters.
    states: Vec<Vec<State>>,
    objects: Vec<Vec<Option<usize>>>,
    entering: Vec<State>,
    edits: Vec<Vec<Edit>>,
}

/// What every detection, object or image adds to a number.
///
/// Args: the table; the rules of matching; how curves are read; the positions of the thresholds that the number is
/// about; which categories it is about; what is left out.
///
/// # Errors
///
/// If a match of the table is not the one that its near pairs give.
pub fn influence(
    table: Table<'_>,
    rules: Rules<'_>,
    reading: Reading<'_>,
    thresholds: &[usize],
    counted: &[bool],
    left_out: LeftOut,
) -> Result<Influence, Inconsistent> {
    let data = Data::new(table, rules, reading, thresholds);
    let numbers = map(data.categories.iter(), 0, |category| Reader::new(reading, &category.curves).number());
    let rows = match left_out {
        LeftOut::Detections => table.image.len(),
        LeftOut::Objects => table.object_image.len(),
        LeftOut::Images => table.images,
    };
    let mut result = Influence {
        total: numbers.iter().map(|number| number.total).collect(),
        defined: numbers.iter().map(|number| i64::from(number.defined)).collect(),
        mean: vec![f64::NAN; rows],
        change: vec![0.0; rows],
        more_defined: vec![0; rows],
    };
    let mut add = |row: usize, category: usize, after: &Number| {
        if counted[category] {
            let before = &numbers[category];
            result.change[row] += after.total - before.total;
            result.more_defined[row] += i64::from(after.defined) - i64::from(before.defined);
        }
    };
    if left_out == LeftOut::Images {
        for (category, found) in images::without_images(&data).into_iter().enumerate() {
            found.iter().for_each(|(image, number)| add(*image as usize, category, number));
        }
        return Ok(result);
    }
    let groups = shares(&data, |category| category.spans.len(), 256, Work::Groups);
    let found = run(&data, groups, left_out, &[]);
    if let Some(inconsistent) = found.iter().filter_map(|(_, found)| found.inconsistent).min_by_key(|at| at.0) {
        return Err(inconsistent);
    }
    let mut done = vec![false; rows];
    let mut entering = vec![None; if data.shares_cap() { table.images } else { 0 }];
    let mut scatter = |found: Vec<(usize, Found)>, done: &mut [bool]| {
        for (category, found) in found {
            for (row, number) in found.numbers {
                done[row as usize] = true;
                result.mean[row as usize] = number.mean;
                add(row as usize, category, &number);
            }
            found.entering.into_iter().for_each(|(image, number)| entering[image as usize] = Some((category, number)));
        }
    };
    scatter(found, &mut done);
    if left_out == LeftOut::Detections {
        let places = shares(&data, |category| category.order.len(), 16_384, Work::Places);
        let found = run(&data, places, left_out, &done);
        scatter(found, &mut done);
        for row in 0..if data.shares_cap() { rows } else { 0 } {
            if let Some((category, number)) = &entering[table.image[row] as usize]
                && table.rank[row] < table.cap
                && table.category[row] as usize != *category
            {
                add(row, *category, number);
            }
        }
    }
    Ok(result)
}

/// Pieces of work of all categories, the largest categories first.
fn shares(
    data: &Data<'_>,
    count: impl Fn(&Category) -> usize,
    most: usize,
    make: impl Fn(usize, Range<usize>) -> Work,
) -> Vec<Work> {
    let mut work = Vec::new();
    for (number, category) in data.categories.iter().enumerate() {
        let count = count(category);
        work.extend((0..count).step_by(most).map(|start| make(number, start..count.min(start + most))));
    }
    work
}

/// Does all work: what each piece finds, with its category.
fn run(data: &Data<'_>, work: Vec<Work>, left_out: LeftOut, done: &[bool]) -> Vec<(usize, Found)> {
    let mut all: Vec<(usize, Found)> = Vec::new();
    all.resize_with(work.len(), Default::default);
    each_with(
        all.iter_mut().zip(work),
        0,
        || Worker::new(data),
        |worker, (out, work)| match work {
            Work::Groups(category, spans) => {
                worker.enter(category);
                *out = (category, worker.groups(&data.categories[category].spans[spans], left_out));
            }
            Work::Places(category, places) => {
                worker.enter(category);
                *out = (category, worker.places(places, done));
            }
        },
    );
    all
}

impl<'a> Worker<'a> {
    fn new(data: &'a Data<'a>) -> Self {
        let count = data.thresholds.len();
        Self {
            data,
            category: usize::MAX,
            reader: None,
            without_missed: None,
            group: Group::new(&data.table, &data.rules),
            rows: Vec::new(),
            states: vec![Vec::new(); count],
            objects: vec![Vec::new(); count],
            entering: vec![State::Out; count],
            edits: vec![Vec::new(); count],
        }
    }

    fn enter(&mut self, category: usize) {
        if self.category != category {
            self.category = category;
            self.without_missed = None;
            self.reader = Some(Reader::new(self.data.reading, &self.data.categories[category].curves));
        }
    }

    /// The number of the category after the edits.
    fn number(&mut self, less: u64) -> Number {
        self.edits.iter_mut().for_each(|edits| edits.sort_unstable_by_key(|edit| edit.place));
        self.reader.as_mut().map_or_else(Number::default, |reader| reader.after(&self.edits, less))
    }

    fn clear_edits(&mut self) {
        self.edits.iter_mut().for_each(Vec::clear);
    }

    fn edit(&mut self, at: usize, row: u32, before: State, after: State) {
        if before != after {
            self.edits[at].push(Edit { place: self.data.places[row as usize], before, after });
        }
    }

    fn groups(&mut self, spans: &[Span], left_out: LeftOut) -> Found {
        let mut found = Found::default();
        for span in spans {
            if let Err(inconsistent) = self.load(span) {
                found.inconsistent = Some(inconsistent);
                return found;
            }
            if left_out == LeftOut::Detections {
                self.detections(span, &mut found);
            } else {
                self.without_objects(span, &mut found);
            }
        }
        found
    }

    /// Takes a group and matches it as it is, which must give the matches of the table.
    fn load(&mut self, span: &Span) -> Result<(), Inconsistent> {
        let data = self.data;
        self.rows.clear();
        self.rows.extend(span.detections.clone().map(|row| row as u32));
        if data.rules.class_agnostic {
            self.rows.sort_unstable_by_key(|&row| data.sequence[row as usize]);
        }
        self.group.load(span, &self.rows);
        for (at, &threshold) in data.thresholds.iter().enumerate() {
            self.group.match_again(threshold, Change::default());
            self.states[at].clone_from(&self.group.states);
            self.objects[at].clone_from(&self.group.objects);
            let mut members = self.group.members.iter().zip(&self.group.states).peekable();
            for &row in &self.rows {
                let state = members.next_if(|member| *member.0 == row).map(|member| *member.1);
                let state = state.unwrap_or_else(|| data.table.unmatched(row));
                if data.table.is_matched(row, &data.rules) && state != data.table.state(row, threshold, &data.rules) {
                    return Err(Inconsistent(row as usize));
                }
            }
        }
        Ok(())
    }

    /// The numbers without each detection of a group, except those that [`Self::places`] finds.
    fn detections(&mut self, span: &Span, found: &mut Found) {
        let data = self.data;
        let by_place = data.rules.cap_scope == CapScope::Category;
        let mut entrants = data.entrants.of(span, &data.table, &data.rules);
        if by_place {
            entrants[0] = data.categories[self.category].order.get(data.table.cap as usize).copied();
        }
        let of_category = entrants.map(|row| row.filter(|&row| data.category_of(row) == self.category));
        let [curve_entrant, match_entrant] = of_category;
        // Among equal scores, the one that enters may choose before others.
        let disturbs = match_entrant.is_some_and(|entrant| {
            let place = data.sequence[entrant as usize];
            let later = |&row: &u32| data.sequence[row as usize] > place && data.table.is_matched(row, &data.rules);
            self.rows.iter().any(later)
        });
        if let Some(entrant) = curve_entrant {
            self.find_entering(entrant, match_entrant);
            if data.shares_cap() {
                self.clear_edits();
                (0..self.entering.len()).for_each(|at| self.edit(at, entrant, State::Out, self.entering[at]));
                found.entering.push((span.image, self.number(0)));
            }
        }
        let rows = std::mem::take(&mut self.rows);
        let mut next_member = 0;
        for &row in &rows {
            let member = (self.group.members.get(next_member) == Some(&row)).then_some(next_member);
            next_member += usize::from(member.is_some());
            let counts = data.is_counted(row);
            if !data.table.is_matched(row, &data.rules) || (!counts && !disturbs && !data.ranks_differ()) {
                continue; // others are not affected
            }
            let takes = |objects: &Vec<Option<usize>>| {
                member.and_then(|member| objects[member]).is_some_and(|object| self.group.is_exclusive(object))
            };
            let takes: Vec<bool> = self.objects.iter().map(takes).collect();
            let enters = curve_entrant.is_some() && !by_place;
            if !takes.contains(&true) && !enters && !disturbs {
                continue;
            }
            self.without_detection(row, &takes, disturbs, of_category);
            found.numbers.push((row, self.number(0)));
        }
        self.rows = rows;
    }

    /// The state of the detection that enters the curve, at each threshold.
    fn find_entering(&mut self, entrant: u32, match_entrant: Option<u32>) {
        let data = self.data;
        let member = self.group.members.iter().position(|&row| row == entrant);
        for (at, &threshold) in data.thresholds.iter().enumerate() {
            self.entering[at] = if match_entrant != Some(entrant) {
                data.table.state(entrant, threshold, &data.rules)
            } else if let Some(member) = member {
                self.group.match_again(threshold, Change { entrant: match_entrant, ..Change::default() });
                self.group.states[member]
            } else {
                data.table.unmatched(entrant)
            };
        }
    }

    /// The edits of a category without one of its detections.
    ///
    /// Args: the row; by threshold, whether it takes an object from others; whether the one that enters may change the
    /// matches of others; the ones that enter the curve and matching.
    fn without_detection(&mut self, row: u32, takes: &[bool], disturbs: bool, entrants: [Option<u32>; 2]) {
        let data = self.data;
        let counts = data.is_counted(row);
        let [curve_entrant, match_entrant] = [entrants[0].filter(|_| counts), entrants[1]];
        self.clear_edits();
        let mut matched_at = None;
        for (at, &threshold) in data.thresholds.iter().enumerate() {
            if counts {
                self.edit(at, row, data.table.state(row, threshold, &data.rules), State::Out);
            }
            let mut enters = curve_entrant;
            if takes[at] || disturbs {
                let is_like_before =
                    threshold > 0 && matched_at == Some(threshold - 1) && self.group.is_like_before(threshold);
                if !is_like_before {
                    let change = Change { detection: Some(row), entrant: match_entrant, ..Change::default() };
                    self.group.match_again(threshold, change);
                }
                matched_at = Some(threshold);
                for member in 0..self.group.members.len() {
                    let other = self.group.members[member];
                    let after = self.group.states[member];
                    if other == row {
                        continue;
                    }
                    if enters == Some(other) {
                        enters = None;
                        self.edit(at, other, State::Out, after);
                    } else if data.is_counted(other) {
                        self.edit(at, other, self.states[at][member], after);
                    }
                }
            }
            if let Some(entrant) = enters {
                self.edit(at, entrant, State::Out, self.entering[at]);
            }
        }
    }

    /// The numbers without each object of a group.
    fn without_objects(&mut self, span: &Span, found: &mut Found) {
        let data = self.data;
        for object in span.objects.clone() {
            let unverified = data.table.unverified.get(object).is_some_and(|&is| is);
            let category = unverified.then(|| data.table.object_category[object]);
            let position = object - span.objects.start;
            let is_tried = data.rules.choice.takes_best_or_none() && self.group.is_candidate(object);
            self.clear_edits();
            for (at, &threshold) in data.thresholds.iter().enumerate() {
                if !unverified && !is_tried && !self.objects[at].contains(&Some(position)) {
                    continue;
                }
                let change = Change { object: Some(object as u32), category, ..Change::default() };
                self.group.match_again(threshold, change);
                for member in 0..self.group.members.len() {
                    let row = self.group.members[member];
                    if data.is_counted(row) {
                        self.edit(at, row, self.states[at][member], self.group.states[member]);
                    }
                }
                if unverified {
                    self.leave_out_category(at, data.table.object_category[object]);
                }
            }
            let less = u64::from(!data.table.object_ignored[object]);
            let changes_match = self.edits.iter().any(|edits| !edits.is_empty());
            let known = self.without_missed.filter(|_| less == 1 && !changes_match);
            let number = known.unwrap_or_else(|| self.number(less));
            if less == 1 && !changes_match {
                self.without_missed = Some(number);
            }
            found.numbers.push((object as u32, number));
        }
    }

    /// The edits without the detections of a category on the image that have no candidates.
    fn leave_out_category(&mut self, at: usize, category: u32) {
        let (data, rows) = (self.data, std::mem::take(&mut self.rows));
        for &row in &rows {
            if data.table.category[row as usize] == category
                && data.is_counted(row)
                && !self.group.members.contains(&row)
            {
                self.edit(at, row, data.table.state(row, data.thresholds[at], &data.rules), State::Out);
            }
        }
        self.rows = rows;
    }

    /// The numbers without the detections at some places, whose removal changes no match.
    fn places(&mut self, places: Range<usize>, done: &[bool]) -> Found {
        let (data, category) = (self.data, self.category);
        let Category { order, curves, .. } = &data.categories[category];
        let by_place = data.rules.cap_scope == CapScope::Category;
        let entrant = order.get(data.table.cap as usize).copied().filter(|_| by_place);
        let unchanged = self.reader.as_ref().map_or_else(Number::default, Reader::number);
        let first = |curve: &Curve| curve.found_before(places.start as u32);
        let mut passed: Vec<usize> = curves.curves.iter().map(first).collect();
        // The number without a false positive at all thresholds, which stays until a true positive is passed.
        let mut last: Option<Number> = None;
        let mut found = Found::default();
        for place in places {
            for (curve, passed) in curves.curves.iter().zip(&mut passed) {
                if curve.place(*passed).is_some_and(|next| next < place as u32) {
                    *passed += 1;
                    last = None;
                }
            }
            let row = order[place];
            if done[row as usize] {
                continue;
            }
            if !data.is_counted(row) {
                found.numbers.push((row, unchanged));
                continue;
            }
            self.clear_edits();
            let mut is_false = true;
            for (at, &threshold) in data.thresholds.iter().enumerate() {
                let state = data.table.state(row, threshold, &data.rules);
                is_false &= state == State::FalsePositive;
                self.edit(at, row, state, State::Out);
                if let Some(entrant) = entrant {
                    self.edit(at, entrant, State::Out, data.table.state(entrant, threshold, &data.rules));
                }
            }
            let number = last.filter(|_| is_false).unwrap_or_else(|| self.number(0));
            last = if is_false { Some(number) } else { last };
            found.numbers.push((row, number));
        }
        found
    }
}
