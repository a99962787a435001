//! Masks of COCO's records, polygons, boxes and arrays of pixels, and back.
//!
//! The arguments of users are checked here, item by item, because checking a list of a million records would be slow in
//! Python.

use std::fmt::Display;

use ioukit_core::memory::Vec;
use ioukit_core::regions::rle::{self, Mask, MaskList, Problem, Size, pixels, polygon, string};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use super::{Offsets, Parts, Runs, Sizes, masks, merged, parts};
use crate::arrays::{ArrayMut, Column, Table, bytes, column, table};
use crate::detached::{attached, detached};

/// Masks of records with `size` and `counts`, compressed or not; messages call the records `name`.
#[pyfunction]
pub fn masks_from_rle<'py>(records: &Bound<'py, PyList>, name: &str) -> PyResult<Parts<'py>> {
    parts(records.py(), attached(|| read(records, name))?)
}

/// Areas of the masks of records.
#[pyfunction]
pub fn rle_areas<'py>(records: &Bound<'py, PyList>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let areas = || Ok(read(records, name)?.view().iter().map(|mask| mask.area()).collect());
    column(records.py(), attached(areas)?)
}

/// Bounds of the masks of records, as `mask_bounds` gives them.
#[pyfunction]
pub fn rle_bounds<'py>(records: &Bound<'py, PyList>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let bounds = || Ok(read(records, name)?.view().iter().map(|mask| mask.bounds().map(f64::from)).collect());
    table(records.py(), attached(bounds)?)
}

/// The record of the union or the intersection of the masks of records, at least one.
#[pyfunction]
pub fn rle_merge<'py>(records: &Bound<'py, PyList>, name: &str, intersect: bool) -> PyResult<Bound<'py, PyDict>> {
    attached(|| {
        let list = read(records, name)?;
        let merged = merged(list.view(), name, intersect)?;
        record(records.py(), merged.view().get(0), true, false, &mut Vec::new())
    })
}

/// The masks of records.
fn read(records: &Bound<'_, PyList>, name: &str) -> PyResult<MaskList> {
    let mut list = MaskList::default();
    let mut counts = Vec::new();
    let (size_field, counts_field) = (intern!(records.py(), "size"), intern!(records.py(), "counts"));
    for (index, record) in records.iter().enumerate() {
        let place = Place { name, index };
        let record = record
            .cast::<PyDict>()
            .map_err(|_| place.wrong_kind(format!("a dict with size and counts, got {}", kind(&record))))?;
        let size = place.size(&place.field(record, size_field)?)?;
        counts.clear();
        place.counts(&place.field(record, counts_field)?, &mut counts)?;
        rle::settle(&counts, size, &mut list.runs).map_err(|problem| place.wrong(problem))?;
        list.close(size);
    }
    Ok(list)
}

/// COCO records of masks, their counts compressed (bytes, or str if `text`) or a list.
#[pyfunction]
pub fn masks_to_rle<'py>(
    py: Python<'py>,
    runs: Runs<'py>,
    offsets: Offsets<'py>,
    sizes: Sizes<'py>,
    compressed: bool,
    text: bool,
) -> PyResult<Bound<'py, PyList>> {
    let records = PyList::empty(py);
    let mut buffer = Vec::new();
    attached(|| {
        for mask in masks(&runs, &offsets, &sizes)?.iter() {
            records.append(record(py, mask, compressed, text, &mut buffer)?)?;
        }
        Ok(records)
    })
}

/// The record of a mask; `buffer` is only for its memory.
fn record<'py>(
    py: Python<'py>,
    mask: Mask<'_>,
    compressed: bool,
    text: bool,
    buffer: &mut Vec<u8>,
) -> PyResult<Bound<'py, PyDict>> {
    let record = PyDict::new(py);
    record.set_item(intern!(py, "size"), PyList::new(py, [mask.size.height, mask.size.width])?)?;
    buffer.clear();
    if compressed {
        string::encode(mask.runs, buffer);
    }
    let counts = match (compressed, text) {
        (false, _) => PyList::new(py, mask.runs)?.into_any(),
        (true, false) => bytes(py, buffer)?.into_any(),
        (true, true) => PyString::from_bytes(py, buffer)?.into_any(),
    };
    record.set_item(intern!(py, "counts"), counts)?;
    Ok(record)
}

