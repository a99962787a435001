//! Leaves out whole images.

use super::super::rules::CapScope;
use super::Span;
use super::curve::{Edit, State};
use super::data::{Category, Data};
use super::reading::{Number, Reader};
use crate::memory::{Vec, vec};
use crate::threads::each_with;

/// By category, the number without each image that has rows of it.
pub(super) fn without_images(data: &Data<'_>) -> Vec<Vec<(u32, Number)>> {
    const MOST: usize = 64;
    let shares = data
        .categories
        .iter()
        .enumerate()
        .flat_map(|(number, category)| category.spans.chunks(MOST).map(move |spans| (number, category, spans)));
    let shares: Vec<(usize, &Category, &[Span])> = shares.collect();
    let mut found: Vec<Vec<(u32, Number)>> = vec![Vec::new(); shares.len()];
    let numbers: Vec<usize> = shares.iter().map(|share| share.0).collect();
    each_with(
        found.iter_mut().zip(shares),
        0,
        || None::<(usize, Reader<'_>)>,
        |kept, (out, (number, category, spans))| {
            if kept.as_ref().is_none_or(|kept| kept.0 != number) {
                *kept = Some((number, Reader::new(data.reading, &category.curves)));
            }
            let Some((_, reader)) = kept else { return };
            let mut edits = vec![Vec::new(); data.thresholds.len()];
            for span in spans {
                out.push((span.image, without_image(data, category, span, reader, &mut edits)));
            }
        },
    );
    let mut all = vec![Vec::new(); data.categories.len()];
    for (number, mut found) in numbers.into_iter().zip(found) {
        all[number].append(&mut found);
    }
    all
}

fn without_image(
    data: &Data<'_>,
    category: &Category,
    span: &Span,
    reader: &mut Reader<'_>,
    edits: &mut [Vec<Edit>],
) -> Number {
    let rows = || span.detections.clone().map(|row| row as u32).filter(|&row| data.is_counted(row));
    let mut entrants = Vec::new();
    if data.rules.cap_scope == CapScope::Category {
        // As many as leave enter, from other images.
        let beyond = category.order.iter().skip(data.table.cap as usize);
        let others = beyond.copied().filter(|&row| !span.detections.contains(&(row as usize)));
        entrants.extend(others.take(rows().count()));
    }
    for (edits, &threshold) in edits.iter_mut().zip(data.thresholds) {
        let state = |row| data.table.state(row, threshold, &data.rules);
        let place = |row: u32| data.places[row as usize];
        edits.clear();
        edits.extend(rows().map(|row| Edit { place: place(row), before: state(row), after: State::Out }));
        edits.extend(entrants.iter().map(|&row| Edit { place: place(row), before: State::Out, after: state(row) }));
        edits.retain(|edit| edit.before != edit.after);
        edits.sort_unstable_by_key(|edit| edit.place);
    }
    let objects = span.objects.clone().filter(|&object| !data.table.object_ignored[object]).count();
    reader.after(edits, objects as u64)
}
