//! Where JSON comes from: a file that need not be in memory, or text in memory; and parts of it.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::cursor::Cursor;
use crate::memory::{Vec, copied, read_to_end};
use crate::regular_file;

/// Bytes of a piece of an array: small enough for the cache of a core, large enough to hide the start of each. Small texts
/// of a fuzzer have several.
pub const CHUNK: u64 = if cfg!(fuzzing) { 1 << 7 } else { 1 << 20 };

/// What some editors write in front of UTF-8.
const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// Where the text comes from.
pub enum Source {
    /// A regular file, read piece by piece.
    File {
        /// Open for reading.
        file: File,
        /// In bytes, when it was opened.
        length: u64,
        /// Whether nobody waits for it any more: reading fails then.
        given_up: Arc<AtomicBool>,
    },
    /// Text in memory, from a pipe or out of a compressed file.
    Memory(Vec<u8>),
}

impl Source {
    /// Opens a regular file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = regular_file::open(path)?;
        let length = file.metadata()?.len();
        Ok(Self::File { file, length, given_up: Arc::default() })
    }

    /// The same source, until someone gives it up.
    pub fn until(mut self, nobody_waits: Arc<AtomicBool>) -> Self {
        if let Self::File { given_up, .. } = &mut self {
            *given_up = nobody_waits;
        }
        self
    }

    /// Whether nobody waits for it any more.
    pub fn is_given_up(&self) -> bool {
        matches!(self, Self::File { given_up, .. } if given_up.load(Ordering::Relaxed))
    }

    /// Length in bytes.
    pub fn length(&self) -> u64 {
        match self {
            Self::File { length, .. } => *length,
            Self::Memory(text) => text.len() as u64,
        }
    }

    /// The first bytes, at most `count` of them, behind a byte order mark.
    pub fn head(&self, count: u64) -> io::Result<Vec<u8>> {
        let mut window = Window::new(self);
        window.load(0, count + BYTE_ORDER_MARK.len() as u64)?;
        let bytes = &window.bytes()[window.mark()..];
        Ok(copied(&bytes[..bytes.len().min(count as usize)]))
    }

    /// Whether the text begins with a byte order mark.
    pub fn has_mark(&self) -> io::Result<bool> {
        let mut window = Window::new(self);
        window.load(0, BYTE_ORDER_MARK.len() as u64)?;
        Ok(window.mark() > 0)
    }

    /// The bytes from one position to another.
    pub fn part(&self, start: u64, end: u64) -> io::Result<Vec<u8>> {
        if end > self.length() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut window = Window::new(self);
        window.load(start, end)?;
        match self {
            Self::File { .. } => Ok(window.buffer),
            Self::Memory(_) => Ok(copied(&window.bytes()[..(end - start) as usize])),
        }
    }

    /// The whole text.
    pub fn into_bytes(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Memory(text) => Ok(text),
            Self::File { file, length, .. } => {
                let mut text = Vec::with_capacity(length as usize);
                read_to_end(file, &mut text)?;
                Ok(text)
            }
        }
    }
}

/// A part of the source in memory.
pub struct Window<'s> {
    pub source: &'s Source,
    /// Where it begins.
    pub start: u64,
    buffer: Vec<u8>,
}

impl<'s> Window<'s> {
    pub fn new(source: &'s Source) -> Self {
        Self { source, start: 0, buffer: Vec::new() }
    }

    /// Makes the bytes from `start` to `end`, or to the end of the source, available.
    pub fn load(&mut self, start: u64, end: u64) -> io::Result<()> {
        self.start = start;
        if let Source::File { file, length, .. } = self.source {
            if self.source.is_given_up() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            self.buffer.resize((end.min(*length) - start) as usize, 0);
            read_exact_at(file, &mut self.buffer, start)?;
        }
        Ok(())
    }

    pub fn bytes(&self) -> &[u8] {
        match self.source {
            Source::File { .. } => &self.buffer,
            Source::Memory(text) => &text[self.start as usize..],
        }
    }

    /// The length of the byte order mark with which the window begins.
    pub fn mark(&self) -> usize {
        if self.bytes().starts_with(&BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
    }

    pub fn end(&self) -> u64 {
        self.start + self.bytes().len() as u64
    }

    pub fn is_last(&self) -> bool {
        self.end() == self.source.length()
    }

    /// A cursor at byte `at` of the source.
    pub fn cursor(&self, at: u64) -> Cursor<'_> {
        Cursor::new(self.bytes(), (at - self.start) as usize, self.start)
    }

    /// Moves on to `at` and holds at least twice as much from there.
    pub fn widen(&mut self, at: u64) -> io::Result<()> {
        let wanted = 2 * (self.end() - at).max(CHUNK / 32);
        self.load(at, at + wanted)
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, at)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut buffer: &mut [u8], mut at: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, buffer, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                buffer = &mut buffer[count..];
                at += count as u64;
            }
        }
    }
    Ok(())
}
