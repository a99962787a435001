//! A COCO results file: an array of detections, or one detection per line.

use std::any::Any;

use super::fields::{Slot, box_problem, four, integer, real};
use super::mistaken;
use super::spans::{Further, Spans};
use super::{EMPTY, OnInvalid, Problem, ReadError, refuse_mark};
use crate::json::{Cursor, Records, Source, Stream, SyntaxError};
use crate::memory::{Vec, vec};
use crate::threads::with_threads;

const ARRAY: &str = "detections";

/// The members that are read; those behind `keypoints` are [`FURTHER_OF_REGIONS`](super::FURTHER_OF_REGIONS).
const MEMBERS: [&str; 9] =
    ["image_id", "category_id", "bbox", "score", "segmentation", "keypoints", "attributes", "track_id", "instance_id"];

/// The columns of a results file, one row a detection in the order of the file.
#[derive(Debug, Default)]
pub struct Detections {
    /// The image of each.
    pub image_ids: Vec<i64>,
    /// The category of each.
    pub category_ids: Vec<i64>,
    /// `[x, y, width, height]` as the file has it; NaN where a record has a mask or keypoints instead.
    pub boxes: Vec<[f64; 4]>,
    /// The confidence of each; NaN for all if the records have none.
    pub scores: Vec<f64>,
    /// Rows without a score; all or none of them.
    pub without_score: usize,
    /// Where `segmentation` is.
    pub segmentations: Spans,
    /// Where `keypoints` is.
    pub keypoints: Spans,
    /// Where the members are that become attributes.
    pub further: Further<3>,
    /// Rows without a box, if the first record of the file has a mask or keypoints instead of one.
    pub without_box: Vec<usize>,
    /// Records left out.
    pub dropped: usize,
}

impl Detections {
    fn append(&mut self, other: &mut Self) {
        let (rows, other_rows) = (self.scores.len(), other.scores.len());
        self.segmentations.append(rows, &mut other.segmentations, other_rows);
        self.keypoints.append(rows, &mut other.keypoints, other_rows);
        self.further.append(rows, &mut other.further, other_rows);
        self.without_box.extend(other.without_box.drain(..).map(|row| row + rows));
        self.image_ids.append(&mut other.image_ids);
        self.category_ids.append(&mut other.category_ids);
        self.boxes.append(&mut other.boxes);
        self.scores.append(&mut other.scores);
        self.without_score += std::mem::take(&mut other.without_score);
        self.dropped += std::mem::take(&mut other.dropped);
    }
}

impl Detections {
    /// Leaves out the rows without a box.
    fn drop_without_box(&mut self) {
        let mut keep = vec![true; self.scores.len()];
        let rows = std::mem::take(&mut self.without_box);
        rows.iter().for_each(|&row| keep[row] = false);
        self.keep(&keep);
    }

    /// Leaves out the rows without a score.
    fn drop_without_score(&mut self) {
        let keep: Vec<bool> = self.scores.iter().map(|score| !score.is_nan()).collect();
        let kept_before = |row: usize| keep[..row].iter().filter(|&&keep| keep).count();
        self.without_box = self.without_box.iter().filter(|&&row| keep[row]).map(|&row| kept_before(row)).collect();
        self.keep(&keep);
    }

    fn keep(&mut self, keep: &[bool]) {
        self.dropped += keep.iter().filter(|&&keep| !keep).count();
        retain(&mut self.image_ids, keep);
        retain(&mut self.category_ids, keep);
        retain(&mut self.boxes, keep);
        retain(&mut self.scores, keep);
        self.without_score = self.scores.iter().filter(|score| score.is_nan()).count();
        retain(&mut self.segmentations.0, keep);
        retain(&mut self.keypoints.0, keep);
        self.further.0.iter_mut().flatten().for_each(|spans| retain(&mut spans.0, keep));
    }
}

fn retain<T>(column: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    column.retain(|_| keep.next().is_none_or(|&keep| keep));
}

/// The records read, and the first of them that is invalid.
struct Piece {
    on_invalid: OnInvalid,
    columns: Detections,
    records: usize,
    problem: Option<Problem>,
    /// The first record that has a mask or keypoints instead of a box.
    first_without_box: Option<usize>,
    /// The first record without a score.
    first_without_score: Option<usize>,
}

impl Piece {
    fn new(on_invalid: OnInvalid) -> Self {
        Self {
            on_invalid,
            columns: Detections::default(),
            records: 0,
            problem: None,
            first_without_box: None,
            first_without_score: None,
        }
    }
}

const BOX: (&str, &str) = ("bbox", "4 numbers [x, y, width, height]");

