//! The masks of a COCO file, read when they are needed: polygons, and RLE in both of its forms.

use std::ops::ControlFlow;

use super::spans::Texts;
use super::{Problem, ReadError};
use crate::json::{Cursor, Scalar, Source, SyntaxError};
use crate::memory::Vec;
use crate::regions::rle::polygon::{self, Pen};
use crate::regions::rle::{self, MaskList, Size, string};
use crate::threads::{in_order, map, with_threads};

const FIELD: &str = "segmentation";
const EXPECTED: &str = "polygons, or an object with size and counts";

/// Records whose values are read from the file at once: a part.
const ROWS_AT_ONCE: usize = 256;

/// Where the masks of some records are.
#[derive(Clone, Copy)]
pub struct Segmentations<'a> {
    /// The array of the file that holds the records, `annotations` for example.
    pub array: &'static str,
    /// The position of each record in that array, for messages.
    pub records: &'a [i64],
    /// First byte and byte behind the value of each, the same twice where there is none.
    pub spans: &'a [[u64; 2]],
    /// Width and height of the image of each, NaN where they are not known. Polygons need them.
    pub image_sizes: &'a [[f64; 2]],
}

impl Segmentations<'_> {
    /// How many parts there are.
    fn parts(&self) -> usize {
        self.spans.len().div_ceil(ROWS_AT_ONCE)
    }

    /// Reads the records of a part: `take` gets each record and its text.
    fn read_part(
        &self,
        source: &Source,
        number: usize,
        mut take: impl FnMut(usize, &[u8]) -> Result<(), Lack>,
    ) -> Result<(), ReadError> {
        let start = number * ROWS_AT_ONCE;
        let rows = start..self.spans.len().min(start + ROWS_AT_ONCE);
        let texts = Texts::read(source, &self.spans[rows.clone()])?;
        for (position, row) in rows.enumerate() {
            take(row, texts.get(self.spans[row], position)).map_err(|(expected, found)| {
                let record = self.records[row] as usize;
                ReadError::from(Problem { array: self.array, record, field: FIELD, expected, found })
            })?;
        }
        Ok(())
    }

    /// Appends the masks of a part.
    fn masks_of_part(
        &self,
        source: &Source,
        number: usize,
        room: &mut Room,
        masks: &mut MaskList,
    ) -> Result<(), ReadError> {
        self.read_part(source, number, |row, text| {
            let size = mask(text, self.image_sizes[row], room, &mut masks.runs)?;
            masks.close(size);
            Ok(())
        })
    }
}

/// The masks of the first records: those that were read before somebody asked for all.
#[derive(Debug, Default)]
pub struct FirstMasks {
    masks: MaskList,
    /// How many parts they are.
    parts: usize,
}

/// Reads masks by this thread, until all are read, one cannot be read or the source is given up.
pub fn read_first_masks(source: &Source, segmentations: Segmentations<'_>) -> FirstMasks {
    let (mut first, mut room) = (FirstMasks::default(), Room::default());
    while first.parts < segmentations.parts() && !source.is_given_up() {
        let count = first.masks.sizes.len();
        if segmentations.masks_of_part(source, first.parts, &mut room, &mut first.masks).is_err() {
            first.masks.truncate(count);
            break;
        }
        first.parts += 1;
    }
    first
}

/// Reads the masks behind the first by `threads` threads (0: all cores); all of them, in the order of the records.
pub fn read_masks(
    source: &Source,
    segmentations: Segmentations<'_>,
    first: FirstMasks,
    threads: usize,
) -> Result<MaskList, ReadError> {
    let FirstMasks { mut masks, parts } = first;
    let read = |room: &mut Room, number: usize| {
        let mut part = MaskList::default();
        segmentations.masks_of_part(source, parts + number, room, &mut part)?;
        Ok(part)
    };
    let mut done = Ok(());
    // The first error in the order of the records.
    let append = |part: Result<MaskList, ReadError>| match part {
        Ok(part) => {
            masks.append(part);
            ControlFlow::Continue(())
        }
        Err(error) => {
            done = Err(error);
            ControlFlow::Break(())
        }
    };
    with_threads(threads, || in_order(segmentations.parts() - parts, Room::default, read, append));
    done.map(|()| masks)
}

