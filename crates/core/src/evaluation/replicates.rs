//! The numbers of data sets in which images stand several times, or not at all. Python draws which
//! (`statistics/resampling.py`).
//!
//! The detections are sorted once. Then each data set costs one pass over the detections that count, and each number
//! has the bits that [`super::accumulate`] and NumPy's mean give for the data set with its copies written out.
//!
//! Copies of a true positive follow one another, so the last copy has the highest precision, and only that one is
//! computed. Where few images have another weight than 1, only the curves of their categories are drawn again: leaving
//! out each image in turn is cheap.
//!
//! The values of one area range and cap are those of all categories: 100 MB for 13,000 of them. So the ranges and caps
//! come one after another, for all data sets, and each thread has the memory of one.

mod curves;
#[cfg(test)]
mod tests;

use super::accumulate::Outcomes;
use super::by_category::rows_by_category;
use super::steps::pairwise_sum;
use crate::memory::{Vec, copied, vec};
use crate::threads::{each, each_with, map};
use curves::{Curves, Work};

/// A match table, as far as it is weighed.
#[derive(Clone, Copy)]
pub struct Weighed<'a> {
    /// The detections.
    pub outcomes: Outcomes<'a>,
    /// The image of each detection.
    pub image: &'a [u32],
    /// The category of each object.
    pub object_category: &'a [u32],
    /// The image of each object.
    pub object_image: &'a [u32],
    /// The area ranges that ignore each object, as bits.
    pub object_ignored: &'a [u8],
    /// How many images there are.
    pub images: usize,
}

/// What is read from each curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reading {
    /// The highest precision at each recall threshold or a higher recall.
    Recalls,
    /// The mean of these, each divided by their number before they are added one by one (PASCAL VOC 2007).
    Points,
    /// The area under the steps of these (PASCAL VOC since 2010).
    Steps,
    /// The recall after the last detection.
    LastRecall,
}

/// One number: the mean of what is read from the curves of a range and cap, at some thresholds.
pub struct Number {
    /// What is read.
    pub reading: Reading,
    /// The position of the area range.
    pub range: usize,
    /// Detections with a lower rank count.
    pub cap: u32,
    /// The positions of the thresholds, in ascending order.
    pub thresholds: Vec<usize>,
    /// For each category, whether the mean is over it.
    pub of_category: Vec<bool>,
}

/// How curves are read, for all numbers.
#[derive(Clone, Copy)]
pub struct Rules<'a> {
    /// The recalls at which precision is read, in ascending order.
    pub recall_thresholds: &'a [f64],
    /// Whether precision is `tp / (tp + fp)`, instead of `tp / (tp + fp + 2**-52)`.
    pub plain_precision: bool,
    /// Whether a category without objects is 0 where it has a detection that counts, instead of undefined.
    pub zero_where_only_detected: bool,
}

/// The numbers of each data set.
pub struct Replicates {
    /// For each data set and number, the mean over the categories; NaN if it is over nothing.
    pub values: Vec<f64>,
    /// For each data set, category and number, the mean of the category alone; empty if it is not wanted.
    pub of_categories: Vec<f64>,
}

