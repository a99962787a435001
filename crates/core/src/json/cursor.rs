//! A position in a piece of JSON text, and the steps it can take.
//!
//! Owns: the grammar, one value at a time, and the place of an error. Does not own: where text comes from (`source`), how
//! long arrays are shared among threads (`stream`), what a record means (`coco`). It is our own because columns at this
//! speed need it (`benchmarks/README.md`): no document is built, and values that nobody asks for are checked and skipped.
//! Fuzzed against Python's `json` and serde_json.

use std::borrow::Cow;

use super::number::{Decimal, TENS, leading_digits};
use super::plain_numbers;
use super::syntax_error::SyntaxError;
use super::text::{Text, plain_length};
use crate::memory::Vec;

/// How deep arrays and objects may nest; Python's own reader gives up at about this depth.
const MAX_DEPTH: usize = 960;

/// A value that is neither array nor object, or only the name of its kind.
#[derive(Clone, Copy, Debug)]
pub enum Scalar<'a> {
    /// A number.
    Number {
        /// The nearest double; infinite beyond the largest. Also the `NaN` and `Infinity` that Python's `json` writes.
        value: f64,
        /// The exact value, if it was written as an integer and fits 64 bits.
        integer: Option<i64>,
    },
    /// `true` or `false`.
    Bool(bool),
    /// `null`.
    Null,
    /// A string.
    Text(Text<'a>),
    /// An array or object, skipped.
    Nested(&'static str),
}

/// A walk over `text`, which starts at byte `base` of the whole.
pub struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
    base: u64,
}

/// Errors are boxed: what is returned for every number of a long file stays in registers.
type Result<T> = std::result::Result<T, Box<SyntaxError>>;

impl<'a> Cursor<'a> {
    /// Starts at byte `at` of `text`.
    pub fn new(text: &'a [u8], at: usize, base: u64) -> Self {
        Self { text, at, base }
    }

    /// Offset of the next byte within the text given.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Offset of the next byte within the whole.
    pub fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    #[cold]
    fn error<T>(&self, what: impl Into<Cow<'static, str>>) -> Result<T> {
        Err(Box::new(SyntaxError { at: self.offset(), what: what.into(), ended: false, field: String::new() }))
    }

    /// Whether the next value is a number to the end of the text: behind it, there may be more of it.
    #[inline]
    pub fn is_open_number(&mut self) -> bool {
        let part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        matches!(self.peek(), Some(b'-' | b'0'..=b'9')) && self.text[self.at..].iter().all(part)
    }

    /// The error for a text that ends too early.
    #[cold]
    pub fn end<T>(&self) -> Result<T> {
        let at = self.base + self.text.len() as u64;
        Err(Box::new(SyntaxError {
            at,
            what: "the text ends inside a value (is the file truncated?)".into(),
            ended: true,
            field: String::new(),
        }))
    }

    /// The error for an unexpected byte, or for the end of the text.
    #[cold]
    fn expected<T>(&self, what: &str) -> Result<T> {
        match self.text.get(self.at) {
            None => self.end(),
            Some(&byte) => self.error(format!("expected {what}, found {}", show(byte))),
        }
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// The next byte that is not white space, without taking it; `None` at the end.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.byte() {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    /// Takes `byte`, after white space; `what` names it in the error.
    #[inline]
    pub fn expect(&mut self, byte: u8, what: &str) -> Result<()> {
        if self.peek() != Some(byte) {
            return self.expected(what);
        }
        self.at += 1;
        Ok(())
    }

    /// Takes a comma and says true, or takes `close` and says false.
    #[inline]
    pub fn more(&mut self, close: u8) -> Result<bool> {
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            _ => self.expected(if close == b']' { "',' or ']'" } else { "',' or '}'" }),
        }
    }

