//! Long tables in CSV files (RFC 4180): chosen columns of text and of numbers.

use std::path::Path;

use super::text::{number, without_mark};
use super::{Labels, Problem};
use crate::threads::{available, map, with_threads};

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
    /// The text of each row.
    Text(Labels),
    /// The number of each row; NaN where there is another value.
    Number(Vec<f64>),
}

impl Column {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Text(Labels::default()),
            Kind::Number => Self::Number(Vec::new()),
        }
    }

    fn push(&mut self, field: &[u8]) {
        match self {
            Self::Text(labels) => labels.push(field),
            Self::Number(values) => values.push(number(field.trim_ascii()).unwrap_or(f64::NAN)),
        }
    }

    fn append(&mut self, other: Self) {
        match (self, other) {
            (Self::Text(labels), Self::Text(other)) => labels.append(other),
            (Self::Number(values), Self::Number(mut other)) => values.append(&mut other),
            _ => unreachable!("columns of one kind"),
        }
    }
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
    Io(std::io::Error),
    /// A row is invalid.
    Invalid(Problem),
}

/// Reads a file by `threads` threads (0: all cores).
pub fn read(path: &Path, choice: Choice<'_>, threads: usize) -> Result<Table, NoTable> {
    let bytes = std::fs::read(path).map_err(NoTable::Io)?;
    with_threads(threads, || parse(&bytes, choice, threads)).map_err(NoTable::Invalid)
}

fn problem(line: usize, expected: &str, found: &str) -> Problem {
    Problem { file: 0, line, field: "".into(), expected: expected.to_owned().into(), found: found.to_owned().into() }
}

fn parse(bytes: &[u8], choice: Choice<'_>, threads: usize) -> Result<Table, Problem> {
    let text = without_mark(bytes).map_err(|found| problem(1, "CSV in UTF-8", found))?;
    let mut parts = map(pieces(text, threads).into_iter().enumerate(), threads, |(place, text)| {
        let mut piece = Piece {
            table: Table {
                columns: choice.columns.iter().map(|(_, kind)| Column::new(*kind)).collect(),
                lines: vec![],
            },
            count: 0,
        };
        piece.take(text, Choice { header: choice.header && place == 0, ..choice }).map(|()| piece)
    })
    .into_iter();
    let mut all: Piece = match parts.next() {
        Some(first) => first?,
        None => unreachable!("there is a piece"),
    };
    for part in parts {
        let before = all.count as i64;
        let part = part.map_err(|found| Problem { line: found.line + all.count, ..found })?;
        all.table.lines.extend(part.table.lines.iter().map(|line| line + before));
        all.table.columns.iter_mut().zip(part.table.columns).for_each(|(column, other)| column.append(other));
        all.count += part.count;
    }
    Ok(all.table)
}

/// The text in pieces that begin at rows: one for each thread, or the whole if a field may have line breaks.
fn pieces(text: &[u8], threads: usize) -> Vec<&[u8]> {
    const SMALL: usize = 1 << 20;
    let count = if threads == 0 { available() } else { threads };
    // Several for each thread, so that none waits long for the last one.
    let size = (text.len() / (4 * count)).max(SMALL);
    if count == 1 || text.len() <= size || text.contains(&b'"') || text.contains(&b'\r') && !text.contains(&b'\n') {
        return vec![text];
    }
    let (mut pieces, mut rest) = (Vec::new(), text);
    while rest.len() > size {
        let Some(end) = rest[size..].iter().position(|byte| *byte == b'\n') else { break };
        let (piece, behind) = rest.split_at(size + end + 1);
        pieces.push(piece);
        rest = behind;
    }
    pieces.push(rest);
    pieces
}

/// Rows that follow each other.
struct Piece {
    table: Table,
    /// How many lines the piece has.
    count: usize,
}

impl Piece {
    fn take(&mut self, text: &[u8], choice: Choice<'_>) -> Result<(), Problem> {
        if let Err(error) = str::from_utf8(text) {
            let line = 1 + text[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
            return Err(problem(line, "CSV in UTF-8", "bytes that are not UTF-8"));
        }
        let mut rows = Rows {
            text,
            delimiter: choice.delimiter,
            most: choice.fields,
            at: 0,
            line: 0,
            count: 0,
            quoted: Vec::new(),
        };
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
            self.table.lines.push(rows.line as i64);
            for (column, (place, _)) in self.table.columns.iter_mut().zip(choice.columns) {
                column.push(rows.text_of(&fields[*place]));
            }
        }
        Ok(())
    }
}

/// A field of a row: a part of the text, or of the unquoted text.
#[derive(Clone, Copy)]
struct Field {
    start: usize,
    end: usize,
    quoted: bool,
}

/// A walk over rows.
struct Rows<'a> {
    text: &'a [u8],
    delimiter: u8,
    /// How many fields of a row are kept: a row may be as long as the file.
    most: usize,
    at: usize,
    /// How many lines have ended.
    line: usize,
    /// How many fields the row has.
    count: usize,
    /// The fields of the row that were in quotes, without them.
    quoted: Vec<u8>,
}

