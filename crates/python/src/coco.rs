//! COCO files and the checks of their ids.

use std::path::{Path, PathBuf};

use ioukit_core::coco::{self, IdIndex, Keypoints, Names, OnInvalid, Problem, ReadError, Segmentations};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

pyo3::import_exception!(ioukit.errors, DatasetError);

/// The policy of a name that Python has checked.
pub fn on_invalid(choice: &str) -> OnInvalid {
    match choice {
        "drop" => OnInvalid::Drop,
        "pycocotools" => OnInvalid::Pycocotools,
        _ => OnInvalid::Error,
    }
}

fn read_error(path: &Path, error: ReadError) -> PyErr {
    match error {
        ReadError::Invalid(message) => DatasetError::new_err(format!("{}: {message}", path.display())),
        ReadError::Io(error) => match error.raw_os_error() {
            Some(number) => {
                let text = error.to_string();
                let reason = text.split(" (os error").next().unwrap_or_default().to_string();
                PyOSError::new_err((number, reason, path.as_os_str().to_os_string()))
            }
            None => DatasetError::new_err(format!("{}: {error}", path.display())),
        },
    }
}

/// The error for a record of `source`.
pub fn problem(source: &str, problem: &Problem) -> PyErr {
    DatasetError::new_err(format!("{source}: {problem}"))
}

/// Rows of `N` numbers as an array of `N` columns.
pub fn table<'py, T: numpy::Element, const N: usize>(py: Python<'py>, rows: Vec<[T; N]>) -> Bound<'py, PyArray2<T>> {
    let shape = [rows.len(), N];
    rows.into_flattened().into_pyarray(py).reshape(shape).expect("as many numbers as rows and columns ask for")
}

fn names<'py>(py: Python<'py>, names: Names) -> (Bound<'py, PyBytes>, Bound<'py, PyArray1<u64>>) {
    (PyBytes::new(py, &names.bytes), names.ends.into_pyarray(py))
}

/// Columns of a results file.
#[pyfunction]
pub fn read_coco_detections<'py>(
    py: Python<'py>,
    path: PathBuf,
    on_invalid: &str,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let on_invalid = self::on_invalid(on_invalid);
    let columns =
        py.detach(|| coco::read_detections(&path, on_invalid, threads)).map_err(|error| read_error(&path, error))?;
    let dict = PyDict::new(py);
    dict.set_item("image_ids", columns.image_ids.into_pyarray(py))?;
    dict.set_item("category_ids", columns.category_ids.into_pyarray(py))?;
    dict.set_item("boxes", table(py, columns.boxes))?;
    dict.set_item("scores", columns.scores.into_pyarray(py))?;
    dict.set_item("segmentations", table(py, columns.segmentations.0))?;
    dict.set_item("keypoints", table(py, columns.keypoints.0))?;
    let without_box: Vec<i64> = columns.without_box.into_iter().map(|row| row as i64).collect();
    dict.set_item("without_box", without_box.into_pyarray(py))?;
    dict.set_item("dropped", columns.dropped)?;
    Ok(dict)
}

/// Columns of an annotation file: images, categories, annotations and the number of records dropped.
#[pyfunction]
pub fn read_coco_ground_truth<'py>(
    py: Python<'py>,
    path: PathBuf,
    on_invalid: &str,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let on_invalid = self::on_invalid(on_invalid);
    let columns =
        py.detach(|| coco::read_ground_truth(&path, on_invalid, threads)).map_err(|error| read_error(&path, error))?;
    let images = PyDict::new(py);
    images.set_item("ids", columns.images.ids.into_pyarray(py))?;
    images.set_item("sizes", table(py, columns.images.sizes))?;
    images.set_item("names", names(py, columns.images.names))?;
    let categories = PyDict::new(py);
    categories.set_item("ids", columns.categories.ids.into_pyarray(py))?;
    categories.set_item("names", names(py, columns.categories.names))?;
    let annotations = PyDict::new(py);
    annotations.set_item("ids", columns.annotations.ids.into_pyarray(py))?;
    annotations.set_item("image_ids", columns.annotations.image_ids.into_pyarray(py))?;
    annotations.set_item("category_ids", columns.annotations.category_ids.into_pyarray(py))?;
    annotations.set_item("boxes", table(py, columns.annotations.boxes))?;
    annotations.set_item("areas", columns.annotations.areas.into_pyarray(py))?;
    annotations.set_item("crowd", columns.annotations.crowd.into_pyarray(py))?;
    annotations.set_item("segmentations", table(py, columns.annotations.segmentations.0))?;
    annotations.set_item("keypoints", table(py, columns.annotations.keypoints.0))?;
    annotations.set_item("num_keypoints", columns.annotations.num_keypoints.into_pyarray(py))?;
    let dict = PyDict::new(py);
    dict.set_item("images", images)?;
    dict.set_item("categories", categories)?;
    dict.set_item("annotations", annotations)?;
    dict.set_item("dropped", columns.dropped)?;
    Ok(dict)
}