/// Reads the areas of masks by `threads` threads (0: all cores), in the order of the records; NaN for a record whose
/// segmentation is empty (`[]`, `{}` or `null`) or missing, and, if `drop`, infinity for one that has no mask that can be
/// read.
pub fn read_mask_areas(
    source: &Source,
    segmentations: Segmentations<'_>,
    drop: bool,
    threads: usize,
) -> Result<Vec<f64>, ReadError> {
    let part = |number: usize| {
        let (mut areas, mut room, mut runs) = (Vec::new(), Room::default(), Vec::new());
        segmentations.read_part(source, number, |row, text| {
            if is_empty(text) {
                areas.push(f64::NAN);
                return Ok(());
            }
            runs.clear();
            match mask(text, segmentations.image_sizes[row], &mut room, &mut runs) {
                Ok(_) => areas.push(runs.iter().skip(1).step_by(2).map(|&run| f64::from(run)).sum()),
                Err(_) if drop => areas.push(f64::INFINITY),
                Err(lack) => return Err(lack),
            }
            Ok(())
        })?;
        Ok(areas)
    };
    let parts = with_threads(threads, || map(0..segmentations.parts(), 0, part));
    let parts = parts.into_iter().collect::<Result<Vec<_>, ReadError>>()?;
    Ok(parts.into_iter().flatten().collect())
}

/// Whether a segmentation says nothing.
fn is_empty(text: &[u8]) -> bool {
    match text {
        [] | b"null" => true,
        [b'[', inner @ .., b']'] | [b'{', inner @ .., b'}'] => inner.trim_ascii().is_empty(),
        _ => false,
    }
}

