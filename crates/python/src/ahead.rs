//! COCO files that are read before anyone asks for them.
//!
//! The first evaluation of a process waits for imports, by one thread. Meanwhile, another thread can read its files. What
//! it reads is a guess: whoever asks for the same file with the same options gets it, and all others read for
//! themselves. So nothing depends on the guess but the time.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::Builder;

use ioukit_core::coco::{self, Detections, Dialect, GroundTruth, Keypoints, OnInvalid, ReadError, Source};
use ioukit_core::ending::{EVERY, ask, endable};
use ioukit_core::memory::Vec;
use ioukit_core::threads::with_threads;
use pyo3::prelude::*;

use crate::detached::detached;

/// Two files of together so many bytes are read by one thread. That takes less time than the imports, and leaves them a
/// core of their own.
const SMALL: u64 = 32 << 20;

/// The array of the records of a file of detections.
const DETECTIONS: &str = "detections";

/// A file that another thread reads, unless this is dropped before.
struct Reading<T> {
    path: PathBuf,
    result: Option<Receiver<Result<T, ReadError>>>,
    given_up: Arc<AtomicBool>,
}

impl<T: Send> Reading<T> {
    /// A file to read, and the work of the thread that reads it.
    fn new(
        path: PathBuf,
        read: impl FnOnce(&Source) -> Result<T, ReadError> + Send,
    ) -> (Self, impl FnOnce() -> Option<()> + Send) {
        let given_up = Arc::new(AtomicBool::new(false));
        let source = coco::open_until(&path, given_up.clone());
        let (done, result) = channel();
        // Nobody may wait any more.
        let work = move || {
            // Memory that ends here ends nothing else: the caller reads for itself.
            let read = endable(|| false, || source.and_then(|source| read(&source))).ok()?;
            done.send(read).ok()
        };
        (Self { path, result: Some(result), given_up }, work)
    }

    /// What was read. A file that could not be read is left to the caller, who finds the same error.
    fn finish(mut self, py: Python<'_>) -> PyResult<Option<T>> {
        let Some(result) = self.result.take() else { return Ok(None) };
        let wait = move || {
            loop {
                match result.recv_timeout(EVERY) {
                    Err(RecvTimeoutError::Timeout) => ask(),
                    result => return result.ok()?.ok(),
                }
            }
        };
        detached(py, wait)
    }
}

impl<T> Drop for Reading<T> {
    fn drop(&mut self) {
        self.given_up.store(true, Ordering::Relaxed);
    }
}

/// Keypoints of detections that have no boxes: whoever reads such detections asks for them next.
struct Points {
    spans: Vec<[u64; 2]>,
    /// As `read_keypoints` returns them.
    values: (Vec<f64>, usize),
}

/// The files of an evaluation.
struct Ahead {
    ground_truth: Option<Reading<GroundTruth>>,
    detections: Option<Reading<Detections>>,
    keypoints: Option<Reading<Option<Points>>>,
}

thread_local! {
    // Per thread: what another thread began to read may be older than the file is now.
    static AHEAD: RefCell<Option<Ahead>> = const { RefCell::new(None) };
}

/// Starts to read two files as COCO's, until `stop_reading_ahead`. Nothing happens if one is not a regular file.
#[pyfunction]
pub fn read_coco_ahead(ground_truth: PathBuf, detections: PathBuf) {
    AHEAD.set(start(ground_truth, detections));
}

/// Stops reading what nobody asked for.
#[pyfunction]
pub fn stop_reading_ahead() {
    AHEAD.set(None);
}

fn start(ground_truth: PathBuf, detections: PathBuf) -> Option<Ahead> {
    let length = |path: &Path| path.metadata().ok().filter(std::fs::Metadata::is_file).map(|about| about.len());
    let bytes = length(&ground_truth)? + length(&detections)?;
    let threads = usize::from(bytes <= SMALL);
    let (ground_truth, read_first) = Reading::new(ground_truth, move |source| {
        coco::read_ground_truth(source, OnInvalid::Error, Dialect::Coco, threads)
    });
    let (tell, told) = channel::<Vec<[u64; 2]>>();
    let points_of = detections.clone();
    let (detections, read_second) = Reading::new(detections, move |source| {
        let found = coco::read_detections(source, OnInvalid::Error, false, threads)?;
        if !found.without_box.is_empty() && found.segmentations.0.is_empty() {
            tell.send(found.keypoints.0.iter().copied().collect()).ok();
        }
        Ok(found)
    });
    let (keypoints, read_third) = Reading::new(points_of, move |source| {
        let Ok(spans) = told.recv() else { return Ok(None) }; // they have boxes
        let records: Vec<i64> = (0..spans.len() as i64).collect();
        let keypoints = Keypoints { array: DETECTIONS, records: &records, spans: &spans, points: None };
        let values = coco::read_keypoints(source, keypoints, threads)?;
        Ok(Some(Points { spans, values }))
    });
    // One after the other, in the order in which they are asked for.
    let work = move || (read_first(), read_second(), read_third());
    Builder::new().spawn(move || with_threads(threads, work)).ok()?;
    Some(Ahead { ground_truth: Some(ground_truth), detections: Some(detections), keypoints: Some(keypoints) })
}

/// The ground truth of a file, if it has been read ahead with these options.
pub fn ground_truth(
    py: Python<'_>,
    path: &Path,
    on_invalid: OnInvalid,
    dialect: Dialect,
) -> PyResult<Option<GroundTruth>> {
    let is_usual = on_invalid == OnInvalid::Error && dialect == Dialect::Coco;
    finished(py, taken(path, |ahead| &mut ahead.ground_truth).filter(|_| is_usual))
}

/// The detections of a file, if they have been read ahead with these options.
pub fn detections(py: Python<'_>, path: &Path, on_invalid: OnInvalid, lines: bool) -> PyResult<Option<Detections>> {
    let is_usual = on_invalid == OnInvalid::Error && !lines;
    finished(py, taken(path, |ahead| &mut ahead.detections).filter(|_| is_usual))
}

/// The keypoints of a file, if they have been read ahead for these records.
pub fn keypoints(py: Python<'_>, path: &Path, asked: Keypoints<'_>) -> PyResult<Option<(Vec<f64>, usize)>> {
    let reading = if asked.array == DETECTIONS { taken(path, |ahead| &mut ahead.keypoints) } else { None };
    let found = finished(py, reading)?.flatten();
    let is_asked =
        |read: &Points| read.spans[..] == *asked.spans && asked.points.is_none_or(|points| points == read.values.1);
    Ok(found.filter(is_asked).map(|read| read.values))
}

fn finished<T: Send>(py: Python<'_>, reading: Option<Reading<T>>) -> PyResult<Option<T>> {
    reading.map_or(Ok(None), |reading| reading.finish(py))
}

fn taken<T>(path: &Path, of: impl FnOnce(&mut Ahead) -> &mut Option<Reading<T>>) -> Option<Reading<T>> {
    AHEAD.with_borrow_mut(|ahead| of(ahead.as_mut()?).take_if(|reading| reading.path == path))
}
