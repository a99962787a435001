//! The rows of CSV text and their fields, one after the other.

use crate::formats::Problem;
use crate::memory::Vec;

/// The places of the bytes that end a field without quotes, found 64 bytes at a time.
struct Ends<'a> {
    text: &'a [u8],
    delimiter: u8,
    /// Where the block begins.
    block: usize,
    /// A bit for each such byte of the block that has not been asked for.
    bits: u64,
}

impl<'a> Ends<'a> {
    fn of(text: &'a [u8], delimiter: u8) -> Self {
        let mut ends = Self { text, delimiter, block: 0, bits: 0 };
        ends.look();
        ends
    }

    /// The first at `least` or behind; the end of the text if there is none. `least` must not get smaller.
    #[inline]
    fn next(&mut self, least: usize) -> usize {
        loop {
            while self.bits != 0 {
                let place = self.block + self.bits.trailing_zeros() as usize;
                self.bits &= self.bits - 1;
                if place >= least {
                    return place;
                }
            }
            if self.block + 64 >= self.text.len() {
                return self.text.len();
            }
            self.block += 64;
            self.look();
        }
    }

    /// Looks at the block.
    #[inline]
    fn look(&mut self) {
        let rest = &self.text[self.block..];
        self.bits = match rest.first_chunk::<64>() {
            Some(block) => ends_in(block, self.delimiter),
            None => {
                let mut block = [0; 64];
                block[..rest.len()].copy_from_slice(rest);
                ends_in(&block, self.delimiter) & ((1 << rest.len()) - 1)
            }
        };
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn ends_in(block: &[u8; 64], delimiter: u8) -> u64 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8};
    let mut bits = 0;
    for lane in 0..4 {
        // SAFETY: SSE2 is part of every x86-64, and the 16 bytes lie in the block. Without it, finding the ends of the
        // fields of Open Images takes longer than reading their numbers.
        let found = unsafe {
            let bytes = _mm_loadu_si128(block.as_ptr().add(16 * lane).cast());
            let equal = |byte: u8| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8));
            _mm_movemask_epi8(_mm_or_si128(equal(delimiter), _mm_or_si128(equal(b'\n'), equal(b'\r'))))
        };
        bits |= u64::from(found as u16) << (16 * lane);
    }
    bits
}

#[cfg(not(target_arch = "x86_64"))]
fn ends_in(block: &[u8; 64], delimiter: u8) -> u64 {
    let ends = |byte: u8| byte == delimiter || matches!(byte, b'\n' | b'\r');
    block.iter().zip(0..).fold(0, |bits, (&byte, place)| bits | u64::from(ends(byte)) << place)
}

/// A field of a row: a part of the text, or of the unquoted text.
#[derive(Clone, Copy)]
pub struct Field {
    pub start: usize,
    pub end: usize,
    pub quoted: bool,
}

/// A walk over rows.
pub struct Rows<'a> {
    ends: Ends<'a>,
    /// How many fields of a row are kept: a row may be as long as the file.
    most: usize,
    at: usize,
    /// How many lines have ended.
    pub line: usize,
    /// How many fields the row has.
    pub count: usize,
    /// The fields of the row that were in quotes, without them.
    quoted: Vec<u8>,
}

impl<'a> Rows<'a> {
    /// The walk from the first row on, of which `most` fields are kept.
    pub fn of(text: &'a [u8], delimiter: u8, most: usize) -> Self {
        Self { ends: Ends::of(text, delimiter), most, at: 0, line: 0, count: 0, quoted: Vec::new() }
    }

    /// The text of a field of the row taken last.
    pub fn text_of(&self, field: &Field) -> &[u8] {
        if field.quoted { &self.quoted[field.start..field.end] } else { &self.ends.text[field.start..field.end] }
    }

    /// Takes a row; false at the end of the text.
    #[inline]
    pub fn next(&mut self, fields: &mut Vec<Field>) -> Result<bool, Problem> {
        fields.clear();
        self.quoted.clear();
        self.count = 0;
        if self.at >= self.ends.text.len() {
            return Ok(false);
        }
        loop {
            let field = if self.ends.text.get(self.at) == Some(&b'"') { self.in_quotes()? } else { self.plain() };
            self.count += 1;
            if self.count <= self.most {
                fields.push(field);
            }
            match self.ends.text.get(self.at) {
                Some(byte) if *byte == self.ends.delimiter => self.at += 1,
                Some(b'\r') => {
                    self.at += if self.ends.text.get(self.at + 1) == Some(&b'\n') { 2 } else { 1 };
                    break;
                }
                Some(_) => {
                    self.at += 1;
                    break;
                }
                None => break,
            }
        }
        self.line += 1;
        Ok(true)
    }

    /// Takes a field up to the delimiter or the end of the line.
    #[inline]
    fn plain(&mut self) -> Field {
        let start = self.at;
        self.at = self.ends.next(start);
        Field { start, end: self.at, quoted: false }
    }

    /// Takes a field in quotes, in which two quotes stand for one.
    fn in_quotes(&mut self) -> Result<Field, Problem> {
        let start = self.quoted.len();
        self.at += 1;
        loop {
            let rest = &self.ends.text[self.at..];
            let Some(length) = rest.iter().position(|byte| *byte == b'"') else {
                return Err(problem(self.line + 1, "the end of a field in quotes", "the end of the file"));
            };
            self.quoted.extend_from_slice(&rest[..length]);
            self.line += rest[..length].iter().filter(|byte| **byte == b'\n').count();
            self.at += length + 1;
            match self.ends.text.get(self.at) {
                Some(b'"') => {
                    self.quoted.push(b'"');
                    self.at += 1;
                }
                None | Some(b'\n' | b'\r') => break,
                Some(byte) if *byte == self.ends.delimiter => break,
                Some(_) => return Err(problem(self.line + 1, "the end of a field behind its quotes", "more")),
            }
        }
        Ok(Field { start, end: self.quoted.len(), quoted: true })
    }
}

/// A problem with a line of the one file that is read.
pub(super) fn problem(line: usize, expected: &str, found: &str) -> Problem {
    Problem { file: 0, line, field: "".into(), expected: expected.to_owned().into(), found: found.to_owned().into() }
}
