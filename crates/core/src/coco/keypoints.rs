//! The keypoints of a COCO file, read when they are needed.

use super::spans::Texts;
use super::{Problem, ReadError};
use crate::json::{Cursor, Source, SyntaxError};
use crate::memory::{Vec, vec};
use crate::threads::{map, with_threads};

const FIELD: &str = "keypoints";
const EXPECTED: &str = "numbers: x, y and visibility of as many points as the other records have";

/// Records whose values are read from the file at once.
const ROWS_AT_ONCE: usize = 512;

/// Where the keypoints of some records are.
#[derive(Clone, Copy)]
pub struct Keypoints<'a> {
    /// The array of the file that holds the records, `annotations` for example.
    pub array: &'static str,
    /// The position of each record in that array, for messages.
    pub records: &'a [i64],
    /// First byte and byte behind the value of each, the same twice where there is none.
    pub spans: &'a [[u64; 2]],
    /// How many points each has; those of the first record that has any if `None`.
    pub points: Option<usize>,
}

/// Reads x, y and visibility of each point of each record by `threads` threads (0: all cores); NaN for records without.
/// Also how many points each has.
pub fn read_keypoints(
    source: &Source,
    keypoints: Keypoints<'_>,
    threads: usize,
) -> Result<(Vec<f64>, usize), ReadError> {
    let Keypoints { array, records, spans, points } = keypoints;
    let points = match points {
        Some(points) => points,
        None => match spans.iter().find(|[start, end]| start < end) {
            Some(span) => {
                let mut first = Vec::new();
                let texts = Texts::read(source, &[*span])?;
                numbers(texts.get(*span, 0), &mut first).ok();
                first.len() / 3
            }
            None => 0,
        },
    };
    let width = 3 * points;
    let mut values = vec![f64::NAN; width * spans.len()];
    let part = |(number, values): (usize, &mut [f64])| {
        let start = number * ROWS_AT_ONCE;
        let rows = start..spans.len().min(start + ROWS_AT_ONCE);
        let texts = Texts::read(source, &spans[rows.clone()])?;
        let mut record = Vec::new();
        for (position, row) in rows.enumerate() {
            let text = texts.get(spans[row], position);
            if text.is_empty() {
                continue;
            }
            record.clear();
            let found = match numbers(text, &mut record) {
                Ok(true) if record.len() == width => None,
                Ok(true) => Some(format!("{} numbers instead of {width}", record.len())),
                Ok(false) => Some("another value".into()),
                Err(_) => Some("other text than before: the file has changed".into()),
            };
            if let Some(found) = found {
                let record = records[row] as usize;
                return Err(ReadError::from(Problem { array, record, field: FIELD, expected: EXPECTED, found }));
            }
            values[position * width..][..width].copy_from_slice(&record);
        }
        Ok(())
    };
    if width > 0 {
        let parts = values.chunks_mut(width * ROWS_AT_ONCE).enumerate();
        with_threads(threads, || map(parts, 0, part)).into_iter().collect::<Result<(), ReadError>>()?;
    }
    Ok((values, points))
}

/// Appends the elements of an array; false if the value is no array of finite numbers.
fn numbers(text: &[u8], out: &mut Vec<f64>) -> Result<bool, Box<SyntaxError>> {
    let mut cursor = Cursor::new(text, 0, 0);
    if cursor.peek() != Some(b'[') {
        return Ok(false);
    }
    let mut more = cursor.open(b'[', b']')?;
    if more && cursor.take_plain(out) {
        more = cursor.more(b']')?;
    }
    while more {
        match cursor.try_number()? {
            Some(value) if value.is_finite() => out.push(value),
            _ => return Ok(false),
        }
        more = cursor.more(b']')?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::numbers;
    use crate::memory::Vec;

    #[test]
    fn only_arrays_of_numbers_are_keypoints() {
        let mut out = Vec::new();
        assert!(numbers(b"[1, 2.5, -3e1]", &mut out).unwrap());
        assert_eq!(out, [1.0, 2.5, -30.0]);
        for text in ["null", "{}", "[1, null, 2]", "[[1, 2, 2]]", "\"no\"", "[1, NaN, 2]", "[1, 1e999, 2]"] {
            assert!(!numbers(text.as_bytes(), &mut out).unwrap(), "{text}");
        }
        assert!(numbers(b"[1, 2", &mut out).is_err());
    }
}