impl Rows<'_> {
    fn text_of(&self, field: &Field) -> &[u8] {
        if field.quoted { &self.quoted[field.start..field.end] } else { &self.text[field.start..field.end] }
    }

    /// Takes a row; false at the end of the text.
    #[inline]
    fn next(&mut self, fields: &mut Vec<Field>) -> Result<bool, Problem> {
        fields.clear();
        self.quoted.clear();
        self.count = 0;
        if self.at >= self.text.len() {
            return Ok(false);
        }
        loop {
            let field = if self.text.get(self.at) == Some(&b'"') { self.in_quotes()? } else { self.plain() };
            self.count += 1;
            if self.count <= self.most {
                fields.push(field);
            }
            match self.text.get(self.at) {
                Some(byte) if *byte == self.delimiter => self.at += 1,
                Some(b'\r') => {
                    self.at += if self.text.get(self.at + 1) == Some(&b'\n') { 2 } else { 1 };
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
        let (start, delimiter) = (self.at, self.delimiter);
        let length = self.text[start..].iter().position(|byte| *byte == delimiter || matches!(byte, b'\n' | b'\r'));
        self.at = length.map_or(self.text.len(), |length| start + length);
        Field { start, end: self.at, quoted: false }
    }

    /// Takes a field in quotes, in which two quotes stand for one.
    fn in_quotes(&mut self) -> Result<Field, Problem> {
        let start = self.quoted.len();
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let Some(length) = rest.iter().position(|byte| *byte == b'"') else {
                return Err(problem(self.line + 1, "the end of a field in quotes", "the end of the file"));
            };
            self.quoted.extend_from_slice(&rest[..length]);
            self.line += rest[..length].iter().filter(|byte| **byte == b'\n').count();
            self.at += length + 1;
            match self.text.get(self.at) {
                Some(b'"') => {
                    self.quoted.push(b'"');
                    self.at += 1;
                }
                None | Some(b'\n' | b'\r') => break,
                Some(byte) if *byte == self.delimiter => break,
                Some(_) => return Err(problem(self.line + 1, "the end of a field behind its quotes", "more")),
            }
        }
        Ok(Field { start, end: self.quoted.len(), quoted: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first column as text, the last one as numbers, and the lines.
    type Read = (Vec<String>, Vec<f64>, Vec<i64>);

    fn table(text: &[u8], fields: usize, threads: usize) -> Result<Read, String> {
        let columns = [(0, Kind::Text), (fields - 1, Kind::Number)];
        let choice = Choice { fields, delimiter: b',', header: true, columns: &columns };
        let Table { mut columns, lines } = parse(text, choice, threads).map_err(|problem| problem.to_string())?;
        let (Some(Column::Number(numbers)), Some(Column::Text(labels))) = (columns.pop(), columns.pop()) else {
            unreachable!("two columns")
        };
        let (codes, names) = labels.sorted();
        let text = codes.iter().map(|&code| String::from_utf8_lossy(&names[code as usize]).into_owned()).collect();
        Ok((text, numbers, lines))
    }

    #[test]
    fn takes_quotes_and_every_kind_of_line_end() {
        let (text, numbers, lines) =
            table(b"\xEF\xBB\xBFa,b\r\n\r\n\"x, \"\"y\"\"\n z\",1\nq, 2.5 \r\"\",x\n,", 2, 1).expect("a table");
        assert_eq!(text, ["x, \"y\"\n z", "q", "", ""]);
        assert_eq!((numbers[0], numbers[1], lines), (1.0, 2.5, vec![4, 5, 6, 7]));
        assert!(numbers[2].is_nan() && numbers[3].is_nan());
    }

    #[test]
    fn names_the_line_of_a_bad_row() {
        for (text, message) in [
            (&b"a,b\n1,2\n1,2,3\n"[..], "line 3: expected 2 fields, found 3"),
            (b"a,b\n,,,,,,,,\n", "line 2: expected 2 fields, found 9"),
            (b"a,b\n\"1,2\n", "line 2: expected the end of a field in quotes, found the end of the file"),
            (b"a,b\n\"1\"x,2\n", "line 2: expected the end of a field behind its quotes, found more"),
            (b"a,b\n1,2\n\xFF,2\n", "line 3: expected CSV in UTF-8, found bytes that are not UTF-8"),
            (b"\xFF\xFEa", "line 1: expected CSV in UTF-8, found UTF-16 text (save it as UTF-8)"),
        ] {
            assert_eq!(table(text, 2, 1).expect_err("no table"), message);
        }
    }

    #[test]
    fn pieces_change_nothing() {
        let rows: String = (0..200_000)
            .map(|row| format!("image {}{},{}\n", row / 7, if row % 5 == 0 { "\n" } else { "" }, row))
            .collect();
        let rows = rows.replace("\n,", ",");
        let text = format!("name,number\n{rows}");
        assert!(text.len() > 3 << 20);
        let one = table(text.as_bytes(), 2, 1).expect("a table");
        assert_eq!(one, table(text.as_bytes(), 2, 3).expect("a table"));
        assert_eq!((one.1.len(), one.2[0]), (200_000, 2));
        let bad = format!("{text}1,2,3\n");
        assert_eq!(table(bad.as_bytes(), 2, 1), table(bad.as_bytes(), 2, 3));
    }
}
