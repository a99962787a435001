//! Values that stay in the file until somebody asks: where they are, and reading their text.

use crate::json::Source;
use crate::memory::Vec;

use super::ReadError;

/// So many bytes that nobody asked for are read, rather than the file once more.
const GAP: u64 = 1 << 16;

/// Where one member of each record is: first byte and byte behind its value, the same twice where a record has none.
/// Empty if no record has one.
#[derive(Debug, Default)]
pub struct Spans(pub Vec<[u64; 2]>);

impl Spans {
    /// Adds the value of a record behind `rows` others.
    pub(super) fn push(&mut self, rows: usize, span: [u64; 2]) {
        if span[1] > 0 && self.0.is_empty() {
            self.0.resize(rows, [0, 0]);
        }
        if span[1] > 0 || !self.0.is_empty() {
            self.0.push(span);
        }
    }

    /// Adds the values of `other_rows` records behind `rows` others.
    pub(super) fn append(&mut self, rows: usize, other: &mut Self, other_rows: usize) {
        if self.0.len() + other.0.len() > 0 {
            self.0.resize(rows, [0, 0]);
            other.0.resize(other_rows, [0, 0]);
            self.0.append(&mut other.0);
        }
    }
}

/// The members of annotations and detections that become attributes, in the order of their [`Further`].
pub const FURTHER_OF_REGIONS: [&str; 3] = ["attributes", "track_id", "instance_id"];
/// The members of images that do.
pub const FURTHER_OF_IMAGES: [&str; 4] = ["attributes", "video_id", "frame_index", "frame_id"];

/// Where the members that become attributes are. Files of videos have ids of tracks and numbers of frames beside the
/// member `attributes`. `None` as long as no record has one, as in most files: then a record costs one comparison.
#[derive(Debug, Default)]
pub struct Further<const N: usize>(pub Option<[Spans; N]>);

impl<const N: usize> Further<N> {
    /// Adds the members of a record behind `rows` others.
    #[inline]
    pub(super) fn push(&mut self, rows: usize, members: &[[u64; 2]; N]) {
        if self.0.is_some() || members.iter().any(|member| member[1] > 0) {
            for (spans, member) in self.all().iter_mut().zip(members) {
                spans.push(rows, *member);
            }
        }
    }

    fn all(&mut self) -> &mut [Spans; N] {
        self.0.get_or_insert_with(|| std::array::from_fn(|_| Spans::default()))
    }

    /// Adds the members of `other_rows` records behind `rows` others.
    pub(super) fn append(&mut self, rows: usize, other: &mut Self, other_rows: usize) {
        if self.0.is_some() || other.0.is_some() {
            for (spans, others) in self.all().iter_mut().zip(other.all()) {
                spans.append(rows, others, other_rows);
            }
        }
    }
}

/// The text of some values: in one piece where they stand close together.
pub(super) enum Texts {
    Together(u64, Vec<u8>),
    Apart(Vec<Vec<u8>>),
}

impl Texts {
    pub(super) fn read(source: &Source, spans: &[[u64; 2]]) -> Result<Self, ReadError> {
        let there = || spans.iter().filter(|[start, end]| start < end);
        let (first, last) = (there().map(|span| span[0]).min(), there().map(|span| span[1]).max());
        let (Some(first), Some(last)) = (first, last) else { return Ok(Self::Together(0, Vec::new())) };
        let wanted: u64 = there().map(|[start, end]| end - start).sum();
        if last - first <= 2 * wanted + spans.len() as u64 * 512 + GAP {
            return Ok(Self::Together(first, source.part(first, last)?));
        }
        let texts: Result<_, std::io::Error> = spans.iter().map(|&[start, end]| source.part(start, end)).collect();
        Ok(Self::Apart(texts?))
    }

    pub(super) fn get(&self, [start, end]: [u64; 2], position: usize) -> &[u8] {
        match self {
            Self::Together(first, text) if start < end => {
                text.get((start - first) as usize..(end - first) as usize).unwrap_or_default()
            }
            Self::Together(..) => &[],
            Self::Apart(texts) => &texts[position],
        }
    }
}