    /// Takes the white space behind a line's value and says whether another value follows, which must be on a line of
    /// its own; `is_last` if the text of this cursor is the end of the whole.
    pub fn next_line(&mut self, is_last: bool) -> Result<bool> {
        let from = self.at;
        match self.peek() {
            Some(_) if self.text[from..self.at].contains(&b'\n') => Ok(true),
            Some(_) => self.expected("a line break behind the value"),
            None if is_last => Ok(false),
            None => self.end(),
        }
    }

    /// Takes `open` and says whether a first element follows; takes `close` as well if not.
    #[inline]
    pub fn open(&mut self, open: u8, close: u8) -> Result<bool> {
        self.expect(open, if open == b'[' { "'['" } else { "'{'" })?;
        match self.peek() {
            None => self.end(),
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            Some(_) => Ok(true),
        }
    }

    /// Takes the key of an object's member and the colon behind it.
    #[inline(always)]
    pub fn key(&mut self) -> Result<Cow<'a, [u8]>> {
        if self.peek() != Some(b'"') {
            return self.expected("a key in double quotes");
        }
        let key = self.string()?;
        self.expect(b':', "':' after a key")?;
        Ok(key.decode())
    }

    /// Takes the key of an object's member and the colon behind it: its position in `known`, or `N` for another key.
    #[inline(always)]
    pub fn key_among<const N: usize>(&mut self, known: &[&str; N]) -> Result<usize> {
        self.peek();
        // As a writer without escapes has it, which is all of them; comparing finds its end as well.
        if let Some(b'"') = self.byte() {
            let rest = &self.text[self.at + 1..];
            for (position, key) in known.iter().enumerate() {
                if rest.starts_with(key.as_bytes()) && rest.get(key.len()) == Some(&b'"') {
                    self.at += key.len() + 2;
                    return self.expect(b':', "':' after a key").map(|()| position);
                }
            }
        }
        let key = self.key()?;
        Ok(known.iter().position(|known| known.as_bytes() == key.as_ref()).unwrap_or(N))
    }

    /// Takes a string; the cursor is at its opening quote.
    #[inline(always)]
    fn string(&mut self) -> Result<Text<'a>> {
        self.at += 1;
        let start = self.at;
        let (mut escaped, mut ascii) = (false, true);
        loop {
            self.at += plain_length(&self.text[self.at..]);
            match self.byte() {
                None => return self.end(),
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(0x80..) => {
                    ascii = false;
                    self.at += 1;
                }
                Some(0..0x20) => return self.error("a control character in a string"),
                Some(_) => self.at += 1,
            }
        }
        let raw = &self.text[start..self.at];
        if !ascii && let Err(error) = str::from_utf8(raw) {
            self.at = start + error.valid_up_to();
            return self.error("a string that is not UTF-8");
        }
        self.at += 1;
        Ok(Text { raw, escaped })
    }

    /// Takes an escape; the cursor is at its backslash.
    fn escape(&mut self) -> Result<()> {
        let length = match self.text.get(self.at + 1) {
            None => return self.end(),
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
            Some(b'u') => {
                let digits = &self.text[self.at + 2..self.text.len().min(self.at + 6)];
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return self.error("an escape \\u without four hexadecimal digits");
                }
                if digits.len() < 4 {
                    return self.end();
                }
                6
            }
            Some(_) => return self.error("an escape that JSON does not know"),
        };
        self.at += length;
        Ok(())
    }

    /// Takes a number; the cursor is at its first byte.
    #[inline(always)]
    fn number(&mut self) -> Result<Decimal> {
        let negative = self.text[self.at] == b'-';
        self.at += usize::from(negative);
        let start = self.at;
        let mut mantissa = 0;
        self.digits(&mut mantissa);
        let mut count = self.at - start;
        if count == 0 {
            return self.not_finite(negative);
        }
        if count > 1 && self.text[start] == b'0' {
            self.at = start;
            return self.error("a number with a leading zero");
        }
        let (mut exponent, mut integer) = (0i64, true);
        if self.byte() == Some(b'.') {
            self.at += 1;
            let fraction = self.at;
            self.digits(&mut mantissa);
            let places = self.at - fraction;
            if places == 0 {
                return self.expected("a digit after the decimal point");
            }
            integer = false;
            exponent = -(places as i64);
            count += places;
            // Zeros in front are not digits that the mantissa must hold: 0.000001234
            if count > 19 && self.text[start] == b'0' {
                count = places - self.text[fraction..self.at].iter().take_while(|&&digit| digit == b'0').count();
            }
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            integer = false;
            let down = self.byte() == Some(b'-');
            if let Some(b'+' | b'-') = self.byte() {
                self.at += 1;
            }
            let first = self.at;
            let mut power = 0;
            self.digits(&mut power);
            match self.at - first {
                0 => return self.expected("a digit in the exponent"),
                // Wrapped around or not, beyond every double: the standard library knows how to go to 0 or infinity.
                10.. => count = 20,
                _ => exponent += if down { -(power as i64) } else { power as i64 },
            }
        }
        // 19 digits always fit 64 bits; a 20th may have wrapped around.
        let long = count > 19 || exponent.unsigned_abs() > 1000;
        Ok(Decimal { negative, mantissa, exponent: if long { 0 } else { exponent as i32 }, long, integer })
    }

    /// Takes digits and appends them to `value`, wrapping around beyond 64 bits.
    #[inline(always)]
    fn digits(&mut self, value: &mut u64) {
        while let Some(word) = self.text[self.at..].first_chunk() {
            let (count, digits) = leading_digits(u64::from_le_bytes(*word));
            *value = value.wrapping_mul(TENS[count]).wrapping_add(digits);
            self.at += count;
            if count < 8 {
                return;
            }
        }
        while let Some(byte @ b'0'..=b'9') = self.byte() {
            *value = value.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
            self.at += 1;
        }
    }

    /// Takes `word`, one of the three literals; the cursor is at its first letter.
    fn literal(&mut self, word: &'static str) -> Result<()> {
        let rest = &self.text[self.at..];
        if rest.starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(())
        } else if word.as_bytes().starts_with(rest) {
            self.end()
        } else {
            self.error(format!("expected {word}"))
        }
    }

    /// Takes `NaN` or `Infinity`, which Python's `json` writes; the cursor is behind the minus sign, if there is one.
    #[cold]
    fn not_finite(&mut self, negative: bool) -> Result<Decimal> {
        let nan = match self.byte() {
            Some(b'N') if !negative => true,
            Some(b'I') => false,
            _ => return self.expected("a digit"),
        };
        self.literal(if nan { "NaN" } else { "Infinity" })?;
        // The standard library reads both words, as it does long numbers.
        Ok(Decimal { negative, mantissa: 0, exponent: 0, long: true, integer: false })
    }

    /// The error, or the way into the literal, for a value that starts with `byte`.
    fn word(&mut self, byte: Option<u8>) -> Result<Scalar<'a>> {
        match byte {
            Some(b't') => self.literal("true").map(|()| Scalar::Bool(true)),
            Some(b'f') => self.literal("false").map(|()| Scalar::Bool(false)),
            Some(b'n') => self.literal("null").map(|()| Scalar::Null),
            _ => self.expected("a value"),
        }
    }

    /// Takes a value; an array or object is checked and skipped.
    #[inline(always)]
    pub fn scalar(&mut self) -> Result<Scalar<'a>> {
        match self.peek() {
            Some(b'-' | b'0'..=b'9' | b'N' | b'I') => {
                let start = self.at;
                let number = self.number()?;
                let value = number.to_f64(&self.text[start..self.at]);
                Ok(Scalar::Number { value, integer: number.to_i64() })
            }
            Some(b'"') => Ok(Scalar::Text(self.string()?)),
            Some(byte @ (b'[' | b'{')) => {
                self.skip()?;
                Ok(Scalar::Nested(if byte == b'[' { "an array" } else { "an object" }))
            }
            byte => self.word(byte),
        }
    }

    /// Takes a number that is an element of an array of numbers: its value, or `None` and nothing taken.
    #[inline(always)]
    pub fn try_number(&mut self) -> Result<Option<f64>> {
        let Some(b'-' | b'0'..=b'9' | b'N' | b'I') = self.peek() else { return Ok(None) };
        let start = self.at;
        let number = self.number()?;
        Ok(Some(number.to_f64(&self.text[start..self.at])))
    }

    /// Takes an array of four numbers at once, if it is written plainly; otherwise takes nothing.
    #[inline(always)]
    pub fn try_four(&mut self) -> Option<[f64; 4]> {
        if self.peek() != Some(b'[') {
            return None;
        }
        let (values, end) = plain_numbers::four(self.text, self.at + 1)?;
        self.at = end + 1;
        Some(values)
    }

    /// Takes the first elements of an array of numbers whose bracket is taken and that is not empty, as long as they are
    /// written plainly. Whether these were all, so that only the closing bracket is left.
    pub fn take_plain(&mut self, values: &mut Vec<f64>) -> bool {
        self.peek();
        self.at = plain_numbers::first_of(self.text, self.at, values);
        self.text.get(self.at) == Some(&b']')
    }

    /// Checks and passes over any value, and gives its first byte in the whole and the byte behind it.
    pub fn span(&mut self) -> Result<[u64; 2]> {
        self.peek();
        let start = self.offset();
        self.skip()?;
        Ok([start, self.offset()])
    }

    /// Checks and passes over any value.
    pub fn skip(&mut self) -> Result<()> {
        let mut open = Nesting::default();
        loop {
            match self.peek() {
                Some(b'-' | b'0'..=b'9' | b'N' | b'I') => {
                    if open.innermost() == Some(false) {
                        self.at = plain_numbers::skip(self.text, self.at);
                    }
                    self.scalar()?;
                }
                Some(b'"') => {
                    self.string()?;
                }
                Some(bracket @ (b'[' | b'{')) => {
                    if !open.push(bracket == b'{') {
                        return self.error(format!("arrays and objects nested more than {MAX_DEPTH} deep"));
                    }
                    let close = if bracket == b'{' { b'}' } else { b']' };
                    if self.open(bracket, close)? {
                        if bracket == b'{' {
                            self.key()?;
                        }
                        continue;
                    }
                    open.pop();
                }
                byte => {
                    self.word(byte)?;
                }
            }
            // A value is complete: on to the next one, out of every array and object that ends here.
            loop {
                let Some(object) = open.innermost() else { return Ok(()) };
                if self.more(if object { b'}' } else { b']' })? {
                    if object {
                        self.key()?;
                    }
                    break;
                }
                open.pop();
            }
        }
    }
}

/// The arrays and objects around a position, one bit each.
#[derive(Default)]
struct Nesting {
    objects: [u64; MAX_DEPTH.div_ceil(64)],
    depth: usize,
}

impl Nesting {
    fn push(&mut self, object: bool) -> bool {
        if self.depth == MAX_DEPTH {
            return false;
        }
        let (word, bit) = (self.depth / 64, self.depth % 64);
        self.objects[word] = self.objects[word] & !(1 << bit) | u64::from(object) << bit;
        self.depth += 1;
        true
    }

    fn pop(&mut self) {
        self.depth -= 1;
    }

    fn innermost(&self) -> Option<bool> {
        let last = self.depth.checked_sub(1)?;
        Some(self.objects[last / 64] >> (last % 64) & 1 == 1)
    }
}

fn show(byte: u8) -> String {
    if byte.is_ascii_graphic() { format!("'{}'", char::from(byte)) } else { format!("byte 0x{byte:02X}") }
}

#[cfg(test)]
mod tests;
