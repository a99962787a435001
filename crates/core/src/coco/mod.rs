//! COCO files read straight into columns, and the checks that make a data set of them.
//!
//! `fields` reads one member of a record, `detections` and `ground_truth` whole files, `segmentations` and `keypoints`
//! what such a file says of regions other than boxes, `references` compares ids across records. Messages name record and
//! field; the caller knows the file and puts its name in front.

mod detections;
mod fields;
mod ground_truth;
mod keypoints;
mod lists;
mod mistaken;
mod open;
mod references;
mod segmentations;
mod spans;

use std::fmt;

pub use detections::{Detections, Part, Parts, find_parts, read_detections, read_part};
pub use fields::box_problem;
pub use ground_truth::{Annotations, Categories, Dialect, GroundTruth, Images, Names, read_ground_truth};
pub use keypoints::{Keypoints, read_keypoints};
pub use lists::IdLists;
pub use open::{Unpack, open, open_special, open_until};
pub use references::{IdIndex, known_rows, settle_annotations, unique_rows};
pub use segmentations::{FirstMasks, Segmentations, read_first_masks, read_mask_areas, read_masks};
pub use spans::{FURTHER_OF_IMAGES, FURTHER_OF_REGIONS, Further, Spans};

pub use crate::json::Source;
use crate::json::StreamError;

/// What to do with a record that the format does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnInvalid {
    /// Refuse the data set.
    Error,
    /// Leave the record out and count it.
    Drop,
    /// Do what pycocotools does where it gives a number, and refuse where it raises.
    Pycocotools,
}

/// A record that the format does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its array, `annotations` for example.
    pub array: &'static str,
    /// Its position there.
    pub record: usize,
    /// The member at fault; empty for the record itself.
    pub field: &'static str,
    /// What the format asks for.
    pub expected: &'static str,
    /// What came.
    pub found: String,
}

impl Problem {
    /// A record whose `image_id` or `category_id` nobody lists.
    pub fn unknown(array: &'static str, record: usize, field: &'static str, id: i64) -> Self {
        let expected = match field {
            "image_id" => "the id of an image of the ground truth",
            _ => "the id of a category of the ground truth",
        };
        Self { array, record, field, expected, found: id.to_string() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { array, record, field, expected, found } = self;
        let dot = if field.is_empty() { "" } else { "." };
        write!(f, "{array}[{record}]{dot}{field}: expected {expected}, found {found}")
    }
}

/// Why a file gave no columns.
#[derive(Debug)]
pub enum ReadError {
    /// The system could not read it.
    Io(std::io::Error),
    /// It is not what it should be; the message lacks only the name of the file.
    Invalid(String),
}

impl From<std::io::Error> for ReadError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Problem> for ReadError {
    fn from(problem: Problem) -> Self {
        Self::Invalid(problem.to_string())
    }
}

/// What is said of a file without a byte, unless it may have no lines.
const EMPTY: &str = "expected JSON in UTF-8, found an empty file";

/// Refuses a byte order mark where pycocotools does.
fn refuse_mark(source: &Source, on_invalid: OnInvalid) -> Result<(), ReadError> {
    if on_invalid == OnInvalid::Pycocotools && source.has_mark()? {
        let message = "expected JSON in UTF-8, found a byte order mark in front, which pycocotools does not read";
        return Err(ReadError::Invalid(message.into()));
    }
    Ok(())
}

impl ReadError {
    /// Words an error of the text itself; `array` is the one being read, empty outside of arrays.
    fn syntax(error: StreamError, array: &str) -> Self {
        match error {
            StreamError::Io(error) => Self::Io(error),
            StreamError::Syntax { error, element } => {
                let dot = if error.field.is_empty() { "" } else { "." };
                let place = match element {
                    Some(element) => format!("{array}[{element}]{dot}{}: ", error.field),
                    None if array.is_empty() => String::new(),
                    None => format!("{array}: "),
                };
                Self::Invalid(format!("{place}not valid JSON at byte {}: {}", error.at, error.what))
            }
        }
    }
}
