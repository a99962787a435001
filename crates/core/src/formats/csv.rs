//! Long tables in CSV files (RFC 4180): chosen columns of text and of numbers.
//!
//! A file is cut into pieces that begin at a line; with quotes, which may hold line breaks, it is one piece. `rows` finds
//! the fields. What a column means is Python's (`datasets/formats/table_columns.py`).

mod rows;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use self::rows::{Field, Rows, problem};
use super::text::{number, without_mark};
use super::{Labels, Problem, Strings};
use crate::memory::{Vec, read_to_end, vec};
use crate::regular_file;
use crate::threads::{each, each_with, with_threads};

/// What a column is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// Finite numbers.
    Number,
}

/// A column that was read.
#[derive(Debug)]
pub enum Column {
    /// The place of the text of each row among the strings in ascending order, and these strings.
    Text(Vec<i64>, Strings),
    /// The number of each row; NaN where there is another value.
    Number(Vec<f64>),
}

/// The rows of a file.
#[derive(Debug)]
pub struct Table {
    /// The chosen columns, in the order in which they were asked for.
    pub columns: Vec<Column>,
    /// The line at which each row ends, from 1 on.
    pub lines: Vec<i64>,
}

/// Which columns of a file are read.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    /// How many fields a row has.
    pub fields: usize,
    /// What stands between fields.
    pub delimiter: u8,
    /// Whether the first row is left out: it has the names of the columns.
    pub header: bool,
    /// The columns, by their positions.
    pub columns: &'a [(usize, Kind)],
}

/// Why there is no table.
#[derive(Debug)]
pub enum NoTable {
    /// The system could not read the file.
    Io(io::Error),
    /// A row is invalid.
    Invalid(Problem),
}

/// How much of a file a thread reads at a time: so little that it stays in the cache of a core. Small files of a fuzzer
/// have several pieces.
const PIECE: u64 = if cfg!(fuzzing) { 1 << 4 } else { 1 << 20 };

/// Reads a file by `threads` threads (0: all cores).
pub fn read(path: &Path, choice: Choice<'_>, threads: usize) -> Result<Table, NoTable> {
    with_threads(threads, || read_in_pieces(path, choice, threads, PIECE))
}

/// Reads rows in memory; `first` if they are those at the start of a file.
pub fn read_rows(text: &[u8], first: bool, choice: Choice<'_>, threads: usize) -> Result<Table, NoTable> {
    with_threads(threads, || {
        let piece = parse(text, first, choice).map_err(NoTable::Invalid)?;
        Ok(joined(vec![piece], choice, threads))
    })
}

/// Where the rows of a file are.
#[derive(Debug, Default)]
pub struct Parts {
    /// The byte at which each part starts, and how many lines are before it.
    pub starts: Vec<[u64; 2]>,
    /// How many rows there are, with the row of names; blank lines are none.
    pub rows: u64,
}

/// Where a walk over the bytes of a file stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A row starts.
    Row,
    /// A field starts.
    Field,
    /// Within a field without quotes, or behind the quotes of a field.
    Plain,
    /// Within the quotes of a field.
    Quoted,
    /// Behind a quote within the quotes of a field: it ends them, or another quote follows.
    Quote,
    /// Behind a carriage return that ends a row.
    Return,
}

/// Finds a row to start with about every `bytes` of a file, in one walk that keeps nothing else.
pub fn find_parts(path: &Path, delimiter: u8, bytes: u64) -> io::Result<Parts> {
    let mut file = regular_file::open(path)?;
    let mut buffer = vec![0; PIECE as usize];
    let (mut parts, mut place, mut lines, mut at, mut blank) = (Parts::default(), Place::Row, 0, 0, true);
    loop {
        let count = file.read(&mut buffer)?;
        let mut text = &buffer[..count];
        if count == 0 {
            break;
        }
        if at == 0 && text.starts_with(&[0xEF, 0xBB, 0xBF]) {
            parts.starts.push([0, 0]);
            text = &text[3..];
            at = 3;
        }
        for &byte in text {
            if place == Place::Return {
                place = Place::Row;
                if byte == b'\n' {
                    at += 1;
                    continue;
                }
            }
            if place == Place::Row {
                if parts.starts.last().is_none_or(|last| at - last[0] >= bytes) {
                    parts.starts.push([at, lines]);
                }
                (place, blank) = (Place::Field, true);
            }
            at += 1;
            place = match (place, byte) {
                (Place::Quoted, b'"') => Place::Quote,
                (Place::Quoted, _) => {
                    lines += u64::from(byte == b'\n');
                    Place::Quoted
                }
                (Place::Field, b'"') | (Place::Quote, b'"') => {
                    blank = false;
                    Place::Quoted
                }
                (_, b'\n' | b'\r') => {
                    lines += 1;
                    parts.rows += u64::from(!blank);
                    if byte == b'\n' { Place::Row } else { Place::Return }
                }
                (_, byte) => {
                    blank = false;
                    if byte == delimiter { Place::Field } else { Place::Plain }
                }
            };
        }
    }
    if !matches!(place, Place::Row | Place::Return) {
        parts.rows += u64::from(!blank);
    }
    Ok(parts)
}

