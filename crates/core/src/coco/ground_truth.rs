//! A COCO annotation file: images, categories and annotations.
//!
//! Each record goes straight into columns; no document is built. Segmentations are kept as places in the file and read
//! when they are asked for. Checks that need one record alone are here; ids that must differ or be known are compared
//! when all records are there (`references`). Every message says record and field.

use std::any::Any;

use super::fields::{self, Slot, box_problem, crowd_of_pycocotools, flag, four, integers, text};
use super::lists::IdLists;
use super::mistaken;
use super::spans::{FURTHER_OF_IMAGES, FURTHER_OF_REGIONS, Further, Spans};
use super::{EMPTY, OnInvalid, Problem, ReadError, refuse_mark};
use crate::json::{Cursor, Records, Source, Stream, SyntaxError};
use crate::memory::{Vec, copied, owned};
use crate::threads::with_threads;

/// Whose members the records have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// COCO's.
    Coco,
    /// LVIS's: images list categories, categories have a frequency, annotations may be ignored and have no `iscrowd`.
    Lvis,
}

/// How records are read.
#[derive(Clone, Copy)]
struct Reading {
    on_invalid: OnInvalid,
    dialect: Dialect,
}

/// Strings one behind the other.
#[derive(Debug, Default)]
pub struct Names {
    /// All of them in UTF-8 (lone surrogates in three bytes).
    pub bytes: Vec<u8>,
    /// Where each ends.
    pub ends: Vec<u64>,
}

impl Names {
    fn push(&mut self, name: &[u8]) {
        self.bytes.extend_from_slice(name);
        self.ends.push(self.bytes.len() as u64);
    }

    fn append(&mut self, other: &mut Self) {
        let shift = self.bytes.len() as u64;
        self.bytes.append(&mut other.bytes);
        self.ends.extend(other.ends.drain(..).map(|end| end + shift));
    }
}

/// One row an image, in the order of the file.
#[derive(Debug, Default)]
pub struct Images {
    /// Their ids.
    pub ids: Vec<i64>,
    /// Width and height in pixels, NaN where the file does not say.
    pub sizes: Vec<[f64; 2]>,
    /// `file_name`, empty where the file does not say; LVIS's files may have the end of `coco_url` instead.
    pub names: Names,
    /// `neg_category_ids`, for LVIS alone.
    pub negative: IdLists,
    /// `not_exhaustive_category_ids`, for LVIS alone.
    pub not_exhaustive: IdLists,
    /// Where the members are that become attributes.
    pub further: Further<4>,
}

/// One row a category, in the order of the file.
#[derive(Debug, Default)]
pub struct Categories {
    /// Their ids.
    pub ids: Vec<i64>,
    /// Their names; the id in digits where the file does not say.
    pub names: Names,
    /// `frequency`, empty where the file does not say; for LVIS alone.
    pub frequency: Names,
}

/// One row an annotation, in the order of the file.
#[derive(Debug, Default)]
pub struct Annotations {
    /// Their ids.
    pub ids: Vec<i64>,
    /// The image of each.
    pub image_ids: Vec<i64>,
    /// The category of each.
    pub category_ids: Vec<i64>,
    /// `[x, y, width, height]` as the file has it.
    pub boxes: Vec<[f64; 4]>,
    /// `area` as the file has it; 0 where it does not say.
    pub areas: Vec<f64>,
    /// The rows without `area`.
    pub without_area: Vec<usize>,
    /// `iscrowd`; false where the file does not say.
    pub crowd: Vec<bool>,
    /// How many rows have no `iscrowd`.
    pub without_crowd: usize,
    /// `ignore`, for LVIS alone.
    pub ignore: Vec<bool>,
    /// Where `segmentation` is.
    pub segmentations: Spans,
    /// Where `keypoints` is.
    pub keypoints: Spans,
    /// Where the members are that become attributes.
    pub further: Further<3>,
    /// `num_keypoints`, -1 where a record has none; empty if no record has one.
    pub num_keypoints: Vec<i64>,
}

