//! COCO files and the checks of their ids.

use std::path::{Path, PathBuf};

use ioukit_core::coco::{
    self, Dialect, Further, IdIndex, IdLists, Keypoints, Names, OnInvalid, Problem, ReadError, Segmentations, Source,
};
use ioukit_core::memory::Vec;
use pyo3::exceptions::{PyEOFError, PyMemoryError, PyOSError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::ahead;
use crate::arrays::{Column, Table, bytes, column, table};
use crate::detached::{attached, detached, raise};

pyo3::import_exception!(ioukit.errors, DatasetError);

/// The policy of a name that Python has checked.
pub fn on_invalid(choice: &str) -> OnInvalid {
    match choice {
        "drop" => OnInvalid::Drop,
        "pycocotools" => OnInvalid::Pycocotools,
        _ => OnInvalid::Error,
    }
}

pub fn read_error(path: &Path, error: ReadError) -> PyErr {
    match error {
        ReadError::Invalid(message) => dataset_error(path, &message),
        ReadError::Io(error) => match error.raw_os_error() {
            Some(number) => {
                let text = error.to_string();
                let reason = text.split(" (os error").next().unwrap_or_default().to_string();
                PyOSError::new_err((number, reason, path.as_os_str().to_os_string()))
            }
            None => dataset_error(path, &error.to_string()),
        },
    }
}

/// The error about data of this source, which may be a path that is not UTF-8.
fn dataset_error(source: &Path, message: &str) -> PyErr {
    let mut text = source.as_os_str().to_os_string();
    text.push(": ");
    text.push(message);
    DatasetError::new_err(text)
}

/// What `take` reads of a file, while other threads of Python run.
fn read<T: Send>(py: Python<'_>, path: &Path, take: impl FnOnce(Source) -> Result<T, ReadError> + Send) -> PyResult<T> {
    let special = special_content(py, path)?;
    let open = || match special {
        None => coco::open(path, &unpack),
        Some(content) => coco::open_special(path, content.into(), &unpack),
    };
    detached(py, || open().and_then(take))?.map_err(|error| read_error(path, error))
}

/// All that comes out of a pipe or a device; `None` if the path is neither. Read by Python, which signals interrupt.
fn special_content(py: Python<'_>, path: &Path) -> PyResult<Option<std::vec::Vec<u8>>> {
    if !path.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        return Ok(None);
    }
    let mut content = std::vec::Vec::new();
    for part in py.import("ioukit._special_files")?.call_method1("read_parts", (path,))?.try_iter()? {
        let part = part?;
        let part = part.cast::<PyBytes>()?.as_bytes();
        content.try_reserve(part.len()).map_err(|error| PyMemoryError::new_err(error.to_string()))?;
        content.extend_from_slice(part);
    }
    Ok(Some(content))
}

/// How many times its size gzip data may unpack to: JSON of data sets does to 3 to 20 times, a bomb to 1,000 times.
const MOST_TIMES: usize = 100;
/// What gzip data may always unpack to.
const ALWAYS: usize = 100 << 20;

/// Unpacks gzip data by Python's module.
fn unpack(packed: &[u8]) -> Result<Vec<u8>, ReadError> {
    const AT_ONCE: usize = 1 << 20;
    let most = packed.len().saturating_mul(MOST_TIMES).max(ALWAYS);
    let read = |py: Python<'_>| -> PyResult<Option<Vec<u8>>> {
        let packed = py.import("io")?.call_method1("BytesIO", (bytes(py, packed)?,))?;
        let file = py.import("gzip")?.call_method1("GzipFile", (py.None(), "rb", 9, packed))?;
        let mut text = Vec::new();
        loop {
            let part = file.call_method1("read", (AT_ONCE,))?.cast_into::<PyBytes>()?;
            if part.as_bytes().is_empty() {
                return Ok(Some(text));
            }
            if text.len() + part.as_bytes().len() > most {
                return Ok(None);
            }
            text.extend_from_slice(part.as_bytes());
        }
    };
    let unpacked = Python::attach(|py| {
        read(py).map_err(|error| {
            let damaged = || -> PyResult<bool> { Ok(error.is_instance(py, &py.import("zlib")?.getattr("error")?)) };
            if error.is_instance_of::<PyEOFError>(py) {
                ReadError::Invalid("the gzip file ends too early (is it truncated?)".into())
            } else if error.is_instance_of::<PyOSError>(py) || damaged().unwrap_or(false) {
                ReadError::Invalid(format!("the gzip file is damaged: {}", error.value(py)))
            } else {
                raise(error) // memory that ended, or a signal
            }
        })
    })?;
    unpacked.ok_or_else(|| {
        let size = packed.len();
        ReadError::Invalid(format!(
            "expected a gzip file that unpacks to at most {MOST_TIMES} times its {size} bytes, found more; unpack it to \
             read it all the same"
        ))
    })
}