/// The text of a file, unpacked.
#[pyfunction]
pub fn read_text<'py>(py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyBytes>> {
    let text = py.detach(|| coco::read_text(&path)).map_err(|error| read_error(&path, error))?;
    Ok(PyBytes::new(py, &text))
}

type Rows<'py> = Option<Bound<'py, PyArray1<i64>>>;

fn rows(py: Python<'_>, rows: Option<Vec<usize>>) -> Rows<'_> {
    rows.map(|rows| rows.into_iter().map(|row| row as i64).collect::<Vec<_>>().into_pyarray(py))
}

/// The rows whose id is not that of an earlier row; `None` for all rows.
#[pyfunction]
pub fn unique_rows<'py>(
    py: Python<'py>,
    source: &str,
    array: &str,
    ids: PyReadonlyArray1<'py, i64>,
    on_invalid: &str,
) -> PyResult<Rows<'py>> {
    let array = if array == "images" { "images" } else { "categories" };
    let found = coco::unique_rows(array, ids.as_slice()?, self::on_invalid(on_invalid));
    Ok(rows(py, found.map_err(|error| problem(source, &error))?))
}

/// Ids of rows: columns of the same length.
type Ids<'py> = PyReadonlyArray1<'py, i64>;

/// The ids of the images and of the categories that a ground truth lists.
type Known<'py> = (Ids<'py>, Ids<'py>);

fn known(known: &Known<'_>) -> PyResult<(IdIndex, IdIndex)> {
    Ok((IdIndex::new(known.0.as_slice()?), IdIndex::new(known.1.as_slice()?)))
}

/// The detections, by the ids of their image and category, that are known; `None` for all.
#[pyfunction]
pub fn known_detections<'py>(
    py: Python<'py>,
    source: &str,
    ids: (Ids<'py>, Ids<'py>),
    known: Known<'py>,
    on_invalid: &str,
) -> PyResult<Rows<'py>> {
    let (images, categories) = self::known(&known)?;
    let (image_ids, category_ids) = (ids.0.as_slice()?, ids.1.as_slice()?);
    let on_invalid = self::on_invalid(on_invalid);
    let found = coco::known_rows("detections", image_ids, category_ids, &images, &categories, on_invalid);
    Ok(rows(py, found.map_err(|error| problem(source, &error))?))
}

/// The annotations, by their own ids and those of their image and category, to evaluate; `None` for all as they are.
#[pyfunction]
pub fn settle_annotations<'py>(
    py: Python<'py>,
    source: &str,
    ids: (Ids<'py>, Ids<'py>, Ids<'py>),
    known: Known<'py>,
    on_invalid: &str,
) -> PyResult<Rows<'py>> {
    let (images, categories) = self::known(&known)?;
    let (own, image_ids, category_ids) = (ids.0.as_slice()?, ids.1.as_slice()?, ids.2.as_slice()?);
    let on_invalid = self::on_invalid(on_invalid);
    let found = coco::settle_annotations(own, image_ids, category_ids, &images, &categories, on_invalid);
    Ok(rows(py, found.map_err(|error| problem(source, &error))?))
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
    spans: PyReadonlyArray2<'py, u64>,
    points: Option<usize>,
    threads: usize,
) -> PyResult<(Bound<'py, PyArray1<f64>>, usize)> {
    let (records, spans) = (records.as_slice()?, spans.as_slice()?.as_chunks().0);
    let keypoints = Keypoints { array: array_name(array), records, spans, points };
    let read = py.detach(|| coco::read_keypoints(&path, keypoints, threads));
    let (values, points) = read.map_err(|error| read_error(&path, error))?;
    Ok((values.into_pyarray(py), points))
}

/// The masks of records of a file, given by their positions in its array and the bytes of their values.
#[pyfunction]
#[pyo3(signature = (path, array, records, spans, image_sizes, threads))]
pub fn read_coco_masks<'py>(
    py: Python<'py>,
    path: PathBuf,
    array: &str,
    records: Ids<'py>,
    spans: PyReadonlyArray2<'py, u64>,
    image_sizes: PyReadonlyArray2<'py, f64>,
    threads: usize,
) -> PyResult<crate::regions::masks::Parts<'py>> {
    let segmentations = Segmentations {
        array: array_name(array),
        records: records.as_slice()?,
        spans: spans.as_slice()?.as_chunks().0,
        image_sizes: image_sizes.as_slice()?.as_chunks().0,
    };
    let masks = py.detach(|| coco::read_masks(&path, segmentations, threads));
    crate::regions::masks::parts(py, masks.map_err(|error| read_error(&path, error))?)
}

/// The first of `[x, y, width, height]` rows that is not a box: its position, what is expected and what was found.
#[pyfunction]
pub fn box_problem(boxes: PyReadonlyArray2<'_, f64>) -> PyResult<Option<(usize, &'static str, String)>> {
    let (rows, _) = boxes.as_slice()?.as_chunks();
    Ok(rows
        .iter()
        .enumerate()
        .find_map(|(row, values)| coco::box_problem(values).map(|(expected, found)| (row, expected, found))))
}
