//! Label files other than COCO's: folders of many small files, and long tables.
//!
//! `files` reads many files by all threads, `text` looks at words and numbers. Each other file reads one kind of file into
//! columns. What is wrong with a file is a [`Problem`]: it says where, what was expected and what was found. The caller
//! knows the paths and puts them in front.

pub mod csv;
mod files;
pub mod image_size;
mod labels;
pub mod number_lines;
mod text;
pub mod voc;
mod xml;

use std::borrow::Cow;
use std::fmt;

pub use files::{Columns, read_columns};
pub use labels::{Labels, Strings};

/// Something in a file that its format does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The position of the file among those that are read.
    pub file: usize,
    /// The line, from 1 on; 0 for the whole file.
    pub line: usize,
    /// The field; empty for the whole line.
    pub field: Cow<'static, str>,
    /// What the format asks for.
    pub expected: Cow<'static, str>,
    /// What the file has.
    pub found: Cow<'static, str>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, field, expected, found, .. } = self;
        if *line > 0 {
            write!(f, "line {line}{}", if field.is_empty() { ": " } else { ", " })?;
        }
        if !field.is_empty() {
            write!(f, "{field}: ")?;
        }
        write!(f, "expected {expected}, found {found}")
    }
}

/// How many problems there are, and the first.
#[derive(Clone, Debug, Default)]
pub struct Problems {
    /// How many.
    pub count: usize,
    /// The first, in the order of files and lines.
    pub first: Option<Problem>,
}

impl Problems {
    /// Counts one that lies behind those before.
    pub fn meet(&mut self, problem: Problem) {
        self.count += 1;
        self.first.get_or_insert(problem);
    }

    /// Counts those of files that lie behind.
    pub fn append(&mut self, other: Self) {
        self.count += other.count;
        if let Some(first) = other.first {
            self.first.get_or_insert(first);
        }
    }
}