/// Masks of `count` images of pixels in one piece, each row after row if `rows`, else column after column.
#[pyfunction]
pub fn masks_from_pixels<'py>(
    py: Python<'py>,
    pixels: Column<'py, u8>,
    count: usize,
    height: i64,
    width: i64,
    rows: bool,
) -> PyResult<Parts<'py>> {
    let size = Size::new(height, width).map_err(|problem| PyValueError::new_err(problem.to_string()))?;
    let (all, each) = (&pixels[..], size.pixels() as usize);
    if all.len() != count * each {
        return Err(PyTypeError::new_err("pixels must be count * height * width bytes"));
    }
    let list = detached(py, || {
        let mut list = MaskList::default();
        for index in 0..count {
            let pixels = &all[index * each..(index + 1) * each];
            match rows {
                true => pixels::encode_rows(pixels, size, &mut list.runs),
                false => pixels::encode_columns(pixels, &mut list.runs),
            }
            list.close(size);
        }
        list
    })?;
    parts(py, list)
}

/// Sets the foreground in `out`, zeros for all masks one after the other, each column after column.
#[pyfunction]
pub fn masks_to_pixels<'py>(
    py: Python<'py>,
    runs: Runs<'py>,
    offsets: Offsets<'py>,
    sizes: Sizes<'py>,
    mut out: ArrayMut<'py, u8, 1>,
) -> PyResult<()> {
    let (masks, mut out) =
        (masks(&runs, &offsets, &sizes)?, out.items(&[runs.memory(), offsets.memory(), sizes.memory()])?);
    detached(py, || {
        for mask in masks.iter() {
            let (pixels, rest) = std::mem::take(&mut out).split_at_mut(mask.size.pixels() as usize);
            pixels::decode(mask, pixels);
            out = rest;
        }
    })?;
    Ok(())
}

/// Masks of polygons: for each mask a list of flat lists of coordinates. `sizes` is (N, 2), height and width.
#[pyfunction]
pub fn masks_from_polygons<'py>(
    polygons: &Bound<'py, PyList>,
    sizes: Table<'py, i64>,
    name: &str,
    threads: usize,
) -> PyResult<Parts<'py>> {
    let (sizes, (numbers, rings, ends)) = attached(|| Ok((checked_sizes(&sizes, name)?, rings_of(polygons, name)?)))?;
    if ends.len() != sizes.len() + 1 {
        return Err(PyTypeError::new_err("as many sizes as masks"));
    }
    let list = detached(polygons.py(), || {
        let polygons = polygon::Polygons { numbers: &numbers, rings: &rings, parts: &ends };
        polygon::masks(polygons, &sizes, threads)
    })?;
    let list = list.map_err(|(index, part, problem)| {
        PyValueError::new_err(format!("{}[{part}]: {problem}", Place { name, index }))
    })?;
    parts(polygons.py(), list)
}

/// The numbers of all rings, where each ring ends, and with how many rings each mask ends.
type Rings = (Vec<f64>, Vec<usize>, Vec<usize>);

fn rings_of(polygons: &Bound<'_, PyList>, name: &str) -> PyResult<Rings> {
    let (mut numbers, mut rings, mut ends) = (Vec::new(), Vec::from([0]), Vec::from([0]));
    for (index, of_mask) in polygons.iter().enumerate() {
        let place = Place { name, index };
        let wrong = || place.wrong_kind(format!("a list of polygons, got {}", kind(&of_mask)));
        for (part, ring) in of_mask.try_iter().map_err(|_| wrong())?.enumerate() {
            let start = numbers.len();
            coordinates(&ring?, &mut numbers).map_err(|came| {
                PyTypeError::new_err(format!("{place}[{part}] must be a flat list of coordinates, got {came}"))
            })?;
            let count = numbers.len() - start;
            if count < 6 || count % 2 == 1 {
                return Err(PyValueError::new_err(format!(
                    "{place}[{part}] has {count} numbers, expected x and y in turn of at least 3 points"
                )));
            }
            rings.push(numbers.len());
        }
        ends.push(rings.len() - 1);
    }
    Ok((numbers, rings, ends))
}