/// The numbers of `count` data sets, given for each of them how often each image stands in it.
pub fn replicate(
    weighed: Weighed<'_>,
    count: usize,
    weights: &[u16],
    numbers: &[Number],
    rules: Rules<'_>,
    of_categories: bool,
) -> Replicates {
    let categories = weighed.outcomes.object_count.len().checked_div(weighed.outcomes.ranges).unwrap_or(0);
    let mut found = Replicates {
        values: vec![f64::NAN; count * numbers.len()],
        of_categories: vec![f64::NAN; if of_categories { count * categories * numbers.len() } else { 0 }],
    };
    if numbers.is_empty() || weights.is_empty() || categories == 0 {
        return found;
    }
    let mut plan = Plan::new(weighed, numbers, rules, categories);
    let sets: Vec<&[u16]> = weights.chunks(weighed.images).collect();
    let changed: Vec<Option<Vec<usize>>> = map(sets.iter(), 0, |weights| plan.changed_categories(weights));
    let per_category = found.of_categories.len() / count;
    for at in 0..plan.layouts.len() {
        plan.draw(weighed, at);
        let mut usual = None;
        if changed.iter().any(Option::is_some) {
            let mut scratch = Scratch::new(&plan, at);
            plan.fill_all(at, &vec![1; weighed.images], &mut scratch);
            usual = Some(scratch.sheet);
        }
        let mut parts: Vec<&mut [f64]> = found.of_categories.chunks_mut(per_category.max(1)).collect();
        parts.resize_with(count, Default::default);
        let out = found.values.chunks_mut(numbers.len()).zip(parts);
        each_with(
            sets.iter().zip(&changed).zip(out),
            0,
            || Scratch::new(&plan, at),
            |scratch, ((weights, changed), (values, of_categories))| {
                if let (Some(usual), Some(changed)) = (&usual, changed) {
                    plan.weigh_changed(at, weights, (usual, changed), scratch, values, of_categories);
                } else {
                    scratch.usual = false;
                    plan.fill_all(at, weights, scratch);
                    plan.read(at, scratch, values, of_categories);
                }
            },
        );
    }
    found
}

/// What stays the same for all data sets.
struct Plan<'a> {
    rules: Rules<'a>,
    numbers: &'a [Number],
    /// For each number, its sheet and the rows of its thresholds there.
    places: Vec<(usize, Vec<usize>)>,
    layouts: Vec<Layout>,
    categories: Vec<Category>,
    /// For each image, the categories that have a detection or an object there.
    on_image: Vec<Vec<u32>>,
}

/// The values of one reading in one range with one cap: for each threshold and point, one value per category.
struct Layout {
    reading: Reading,
    range: usize,
    cap: u32,
    thresholds: Vec<usize>,
    /// How many values are read from a curve, besides the last recall.
    points: usize,
}

impl Layout {
    fn new(number: &Number, recalls: usize) -> Self {
        let points = match number.reading {
            Reading::Recalls => recalls,
            Reading::Points | Reading::Steps => 1,
            Reading::LastRecall => 0,
        };
        Self { reading: number.reading, range: number.range, cap: number.cap, thresholds: Vec::new(), points }
    }

    /// Whether a number can be read from it.
    fn has(&self, number: &Number) -> bool {
        (self.range, self.cap) == (number.range, number.cap)
            && (number.reading == self.reading || number.reading == Reading::LastRecall)
    }
}

/// The rows of one category.
struct Category {
    /// For each area range, the image of each object that counts.
    objects: Vec<Vec<u32>>,
    /// The keys of its detections, best first.
    rows: Vec<u128>,
    /// The curves of the layout that is drawn.
    curves: Option<Curves>,
}

/// The values of one layout, for one data set.
#[derive(Clone)]
struct Sheet {
    /// For each threshold, point and category.
    values: Vec<f64>,
    /// For each threshold and category, the recall after the last detection.
    recalls: Vec<f64>,
    /// For each threshold and category, whether it is defined.
    defined: Vec<bool>,
}

/// Memory of one thread.
struct Scratch {
    sheet: Sheet,
    /// Whether the sheet is that of the data set in which each image stands once.
    usual: bool,
    work: Work,
    flat: Vec<f64>,
}

