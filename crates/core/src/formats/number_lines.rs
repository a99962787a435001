//! Text files with numbers, separated by white space as YOLO's labels, or by commas as MOTChallenge's tracks.

use std::io;
use std::path::Path;

use super::text::{number, quoted, without_mark};
use super::{Columns, Problem, Problems, read_columns};
use crate::json::plain_start;
use crate::memory::Vec;

/// What there is of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// There is no such file.
    Missing = 0,
    /// It has white space at most.
    Blank = 1,
    /// It has at least one line with text.
    Text = 2,
}

/// The lines of all files whose words are finite numbers, in order. Lines with white space alone are left out.
#[derive(Debug, Default)]
pub struct NumberLines {
    /// The numbers of all lines.
    pub numbers: Vec<f64>,
    /// Where the numbers of each line end.
    pub ends: Vec<i64>,
    /// The file of each line, by its position.
    pub files: Vec<i64>,
    /// The place of each line in its file, from 1 on.
    pub lines: Vec<i64>,
    /// What there is of each file: a [`State`].
    pub states: Vec<u8>,
    /// Lines with a word that is not a finite number, and files that are not text.
    pub problems: Problems,
    /// The first file that cannot be read, and why. No file is missing in this sense.
    pub unreadable: Option<(usize, io::Error)>,
}

impl NumberLines {
    /// Makes a line of the numbers that were taken since the last one.
    fn end_line(&mut self, file: usize, line: usize) {
        self.ends.push(self.numbers.len() as i64);
        self.files.push(file as i64);
        self.lines.push(line as i64);
    }
}

impl Columns for NumberLines {
    fn append(&mut self, mut other: Self) {
        let before = self.numbers.len() as i64;
        self.numbers.append(&mut other.numbers);
        self.ends.extend(other.ends.iter().map(|end| before + end));
        self.files.append(&mut other.files);
        self.lines.append(&mut other.lines);
        self.states.append(&mut other.states);
        self.problems.append(other.problems);
        if let Some(first) = other.unreadable {
            self.unreadable.get_or_insert(first);
        }
    }
}

/// What stands between the numbers of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// White space.
    Space,
    /// A comma, with or without white space.
    Comma,
}

/// Reads files by `threads` threads (0: all cores). The first has the position `first` among all files.
pub fn read<P: AsRef<Path> + Sync>(paths: &[P], first: usize, between: Between, threads: usize) -> NumberLines {
    read_columns(paths, first, threads, |columns: &mut NumberLines, file, bytes| match bytes {
        Ok(bytes) => take_file(columns, file, bytes, between),
        Err(error) => {
            columns.states.push(State::Missing as u8);
            if error.kind() != io::ErrorKind::NotFound {
                columns.unreadable.get_or_insert((file, error));
            }
        }
    })
}

fn take_file(columns: &mut NumberLines, file: usize, bytes: &[u8], between: Between) {
    let text = match without_mark(bytes) {
        Ok(text) => text,
        Err(found) => {
            columns.states.push(State::Text as u8);
            let (expected, found) = ("text in UTF-8".into(), found.into());
            return columns.problems.meet(Problem { file, line: 0, field: "".into(), expected, found });
        }
    };
    let mut state = State::Blank;
    let (mut line, mut rest) = (0, text);
    while !rest.is_empty() {
        line += 1;
        let end = if let Some(end) = take_plain_line(&mut columns.numbers, rest, between) {
            columns.end_line(file, line);
            state = State::Text;
            end
        } else {
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
            if take_line(columns, file, line, &rest[..end], between) {
                state = State::Text;
            }
            end
        };
        let behind = &rest[end..];
        let length = if behind.starts_with(b"\r\n") { 2 } else { behind.len().min(1) };
        rest = &behind[length..];
    }
    columns.states.push(state as u8);
}

/// Takes the numbers of the first line of a text and returns its length, if they are plain and one byte stands between
/// two of them, as nearly all lines are. Otherwise takes nothing, and says nothing about the line.
///
/// In one pass over the bytes. To find the end of the line, then those of its words, and to trim both took three times
/// as many instructions.
fn take_plain_line(numbers: &mut Vec<f64>, text: &[u8], between: Between) -> Option<usize> {
    let separator = match between {
        Between::Space => b' ',
        Between::Comma => b',',
    };
    let (before, mut at) = (numbers.len(), 0);
    while let Some((value, length)) = plain_start(&text[at..]) {
        numbers.push(value);
        at += length;
        match text.get(at) {
            None | Some(b'\n' | b'\r') => return Some(at),
            Some(&byte) if byte == separator => at += 1,
            Some(_) => break,
        }
    }
    numbers.truncate(before);
    None
}

/// Takes a line of a file; whether it has words.
fn take_line(columns: &mut NumberLines, file: usize, line: usize, text: &[u8], between: Between) -> bool {
    let before = columns.numbers.len();
    if text.trim_ascii().is_empty() {
        return false;
    }
    let all_fine = match between {
        Between::Space => {
            take_words(columns, file, line, text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()))
        }
        Between::Comma => take_words(columns, file, line, text.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)),
    };
    if !all_fine {
        columns.numbers.truncate(before);
        return true;
    }
    columns.end_line(file, line);
    true
}