/// The error for a record of `source`.
pub fn problem(source: &Path, problem: &Problem) -> PyErr {
    dataset_error(source, &problem.to_string())
}

fn names(py: Python<'_>, names: Names) -> PyResult<(Bound<'_, PyBytes>, Bound<'_, PyAny>)> {
    Ok((bytes(py, &names.bytes)?, column(py, names.ends)?))
}

fn positions(py: Python<'_>, rows: Vec<usize>) -> PyResult<Bound<'_, PyAny>> {
    column(py, attached(|| Ok(rows.into_iter().map(|row| row as i64).collect()))?)
}

fn id_lists(py: Python<'_>, lists: IdLists) -> PyResult<(Bound<'_, PyAny>, Bound<'_, PyAny>)> {
    Ok((column(py, lists.ids)?, column(py, lists.ends)?))
}

/// By name, where the members are that become attributes; without those that no record has.
fn further<'py, const N: usize>(
    py: Python<'py>,
    names: [&str; N],
    members: Further<N>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, spans) in names.into_iter().zip(members.0.into_iter().flatten()) {
        if !spans.0.is_empty() {
            dict.set_item(name, table(py, spans.0)?)?;
        }
    }
    Ok(dict)
}

/// Start, end, position of the first record, and whether the first record of the file has no box.
type Part = (u64, u64, usize, bool);

/// Columns of a results file, or of a part of it.
#[pyfunction]
#[pyo3(signature = (path, on_invalid, lines, threads, part=None))]
pub fn read_coco_detections<'py>(
    py: Python<'py>,
    path: PathBuf,
    on_invalid: &str,
    lines: bool,
    threads: usize,
    part: Option<Part>,
) -> PyResult<Bound<'py, PyDict>> {
    let on_invalid = self::on_invalid(on_invalid);
    let read_now = || {
        read(py, &path, |source| match part {
            None => coco::read_detections(&source, on_invalid, lines, threads),
            Some((start, end, record, without_boxes)) => {
                coco::read_part(&source, on_invalid, lines, coco::Part { start, end, record, without_boxes }, threads)
            }
        })
    };
    let whole = if part.is_none() { ahead::detections(py, &path, on_invalid, lines)? } else { None };
    let columns = whole.map_or_else(read_now, Ok)?;
    let dict = PyDict::new(py);
    dict.set_item("image_ids", column(py, columns.image_ids)?)?;
    dict.set_item("category_ids", column(py, columns.category_ids)?)?;
    dict.set_item("boxes", table(py, columns.boxes)?)?;
    dict.set_item("scores", column(py, columns.scores)?)?;
    dict.set_item("scored", columns.without_score == 0)?;
    dict.set_item("segmentations", table(py, columns.segmentations.0)?)?;
    dict.set_item("keypoints", table(py, columns.keypoints.0)?)?;
    dict.set_item("further", further(py, coco::FURTHER_OF_REGIONS, columns.further)?)?;
    dict.set_item("without_box", positions(py, columns.without_box)?)?;
    dict.set_item("dropped", columns.dropped)?;
    Ok(dict)
}

/// Whether a results file has a record per line; (P, 2) the byte and the position of the first record of each part of
/// about `bytes`; and the number of records.
#[pyfunction]
pub fn find_coco_parts<'py>(
    py: Python<'py>,
    path: PathBuf,
    on_invalid: &str,
    lines: bool,
    bytes: u64,
    threads: usize,
) -> PyResult<(bool, Bound<'py, PyAny>, u64)> {
    let on_invalid = self::on_invalid(on_invalid);
    let found = read(py, &path, |source| coco::find_parts(&source, on_invalid, lines, bytes, threads))?;
    Ok((found.lines, table(py, found.starts)?, found.records))
}