impl<'a> Plan<'a> {
    fn new(weighed: Weighed<'_>, numbers: &'a [Number], rules: Rules<'a>, categories: usize) -> Self {
        // Recalls are known wherever precision is read: a layout of their own is only for other ranges and caps.
        let mut layouts: Vec<Layout> = Vec::new();
        let mut in_order: Vec<&Number> = numbers.iter().collect();
        in_order.sort_by_key(|number| number.reading == Reading::LastRecall);
        for number in in_order {
            let at = layouts.iter().position(|layout| layout.has(number)).unwrap_or_else(|| {
                layouts.push(Layout::new(number, rules.recall_thresholds.len()));
                layouts.len() - 1
            });
            let thresholds = &mut layouts[at].thresholds;
            thresholds.extend(&number.thresholds);
            thresholds.sort_unstable();
            thresholds.dedup();
        }
        let place = |number: &Number| {
            let at = layouts.iter().position(|layout| layout.has(number)).expect("every number has a layout");
            let known = &layouts[at].thresholds;
            (at, number.thresholds.iter().map(|each| known.partition_point(|other| other < each)).collect())
        };
        let places = numbers.iter().map(place).collect();
        let mut of_categories: Vec<Category> = (0..categories)
            .map(|_| Category { objects: vec![Vec::new(); weighed.outcomes.ranges], rows: Vec::new(), curves: None })
            .collect();
        let range_bytes = weighed.outcomes.ranges.div_ceil(8);
        for (row, (&category, &image)) in weighed.object_category.iter().zip(weighed.object_image).enumerate() {
            for range in 0..weighed.outcomes.ranges {
                if weighed.object_ignored[row * range_bytes + range / 8] >> (range % 8) & 1 == 0 {
                    of_categories[category as usize].objects[range].push(image);
                }
            }
        }
        let Outcomes { category, score, rank, .. } = weighed.outcomes;
        let mut rows = rows_by_category(category, score, rank, categories);
        each_with(
            of_categories.iter_mut().zip(rows.of_categories()),
            0,
            || (),
            |(), (category, rows)| {
                rows.sort_unstable();
                category.rows = copied(rows);
            },
        );
        let mut on_image = vec![Vec::new(); weighed.images];
        let detections = weighed.image.iter().zip(weighed.outcomes.category);
        for (&image, &category) in detections.chain(weighed.object_image.iter().zip(weighed.object_category)) {
            on_image[image as usize].push(category);
        }
        for listed in &mut on_image {
            listed.sort_unstable();
            listed.dedup();
        }
        Self { rules, numbers, places, layouts, categories: of_categories, on_image }
    }

    /// Draws the curves of a layout, in the place of those of the one before.
    fn draw(&mut self, weighed: Weighed<'_>, at: usize) {
        let layout = &self.layouts[at];
        each(self.categories.iter_mut(), 0, |category| {
            category.curves = Some(Curves::new(weighed, layout, &category.rows));
        });
    }

    /// The categories of the images whose weight is not 1, if these are few.
    fn changed_categories(&self, weights: &[u16]) -> Option<Vec<usize>> {
        let most = weights.len() / 8;
        let others = || (0..).zip(weights).filter(|&(_, &weight)| weight != 1).map(|(image, _): (usize, _)| image);
        if others().take(most + 1).count() > most {
            return None;
        }
        let mut changed: Vec<usize> =
            others().flat_map(|image| &self.on_image[image]).map(|&each| each as usize).collect();
        changed.sort_unstable();
        changed.dedup();
        Some(changed)
    }

    /// The numbers of a data set whose curves are those of the data set in which each image stands once, but for those
    /// of the changed categories.
    fn weigh_changed(
        &self,
        at: usize,
        weights: &[u16],
        (usual, changed): (&Sheet, &[usize]),
        scratch: &mut Scratch,
        values: &mut [f64],
        of_categories: &mut [f64],
    ) {
        if !scratch.usual {
            scratch.sheet.clone_from(usual);
            scratch.usual = true;
        }
        changed.iter().for_each(|&category| self.fill(at, category, weights, &mut scratch.sheet, &mut scratch.work));
        self.read(at, scratch, values, of_categories);
        let (categories, sheet) = (self.categories.len(), &mut scratch.sheet);
        for &category in changed {
            for at in (category..sheet.values.len()).step_by(categories) {
                sheet.values[at] = usual.values[at];
            }
            for at in (category..sheet.defined.len()).step_by(categories) {
                (sheet.defined[at], sheet.recalls[at]) = (usual.defined[at], usual.recalls[at]);
            }
        }
    }

    fn fill_all(&self, at: usize, weights: &[u16], scratch: &mut Scratch) {
        for category in 0..self.categories.len() {
            self.fill(at, category, weights, &mut scratch.sheet, &mut scratch.work);
        }
    }