/// Takes the numbers of a line, up to a word that is none; whether all are numbers.
fn take_words<'a>(columns: &mut NumberLines, file: usize, line: usize, words: impl Iterator<Item = &'a [u8]>) -> bool {
    for (place, word) in words.enumerate() {
        let Some(value) = number(word) else {
            let (field, found) = (format!("number {}", place + 1).into(), quoted(word));
            columns.problems.meet(Problem { file, line, field, expected: "a finite number".into(), found });
            return false;
        };
        columns.numbers.push(value);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::vec;

    fn lines(text: &[u8]) -> NumberLines {
        let mut columns = NumberLines::default();
        take_file(&mut columns, 0, text, Between::Space);
        columns
    }

    #[test]
    fn commas_may_have_white_space_around_them_but_not_nothing() {
        let mut columns = NumberLines::default();
        take_file(&mut columns, 0, b"1, 2,3 \n \n4,,5\n6 7\n8", Between::Comma);
        assert_eq!(columns.numbers, [1.0, 2.0, 3.0, 8.0]);
        assert_eq!((columns.ends, columns.lines, columns.problems.count), (vec![3, 4], vec![1, 5], 2));
        let first = columns.problems.first.expect("a problem").to_string();
        assert_eq!(first, "line 3, number 2: expected a finite number, found \"\"");
    }

    #[test]
    fn takes_every_kind_of_line_end_and_counts_lines_as_editors_do() {
        let found = lines(b"\xEF\xBB\xBF1 2\r\n\r\n 3\t-4e-1 \r5\n\n6");
        assert_eq!(found.numbers, [1.0, 2.0, 3.0, -0.4, 5.0, 6.0]);
        assert_eq!((found.ends, found.lines), (vec![2, 4, 5, 6], vec![1, 3, 4, 6]));
        assert_eq!((found.states, found.problems.count), (vec![State::Text as u8], 0));
        assert_eq!(lines(b" \n\r\n").states, [State::Blank as u8]);
    }

    #[test]
    fn names_the_first_word_that_is_no_number() {
        for (text, message) in [
            (&b"1\n2 x 3"[..], "line 2, number 2: expected a finite number, found \"x\""),
            (b"1e999", "line 1, number 1: expected a finite number, found \"1e999\""),
            (b"nan", "line 1, number 1: expected a finite number, found \"nan\""),
            (b"1 \xFF 2\n-inf", "line 1, number 2: expected a finite number, found \"\u{FFFD}\""),
            (b"0,5", "line 1, number 1: expected a finite number, found \"0,5\""),
            (b"\xFF\xFE1\0", "expected text in UTF-8, found UTF-16 text (save it as UTF-8)"),
            (b"1\0 2", "expected text in UTF-8, found bytes that are not text"),
        ] {
            let found = lines(text);
            assert_eq!(found.problems.first.expect("a problem").to_string(), message);
            assert_eq!(found.states, [State::Text as u8]);
        }
        assert_eq!(lines(b"1\nx\n2\ny\n3").numbers, [1.0, 2.0, 3.0]);
    }

    #[test]
    fn plain_lines_are_read_as_others_are() {
        let mut state = 7u64;
        for round in 0..40_000 {
            let text: Vec<u8> = (0..round % 30)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    b"01234567895.-,, \n\n\r\te"[(state >> 33) as usize % 21]
                })
                .collect();
            for between in [Between::Space, Between::Comma] {
                let (mut found, mut expected) = (NumberLines::default(), NumberLines::default());
                take_file(&mut found, 0, &text, between);
                let lines = str::from_utf8(&text).expect("ASCII").replace("\r\n", "\n").replace('\r', "\n");
                for (at, line) in lines.split_terminator('\n').enumerate() {
                    take_line(&mut expected, 0, at + 1, line.as_bytes(), between);
                }
                let bits = |of: &NumberLines| of.numbers.iter().map(|value| value.to_bits()).collect::<Vec<u64>>();
                assert_eq!(bits(&found), bits(&expected), "{lines:?}");
                assert_eq!((&found.ends, &found.lines), (&expected.ends, &expected.lines), "{lines:?}");
                assert_eq!(found.problems.count, expected.problems.count, "{lines:?}");
            }
        }
    }

    #[test]
    fn any_bytes_end_as_numbers_or_as_a_problem() {
        let mut state = 1u64;
        for round in 0..20_000 {
            let bytes: Vec<u8> = (0..round % 40)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    b"0123456789.-+eE \t\r\n\0x\xFFinfa"[(state >> 33) as usize % 26]
                })
                .collect();
            let found = lines(&bytes);
            assert_eq!(found.ends.last().map_or(0, |&end| end as usize), found.numbers.len());
            assert!(found.numbers.iter().all(|value| value.is_finite()));
            assert_eq!(found.states.len(), 1);
        }
    }
}