/// What is expected, and what was found.
type Lack = (&'static str, String);

/// Memory for one mask, kept from one to the next.
#[derive(Default)]
struct Room {
    /// The runs as the file has them.
    counts: Vec<u32>,
    /// The numbers of all polygons, and where those of each end.
    numbers: Vec<f64>,
    ends: Vec<usize>,
    pen: Pen,
}

/// Appends the settled runs of a mask to `runs`; its size.
fn mask(text: &[u8], image: [f64; 2], room: &mut Room, runs: &mut Vec<u32>) -> Result<Size, Lack> {
    let Room { counts, numbers, ends, pen } = room;
    let mut cursor = Cursor::new(text, 0, 0);
    let changed = |_: Box<SyntaxError>| (EXPECTED, "other text than before: the file has changed".to_string());
    match cursor.peek() {
        Some(b'{') => {
            let size = record(&mut cursor, counts).map_err(changed)??;
            rle::settle(counts, size, runs).map_err(|problem| ("counts that fit the size", problem.to_string()))?;
            Ok(size)
        }
        Some(b'[') => {
            rings(&mut cursor, numbers, ends).map_err(changed)??;
            let size = image_size(image)?;
            let mut start = 0;
            let rings = ends.iter().map(|&end| &numbers[std::mem::replace(&mut start, end)..end]);
            polygon::mask(rings, size, pen, runs)
                .map_err(|(part, problem)| ("polygons of numbers", format!("polygon {part}: {problem}")))?;
            Ok(size)
        }
        Some(b'n') | None => Err((EXPECTED, "none".into())),
        Some(_) => Err((EXPECTED, "another value".into())),
    }
}

fn image_size([width, height]: [f64; 2]) -> Result<Size, Lack> {
    const WHY: &str = "polygons of an image whose width and height are known";
    if width.is_nan() || height.is_nan() {
        return Err((WHY, "an image without them".into()));
    }
    if width.fract() != 0.0 || height.fract() != 0.0 {
        return Err((WHY, format!("an image of {width} x {height} pixels")));
    }
    Size::new(height as i64, width as i64).map_err(|problem| (WHY, problem.to_string()))
}

type Parsed<T> = Result<Result<T, Lack>, Box<SyntaxError>>;

/// The size of a record, and its counts in `counts`.
fn record(cursor: &mut Cursor<'_>, counts: &mut Vec<u32>) -> Parsed<Size> {
    const SIZE: &str = "a size of two integers, height and width";
    let (mut size, mut has_counts) = (Err((SIZE, "no such key".to_string())), Err(("counts", "no such key".into())));
    counts.clear();
    let mut more = cursor.open(b'{', b'}')?;
    while more {
        match cursor.key()?.as_ref() {
            b"size" => {
                let mut sides = Vec::new();
                let whole = integers(cursor, &mut sides)?;
                size = match sides.as_slice() {
                    &[height, width] if whole => {
                        Size::new(height, width).map_err(|problem| (SIZE, problem.to_string()))
                    }
                    _ => Err((SIZE, format!("{} numbers", sides.len()))),
                };
            }
            b"counts" => has_counts = self::counts(cursor, counts)?,
            _ => cursor.skip()?,
        }
        more = cursor.more(b'}')?;
    }
    Ok(has_counts.and(size))
}

fn counts(cursor: &mut Cursor<'_>, counts: &mut Vec<u32>) -> Parsed<()> {
    const COUNTS: &str = "counts: a string of compressed runs, or an array of integers from 0 to 2**32 - 1";
    counts.clear();
    if cursor.peek() == Some(b'[') {
        let mut lengths = Vec::new();
        if !integers(cursor, &mut lengths)? {
            return Ok(Err((COUNTS, "another array".into())));
        }
        for (position, value) in lengths.into_iter().enumerate() {
            match u32::try_from(value) {
                Ok(value) => counts.push(value),
                Err(_) => return Ok(Err((COUNTS, rle::Problem::Count { position, value }.to_string()))),
            }
        }
        return Ok(Ok(()));
    }
    match cursor.scalar()? {
        Scalar::Text(text) => {
            Ok(string::decode(&text.decode(), counts).map_err(|problem| (COUNTS, problem.to_string())))
        }
        _ => Ok(Err((COUNTS, "another value".into()))),
    }
}

/// Appends the elements of an array; false if some value is no array of integers.
fn integers(cursor: &mut Cursor<'_>, out: &mut Vec<i64>) -> Result<bool, Box<SyntaxError>> {
    if cursor.peek() != Some(b'[') {
        cursor.skip()?;
        return Ok(false);
    }
    let (mut all, mut more) = (true, cursor.open(b'[', b']')?);
    while more {
        match cursor.scalar()? {
            Scalar::Number { integer: Some(value), .. } => out.push(value),
            Scalar::Number { value, .. } if value.fract() == 0.0 && value.abs() < 2f64.powi(53) => {
                out.push(value as i64);
            }
            _ => all = false,
        }
        more = cursor.more(b']')?;
    }
    Ok(all)
}

/// Reads the numbers of all polygons, and where those of each end.
fn rings(cursor: &mut Cursor<'_>, numbers: &mut Vec<f64>, ends: &mut Vec<usize>) -> Parsed<()> {
    const RINGS: &str = "polygons: arrays of x and y in turn, of at least 3 points each";
    numbers.clear();
    ends.clear();
    let mut problem = None;
    let mut more = cursor.open(b'[', b']')?;
    while more {
        let start = numbers.len();
        if cursor.peek() == Some(b'[') {
            let mut inner = cursor.open(b'[', b']')?;
            if inner && cursor.take_plain(numbers) {
                inner = cursor.more(b']')?;
            }
            while inner {
                match cursor.try_number()? {
                    Some(value) => numbers.push(value),
                    None => {
                        cursor.skip()?;
                        problem.get_or_insert(format!("another value in polygon {}", ends.len()));
                    }
                }
                inner = cursor.more(b']')?;
            }
            let count = numbers.len() - start;
            if count < 6 || count % 2 == 1 {
                problem.get_or_insert(format!("{count} numbers in polygon {}", ends.len()));
            }
        } else {
            cursor.skip()?;
            problem.get_or_insert(format!("another value in the place of polygon {}", ends.len()));
        }
        ends.push(numbers.len());
        more = cursor.more(b']')?;
    }
    Ok(match problem {
        Some(found) => Err((RINGS, found)),
        None => Ok(()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::vec;

    fn read(text: &str, image: [f64; 2]) -> Result<(Size, Vec<u32>), Lack> {
        let (mut room, mut runs) = (Room { counts: vec![9], ..Room::default() }, Vec::new());
        mask(text.as_bytes(), image, &mut room, &mut runs).map(|size| (size, runs))
    }

    #[test]
    fn reads_each_spelling() {
        let size = Size { height: 3, width: 4 };
        let unknown = [f64::NAN; 2];
        assert_eq!(read(r#"{"size": [3, 4], "counts": [4, 2, 6]}"#, unknown), Ok((size, vec![4, 2, 6])));
        assert_eq!(read(r#"{"counts": "426", "other": {}, "size": [3, 4.0]}"#, unknown), Ok((size, vec![4, 2, 6])));
        assert_eq!(read("[[1, 1, 1, 3, 3, 3, 3, 1]]", [4.0, 3.0]), Ok((size, vec![4, 2, 1, 2, 3])));
        assert_eq!(read("[]", [4.0, 3.0]), Ok((size, vec![12])));
    }

    #[test]
    fn areas_are_those_of_the_masks() {
        let text = br#"{"size":[3,4],"counts":[4,2,6]} [[1,1,1,3,3,3,3,1]] [ ] null "no" "#;
        let source = Source::Memory(text.to_vec().into());
        let spans = [[0, 31], [32, 51], [52, 55], [56, 60], [0, 0], [61, 65]];
        let image_sizes = [[4.0, 3.0]; 6];
        let segmentations = Segmentations {
            array: "annotations",
            records: &[0, 1, 2, 3, 4, 5],
            spans: &spans,
            image_sizes: &image_sizes,
        };
        let areas = read_mask_areas(&source, segmentations, true, 1).unwrap();
        assert_eq!((&areas[..2], areas[5]), (&[2.0, 4.0][..], f64::INFINITY));
        assert!(areas[2..5].iter().all(|area| area.is_nan()));
        let Err(ReadError::Invalid(message)) = read_mask_areas(&source, segmentations, false, 1) else { panic!() };
        assert!(message.starts_with("annotations[5].segmentation"), "{message}");
    }

    #[test]
    fn masks_read_before_are_not_read_again() {
        let count = 3 * ROWS_AT_ONCE + 7;
        let square = "[[0, 0, 2, 0, 2, 2, 0, 2]]";
        let (text, size) = (square.repeat(count), square.len() as u64);
        let records: Vec<i64> = (0..count as i64).collect();
        let spans: Vec<[u64; 2]> = (0..count as u64).map(|row| [row * size, (row + 1) * size]).collect();
        let image_sizes = vec![[4.0, 3.0]; count];
        let source = Source::Memory(text.into_bytes().into());
        let all = |spans| Segmentations { array: "annotations", records: &records, spans, image_sizes: &image_sizes };
        let whole = read_masks(&source, all(&spans), FirstMasks::default(), 2).unwrap();
        let first = read_first_masks(&source, all(&spans));
        assert_eq!((first.parts, first.masks.sizes.len()), (4, count));
        assert_eq!(read_masks(&source, all(&spans), first, 2).unwrap(), whole);
        // The first that cannot be read ends what is read before, and is the error of all.
        let mut broken = spans.clone();
        for row in [2 * ROWS_AT_ONCE + 1, count - 1] {
            broken[row][1] -= 1;
        }
        let first = read_first_masks(&source, all(&broken));
        assert_eq!((first.parts, first.masks.sizes.len()), (2, 2 * ROWS_AT_ONCE));
        assert_eq!(first.masks.view().iter().last().unwrap().runs, whole.view().get(0).runs);
        for threads in [1, 2] {
            let first = read_first_masks(&source, all(&broken));
            let Err(ReadError::Invalid(message)) = read_masks(&source, all(&broken), first, threads) else { panic!() };
            assert!(message.starts_with(&format!("annotations[{}].", 2 * ROWS_AT_ONCE + 1)), "{message}");
        }
    }

    #[test]
    fn says_what_is_wrong() {
        for (text, says) in [
            (r#"{"size": [3, 4]}"#, "no such key"),
            (r#"{"counts": [12]}"#, "no such key"),
            (r#"{"size": [3, 4], "counts": [11]}"#, "the counts sum to 11"),
            (r#"{"size": [3, 4], "counts": [-1, 13]}"#, "counts[0] is -1"),
            (r#"{"size": [3, 4], "counts": 12}"#, "another value"),
            (r#"{"size": [3, 4, 1], "counts": [12]}"#, "3 numbers"),
            ("[[1, 1, 1, 3, 3]]", "5 numbers in polygon 0"),
            ("[[1, 1, 1, 3, 3, 3], 7]", "another value in the place of polygon 1"),
            ("[[1, 1, 1, 3, 3, null]]", "another value in polygon 0"),
            ("[[1, 1, 1, 3, 3, NaN]]", "polygon 0"),
            (r#"{"size": [3, NaN], "counts": [12]}"#, "1 numbers"),
            (r#"{"size": [3, 4], "counts": [Infinity]}"#, "another array"),
            ("null", "none"),
            ("", "none"),
            ("7", "another value"),
        ] {
            let (_, found) = read(text, [4.0, 3.0]).unwrap_err();
            assert!(found.contains(says), "{text}: {found}");
        }
        let (expected, found) = read("[[1, 1, 1, 3, 3, 3]]", [f64::NAN; 2]).unwrap_err();
        assert!(expected.contains("known") && found.contains("without them"));
    }
}