    /// The values of one category on one sheet.
    fn fill(&self, at: usize, category: usize, weights: &[u16], sheet: &mut Sheet, work: &mut Work) {
        let (layout, categories) = (&self.layouts[at], self.categories.len());
        let objects = &self.categories[category].objects[layout.range];
        let count: u64 = objects.iter().map(|&image| u64::from(weights[image as usize])).sum();
        let Some(curves) = &self.categories[category].curves else { return };
        let size = layout.points * categories;
        for row in 0..layout.thresholds.len() {
            let (found, counts) = if layout.points > 0 {
                work.weigh(curves, row, weights, self.rules.plain_precision)
            } else {
                (curves.found(row, weights), false)
            };
            let out = sheet.values[row * size..][..size].iter_mut().skip(category).step_by(categories);
            let is_defined = count > 0 || (self.rules.zero_where_only_detected && counts);
            sheet.defined[row * categories + category] = is_defined;
            let recall = &mut sheet.recalls[row * categories + category];
            if count > 0 {
                *recall = f64::from(found) / count as f64;
                if layout.points > 0 {
                    work.read(layout.reading, found, count, self.rules.recall_thresholds, out);
                }
            } else {
                *recall = if is_defined { 0.0 } else { f64::NAN };
                out.for_each(|out| *out = *recall);
            }
        }
    }

    /// The numbers that are read from the sheet of a layout.
    fn read(&self, at: usize, scratch: &mut Scratch, values: &mut [f64], of_categories: &mut [f64]) {
        let categories = self.categories.len();
        let Scratch { sheet, flat, .. } = scratch;
        for (column, (number, (layout, rows))) in self.numbers.iter().zip(&self.places).enumerate() {
            if *layout != at {
                continue;
            }
            let (of, points) = match number.reading {
                Reading::LastRecall => (&sheet.recalls, 1),
                _ => (&sheet.values, self.layouts[at].points),
            };
            values[column] = sheet.mean(of, points, rows, &number.of_category, flat);
            for (category, out) in of_categories.chunks_mut(self.numbers.len()).enumerate() {
                if number.of_category[category] {
                    flat.clear();
                    let of_rows = rows.iter().map(|&row| &of[row * points * categories..]);
                    of_rows.for_each(|of| flat.extend(of[category..].iter().step_by(categories).take(points)));
                    out[column] = mean(flat);
                }
            }
        }
    }
}

impl Sheet {
    /// The mean of all points of some rows, of values or of recalls, over the categories that are defined and wanted.
    fn mean(&self, of: &[f64], points: usize, rows: &[usize], of_category: &[bool], flat: &mut Vec<f64>) -> f64 {
        let categories = of_category.len();
        let size = points * categories;
        let wanted = |row: usize| {
            let defined = &self.defined[row * categories..][..categories];
            defined.iter().zip(of_category).map(|(&defined, &wanted)| defined && wanted)
        };
        let together = rows.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        if let (true, Some(&first)) = (together && rows.iter().all(|&row| wanted(row).all(|is| is)), rows.first()) {
            return mean(&of[first * size..][..rows.len() * size]);
        }
        flat.clear();
        for &row in rows {
            let kept: Vec<usize> = (0..).zip(wanted(row)).filter(|&(_, is)| is).map(|(category, _)| category).collect();
            let of_points = of[row * size..][..size].chunks_exact(categories);
            of_points.for_each(|point| flat.extend(kept.iter().map(|&category| point[category])));
        }
        mean(flat)
    }
}

/// The mean as NumPy computes it; NaN of nothing.
fn mean(numbers: &[f64]) -> f64 {
    pairwise_sum(numbers) / numbers.len() as f64
}

impl Scratch {
    fn new(plan: &Plan<'_>, at: usize) -> Self {
        let (layout, categories) = (&plan.layouts[at], plan.categories.len());
        let sheet = Sheet {
            values: vec![f64::NAN; layout.thresholds.len() * layout.points * categories],
            recalls: vec![f64::NAN; layout.thresholds.len() * categories],
            defined: vec![false; layout.thresholds.len() * categories],
        };
        Self { sheet, usual: false, work: Work::default(), flat: Vec::new() }
    }
}