/// Reads a file in pieces that begin at rows. A line feed ends a row unless there are quotes in the file, so with the
/// first quote the file is read again as a whole; and so is one with lines that are longer than a piece.
fn read_in_pieces(path: &Path, choice: Choice<'_>, threads: usize, size: u64) -> Result<Table, NoTable> {
    let length = regular_file::open(path).and_then(|file| file.metadata()).map_err(NoTable::Io)?.len();
    let count = length.div_ceil(size) as usize;
    let mut parts: Vec<Option<Result<Piece, NoPiece>>> = (0..count).map(|_| None).collect();
    let whole = AtomicBool::new(count < 2);
    each_with(parts.iter_mut().enumerate(), threads, Vec::new, |buffer, (number, part)| {
        if whole.load(Ordering::Relaxed) {
            return;
        }
        let piece = read_piece(path, number as u64 * size, size, buffer).and_then(|text| {
            let choice = Choice { header: choice.header && number == 0, ..choice };
            parse(text, number == 0, choice).map_err(NoPiece::Invalid)
        });
        whole.fetch_or(matches!(piece, Err(NoPiece::NoRows)), Ordering::Relaxed);
        *part = Some(piece);
    });
    if whole.into_inner() {
        let mut text = Vec::new();
        File::open(path).and_then(|file| read_to_end(file, &mut text)).map_err(NoTable::Io)?;
        let piece = parse(&text, true, choice).map_err(NoTable::Invalid)?;
        return Ok(joined(vec![piece], choice, threads));
    }
    let (mut pieces, mut lines) = (Vec::with_capacity(count), 0);
    for part in parts {
        let mut piece = match part.expect("every piece was read") {
            Ok(piece) => piece,
            Err(NoPiece::Io(error)) => return Err(NoTable::Io(error)),
            Err(NoPiece::Invalid(found)) => {
                return Err(NoTable::Invalid(Problem { line: found.line + lines, ..found }));
            }
            Err(NoPiece::NoRows) => unreachable!("such a file is read as a whole"),
        };
        piece.before = lines;
        lines += piece.count;
        pieces.push(piece);
    }
    Ok(joined(pieces, choice, threads))
}

/// Why there are no rows of a piece.
enum NoPiece {
    Io(io::Error),
    Invalid(Problem),
    /// It cannot be told where its rows begin.
    NoRows,
}

/// The rows that begin in `size` bytes from `start` on.
fn read_piece<'a>(path: &Path, start: u64, size: u64, buffer: &'a mut Vec<u8>) -> Result<&'a [u8], NoPiece> {
    // A row begins behind a line feed, which may be the byte before the piece.
    let ahead = start.min(1);
    buffer.clear();
    let mut file = File::open(path).map_err(NoPiece::Io)?;
    file.seek(SeekFrom::Start(start - ahead)).map_err(NoPiece::Io)?;
    // The last row may end in the next piece.
    read_to_end(file.by_ref().take(ahead + size), buffer).map_err(NoPiece::Io)?;
    let inside = buffer.len();
    let mut end = inside;
    while inside as u64 == ahead + size && buffer[end - 1] != b'\n' {
        if end as u64 > 2 * size {
            return Err(NoPiece::NoRows);
        }
        const MORE: u64 = 1 << 12;
        let before = buffer.len();
        read_to_end(file.by_ref().take(MORE), buffer).map_err(NoPiece::Io)?;
        let found = buffer[before..].iter().position(|byte| *byte == b'\n');
        end = found.map_or(buffer.len(), |place| before + place + 1);
        if found.is_some() || buffer.len() == before {
            break;
        }
    }
    let rows = &buffer[..end];
    if rows.contains(&b'"') {
        return Err(NoPiece::NoRows);
    }
    if start == 0 {
        return Ok(rows);
    }
    let begin = rows[..inside].iter().position(|byte| *byte == b'\n').ok_or(NoPiece::NoRows)?;
    Ok(if begin + 1 < inside { &rows[begin + 1..] } else { &[] })
}

fn parse(bytes: &[u8], first: bool, choice: Choice<'_>) -> Result<Piece, Problem> {
    let text = match without_mark(bytes) {
        Ok(text) if first => text,
        Err(found) if first => return Err(problem(1, "CSV in UTF-8", found)),
        _ => bytes,
    };
    let mut piece = Piece::default();
    for (_, kind) in choice.columns {
        match kind {
            Kind::Text => piece.labels.push(Labels::default()),
            Kind::Number => piece.numbers.push(Vec::new()),
        }
    }
    piece.take(text, choice)?;
    Ok(piece)
}

