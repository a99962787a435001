//! JSON from a source that need not be in memory, its long arrays parsed by all threads.
//!
//! A long array is cut at multiples of `CHUNK` bytes. Each piece is parsed from the first place that looks like the
//! start of an element, before it is known to be one. The pieces are put together in order: a piece counts only if the
//! one before it ended exactly where it began, so that a look-alike inside a string or a nested array costs time and
//! never a wrong answer. Only a piece a thread is in memory at once, and its columns go on to the next piece. Lines with a
//! value each are read in the same way: what separates their values is a line break instead of a comma.

use std::any::Any;
use std::io;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use super::cursor::Cursor;
use super::source::{CHUNK, Source, Window};
use super::syntax_error::SyntaxError;
use crate::memory::Vec;
use crate::threads::in_order;

/// Bytes read beyond a piece, so that the element across its end is usually in the window.
const SLACK: u64 = CHUNK >> 6;
/// Bytes before a piece in which the comma and bracket of the preceding element are looked for.
const LOOK_BACK: u64 = 64;
/// How records follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Between brackets, with commas.
    Array,
    /// One a line, to the end of the text.
    Lines,
}

impl Layout {
    /// What is between the record before a brace and the brace, read backwards, if the brace may start a record.
    fn may_follow(self, before: &[u8]) -> bool {
        let mut last = before.iter().rev().filter(|byte| !byte.is_ascii_whitespace());
        match self {
            Self::Array => last.next() == Some(&b',') && last.next() == Some(&b'}'),
            Self::Lines => {
                let blank = before.iter().rev().take_while(|byte| byte.is_ascii_whitespace());
                blank.into_iter().any(|&byte| byte == b'\n') && last.next() == Some(&b'}')
            }
        }
    }

    /// Takes what separates two records, and says whether another one follows; `is_last` if the text ends here.
    #[inline(always)]
    fn more(self, cursor: &mut Cursor<'_>, is_last: bool) -> Result<bool, Box<SyntaxError>> {
        match self {
            Self::Array => cursor.more(b']'),
            Self::Lines => cursor.next_line(is_last),
        }
    }
}

/// The columns that the elements of an array are read into.
pub trait Records: Any + Send {
    /// Takes one element. Nothing may be kept of an element that ends in an error: it may be offered again.
    fn take(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Box<SyntaxError>>;

    /// Moves all elements of `other`, which has the same type and follows these, to the end. What `other` has allocated
    /// stays with it.
    fn append(&mut self, other: &mut dyn Any);
}

/// Why the text could not be read.
#[derive(Debug)]
pub enum StreamError {
    /// The system could not deliver it.
    Io(io::Error),
    /// It is not JSON.
    Syntax {
        /// What is wrong.
        error: Box<SyntaxError>,
        /// The element of the array that was being read.
        element: Option<u64>,
    },
}

impl StreamError {
    /// The same error where `before` elements precede those that were read.
    pub fn behind(self, before: u64) -> Self {
        match self {
            Self::Syntax { error, element } => Self::Syntax { error, element: element.map(|at| at + before) },
            error => error,
        }
    }
}

impl From<io::Error> for StreamError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A walk over a whole source.
pub struct Stream<'s> {
    window: Window<'s>,
    at: u64,
}

impl<'s> Stream<'s> {
    /// Starts at the first byte, behind a byte order mark.
    pub fn new(source: &'s Source) -> io::Result<Self> {
        let mut window = Window::new(source);
        window.load(0, CHUNK / 32)?;
        let at = window.mark() as u64;
        Ok(Self { window, at })
    }

    /// Starts at a byte that an earlier walk over the same source has found.
    pub fn starting_at(source: &'s Source, at: u64) -> io::Result<Self> {
        let mut window = Window::new(source);
        let at = at.min(source.length());
        window.load(at, at + CHUNK / 32)?;
        Ok(Self { window, at })
    }

    /// The byte of the source that comes next.
    pub fn offset(&self) -> u64 {
        self.at
    }