impl Records for Piece {
    #[inline]
    fn take(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Box<SyntaxError>> {
        let (mut image_id, mut category_id) = (Slot::Missing, Slot::Missing);
        let (mut values, mut score) = (Slot::Missing, Slot::Missing);
        let (mut segmentation, mut keypoints, mut further) = ([0, 0], [0, 0], [[0, 0]; 3]);
        let is_object = cursor.peek() == Some(b'{');
        if is_object {
            let mut more = cursor.open(b'{', b'}')?;
            while more {
                let member = cursor.key_among(&MEMBERS)?;
                let read = match member {
                    0 => integer(cursor).map(|value| image_id = value),
                    1 => integer(cursor).map(|value| category_id = value),
                    2 => four(cursor).map(|value| values = value),
                    3 => real(cursor).map(|value| score = value),
                    4 => cursor.span().map(|value| segmentation = value),
                    5 => cursor.span().map(|value| keypoints = value),
                    6..9 => cursor.span().map(|value| further[member - 6] = value),
                    _ => cursor.skip(),
                };
                read.map_err(|error| error.within(MEMBERS.get(member).map_or(b"", |name| name.as_bytes())))?;
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
            let without_box = segmentation[1].max(keypoints[1]) > 0 && values.is_none();
            let values = match values.get() {
                _ if without_box => [f64::NAN; 4],
                Ok(values) => values,
                Err(found) => return Err((BOX.0, BOX.1, found)),
            };
            if let (Some((expected, found)), false) =
                (box_problem(&values), without_box || self.on_invalid == OnInvalid::Pycocotools)
            {
                return Err((BOX.0, expected, found));
            }
            Ok((
                without_box,
                image_id.get().map_err(|found| ("image_id", "an integer", found))?,
                category_id.get().map_err(|found| ("category_id", "an integer", found))?,
                values,
                match score {
                    Slot::Missing => f64::NAN,
                    Slot::Wrong(found) if found == "null" => f64::NAN,
                    score => score.get().map_err(|found| ("score", "a number", found))?,
                },
            ))
        };
        match row() {
            Ok((without_box, image_id, category_id, values, score)) => {
                let columns = &mut self.columns;
                if without_box {
                    columns.without_box.push(columns.image_ids.len());
                    self.first_without_box.get_or_insert(record);
                }
                if score.is_nan() {
                    columns.without_score += 1;
                    self.first_without_score.get_or_insert(record);
                }
                columns.segmentations.push(columns.image_ids.len(), segmentation);
                columns.keypoints.push(columns.image_ids.len(), keypoints);
                columns.further.push(columns.image_ids.len(), &further);
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

    fn append(&mut self, other: &mut dyn Any) {
        let other: &mut Self = other.downcast_mut().expect("records of one kind");
        if let Some(problem) = other.problem.take() {
            self.problem.get_or_insert(Problem { record: self.records + problem.record, ..problem });
        }
        if let Some(record) = other.first_without_box.take() {
            self.first_without_box.get_or_insert(self.records + record);
        }
        if let Some(record) = other.first_without_score.take() {
            self.first_without_score.get_or_insert(self.records + record);
        }
        self.records += std::mem::take(&mut other.records);
        self.columns.append(&mut other.columns);
    }
}

/// Reads a results file by `threads` threads (0: all cores). `lines` says that the file has a detection per line; a file
/// that plainly has is read so, too.
pub fn read_detections(
    source: &Source,
    on_invalid: OnInvalid,
    lines: bool,
    threads: usize,
) -> Result<Detections, ReadError> {
    refuse_mark(source, on_invalid)?;
    with_threads(threads, || read(source, on_invalid, lines))
}

/// Some records of a results file that follow one another, as [`find_parts`] found them.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The byte at which the first record starts.
    pub start: u64,
    /// Records that start at this byte or behind it are not read.
    pub end: u64,
    /// The position of the first record in the file.
    pub record: usize,
    /// Whether the first record of the file has a mask or keypoints instead of a box.
    pub without_boxes: bool,
}

/// Reads some records of a results file: the rows and the messages are those of the whole file.
pub fn read_part(
    source: &Source,
    on_invalid: OnInvalid,
    lines: bool,
    part: Part,
    threads: usize,
) -> Result<Detections, ReadError> {
    with_threads(threads, || {
        let mut stream = Stream::starting_at(source, part.start)?;
        let found = stream.elements(|| Piece::new(on_invalid), lines, part.end);
        let piece = found.map_err(|error| ReadError::syntax(error.behind(part.record as u64), ARRAY))?;
        settle(piece, on_invalid, part.record, part.without_boxes)
    })
}

/// Where the records of a results file are.
#[derive(Debug)]
pub struct Parts {
    /// Whether the file has a record per line.
    pub lines: bool,
    /// The byte and the position of the first record of each part.
    pub starts: Vec<[u64; 2]>,
    /// How many records there are.
    pub records: u64,
}

/// Walks over a results file, and finds a record to start with about every `bytes`. It keeps nothing else, and refuses a
/// file that is no JSON with the message of [`read_detections`].
pub fn find_parts(
    source: &Source,
    on_invalid: OnInvalid,
    lines: bool,
    bytes: u64,
    threads: usize,
) -> Result<Parts, ReadError> {
    refuse_mark(source, on_invalid)?;
    with_threads(threads, || {
        match walk(source, on_invalid, lines, || Starts { bytes, starts: Vec::new(), records: 0 }) {
            Ok((lines, found)) => Ok(Parts { lines, starts: found.starts, records: found.records }),
            // Reading the members of the records finds the same error, and names the member.
            Err(error) => {
                Err(walk(source, on_invalid, lines, || Checked(Piece::new(on_invalid))).err().unwrap_or(error))
            }
        }
    })
}

/// The first record of every part.
struct Starts {
    bytes: u64,
    starts: Vec<[u64; 2]>,
    records: u64,
}

impl Records for Starts {
    fn take(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Box<SyntaxError>> {
        cursor.peek();
        let start = cursor.offset();
        cursor.skip()?;
        if self.starts.last().is_none_or(|last| start - last[0] >= self.bytes) {
            self.starts.push([start, self.records]);
        }
        self.records += 1;
        Ok(())
    }

    fn append(&mut self, other: &mut dyn Any) {
        let other: &mut Self = other.downcast_mut().expect("records of one kind");
        for [start, record] in other.starts.drain(..) {
            if self.starts.last().is_none_or(|last| start - last[0] >= self.bytes) {
                self.starts.push([start, record + self.records]);
            }
        }
        self.records += std::mem::take(&mut other.records);
    }
}

/// Records that are read for their errors alone.
struct Checked(Piece);

impl Records for Checked {
    fn take(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Box<SyntaxError>> {
        self.0.take(cursor)
    }

    fn append(&mut self, other: &mut dyn Any) {
        let other: &mut Self = other.downcast_mut().expect("records of one kind");
        other.0 = Piece::new(self.0.on_invalid);
    }
}

fn read(source: &Source, on_invalid: OnInvalid, lines: bool) -> Result<Detections, ReadError> {
    let (_, piece) = walk(source, on_invalid, lines, || Piece::new(on_invalid))?;
    settle(piece, on_invalid, 0, false)
}

/// Takes all records of a file; and whether it has a record per line.
fn walk<R: Records>(
    source: &Source,
    on_invalid: OnInvalid,
    lines: bool,
    new: impl Fn() -> R + Sync,
) -> Result<(bool, R), ReadError> {
    let mut stream = Stream::new(source)?;
    let syntax = |error| ReadError::syntax(error, ARRAY);
    let first = stream.peek().map_err(syntax)?;
    let lines = match first {
        Some(b'[') => false,
        _ if lines => true,
        Some(b'{') if on_invalid != OnInvalid::Pycocotools && mistaken::is_lines(source) => true,
        Some(b'{') => {
            let found = mistaken::object(source);
            return Err(ReadError::Invalid(format!("expected an array of detections, found {found}")));
        }
        None if source.length() == 0 => return Err(ReadError::Invalid(EMPTY.into())),
        _ => return Err(ReadError::Invalid("expected an array of detections, found something else".into())),
    };
    let records = if lines { stream.lines(new) } else { stream.array(new) }.map_err(syntax)?;
    if stream.peek().map_err(syntax)?.is_some() {
        return Err(ReadError::Invalid(
            "expected the end of the file behind the array of detections, found more".into(),
        ));
    }
    Ok((lines, records))
}

/// The columns of records, the first of which is record `first` of the file, or the error about the first that is
/// invalid.
fn settle(piece: Piece, on_invalid: OnInvalid, first: usize, without_boxes: bool) -> Result<Detections, ReadError> {
    let Piece { mut columns, mut problem, first_without_box, first_without_score, .. } = piece;
    // As pycocotools has it, the first record decides whether the file holds boxes, or masks or keypoints alone.
    if let Some(record) = first_without_box.filter(|&record| first + record > 0 && !without_boxes) {
        let lacking = Problem { array: ARRAY, record, field: BOX.0, expected: BOX.1, found: "no such key".into() };
        problem = match problem {
            Some(earlier) if earlier.record < record => Some(earlier),
            _ => Some(lacking),
        };
        columns.drop_without_box();
    }
    // Detections have scores, or none has.
    let rows = columns.scores.len();
    if let Some(record) = first_without_score.filter(|_| columns.without_score < rows) {
        let found = format!("no score, as in {} of {rows} detections", columns.without_score);
        if problem.as_ref().is_none_or(|earlier| record < earlier.record) {
            problem = Some(Problem { array: ARRAY, record, field: "score", expected: "a number", found });
        }
        columns.drop_without_score();
    }
    match problem {
        Some(problem) if on_invalid != OnInvalid::Drop => {
            Err(Problem { record: first + problem.record, ..problem }.into())
        }
        _ => Ok(columns),
    }
}
