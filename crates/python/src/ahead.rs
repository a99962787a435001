//! COCO files that are read before anyone asks for them.
//!
//! The first evaluation of a process waits for imports, by one thread. Meanwhile, another thread can read its files. What
//! it reads is a guess: whoever asks for the same file with the same options gets it, and all others read for
//! themselves. So nothing depends on the guess but the time.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::Builder;

use ioukit_core::coco::{
    self, Detections, Dialect, FirstMasks, GroundTruth, IdIndex, Keypoints, OnInvalid, ReadError, Segmentations, Source,
};
use ioukit_core::ending::{EVERY, ask, endable};
use ioukit_core::memory::{Vec, filled};
use ioukit_core::threads::with_threads;
use pyo3::prelude::*;

use crate::detached::detached;

/// Two files of together so many bytes are read by one thread. That takes less time than the imports, and leaves them a
/// core of their own.
const SMALL: u64 = 32 << 20;

/// The arrays of the records of both files.
const OBJECTS: &str = "annotations";
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

    /// What was read until now, of what can be read in part.
    fn stop(self, py: Python<'_>) -> PyResult<Option<T>> {
        self.given_up.store(true, Ordering::Relaxed);
        self.finish(py)
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

/// The first masks of a file: as many as there was time for.
struct Masks {
    spans: Vec<[u64; 2]>,
    /// Width and height of the image of each; empty if they were not known, and none was drawn as polygons.
    image_sizes: Vec<[f64; 2]>,
    first: FirstMasks,
}

/// Where the masks of a file are, for the work that reads them.
struct MasksToRead {
    array: &'static str,
    spans: Vec<[u64; 2]>,
    image_sizes: Vec<[f64; 2]>,
}

impl MasksToRead {
    fn of_objects(found: &GroundTruth) -> Option<Self> {
        let (images, annotations) = (IdIndex::new(&found.images.ids), &found.annotations);
        let size = |&id: &i64| images.position(id).map(|row| found.images.sizes[row as usize]);
        let image_sizes = annotations.image_ids.iter().map(size).collect::<Option<_>>()?;
        Some(Self { array: OBJECTS, spans: annotations.segmentations.0.clone(), image_sizes })
    }

    fn of_detections(found: &Detections) -> Self {
        Self { array: DETECTIONS, spans: found.segmentations.0.clone(), image_sizes: Vec::new() }
    }

    fn read(self, source: &Source) -> Masks {
        let Self { array, spans, image_sizes } = self;
        let records: Vec<i64> = (0..spans.len() as i64).collect();
        let unknown: Vec<[f64; 2]> =
            if image_sizes.is_empty() { filled([f64::NAN; 2], spans.len()) } else { Vec::new() };
        let sizes = if image_sizes.is_empty() { &unknown } else { &image_sizes };
        let segmentations = Segmentations { array, records: &records, spans: &spans, image_sizes: sizes };
        let first = coco::read_first_masks(source, segmentations);
        Masks { spans, image_sizes, first }
    }
}

/// Masks that are read if another work finds where they are.
type LaterMasks = Reading<Option<Masks>>;

/// The reading of masks of a file, its work, and where that work is told what to read.
fn later_masks(path: PathBuf) -> (LaterMasks, impl FnOnce() -> Option<()> + Send, Sender<MasksToRead>) {
    let (tell, told) = channel::<MasksToRead>();
    let (reading, work) = Reading::new(path, move |source| Ok(told.recv().ok().map(|masks| masks.read(source))));
    (reading, work, tell)
}

/// The files of an evaluation.
struct Ahead {
    ground_truth: Option<Reading<GroundTruth>>,
    detections: Option<Reading<Detections>>,
    keypoints: Option<Reading<Option<Points>>>,
    masks_of_objects: Option<LaterMasks>,
    masks_of_detections: Option<LaterMasks>,
}

thread_local! {
    // Per thread: what another thread began to read may be older than the file is now.
    static AHEAD: RefCell<Option<Ahead>> = const { RefCell::new(None) };
}

/// Starts to read two files as COCO's, until `stop_reading_ahead`, and their masks if they are going to be compared.
/// Nothing happens if one is not a regular file.
#[pyfunction]
pub fn read_coco_ahead(ground_truth: PathBuf, detections: PathBuf, masks: bool) {
    AHEAD.set(start(ground_truth, detections, masks));
}

/// Stops reading what nobody asked for.
#[pyfunction]
pub fn stop_reading_ahead() {
    AHEAD.set(None);
}

fn start(ground_truth: PathBuf, detections: PathBuf, masks: bool) -> Option<Ahead> {
    let length = |path: &Path| path.metadata().ok().filter(std::fs::Metadata::is_file).map(|about| about.len());
    let bytes = length(&ground_truth)? + length(&detections)?;
    let threads = usize::from(bytes <= SMALL);
    let (masks_of_objects, draw, tell_objects) = later_masks(ground_truth.clone());
    let (masks_of_detections, decode, tell_detections) = later_masks(detections.clone());
    let (ground_truth, read_first) = Reading::new(ground_truth, move |source| {
        let found = coco::read_ground_truth(source, OnInvalid::Error, Dialect::Coco, threads)?;
        if masks && let Some(masks) = MasksToRead::of_objects(&found) {
            tell_objects.send(masks).ok();
        }
        Ok(found)
    });
    let (tell, told) = channel::<Vec<[u64; 2]>>();
    let points_of = detections.clone();
    let (detections, read_second) = Reading::new(detections, move |source| {
        let found = coco::read_detections(source, OnInvalid::Error, false, threads)?;
        if masks || !found.without_box.is_empty() && !found.segmentations.0.is_empty() {
            tell_detections.send(MasksToRead::of_detections(&found)).ok(); // boxes are taken from them, too
        } else if !found.without_box.is_empty() {
            tell.send(found.keypoints.0.clone()).ok();
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
    let work = move || (read_first(), read_second(), read_third(), decode(), draw());
    Builder::new().spawn(move || with_threads(threads, work)).ok()?;
    Some(Ahead {
        ground_truth: Some(ground_truth),
        detections: Some(detections),
        keypoints: Some(keypoints),
        masks_of_objects: Some(masks_of_objects),
        masks_of_detections: Some(masks_of_detections),
    })
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

/// The first masks of a file, if they have been read ahead for these records: none if not.
pub fn first_masks(py: Python<'_>, path: &Path, asked: Segmentations<'_>) -> PyResult<FirstMasks> {
    let reading = taken(path, |ahead| match asked.array {
        OBJECTS => &mut ahead.masks_of_objects,
        _ => &mut ahead.masks_of_detections,
    });
    let found = reading.map_or(Ok(None), |reading| reading.stop(py))?.flatten();
    let bits = |size: &[f64; 2]| size.map(f64::to_bits);
    let is_asked = |read: &Masks| {
        let sizes = &read.image_sizes;
        read.spans[..] == *asked.spans
            && (sizes.is_empty() || sizes.iter().map(bits).eq(asked.image_sizes.iter().map(bits)))
    };
    Ok(found.filter(is_asked).map(|read| read.first).unwrap_or_default())
}

fn finished<T: Send>(py: Python<'_>, reading: Option<Reading<T>>) -> PyResult<Option<T>> {
    reading.map_or(Ok(None), |reading| reading.finish(py))
}

fn taken<T>(path: &Path, of: impl FnOnce(&mut Ahead) -> &mut Option<Reading<T>>) -> Option<Reading<T>> {
    AHEAD.with_borrow_mut(|ahead| of(ahead.as_mut()?).take_if(|reading| reading.path == path))
}
