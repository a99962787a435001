//! A COCO results file: an array of detections.

use std::path::Path;

use super::fields::{Slot, box_problem, four, integer, real};
use super::open::open;
use super::{OnInvalid, Problem, ReadError};
use crate::json::{CHUNK, Cursor, Records, Stream, SyntaxError};
use crate::threads::{join, with_threads};

const ARRAY: &str = "detections";

/// The columns of a results file, one row a detection in the order of the file.
#[derive(Debug, Default)]
pub struct Detections {
    /// The image of each.
    pub image_ids: Vec<i64>,
    /// The category of each.
    pub category_ids: Vec<i64>,
    /// `[x, y, width, height]` as the file has it.
    pub boxes: Vec<[f64; 4]>,
    /// The confidence of each.
    pub scores: Vec<f64>,
    /// First byte and byte behind the value of `segmentation`, the same twice where there is none; empty if no record
    /// has one.
    pub segmentations: Vec<[u64; 2]>,
    /// Records left out.
    pub dropped: usize,
}

impl Detections {
    fn with_capacity(rows: usize) -> Self {
        Self {
            image_ids: Vec::with_capacity(rows),
            category_ids: Vec::with_capacity(rows),
            boxes: Vec::with_capacity(rows),
            scores: Vec::with_capacity(rows),
            ..Self::default()
        }
    }
}

struct Piece {
    on_invalid: OnInvalid,
    columns: Detections,
    records: usize,
    problem: Option<Problem>,
}

impl Records for Piece {
    #[inline]
    fn take(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Box<SyntaxError>> {
        let (mut image_id, mut category_id) = (Slot::Missing, Slot::Missing);
        let (mut values, mut score) = (Slot::Missing, Slot::Missing);
        let mut segmentation = [0, 0];
        let is_object = cursor.peek() == Some(b'{');
        if is_object {
            let mut more = cursor.open(b'{', b'}')?;
            while more {
                match cursor.key_among(&["image_id", "category_id", "bbox", "score", "segmentation"])? {
                    0 => image_id = integer(cursor)?,
                    1 => category_id = integer(cursor)?,
                    2 => values = four(cursor)?,
                    3 => score = real(cursor)?,
                    4 => segmentation = cursor.span()?,
                    _ => cursor.skip()?,
                }
                more = cursor.more(b'}')?;
            }
        } else {
            cursor.skip()?;
        }
        let record = self.records;
        self.records += 1;
        let row = || -> Result<_, (&'static str, &'static str, String)> {
            if !is_object {
                return Err(("", "an object", "another value".into()));
            }
            let values = values.get().map_err(|found| ("bbox", "4 numbers [x, y, width, height]", found))?;
            if let (Some((expected, found)), false) = (box_problem(&values), self.on_invalid == OnInvalid::Pycocotools)
            {
                return Err(("bbox", expected, found));
            }
            Ok((
                image_id.get().map_err(|found| ("image_id", "an integer", found))?,
                category_id.get().map_err(|found| ("category_id", "an integer", found))?,
                values,
                score.get().map_err(|found| ("score", "a number", found))?,
            ))
        };
        match row() {
            Ok((image_id, category_id, values, score)) => {
                let columns = &mut self.columns;
                if segmentation[1] > 0 && columns.segmentations.is_empty() {
                    columns.segmentations.resize(columns.image_ids.len(), [0, 0]);
                }
                if segmentation[1] > 0 || !columns.segmentations.is_empty() {
                    columns.segmentations.push(segmentation);
                }
                columns.image_ids.push(image_id);
                columns.category_ids.push(category_id);
                columns.boxes.push(values);
                columns.scores.push(score);
            }
            Err((field, expected, found)) => {
                self.columns.dropped += 1;
                self.problem.get_or_insert(Problem { array: ARRAY, record, field, expected, found });
            }
        }
        Ok(())
    }
}

/// Reads a results file by `threads` threads (0: all cores).
pub fn read_detections(path: &Path, on_invalid: OnInvalid, threads: usize) -> Result<Detections, ReadError> {
    with_threads(threads, || read(path, on_invalid))
}

fn read(path: &Path, on_invalid: OnInvalid) -> Result<Detections, ReadError> {
    let source = open(path)?;
    let mut stream = Stream::new(&source)?;
    let syntax = |error| ReadError::syntax(error, ARRAY);
    match stream.peek().map_err(syntax)? {
        Some(b'{') => {
            return Err(ReadError::Invalid(
                "expected an array of detections, found an object (a ground truth? are the two files swapped?)".into(),
            ));
        }
        Some(b'[') => {}
        _ => return Err(ReadError::Invalid("expected an array of detections, found something else".into())),
    }
    // Records have about 100 bytes or more; room that is not used costs nothing.
    let new =
        || Piece { on_invalid, columns: Detections::with_capacity(CHUNK as usize / 128), records: 0, problem: None };
    let pieces = stream.array(new).map_err(syntax)?;
    if stream.peek().map_err(syntax)?.is_some() {
        return Err(ReadError::Invalid(
            "expected the end of the file behind the array of detections, found more".into(),
        ));
    }
    if on_invalid != OnInvalid::Drop {
        let mut records = 0;
        for piece in &pieces {
            if let Some(problem) = &piece.problem {
                return Err(Problem { record: records + problem.record, ..problem.clone() }.into());
            }
            records += piece.records;
        }
    }
    Ok(concatenate(pieces))
}

/// Joins the pieces, the boxes beside the other columns, and frees each as it goes.
fn concatenate(pieces: Vec<Piece>) -> Detections {
    let rows = pieces.iter().map(|piece| piece.columns.scores.len()).sum();
    let segmented = pieces.iter().any(|piece| !piece.columns.segmentations.is_empty());
    let (boxes, pieces): (Vec<_>, Vec<_>) = pieces
        .into_iter()
        .map(|piece| {
            let mut columns = piece.columns;
            (std::mem::take(&mut columns.boxes), columns)
        })
        .unzip();
    let (boxes, mut all) = join(
        || {
            let mut all = Vec::with_capacity(rows);
            boxes.into_iter().for_each(|boxes| all.extend(boxes));
            all
        },
        || {
            let mut all = Detections { boxes: Vec::new(), ..Detections::with_capacity(rows) };
            for columns in pieces {
                all.image_ids.extend(columns.image_ids);
                all.category_ids.extend(columns.category_ids);
                all.scores.extend(columns.scores);
                all.segmentations.extend(columns.segmentations);
                if segmented {
                    all.segmentations.resize(all.scores.len(), [0, 0]);
                }
                all.dropped += columns.dropped;
            }
            all
        },
    );
    all.boxes = boxes;
    all
}