/// The columns of an annotation file.
#[derive(Debug, Default)]
pub struct GroundTruth {
    /// The images listed.
    pub images: Images,
    /// The categories listed.
    pub categories: Categories,
    /// The annotations.
    pub annotations: Annotations,
    /// Where `videos` is; the same place twice if the file has none.
    pub videos: [u64; 2],
    /// Records left out.
    pub dropped: usize,
}

/// What a record lacks: field, what is expected there, what came.
type Lack = (&'static str, &'static str, String);

/// The rows of one kind of record: how one is read, and how rows are joined.
trait Table: Default + Send + 'static {
    const ARRAY: &'static str;

    /// Reads the members of an object whose brace is taken and that is not empty, then keeps them as a row.
    fn take(&mut self, members: Members<'_, '_>, reading: Reading) -> Result<Result<(), Lack>, Box<SyntaxError>>;

    fn append(&mut self, other: &mut Self);
}

/// The members of an object, one after the other.
struct Members<'c, 't> {
    cursor: &'c mut Cursor<'t>,
    more: bool,
}

impl<'t> Members<'_, 't> {
    /// Calls `member` at each value with its key.
    #[inline]
    fn each(
        self,
        mut member: impl FnMut(&[u8], &mut Cursor<'t>) -> Result<(), Box<SyntaxError>>,
    ) -> Result<(), Box<SyntaxError>> {
        let mut more = self.more;
        while more {
            let key = self.cursor.key()?;
            member(&key, self.cursor).map_err(|error| error.within(&key))?;
            more = self.cursor.more(b'}')?;
        }
        Ok(())
    }
}

/// The place of a key in a list.
fn place_among(names: &[&str], key: &[u8]) -> Option<usize> {
    names.iter().position(|name| name.as_bytes() == key)
}

/// See [`fields::integer`]. One function for all members: a ground truth has fewer records than a file of detections.
fn integer(cursor: &mut Cursor<'_>) -> Result<Slot<i64>, Box<SyntaxError>> {
    fields::integer(cursor)
}

/// See [`fields::real`].
fn real(cursor: &mut Cursor<'_>) -> Result<Slot<f64>, Box<SyntaxError>> {
    fields::real(cursor)
}

impl Table for Images {
    const ARRAY: &'static str = "images";

    fn take(&mut self, members: Members<'_, '_>, reading: Reading) -> Result<Result<(), Lack>, Box<SyntaxError>> {
        let mut id = Slot::Missing;
        let (mut width, mut height, mut name) = (Slot::Missing, Slot::Missing, Slot::Missing);
        let (mut url, mut negative, mut not_exhaustive) = (Slot::Missing, Slot::Missing, Slot::Missing);
        let mut further = [[0, 0]; 4];
        let lvis = reading.dialect == Dialect::Lvis;
        members.each(|key, cursor| {
            match key {
                b"id" => id = integer(cursor)?,
                b"width" => width = real(cursor)?,
                b"height" => height = real(cursor)?,
                b"file_name" => name = text(cursor)?,
                b"coco_url" if lvis => url = text(cursor)?,
                b"neg_category_ids" if lvis => negative = integers(cursor)?,
                b"not_exhaustive_category_ids" if lvis => not_exhaustive = integers(cursor)?,
                _ => match place_among(&FURTHER_OF_IMAGES, key) {
                    Some(place) => further[place] = cursor.span()?,
                    None => cursor.skip()?,
                },
            }
            Ok(())
        })?;
        let row = || {
            let id = id.get().map_err(|found| ("id", "an integer", found))?;
            let mut name = name.ok().unwrap_or_default();
            if lvis {
                const LIST: &str = "a list of ids of categories";
                let negative = negative.get().map_err(|found| ("neg_category_ids", LIST, found))?;
                let open = not_exhaustive.get().map_err(|found| ("not_exhaustive_category_ids", LIST, found))?;
                self.negative.push(&negative);
                self.not_exhaustive.push(&open);
                if let (true, Some(url)) = (name.is_empty(), url.ok()) {
                    name = copied(url.rsplit(|&byte| byte == b'/').next().unwrap_or_default());
                }
            }
            self.further.push(self.ids.len(), &further);
            self.ids.push(id);
            self.sizes.push([width.ok().unwrap_or(f64::NAN), height.ok().unwrap_or(f64::NAN)]);
            self.names.push(&name);
            Ok(())
        };
        Ok(row())
    }

