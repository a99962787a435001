//! Where the groups of a match table lie, and the order of its detections.

use std::ops::Range;

use super::super::rules::{CapScope, Rules};
use super::super::score::falling;
use super::{Span, Table};
use crate::memory::{Vec, vec};

/// Runs of rows of one image and category, each with its key.
fn runs(image: &[u32], category: &[u32], agnostic: bool) -> Vec<(u64, Range<usize>)> {
    let key = |row: usize| u64::from(image[row]) << 32 | u64::from(if agnostic { 0 } else { category[row] });
    let mut runs: Vec<(u64, Range<usize>)> = Vec::new();
    for row in 0..image.len() {
        match runs.last_mut() {
            Some((last, range)) if *last == key(row) => range.end = row + 1,
            _ => runs.push((key(row), row..row + 1)),
        }
    }
    runs
}

/// The groups of each category, by image.
pub(super) fn by_category(table: &Table<'_>, rules: &Rules<'_>) -> Vec<Vec<Span>> {
    let mut spans = vec![Vec::new(); table.categories];
    let detections = runs(table.image, table.category, rules.class_agnostic);
    let objects = runs(table.object_image, table.object_category, rules.class_agnostic);
    let (mut of_detections, mut of_objects) = (detections.into_iter().peekable(), objects.into_iter().peekable());
    loop {
        let keys = [of_detections.peek(), of_objects.peek()].map(|run| run.map(|&(key, _)| key));
        let Some(key) = keys.into_iter().flatten().min() else { return spans };
        let detections = of_detections.next_if(|run| run.0 == key).map_or(0..0, |run| run.1);
        let objects = of_objects.next_if(|run| run.0 == key).map_or(0..0, |run| run.1);
        spans[key as u32 as usize].push(Span { image: (key >> 32) as u32, detections, objects });
    }
}

/// The place of each detection among equal scores.
///
/// It is that of its row, except in tables of which all categories count as one: their rows beyond a cap stand last.
pub(super) fn sequence(table: &Table<'_>, rules: &Rules<'_>) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..table.image.len() as u32).collect();
    if !rules.class_agnostic {
        return rows;
    }
    rows.sort_unstable_by_key(|&number| {
        let row = number as usize;
        (table.image[row], falling(table.score[row]), table.category[row], table.row[row], number)
    });
    let mut sequence = vec![0; rows.len()];
    for (place, row) in (0..).zip(rows) {
        sequence[row as usize] = place;
    }
    sequence
}

/// The rows of detections at the caps, which enter when a better one is removed.
pub(super) struct Entrants {
    /// By image, the one that enters the curve, and the one that enters matching; only for caps of whole images.
    images: Vec<[Option<u32>; 2]>,
}

impl Entrants {
    pub fn new(table: &Table<'_>, rules: &Rules<'_>) -> Self {
        let mut images = Vec::new();
        if rules.cap_scope == CapScope::Image {
            images.resize(table.images, [None; 2]);
            for row in 0..table.image.len() {
                note(&mut images[table.image[row] as usize], row as u32, table, rules);
            }
        }
        Self { images }
    }

    /// Those of a group: the one that enters the curve, and the one that enters matching.
    pub fn of(&self, span: &Span, table: &Table<'_>, rules: &Rules<'_>) -> [Option<u32>; 2] {
        match rules.cap_scope {
            CapScope::Category => [None; 2],
            CapScope::Image => self.images[span.image as usize],
            CapScope::ImageAndCategory => {
                let mut found = [None; 2];
                span.detections.clone().for_each(|row| note(&mut found, row as u32, table, rules));
                found
            }
        }
    }
}

fn note(found: &mut [Option<u32>; 2], row: u32, table: &Table<'_>, rules: &Rules<'_>) {
    let rank = table.rank[row as usize];
    if rank == table.cap {
        found[0] = Some(row);
    }
    if rank as usize == rules.max_detections {
        found[1] = Some(row);
    }
}