/// The rows of all pieces.
fn joined(mut pieces: Vec<Piece>, choice: Choice<'_>, threads: usize) -> Table {
    let rows = pieces.iter().map(|piece| piece.lines.len()).sum();
    let mut lines = vec![0; rows];
    fill_behind(&mut lines, &pieces, threads, |out, piece| {
        out.iter_mut().zip(&piece.lines).for_each(|(out, &line)| *out = piece.before as i64 + line);
    });
    let (mut of_text, mut of_numbers) = (0, 0);
    let columns = choice.columns.iter().map(|(_, kind)| match kind {
        Kind::Text => {
            let labels = pieces.iter_mut().map(|piece| std::mem::take(&mut piece.labels[of_text])).collect();
            of_text += 1;
            let (codes, names) = Labels::joined(labels, threads);
            Column::Text(codes, names)
        }
        Kind::Number => {
            let mut numbers = vec![0.0; rows];
            fill_behind(&mut numbers, &pieces, threads, |out, piece| out.copy_from_slice(&piece.numbers[of_numbers]));
            of_numbers += 1;
            Column::Number(numbers)
        }
    });
    Table { columns: columns.collect(), lines }
}

/// Calls `work` with every piece and its rows of a column.
fn fill_behind<T: Send>(column: &mut [T], pieces: &[Piece], threads: usize, work: impl Fn(&mut [T], &Piece) + Sync) {
    let mut rest = column;
    let mut tasks = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let (out, behind) = rest.split_at_mut(piece.lines.len());
        tasks.push((out, piece));
        rest = behind;
    }
    each(tasks.into_iter(), threads, |(out, piece)| work(out, piece));
}

/// Rows that follow each other.
#[derive(Default)]
struct Piece {
    /// The columns of text, in the order in which they were asked for.
    labels: Vec<Labels>,
    /// The columns of numbers.
    numbers: Vec<Vec<f64>>,
    /// The line at which each row ends, counted from the piece on.
    lines: Vec<i64>,
    /// How many lines lie before the piece.
    before: usize,
    /// How many lines the piece has.
    count: usize,
}

impl Piece {
    fn take(&mut self, text: &[u8], choice: Choice<'_>) -> Result<(), Problem> {
        let of_utf8 = str::from_utf8(text).map_or_else(|error| error.valid_up_to(), |_| text.len());
        // No tool writes a zero byte into a field; a file with one is damaged.
        let zero = if text.contains(&0) { text.iter().position(|&byte| byte == 0) } else { None };
        let (end, found) = match zero {
            Some(at) if at < of_utf8 => (at, "a zero byte"),
            _ if of_utf8 < text.len() => (of_utf8, "bytes that are not UTF-8"),
            _ => return self.take_rows(text, choice),
        };
        let valid = &text[..end];
        let start = valid.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map_or(0, |at| at + 1);
        // The first line with a problem is named, whatever the pieces. With quotes, which a file has in one piece alone,
        // the field with these bytes may begin in an earlier line.
        if !valid.contains(&b'"') {
            self.take_rows(&text[..start], choice)?;
        }
        Err(problem(1 + lines_in(&text[..start]), "CSV in UTF-8", found))
    }

    fn take_rows(&mut self, text: &[u8], choice: Choice<'_>) -> Result<(), Problem> {
        let mut rows = Rows::of(text, choice.delimiter, choice.fields);
        let mut fields = Vec::with_capacity(choice.fields);
        let mut header = choice.header;
        while rows.next(&mut fields)? {
            self.count = rows.line;
            if std::mem::take(&mut header) {
                continue;
            }
            // A blank line is no row.
            if let [Field { start, end, quoted: false }] = fields[..]
                && rows.count == 1
                && start == end
                && choice.fields != 1
            {
                continue;
            }
            if rows.count != choice.fields {
                let expected = format!("{} fields", choice.fields);
                return Err(problem(rows.line, &expected, &rows.count.to_string()));
            }
            self.lines.push(rows.line as i64);
            let (mut labels, mut numbers) = (self.labels.iter_mut(), self.numbers.iter_mut());
            for (place, kind) in choice.columns {
                let field = rows.text_of(&fields[*place]);
                match kind {
                    Kind::Text => labels.next().expect("a column of text").push(field),
                    Kind::Number => {
                        let value = number(field.trim_ascii()).unwrap_or(f64::NAN);
                        numbers.next().expect("a column of numbers").push(value);
                    }
                }
            }
        }
        Ok(())
    }
}

/// How many lines end in a text; a carriage return ends one, alone or with the line feed behind it.
fn lines_in(text: &[u8]) -> usize {
    let ends = text.iter().enumerate().filter(|&(place, byte)| match byte {
        b'\n' => place == 0 || text[place - 1] != b'\r',
        byte => *byte == b'\r',
    });
    ends.count()
}

#[cfg(test)]
mod tests;