    fn append(&mut self, other: &mut Self) {
        self.further.append(self.ids.len(), &mut other.further, other.ids.len());
        self.negative.append(&mut other.negative);
        self.not_exhaustive.append(&mut other.not_exhaustive);
        self.ids.append(&mut other.ids);
        self.sizes.append(&mut other.sizes);
        self.names.append(&mut other.names);
    }
}

impl Table for Categories {
    const ARRAY: &'static str = "categories";

    fn take(&mut self, members: Members<'_, '_>, reading: Reading) -> Result<Result<(), Lack>, Box<SyntaxError>> {
        let (mut id, mut name, mut frequency) = (Slot::Missing, Slot::Missing, Slot::Missing);
        let lvis = reading.dialect == Dialect::Lvis;
        members.each(|key, cursor| {
            match key {
                b"id" => id = integer(cursor)?,
                b"name" => name = text(cursor)?,
                b"frequency" if lvis => frequency = text(cursor)?,
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        Ok(id.get().map_err(|found| ("id", "an integer", found)).map(|id| {
            self.ids.push(id);
            self.names.push(&name.ok().unwrap_or_else(|| id.to_string().into_bytes().into()));
            if lvis {
                self.frequency.push(&frequency.ok().unwrap_or_default());
            }
        }))
    }

    fn append(&mut self, other: &mut Self) {
        self.frequency.append(&mut other.frequency);
        self.ids.append(&mut other.ids);
        self.names.append(&mut other.names);
    }
}

/// Adds a count behind `rows` others; a column of nothing but -1 stays empty.
fn push_count(counts: &mut Vec<i64>, rows: usize, count: i64) {
    if count >= 0 && counts.is_empty() {
        counts.resize(rows, -1);
    }
    if count >= 0 || !counts.is_empty() {
        counts.push(count);
    }
}

impl Table for Annotations {
    const ARRAY: &'static str = "annotations";

    fn take(&mut self, members: Members<'_, '_>, reading: Reading) -> Result<Result<(), Lack>, Box<SyntaxError>> {
        let lvis = reading.dialect == Dialect::Lvis;
        let as_pycocotools = reading.on_invalid == OnInvalid::Pycocotools && !lvis;
        let (mut id, mut image_id, mut category_id) = (Slot::Missing, Slot::Missing, Slot::Missing);
        let (mut values, mut area, mut crowd) = (Slot::Missing, Slot::Missing, Slot::Missing);
        let (mut segmentation, mut keypoints, mut num_keypoints) = ([0, 0], [0, 0], Slot::Missing);
        let (mut ignore, mut further) = (Slot::Missing, [[0, 0]; 3]);
        members.each(|key, cursor| {
            match key {
                b"id" => id = integer(cursor)?,
                b"image_id" => image_id = integer(cursor)?,
                b"category_id" => category_id = integer(cursor)?,
                b"bbox" => values = four(cursor)?,
                b"area" => area = real(cursor)?,
                b"iscrowd" if as_pycocotools => crowd = crowd_of_pycocotools(cursor)?,
                b"iscrowd" => crowd = flag(cursor)?,
                b"ignore" if lvis => ignore = flag(cursor)?,
                b"segmentation" => segmentation = cursor.span()?,
                b"keypoints" => keypoints = cursor.span()?,
                b"num_keypoints" => num_keypoints = integer(cursor)?,
                _ => match place_among(&FURTHER_OF_REGIONS, key) {
                    Some(place) => further[place] = cursor.span()?,
                    None => cursor.skip()?,
                },
            }
            Ok(())
        })?;
        let row = || {
            let id = id.get().map_err(|found| ("id", "an integer", found))?;
            let image_id = image_id.get().map_err(|found| ("image_id", "an integer", found))?;
            let category_id = category_id.get().map_err(|found| ("category_id", "an integer", found))?;
            let values = values.get().map_err(|found| ("bbox", "4 numbers [x, y, width, height]", found))?;
            // pycocotools looks both up when it evaluates, and raises an error if they are missing.
            let may_lack = reading.on_invalid != OnInvalid::Pycocotools;
            let without_area = may_lack && area.is_missing();
            let area = if without_area { Ok(0.0) } else { area.get() };
            let area = area.map_err(|found| ("area", "a number", found))?;
            let without_crowd = (may_lack || lvis) && crowd.is_missing();
            let crowd = if without_crowd { Ok(false) } else { crowd.get() };
            let crowd = crowd.map_err(|found| ("iscrowd", "0 or 1", found))?;
            let ignore = if ignore.is_missing() { Ok(false) } else { ignore.get() };
            let ignore = ignore.map_err(|found| ("ignore", "0 or 1", found))?;
            if reading.on_invalid != OnInvalid::Pycocotools {
                if let Some((expected, found)) = box_problem(&values) {
                    return Err(("bbox", expected, found));
                }
                if area < 0.0 {
                    return Err(("area", "an area of at least 0", format!("{area:?}")));
                }
            }
            let rows = self.ids.len();
            self.segmentations.push(rows, segmentation);
            self.keypoints.push(rows, keypoints);
            self.further.push(rows, &further);
            push_count(&mut self.num_keypoints, rows, num_keypoints.ok().unwrap_or(-1));
            self.ids.push(id);
            self.image_ids.push(image_id);
            self.category_ids.push(category_id);
            self.boxes.push(values);
            self.areas.push(area);
            if without_area {
                self.without_area.push(rows);
            }
            self.crowd.push(crowd);
            self.without_crowd += usize::from(without_crowd && !lvis);
            if lvis {
                self.ignore.push(ignore);
            }
            Ok(())
        };
        Ok(row())
    }

    fn append(&mut self, other: &mut Self) {
        let (rows, other_rows) = (self.ids.len(), other.ids.len());
        self.segmentations.append(rows, &mut other.segmentations, other_rows);
        self.keypoints.append(rows, &mut other.keypoints, other_rows);
        self.further.append(rows, &mut other.further, other_rows);
        if self.num_keypoints.len() + other.num_keypoints.len() > 0 {
            self.num_keypoints.resize(rows, -1);
            other.num_keypoints.resize(other_rows, -1);
            self.num_keypoints.append(&mut other.num_keypoints);
        }
        self.without_area.extend(other.without_area.drain(..).map(|row| row + rows));
        self.without_crowd += std::mem::take(&mut other.without_crowd);
        self.ids.append(&mut other.ids);
        self.image_ids.append(&mut other.image_ids);
        self.category_ids.append(&mut other.category_ids);
        self.boxes.append(&mut other.boxes);
        self.areas.append(&mut other.areas);
        self.crowd.append(&mut other.crowd);
        self.ignore.append(&mut other.ignore);
    }
}

/// The records read, and the first of them that is invalid.
struct Piece<T> {
    reading: Reading,
    table: T,
    records: usize,
    dropped: usize,
    problem: Option<Problem>,
}

impl<T: Table> Records for Piece<T> {
    fn take(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Box<SyntaxError>> {
        let outcome = if cursor.peek() == Some(b'{') {
            let more = cursor.open(b'{', b'}')?;
            self.table.take(Members { cursor, more }, self.reading)?
        } else {
            cursor.skip()?;
            Err(("", "an object", "another value".into()))
        };
        let record = self.records;
        self.records += 1;
        if let Err((field, expected, found)) = outcome {
            self.dropped += 1;
            self.problem.get_or_insert(Problem { array: T::ARRAY, record, field, expected, found });
        }
        Ok(())
    }

    fn append(&mut self, other: &mut dyn Any) {
        let other: &mut Self = other.downcast_mut().expect("records of one kind");
        if let Some(problem) = other.problem.take() {
            self.problem.get_or_insert(Problem { record: self.records + problem.record, ..problem });
        }
        self.records += std::mem::take(&mut other.records);
        self.dropped += std::mem::take(&mut other.dropped);
        self.table.append(&mut other.table);
    }
}

/// Reads an annotation file by `threads` threads (0: all cores).
pub fn read_ground_truth(
    source: &Source,
    on_invalid: OnInvalid,
    dialect: Dialect,
    threads: usize,
) -> Result<GroundTruth, ReadError> {
    refuse_mark(source, on_invalid)?;
    with_threads(threads, || read(source, Reading { on_invalid, dialect }))
}

fn read(source: &Source, reading: Reading) -> Result<GroundTruth, ReadError> {
    let mut stream = Stream::new(source)?;
    let syntax = |error| ReadError::syntax(error, "");
    match stream.peek().map_err(syntax)? {
        Some(b'[') => {
            return Err(ReadError::Invalid(format!(
                "expected an object with images, categories and annotations, found {}",
                mistaken::array(source)
            )));
        }
        Some(b'{') => {}
        None if source.length() == 0 => return Err(ReadError::Invalid(EMPTY.into())),
        _ => return Err(ReadError::Invalid("expected an object with images, categories and annotations".into())),
    }
    let (mut images, mut categories, mut annotations, mut videos) = (None, None, None, [0, 0]);
    let mut more = stream.step(|cursor| cursor.open(b'{', b'}')).map_err(syntax)?;
    while more {
        let key = stream.step(|cursor| cursor.key().map(owned)).map_err(syntax)?;
        match key.as_slice() {
            b"images" => images = Some(array::<Images>(&mut stream, reading)?),
            b"categories" => categories = Some(array::<Categories>(&mut stream, reading)?),
            b"annotations" => annotations = Some(array::<Annotations>(&mut stream, reading)?),
            b"videos" => videos = stream.step(|cursor| cursor.span()).map_err(syntax)?,
            _ => stream.step(|cursor| cursor.skip()).map_err(syntax)?,
        }
        more = stream.step(|cursor| cursor.more(b'}')).map_err(syntax)?;
    }
    if stream.peek().map_err(syntax)?.is_some() {
        return Err(ReadError::Invalid(
            "expected the end of the file behind the object, found more (a JSON Lines file holds one object per line: \
             that is enough for detections, while ground truth is one object with images, categories and annotations)"
                .into(),
        ));
    }
    // The last of several arrays of the same name counts, and only its problems do.
    let mut dropped = 0;
    Ok(GroundTruth {
        images: complete(images, reading.on_invalid, &mut dropped)?,
        categories: complete(categories, reading.on_invalid, &mut dropped)?,
        annotations: complete(annotations, reading.on_invalid, &mut dropped)?,
        videos,
        dropped,
    })
}

/// An array, or `None` where another value stands in its place.
fn array<T: Table>(stream: &mut Stream<'_>, reading: Reading) -> Result<Option<Piece<T>>, ReadError> {
    let syntax = |error| ReadError::syntax(error, T::ARRAY);
    if stream.peek().map_err(syntax)? != Some(b'[') {
        stream.step(|cursor| cursor.skip()).map_err(syntax)?;
        return Ok(None);
    }
    let new = || Piece { reading, table: T::default(), records: 0, dropped: 0, problem: None };
    stream.array(new).map(Some).map_err(syntax)
}

/// The rows of an array, or what is wrong with it.
fn complete<T: Table>(
    found: Option<Option<Piece<T>>>,
    on_invalid: OnInvalid,
    dropped: &mut usize,
) -> Result<T, ReadError> {
    let found = found.ok_or("no such key").and_then(|found| found.ok_or("another value"));
    let piece = found.map_err(|found| ReadError::Invalid(format!("{}: expected an array, found {found}", T::ARRAY)))?;
    *dropped += piece.dropped;
    match piece.problem {
        Some(problem) if on_invalid != OnInvalid::Drop => Err(problem.into()),
        _ => Ok(piece.table),
    }
}