/// Columns of an annotation file: images, categories, annotations and the number of records dropped.
#[pyfunction]
pub fn read_coco_ground_truth<'py>(
    py: Python<'py>,
    path: PathBuf,
    on_invalid: &str,
    lvis: bool,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let on_invalid = self::on_invalid(on_invalid);
    let dialect = if lvis { Dialect::Lvis } else { Dialect::Coco };
    let read_now = || read(py, &path, |source| coco::read_ground_truth(&source, on_invalid, dialect, threads));
    let columns = ahead::ground_truth(py, &path, on_invalid, dialect)?.map_or_else(read_now, Ok)?;
    let images = PyDict::new(py);
    images.set_item("ids", column(py, columns.images.ids)?)?;
    images.set_item("sizes", table(py, columns.images.sizes)?)?;
    images.set_item("names", names(py, columns.images.names)?)?;
    images.set_item("further", further(py, coco::FURTHER_OF_IMAGES, columns.images.further)?)?;
    if lvis {
        images.set_item("neg_category_ids", id_lists(py, columns.images.negative)?)?;
        images.set_item("not_exhaustive_category_ids", id_lists(py, columns.images.not_exhaustive)?)?;
    }
    let categories = PyDict::new(py);
    categories.set_item("ids", column(py, columns.categories.ids)?)?;
    categories.set_item("names", names(py, columns.categories.names)?)?;
    if lvis {
        categories.set_item("frequency", names(py, columns.categories.frequency)?)?;
    }
    let annotations = PyDict::new(py);
    annotations.set_item("ids", column(py, columns.annotations.ids)?)?;
    annotations.set_item("image_ids", column(py, columns.annotations.image_ids)?)?;
    annotations.set_item("category_ids", column(py, columns.annotations.category_ids)?)?;
    annotations.set_item("boxes", table(py, columns.annotations.boxes)?)?;
    annotations.set_item("areas", column(py, columns.annotations.areas)?)?;
    annotations.set_item("without_area", positions(py, columns.annotations.without_area)?)?;
    annotations.set_item("crowd", column(py, columns.annotations.crowd)?)?;
    annotations.set_item("without_crowd", columns.annotations.without_crowd)?;
    annotations.set_item("ignore", column(py, columns.annotations.ignore)?)?;
    annotations.set_item("segmentations", table(py, columns.annotations.segmentations.0)?)?;
    annotations.set_item("keypoints", table(py, columns.annotations.keypoints.0)?)?;
    annotations.set_item("further", further(py, coco::FURTHER_OF_REGIONS, columns.annotations.further)?)?;
    annotations.set_item("num_keypoints", column(py, columns.annotations.num_keypoints)?)?;
    let dict = PyDict::new(py);
    dict.set_item("images", images)?;
    dict.set_item("categories", categories)?;
    dict.set_item("annotations", annotations)?;
    dict.set_item("videos", columns.videos)?;
    dict.set_item("dropped", columns.dropped)?;
    Ok(dict)
}

/// The text of a file, unpacked.
#[pyfunction]
pub fn read_text<'py>(py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyBytes>> {
    let text = read(py, &path, |source| Ok(source.into_bytes()?))?;
    bytes(py, &text)
}

type Rows<'py> = Option<Bound<'py, PyAny>>;

fn rows(py: Python<'_>, rows: Option<Vec<usize>>) -> PyResult<Rows<'_>> {
    rows.map(|rows| positions(py, rows)).transpose()
}

/// The rows whose id is not that of an earlier row; `None` for all rows.
#[pyfunction]
pub fn unique_rows<'py>(
    py: Python<'py>,
    source: PathBuf,
    array: &str,
    ids: Column<'py, i64>,
    on_invalid: &str,
) -> PyResult<Rows<'py>> {
    let ids = &ids[..];
    let array = if array == "images" { "images" } else { "categories" };
    let on_invalid = self::on_invalid(on_invalid);
    let found = detached(py, || coco::unique_rows(array, ids, on_invalid))?;
    rows(py, found.map_err(|error| problem(&source, &error))?)
}

/// Ids of rows: columns of the same length.
type Ids<'py> = Column<'py, i64>;

/// The ids of the images and of the categories that a ground truth lists.
type Known<'py> = (Ids<'py>, Ids<'py>);

fn known((images, categories): (&[i64], &[i64])) -> (IdIndex, IdIndex) {
    (IdIndex::new(images), IdIndex::new(categories))
}

