//! Tables in CSV files beside a plain reader, as a whole, in pieces and in parts.
//!
//! The first byte of an input chooses the delimiter, the number of fields and whether there are names.
#![no_main]

use std::cell::RefCell;

use ioukit_core::formats::csv::{self, Choice, Column, Kind, NoTable, Table};
use ioukit_fuzz::Nameless;
use libfuzzer_sys::fuzz_target;

thread_local!(static FILE: RefCell<Nameless> = RefCell::new(Nameless::new("csv")));

fuzz_target!(|data: &[u8]| {
    let [first, text @ ..] = data else { return };
    let delimiter = [b',', b';', b'\t', b'|'][usize::from(first % 4)];
    let fields = 1 + usize::from(first / 4 % 4);
    let columns = [(0, Kind::Text), (fields - 1, Kind::Number)];
    let choice = Choice { fields, delimiter, header: first / 16 % 2 == 1, columns: &columns };
    let path = FILE.with_borrow_mut(|file| file.hold(text));

    let whole = rows(csv::read_rows(text, true, choice, 1));
    assert_eq!(rows(csv::read(&path, choice, 0)), whole, "in pieces");
    if starts_as_text(text) {
        match (plain(text, choice), &whole) {
            (Some(expected), Ok(found)) => assert_eq!(expected, *found),
            (expected, found) => assert!(expected.is_none() && found.is_err(), "{expected:?} {found:?}"),
        }
    }
    let parts = csv::find_parts(&path, delimiter, 9).expect("a readable file");
    if let Ok(whole) = &whole {
        let mut all = Vec::new();
        for (number, &[start, lines]) in parts.starts.iter().enumerate() {
            let end = parts.starts.get(number + 1).map_or(text.len(), |next| next[0] as usize);
            let choice = Choice { header: choice.header && number == 0, ..choice };
            let part = csv::read_rows(&text[start as usize..end], number == 0, choice, 1);
            let part = rows(part).expect("the rows of the whole");
            all.extend(part.into_iter().map(|(line, name, value)| (line + lines as i64, name, value)));
        }
        assert_eq!(all, *whole, "in parts");
    }
});

/// The line, the first field and the last one as a number; NaN as text, since it is not equal to itself.
type Row = (i64, Vec<u8>, String);

fn rows(read: Result<Table, NoTable>) -> Result<Vec<Row>, String> {
    let table = match read {
        Ok(table) => table,
        Err(NoTable::Invalid(problem)) => return Err(problem.to_string()),
        Err(NoTable::Io(error)) => panic!("{error}"),
    };
    let [Column::Text(codes, names), Column::Number(numbers)] = &table.columns[..] else { panic!("two columns") };
    let names = codes.iter().map(|&code| names.get(code as usize).to_vec());
    let numbers = numbers.iter().map(|number| format!("{number:?}"));
    Ok(table.lines.into_iter().zip(names).zip(numbers).map(|((line, name), number)| (line, name, number)).collect())
}

/// Whether the first bytes do not refuse the file.
fn starts_as_text(text: &[u8]) -> bool {
    !(text[..text.len().min(4)].contains(&0) || text.starts_with(b"\x1F\x8B"))
}

/// One character after the other, as RFC 4180 has it; nothing for a file with a row that is invalid.
fn plain(text: &[u8], choice: Choice<'_>) -> Option<Vec<Row>> {
    let text = str::from_utf8(text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text)).ok()?;
    if text.contains('\0') {
        return None;
    }
    let mut characters = text.chars().peekable();
    let (mut rows, mut line, mut is_first) = (Vec::new(), 0, true);
    while characters.peek().is_some() {
        let (mut fields, mut was_quoted) = (Vec::new(), false);
        loop {
            let mut field = String::new();
            if characters.next_if_eq(&'"').is_some() {
                was_quoted = true;
                loop {
                    let character = characters.next()?;
                    if character == '"' && characters.next_if_eq(&'"').is_none() {
                        break;
                    }
                    line += i64::from(character == '\n');
                    field.push(character);
                }
            } else {
                let ends = |c: &char| *c == char::from(choice.delimiter) || matches!(c, '\n' | '\r');
                while let Some(character) = characters.next_if(|c| !ends(c)) {
                    field.push(character);
                }
            }
            fields.push(field);
            match characters.next() {
                Some(c) if c == char::from(choice.delimiter) => {}
                Some('\r') => {
                    characters.next_if_eq(&'\n');
                    break;
                }
                Some('\n') | None => break,
                Some(_) => return None,
            }
        }
        line += 1;
        if std::mem::take(&mut is_first) && choice.header {
            continue;
        }
        let is_blank = fields.len() == 1 && fields[0].is_empty() && !was_quoted;
        if is_blank && choice.fields != 1 {
            continue;
        }
        if fields.len() != choice.fields {
            return None;
        }
        let last = fields[choice.fields - 1].trim_ascii();
        let value = last.parse::<f64>().ok().filter(|value| value.is_finite()).unwrap_or(f64::NAN);
        rows.push((line, fields.swap_remove(0).into_bytes(), format!("{value:?}")));
    }
    Some(rows)
}
