//! Tracks of sequences. Python has checked the data, and sorted them by sequence and frame.

use std::ops::RangeInclusive;

use ioukit_core::memory::Vec;
use ioukit_core::threads::{map, with_threads};
use ioukit_core::tracks::{Counted, Match, Overlaps, Sequence, Side, Thresholds};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Column, Item, Table, column, table};
use crate::detached::{attached, detached};

/// One side of all sequences.
#[derive(FromPyObject)]
pub struct SideColumns<'py> {
    /// (F + 1) where the rows of each frame begin.
    starts: Column<'py, i64>,
    /// (N,) the position of each row's track among those of its sequence.
    tracks: Column<'py, i64>,
    /// (N, 4) upright boxes; none if overlaps are given.
    boxes: Table<'py, f64>,
}

/// These as slices, which threads can share.
struct Rows<'a> {
    starts: &'a [i64],
    tracks: &'a [i64],
    boxes: &'a [[f64; 4]],
}

impl<'a> Rows<'a> {
    fn of(columns: &'a SideColumns<'_>) -> Self {
        Self { starts: &columns.starts, tracks: &columns.tracks, boxes: columns.boxes.as_chunks().0 }
    }

    fn side(&self, frames: RangeInclusive<usize>, count: usize) -> Side<'a> {
        Side { starts: &self.starts[frames], tracks: self.tracks, count }
    }
}

/// What is counted in each of J sequences.
///
/// `sequences` is (J, 4): the first frame, the tracks of the objects and those of the result, and where the overlaps of
/// the sequence begin in `overlaps`. Each ends where the next one begins.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "columns and thresholds, one argument each")]
pub fn count_tracks<'py>(
    py: Python<'py>,
    sequences: Table<'py, i64>,
    objects: SideColumns<'py>,
    found: SideColumns<'py>,
    overlaps: Option<Column<'py, f64>>,
    hota: Column<'py, f64>,
    clear: f64,
    identity: f64,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let (sequences, left) = sequences.as_chunks::<4>();
    if !left.is_empty() || objects.starts.is_empty() || objects.starts.len() != found.starts.len() {
        return Err(PyTypeError::new_err("expected four numbers per sequence, and a start per frame and one more"));
    }
    let thresholds = Thresholds { hota: &hota, clear, identity };
    let frames = objects.starts.len() - 1;
    let (objects, found) = (Rows::of(&objects), Rows::of(&found));
    let tables = overlaps.as_deref();
    let count = |number: usize| {
        let [first, of_objects, of_found, start] = sequences[number].map(|count| count as usize);
        let last = sequences.get(number + 1).map_or(frames, |next| next[0] as usize);
        let overlaps = match tables {
            Some(tables) => Overlaps::Given(tables, start),
            None => Overlaps::Boxes(objects.boxes, found.boxes),
        };
        let (objects, found) = (objects.side(first..=last, of_objects), found.side(first..=last, of_found));
        Sequence { objects, found, overlaps }.count(thresholds)
    };
    let counted = detached(py, || with_threads(threads, || map(0..sequences.len(), 0, count)))?;
    attached(|| columns(py, &counted))
}

/// The rows of objects and of regions that are pairs in their frame: one to one, with the highest sum of overlaps.
///
/// Tracks are numbered in each frame from 0 on.
#[pyfunction]
pub fn pair_frames<'py>(
    py: Python<'py>,
    objects: SideColumns<'py>,
    found: SideColumns<'py>,
    threshold: f64,
    threads: usize,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    if objects.starts.is_empty() || objects.starts.len() != found.starts.len() {
        return Err(PyTypeError::new_err("expected a start per frame and one more"));
    }
    let frames = objects.starts.len() - 1;
    let (objects, found) = (Rows::of(&objects), Rows::of(&found));
    let overlaps = Overlaps::Boxes(objects.boxes, found.boxes);
    let pair = |frame: usize| {
        let side = |rows: &Rows<'_>| (rows.starts[frame + 1] - rows.starts[frame]) as usize;
        let (of_objects, of_found) = (side(&objects), side(&found));
        let (objects, found) = (objects.side(frame..=frame + 1, of_objects), found.side(frame..=frame + 1, of_found));
        Sequence { objects, found, overlaps }.pairs(threshold)
    };
    let pairs = detached(py, || with_threads(threads, || map(0..frames, 0, pair)))?;
    let rows = |row: fn(&Match) -> usize| {
        let listed: Vec<i64> = pairs.iter().flat_map(|of_frame| of_frame.iter()).map(|one| row(one) as i64).collect();
        column(py, listed)
    };
    attached(|| Ok((rows(|one| one.object)?, rows(|one| one.found)?)))
}

/// The counts as columns: an item per sequence, per sequence and threshold, or per pair.
fn columns<'py>(py: Python<'py>, counted: &[Counted]) -> PyResult<Bound<'py, PyDict>> {
    let made = PyDict::new(py);
    let hota = || counted.iter().map(|one| &one.hota);
    made.set_item("hota_matches", column(py, hota().flat_map(|one| one.matches.iter().copied()).collect())?)?;
    made.set_item("hota_overlaps", column(py, hota().flat_map(|one| one.overlap_sums.iter().copied()).collect())?)?;
    made.set_item("association", table(py, hota().flat_map(|one| one.association_sums.iter().copied()).collect())?)?;
    let shared = counted.iter().enumerate().flat_map(|(number, one)| {
        one.hota.shared_tracks.iter().map(move |&[object, found]| [number as i64, object, found])
    });
    made.set_item("shared_tracks", table(py, shared.collect())?)?;
    made.set_item("shared_counts", column(py, hota().flat_map(|one| one.shared_counts.iter().copied()).collect())?)?;
    let clear = || counted.iter().map(|one| &one.clear);
    let rows = clear().map(|one| {
        [one.matches.len(), one.switches, one.fragments, one.mostly, one.partly, one.lost].map(|count| count as i64)
    });
    made.set_item("clear", table(py, rows.collect())?)?;
    made.set_item("overlap_sums", column(py, clear().map(|one| one.overlap_sum).collect())?)?;
    made.set_item("id_matches", column(py, counted.iter().map(|one| one.id_matches as i64).collect())?)?;
    let vace = counted.iter().map(|one| [one.vace.track_overlaps, one.vace.frame_overlaps, one.vace.frames as f64]);
    made.set_item("vace", table(py, vace.collect())?)?;
    made.set_item("match_object", of_matches(py, counted, |one| one.object as i64)?)?;
    made.set_item("match_found", of_matches(py, counted, |one| one.found as i64)?)?;
    made.set_item("match_overlap", of_matches(py, counted, |one| one.overlap)?)?;
    made.set_item("match_switch", of_matches(py, counted, |one| one.switch)?)?;
    made.set_item("match_resumed", of_matches(py, counted, |one| one.resumed)?)?;
    Ok(made)
}

fn of_matches<'py, T: Item>(
    py: Python<'py>,
    counted: &[Counted],
    value: impl Fn(&Match) -> T,
) -> PyResult<Bound<'py, PyAny>> {
    let values: Vec<T> = counted.iter().flat_map(|one| one.clear.matches.iter()).map(value).collect();
    column(py, values)
}