/// The detections, by the ids of their image and category, that are known; `None` for all.
#[pyfunction]
pub fn known_detections<'py>(
    py: Python<'py>,
    source: PathBuf,
    ids: (Ids<'py>, Ids<'py>),
    known: Known<'py>,
    on_invalid: &str,
) -> PyResult<Rows<'py>> {
    let (known, image_ids, category_ids) = ((&known.0[..], &known.1[..]), &ids.0[..], &ids.1[..]);
    let on_invalid = self::on_invalid(on_invalid);
    let found = detached(py, || {
        let (images, categories) = self::known(known);
        coco::known_rows("detections", image_ids, category_ids, &images, &categories, on_invalid)
    })?;
    rows(py, found.map_err(|error| problem(&source, &error))?)
}

/// The annotations, by their own ids and those of their image and category, to evaluate; `None` for all as they are.
#[pyfunction]
pub fn settle_annotations<'py>(
    py: Python<'py>,
    source: PathBuf,
    ids: (Ids<'py>, Ids<'py>, Ids<'py>),
    known: Known<'py>,
    on_invalid: &str,
) -> PyResult<Rows<'py>> {
    let known = (&known.0[..], &known.1[..]);
    let (own, image_ids, category_ids) = (&ids.0[..], &ids.1[..], &ids.2[..]);
    let on_invalid = self::on_invalid(on_invalid);
    let found = detached(py, || {
        let (images, categories) = self::known(known);
        coco::settle_annotations(own, image_ids, category_ids, &images, &categories, on_invalid)
    })?;
    rows(py, found.map_err(|error| problem(&source, &error))?)
}

/// The name of an array of records, as the core keeps it.
fn array_name(array: &str) -> &'static str {
    if array == "annotations" { "annotations" } else { "detections" }
}

/// (N * 3P,) x, y and visibility of the keypoints of records of a file, NaN for records without; and P.
#[pyfunction]
pub fn read_coco_keypoints<'py>(
    py: Python<'py>,
    path: PathBuf,
    array: &str,
    records: Ids<'py>,
    spans: Table<'py, u64>,
    points: Option<usize>,
    threads: usize,
) -> PyResult<(Bound<'py, PyAny>, usize)> {
    let (records, spans) = (&records[..], spans.as_chunks().0);
    let keypoints = Keypoints { array: array_name(array), records, spans, points };
    let read_now = || read(py, &path, |source| coco::read_keypoints(&source, keypoints, threads));
    let (values, points) = ahead::keypoints(py, &path, keypoints)?.map_or_else(read_now, Ok)?;
    Ok((column(py, values)?, points))
}

/// The masks of records of a file, given by their positions in its array and the bytes of their values.
#[pyfunction]
#[pyo3(signature = (path, array, records, spans, image_sizes, threads))]
pub fn read_coco_masks<'py>(
    py: Python<'py>,
    path: PathBuf,
    array: &str,
    records: Ids<'py>,
    spans: Table<'py, u64>,
    image_sizes: Table<'py, f64>,
    threads: usize,
) -> PyResult<crate::regions::masks::Parts<'py>> {
    let segmentations = Segmentations {
        array: array_name(array),
        records: &records,
        spans: spans.as_chunks().0,
        image_sizes: image_sizes.as_chunks().0,
    };
    let first = ahead::first_masks(py, &path, segmentations)?;
    let masks = read(py, &path, |source| coco::read_masks(&source, segmentations, first, threads))?;
    crate::regions::masks::parts(py, masks)
}

/// The areas of the masks of records of a file: NaN for a record without one; if `drop`, infinity for one that cannot be
/// read.
#[pyfunction]
#[pyo3(signature = (path, records, spans, image_sizes, drop, threads))]
pub fn read_coco_mask_areas<'py>(
    py: Python<'py>,
    path: PathBuf,
    records: Ids<'py>,
    spans: Table<'py, u64>,
    image_sizes: Table<'py, f64>,
    drop: bool,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let segmentations = Segmentations {
        array: "annotations",
        records: &records,
        spans: spans.as_chunks().0,
        image_sizes: image_sizes.as_chunks().0,
    };
    column(py, read(py, &path, |source| coco::read_mask_areas(&source, segmentations, drop, threads))?)
}

/// The first of `[x, y, width, height]` rows that is not a box: its position, what is expected and what was found.
#[pyfunction]
pub fn box_problem(boxes: Table<'_, f64>) -> PyResult<Option<(usize, &'static str, String)>> {
    let (rows, _) = boxes.as_chunks();
    Ok(rows
        .iter()
        .enumerate()
        .find_map(|(row, values)| coco::box_problem(values).map(|(expected, found)| (row, expected, found))))
}