/// Masks of (N, 4) boxes `[x, y, width, height]`. `sizes` is (N, 2), height and width.
#[pyfunction]
pub fn masks_from_boxes<'py>(boxes: Table<'py, f64>, sizes: Table<'py, i64>, name: &str) -> PyResult<Parts<'py>> {
    let py = boxes.py();
    let sizes = attached(|| checked_sizes(&sizes, name))?;
    let rows = boxes.as_chunks().0;
    let list = detached(py, || polygon::boxes(rows, &sizes))?;
    let list = list.map_err(|(index, problem)| {
        PyValueError::new_err(format!(
            "{}: of its corners x1, y1, x1, y2, x2, y2, x2, y1, {problem}",
            Place { name, index }
        ))
    })?;
    parts(py, list)
}

/// An item of a list that a person passed.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub name: &'a str,
    pub index: usize,
}

impl Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}[{}]", self.name, self.index)
    }
}

impl Place<'_> {
    fn wrong(self, problem: Problem) -> PyErr {
        PyValueError::new_err(format!("{self}: {problem}"))
    }

    fn wrong_kind(self, expected: String) -> PyErr {
        PyTypeError::new_err(format!("{self} must be {expected}"))
    }

    fn field<'py>(self, record: &Bound<'py, PyDict>, field: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        record.get_item(field)?.ok_or_else(|| PyKeyError::new_err(format!("{self} has no {field}")))
    }

    fn size(self, size: &Bound<'_, PyAny>) -> PyResult<Size> {
        let wrong =
            || PyTypeError::new_err(format!("{self}: size must be [height, width] of integers, got {}", shown(size)));
        if size.len().map_err(|_| wrong())? != 2 {
            return Err(wrong());
        }
        let side = |at: usize| size.get_item(at).and_then(|side| side.extract::<i64>()).map_err(|_| wrong());
        Size::new(side(0)?, side(1)?).map_err(|problem| self.wrong(problem))
    }

    /// Appends the runs that counts stand for, compressed or not, empty ones included.
    fn counts(self, counts: &Bound<'_, PyAny>, out: &mut Vec<u32>) -> PyResult<()> {
        if let Ok(text) = counts.cast::<PyBytes>() {
            return string::decode(text.as_bytes(), out).map_err(|problem| self.wrong(problem));
        }
        if let Ok(text) = counts.cast::<PyString>() {
            return string::decode(text.to_str()?.as_bytes(), out).map_err(|problem| self.wrong(problem));
        }
        let wrong = || self.wrong_kind_of_counts(counts);
        for (position, count) in counts.try_iter().map_err(|_| wrong())?.enumerate() {
            let value: i64 = count?.extract().map_err(|_| wrong())?;
            let count = u32::try_from(value).map_err(|_| self.wrong(Problem::Count { position, value }))?;
            out.push(count);
        }
        Ok(())
    }

    fn wrong_kind_of_counts(self, counts: &Bound<'_, PyAny>) -> PyErr {
        PyTypeError::new_err(format!(
            "{self}: counts must be a str, bytes or a list of integers, got {}",
            shown(counts)
        ))
    }
}

/// Appends the numbers of a flat list or array; what came, if it is none.
fn coordinates(ring: &Bound<'_, PyAny>, numbers: &mut Vec<f64>) -> Result<(), String> {
    if let Ok(array) = ring.extract::<Column<'_, f64>>() {
        numbers.extend_from_slice(&array);
        return Ok(());
    }
    if ring.is_instance_of::<PyString>() {
        return Err(shown(ring));
    }
    for number in ring.try_iter().map_err(|_| shown(ring))? {
        let number = number.and_then(|number| number.extract::<f64>()).map_err(|_| shown(ring))?;
        numbers.push(number);
    }
    Ok(())
}

fn kind(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string())
}

/// A value as a message shows it.
fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| kind(value), |text| text.to_string());
    if text.chars().count() <= 60 { text } else { text.chars().take(57).chain("...".chars()).collect() }
}

fn checked_sizes(sizes: &Table<'_, i64>, name: &str) -> PyResult<Vec<Size>> {
    let rows: &[[i64; 2]] = sizes.as_chunks().0;
    let checked = rows.iter().enumerate().map(|(index, &[height, width])| {
        Size::new(height, width).map_err(|problem| Place { name, index }.wrong(problem))
    });
    checked.collect()
}
