//! JSON: what is accepted, and the values, beside serde_json, with `null` for NaN and Infinity; and reading in pieces beside reading at once.
#![no_main]

use std::any::Any;
use std::cell::RefCell;

use ioukit_core::json::{Cursor, Records, Scalar, Source, Stream, StreamError, SyntaxError};
use ioukit_core::memory;
use ioukit_fuzz::{Nameless, without_constants};
use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;
use serde_json::Value;

thread_local!(static FILE: RefCell<Nameless> = RefCell::new(Nameless::new("json")));

fuzz_target!(|text: &[u8]| {
    grammar(text);
    for lines in [false, true] {
        pieces(text, lines);
    }
});

fn grammar(text: &[u8]) {
    let mut cursor = Cursor::new(text, 0, 0);
    let skipped = cursor.skip();
    let accepted = skipped.is_ok() && cursor.peek().is_none();
    let Ok(utf8) = str::from_utf8(text) else {
        assert!(!accepted, "bytes that are not UTF-8");
        return;
    };
    let strict = without_constants(utf8);
    let too_deep = skipped.is_err_and(|error| error.what.contains("nested more than"));
    assert!(accepted == serde_json::from_str::<IgnoredAny>(&strict).is_ok() || too_deep, "the grammar");
    // serde_json refuses numbers beyond the largest double, lone surrogates and 128 levels; those values are not compared.
    if let Ok(expected) = serde_json::from_str::<Value>(&strict) {
        let mut cursor = Cursor::new(text, 0, 0);
        let found = value(&mut cursor).expect("a value that serde_json reads");
        assert!(same(&found, &expected), "{found:?}\n{expected:?}");
        numbers(text, &expected);
    }
}

/// A value, by the steps that take one element after the other.
fn value(cursor: &mut Cursor<'_>) -> Result<Value, Box<SyntaxError>> {
    Ok(match cursor.peek() {
        Some(b'[') => {
            let (mut values, mut more) = (Vec::new(), cursor.open(b'[', b']')?);
            while more {
                values.push(value(cursor)?);
                more = cursor.more(b']')?;
            }
            Value::Array(values)
        }
        Some(b'{') => {
            let (mut members, mut more) = (serde_json::Map::new(), cursor.open(b'{', b'}')?);
            while more {
                let key = String::from_utf8(cursor.key()?.into_owned()).expect("no lone surrogates");
                let member = value(cursor)?;
                members.insert(key, member);
                more = cursor.more(b'}')?;
            }
            Value::Object(members)
        }
        _ => match cursor.scalar()? {
            Scalar::Number { integer: Some(integer), value } => {
                assert_eq!(integer as f64, value, "both forms of an integer");
                Value::from(integer)
            }
            Scalar::Number { value, .. } => Value::from(value), // null if it is not finite
            Scalar::Bool(value) => Value::from(value),
            Scalar::Null => Value::Null,
            Scalar::Text(text) => {
                Value::from(String::from_utf8(text.decode().into_owned()).expect("no lone surrogates"))
            }
            Scalar::Nested(kind) => panic!("{kind} that does not begin like one"),
        },
    })
}

/// Equality, but 5 may be 5.0: the integers that serde_json keeps have 64 bits with or without a sign.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, one)| other.get(key).is_some_and(|other| same(one, other)))
        }
        (Value::Number(one), Value::Number(other)) => match (one.as_i64(), other.as_i64()) {
            (Some(one), Some(other)) => one == other,
            // "-0" is an integer here.
            _ => one.as_f64().zip(other.as_f64()).is_some_and(|(one, other)| {
                one == other && (one != 0.0 || one.is_sign_negative() == other.is_sign_negative() || other == 0.0)
            }),
        },
        _ => one == other,
    }
}

/// The ways to take many numbers at once.
fn numbers(text: &[u8], expected: &Value) {
    let Some(expected) = expected.as_array() else { return };
    let Some(expected) = expected.iter().map(Value::as_f64).collect::<Option<Vec<_>>>() else { return };
    if let Some(four) = Cursor::new(text, 0, 0).try_four() {
        assert_eq!(four[..], expected[..], "four numbers");
    }
    let mut cursor = Cursor::new(text, 0, 0);
    let mut found = memory::Vec::new();
    let mut more = cursor.open(b'[', b']').expect("an array");
    if more && cursor.take_plain(&mut found) {
        more = cursor.more(b']').expect("its end");
    }
    while more {
        found.push(cursor.try_number().expect("a number").expect("a number"));
        more = cursor.more(b']').expect("a comma or the end");
    }
    assert_eq!(found, expected, "a list of numbers");
}

/// Where each record begins and ends.
#[derive(Debug, Default, PartialEq)]
struct Found(Vec<[u64; 2]>);

impl Records for Found {
    fn take(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Box<SyntaxError>> {
        self.0.push(cursor.span()?);
        Ok(())
    }

    fn append(&mut self, other: &mut dyn Any) {
        self.0.append(&mut other.downcast_mut::<Self>().expect("records of one kind").0);
    }
}

fn pieces(text: &[u8], lines: bool) {
    let expected = at_once(text, lines);
    let memory = Source::Memory(text.to_vec().into());
    assert_eq!(in_pieces(&memory, lines), expected, "in memory");
    FILE.with_borrow_mut(|file| assert_eq!(in_pieces(&file.source(text), lines), expected, "in a file"));
}

type Read = Result<(Found, u64), (u64, String)>;

fn in_pieces(source: &Source, lines: bool) -> Read {
    let mut stream = Stream::new(source).expect("a readable source");
    let found = if lines { stream.lines(Found::default) } else { stream.array(Found::default) };
    match found {
        Ok(found) => Ok((found, stream.offset())),
        Err(StreamError::Syntax { error, .. }) => Err((error.at, error.what.into_owned())),
        Err(StreamError::Io(error)) => panic!("{error}"),
    }
}

fn at_once(text: &[u8], lines: bool) -> Read {
    let mark = if text.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let (mut cursor, mut found) = (Cursor::new(text, mark, 0), Found::default());
    let mut walk = || {
        let mut more = if lines { cursor.peek().is_some() } else { cursor.open(b'[', b']')? };
        while more {
            found.take(&mut cursor)?;
            more = if lines { cursor.next_line(true)? } else { cursor.more(b']')? };
        }
        Ok(())
    };
    let walked: Result<(), Box<SyntaxError>> = walk();
    walked.map_err(|error| (error.at, error.what.into_owned())).map(|()| (found, cursor.offset()))
}