    /// Takes what `take` takes; it is called again, from the same byte, if the window ends inside.
    pub fn step<T>(
        &mut self,
        mut take: impl FnMut(&mut Cursor<'_>) -> Result<T, Box<SyntaxError>>,
    ) -> Result<T, StreamError> {
        loop {
            let mut cursor = self.window.cursor(self.at);
            match take(&mut cursor) {
                // What ends with the window may be a number that goes on behind it.
                Ok(value) if cursor.offset() < self.window.end() || self.window.is_last() => {
                    self.at = cursor.offset();
                    return Ok(value);
                }
                Ok(_) => self.window.widen(self.at)?,
                Err(error) if error.ended && !self.window.is_last() => self.window.widen(self.at)?,
                Err(error) => return Err(StreamError::Syntax { error, element: None }),
            }
        }
    }

    /// The next byte that is not white space, `None` at the end of the source.
    pub fn peek(&mut self) -> Result<Option<u8>, StreamError> {
        loop {
            let mut cursor = self.window.cursor(self.at);
            let byte = cursor.peek();
            self.at = cursor.offset();
            if byte.is_some() || self.window.is_last() {
                return Ok(byte);
            }
            self.window.widen(self.at)?;
        }
    }

    /// Takes an array into columns; `new` makes empty ones.
    pub fn array<R: Records>(&mut self, new: impl Fn() -> R + Sync) -> Result<R, StreamError> {
        if !self.step(|cursor| cursor.open(b'[', b']'))? {
            return Ok(new());
        }
        self.take(new, Layout::Array, u64::MAX)
    }

    /// Takes the values of all lines to the end of the text into columns; `new` makes empty ones. Blank lines are passed
    /// over.
    pub fn lines<R: Records>(&mut self, new: impl Fn() -> R + Sync) -> Result<R, StreamError> {
        if self.peek()?.is_none() {
            return Ok(new());
        }
        self.take(new, Layout::Lines, u64::MAX)
    }

    /// Takes the elements that start before the byte `until` into columns; the walk stands at the start of one of them.
    /// `lines` says whether they are values of lines, or those of an array.
    pub fn elements<R: Records>(
        &mut self,
        new: impl Fn() -> R + Sync,
        lines: bool,
        until: u64,
    ) -> Result<R, StreamError> {
        self.take(new, if lines { Layout::Lines } else { Layout::Array }, until)
    }

    fn take<R: Records>(&mut self, new: impl Fn() -> R + Sync, layout: Layout, until: u64) -> Result<R, StreamError> {
        let records: Box<dyn Any> = self.records(&|| Box::new(new()), layout, until)?;
        Ok(*records.downcast().expect("what `new` makes"))
    }

    /// The records from here on that start before `until`, in columns of any type: compiled once for all.
    fn records(
        &mut self,
        new: &(dyn Fn() -> Box<dyn Records> + Sync),
        layout: Layout,
        until: u64,
    ) -> Result<Box<dyn Records>, StreamError> {
        let (source, first) = (self.window.source, self.at);
        let pieces = source.length().min(until).saturating_sub(first).div_ceil(CHUNK).max(1);
        let limit = |piece: usize| until.min(first + (piece as u64 + 1) * CHUNK);
        // Columns that are empty and have their memory.
        let spare = Mutex::new(Vec::new());
        let produce = |window: &mut Window<'_>, piece: usize| {
            let begin = first + piece as u64 * CHUNK;
            let start = if piece == 0 { Ok(Some(first)) } else { guess(window, begin, limit(piece), layout) };
            let records = spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_else(new);
            start.and_then(|start| start.map(|start| parse(window, start, limit(piece), records, layout)).transpose())
        };
        let (mut records, mut elements, mut piece) = (new(), 0, 0);
        let mut at = first;
        let mut outcome = None;
        let mut add = |part: io::Result<Option<Part>>| -> Result<Option<u64>, StreamError> {
            let limit = limit(piece);
            piece += 1;
            let mut part = match part? {
                Some(part) if part.start == at => part,
                // An element reaches over the whole piece.
                _ if at >= limit => return Ok(None),
                // What looked like an element was none.
                _ => parse(&mut Window::new(source), at, limit, new(), layout)?,
            };
            elements += part.elements;
            records.append(&mut *part.records);
            spare.lock().unwrap_or_else(PoisonError::into_inner).push(part.records);
            match part.end {
                End::Next(follower) => {
                    at = follower;
                    Ok((at >= until).then_some(at))
                }
                End::Closed(after) => Ok(Some(after)),
                End::Failed(error) => Err(StreamError::Syntax { error, element: Some(elements) }),
            }
        };
        in_order(
            pieces as usize,
            || Window::new(source),
            produce,
            |part| {
                outcome = add(part).transpose();
                if outcome.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        );
        self.at = outcome.expect("the last piece closes the array or fails")?;
        self.window.load(self.at, self.at + CHUNK / 32)?;
        Ok(records)
    }
}

/// The elements that start in one piece.
struct Part {
    start: u64,
    records: Box<dyn Records>,
    elements: u64,
    end: End,
}

enum End {
    /// The array goes on with an element that starts here.
    Next(u64),
    /// The array ends before this byte.
    Closed(u64),
    /// The element after the last one taken is not JSON.
    Failed(Box<SyntaxError>),
}

/// The first place from `begin` on that looks like the start of an element: a brace behind a brace and a comma, or behind
/// a brace and a line break.
fn guess(window: &mut Window<'_>, begin: u64, limit: u64, layout: Layout) -> io::Result<Option<u64>> {
    window.load(begin - LOOK_BACK.min(begin), limit + SLACK)?;
    let bytes = window.bytes();
    let from = (begin - window.start) as usize;
    let to = bytes.len().min((limit - window.start) as usize);
    for at in from..to {
        if bytes[at] == b'{' && layout.may_follow(&bytes[..at]) {
            return Ok(Some(window.start + at as u64));
        }
    }
    Ok(None)
}

/// Parses the elements that start between `start` and `limit`.
fn parse(
    window: &mut Window<'_>,
    start: u64,
    limit: u64,
    records: Box<dyn Records>,
    layout: Layout,
) -> io::Result<Part> {
    if !(window.start..window.end()).contains(&start) {
        window.load(start, limit + SLACK)?;
    }
    let mut part = Part { start, records, elements: 0, end: End::Next(start) };
    let mut at = start;
    let mut separator = false;
    loop {
        let mut cursor = window.cursor(at);
        let is_last = window.is_last();
        let error = loop {
            let before = cursor.offset();
            let step = match separator {
                true => layout.more(&mut cursor, is_last),
                false if !is_last && cursor.is_open_number() => cursor.end(),
                false => part.records.take(&mut cursor).map(|()| true),
            };
            match step {
                Ok(false) => {
                    part.end = End::Closed(cursor.offset());
                    return Ok(part);
                }
                Ok(true) if separator => {
                    separator = false;
                    // Where the next element starts has to be seen to know whose it is.
                    if cursor.peek().is_some() && cursor.offset() >= limit {
                        part.end = End::Next(cursor.offset());
                        return Ok(part);
                    }
                }
                Ok(_) => {
                    separator = true;
                    part.elements += 1;
                }
                Err(error) => {
                    at = before;
                    break error;
                }
            }
        };
        if !error.ended || window.is_last() {
            part.end = End::Failed(error);
            return Ok(part);
        }
        window.widen(at)?;
        // White space may fill the rest of the old window: the element may start beyond the limit after all.
        if !separator && part.elements > 0 {
            let mut cursor = window.cursor(at);
            if cursor.peek().is_some() && cursor.offset() >= limit {
                part.end = End::Next(cursor.offset());
                return Ok(part);
            }
        }
    }
}

#[cfg(test)]
mod tests;
