//! Label files other than COCO's, and the headers of images.

use std::io;
use std::path::{Path, PathBuf};

use ioukit_core::coco::ReadError;
use ioukit_core::formats::csv::{self, Choice, Kind, NoTable};
use ioukit_core::formats::image_size::{self, NoSize};
use ioukit_core::formats::number_lines::Between;
use ioukit_core::formats::{Columns, Problem, Problems, Strings, number_lines, voc};
use ioukit_core::memory::Vec;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use crate::arrays::{bytes, column, table};
use crate::coco::read_error;
use crate::detached::{attached, detached};

/// The paths of files, which may be many.
pub struct Paths(Vec<PathBuf>);

impl<'py> FromPyObject<'_, 'py> for Paths {
    type Error = PyErr;

    fn extract(paths: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        attached(|| paths.try_iter()?.map(|path| path?.extract()).collect()).map(Self)
    }
}

/// How many files are read before Python may interrupt.
const AT_ONCE: usize = 1 << 13;

/// Reads all files while other threads of Python run. `read` gets some of them, and the position of the first.
fn read_files<C: Columns>(
    py: Python<'_>,
    paths: &[PathBuf],
    read: impl Fn(&[PathBuf], usize) -> C + Sync,
) -> PyResult<C> {
    let mut all = C::default();
    for (number, paths) in paths.chunks(AT_ONCE).enumerate() {
        all = detached(py, || {
            all.append(read(paths, number * AT_ONCE));
            all
        })?;
        py.check_signals()?;
    }
    Ok(all)
}

/// The error for the first file that the system could not read.
fn check_readable(paths: &[PathBuf], unreadable: Option<(usize, io::Error)>) -> PyResult<()> {
    match unreadable {
        Some((file, error)) => Err(read_error(&paths[file], ReadError::Io(error))),
        None => Ok(()),
    }
}

/// How many problems there are, and the first: the position of its file, its line, and the message.
fn problems(problems: Problems) -> (usize, Option<(usize, usize, String)>) {
    let first = problems.first.map(|problem| (problem.file, problem.line, problem.to_string()));
    (problems.count, first)
}

/// The numbers in the lines of text files, between white space or commas, and what there is of each file.
#[pyfunction]
pub fn read_number_lines<'py>(
    py: Python<'py>,
    paths: Paths,
    commas: bool,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let between = if commas { Between::Comma } else { Between::Space };
    let found = read_files(py, &paths.0, |paths, first| number_lines::read(paths, first, between, threads))?;
    check_readable(&paths.0, found.unreadable)?;
    let dict = PyDict::new(py);
    dict.set_item("numbers", column(py, found.numbers)?)?;
    dict.set_item("ends", column(py, found.ends)?)?;
    dict.set_item("files", column(py, found.files)?)?;
    dict.set_item("lines", column(py, found.lines)?)?;
    dict.set_item("states", column(py, found.states)?)?;
    dict.set_item("problems", problems(found.problems))?;
    Ok(dict)
}

/// (N, 2) sizes, and what was found in the place of those that are missing.
type Sizes<'py> = (Bound<'py, PyAny>, std::vec::Vec<(usize, Option<String>)>);

/// (N, 2) width and height of images as they are shown, 0 for a file that has none; and for each of those its position,
/// and what was found, or nothing if there is no such file.
#[pyfunction]
pub fn read_image_sizes<'py>(py: Python<'py>, paths: Paths, threads: usize) -> PyResult<Sizes<'py>> {
    let (mut sizes, mut missing) = (Vec::new(), Vec::new());
    for paths in paths.0.chunks(AT_ONCE) {
        let found = detached(py, || image_size::read_sizes(paths, threads))?;
        attached(|| {
            for found in found {
                let what = match found {
                    Ok(size) => {
                        sizes.push(size.map(i64::from));
                        continue;
                    }
                    Err(NoSize::NotAnImage(what)) => Some(what.to_string()),
                    Err(NoSize::Io(error)) if error.kind() == io::ErrorKind::NotFound => None,
                    Err(NoSize::Io(error)) => Some(error.to_string()),
                };
                missing.push((sizes.len(), what));
                sizes.push([0, 0]);
            }
            py.check_signals()
        })?;
    }
    Ok((table(py, sizes)?, missing.into_std()))
}

/// Strings in one piece, and where each ends.
fn names<'py>(py: Python<'py>, names: &[Vec<u8>]) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyAny>)> {
    let (mut text, mut ends) = (Vec::new(), Vec::with_capacity(names.len()));
    for name in names {
        text.extend_from_slice(name);
        ends.push(text.len() as u64);
    }
    Ok((bytes(py, &text)?, column(py, ends)?))
}

/// The place of the string of each row among the strings in ascending order, and these strings.
fn labels<'py>(py: Python<'py>, (codes, strings): (Vec<i64>, Strings)) -> PyResult<Bound<'py, PyTuple>> {
    (column(py, codes)?, bytes(py, &strings.text)?, column(py, strings.ends)?).into_pyobject(py)
}

/// The images and objects of Pascal VOC's XML files.
#[pyfunction]
pub fn read_voc_annotations<'py>(
    py: Python<'py>,
    paths: Paths,
    narrowest: f64,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let found = read_files(py, &paths.0, |paths, first| voc::read(paths, first, narrowest, threads))?;
    check_readable(&paths.0, found.unreadable)?;
    let dict = PyDict::new(py);
    dict.set_item("names", attached(|| names(py, &found.names))?)?;
    dict.set_item("sizes", table(py, found.sizes)?)?;
    dict.set_item("good", column(py, found.good)?)?;
    dict.set_item("files", column(py, found.files)?)?;
    dict.set_item("lines", column(py, found.lines)?)?;
    dict.set_item("classes", attached(|| labels(py, found.classes.sorted()))?)?;
    dict.set_item("poses", attached(|| labels(py, found.poses.sorted()))?)?;
    dict.set_item("corners", table(py, found.corners)?)?;
    dict.set_item("flags", table(py, found.flags)?)?;
    dict.set_item("bad_files", problems(found.bad_files))?;
    dict.set_item("bad_objects", problems(found.bad_objects))?;
    Ok(dict)
}

/// Columns of a CSV file, by their positions and whether they have numbers, and the line at which each row ends.
#[pyfunction]
pub fn read_csv<'py>(
    py: Python<'py>,
    path: PathBuf,
    fields: usize,
    delimiter: u8,
    header: bool,
    chosen: std::vec::Vec<(usize, bool)>,
    threads: usize,
) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyAny>)> {
    let kinds = kinds(&chosen);
    let read = detached(py, || csv::read(&path, Choice { fields, delimiter, header, columns: &kinds }, threads))?;
    csv_columns(py, &path, read)
}

/// What [`read_csv`] reads, of rows in memory with `lines` lines before them; `path` is named in messages.
#[pyfunction]
pub fn read_csv_rows<'py>(
    py: Python<'py>,
    path: PathBuf,
    text: &[u8],
    lines: usize,
    shape: (usize, u8, bool),
    chosen: std::vec::Vec<(usize, bool)>,
) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyAny>)> {
    let kinds = kinds(&chosen);
    let (fields, delimiter, header) = shape;
    let choice = Choice { fields, delimiter, header, columns: &kinds };
    let read = detached(py, || {
        let mut table = csv::read_rows(text, lines == 0, choice, 1).map_err(|error| match error {
            NoTable::Invalid(problem) => NoTable::Invalid(Problem { line: problem.line + lines, ..problem }),
            error => error,
        })?;
        table.lines.iter_mut().for_each(|line| *line += lines as i64);
        Ok(table)
    })?;
    csv_columns(py, &path, read)
}

/// (P, 2) the byte at which each part of about `bytes` of a CSV file starts and the lines before it; and the rows.
#[pyfunction]
pub fn find_csv_parts<'py>(
    py: Python<'py>,
    path: PathBuf,
    delimiter: u8,
    bytes: u64,
) -> PyResult<(Bound<'py, PyAny>, u64)> {
    let found = detached(py, || csv::find_parts(&path, delimiter, bytes))?;
    let found = found.map_err(|error| read_error(&path, ReadError::Io(error)))?;
    Ok((table(py, found.starts)?, found.rows))
}

fn kinds(chosen: &[(usize, bool)]) -> Vec<(usize, Kind)> {
    chosen.iter().map(|(place, number)| (*place, if *number { Kind::Number } else { Kind::Text })).collect()
}

fn csv_columns<'py>(
    py: Python<'py>,
    path: &Path,
    read: Result<csv::Table, NoTable>,
) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyAny>)> {
    let found = read.map_err(|error| {
        read_error(
            path,
            match error {
                NoTable::Io(error) => ReadError::Io(error),
                NoTable::Invalid(problem) => ReadError::Invalid(problem.to_string()),
            },
        )
    })?;
    let columns = PyList::empty(py);
    for one in found.columns {
        match one {
            csv::Column::Text(codes, names) => columns.append(labels(py, (codes, names))?)?,
            csv::Column::Number(numbers) => columns.append(column(py, numbers)?)?,
        }
    }
    Ok((columns, column(py, found.lines)?))
}
