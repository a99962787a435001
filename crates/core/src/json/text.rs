//! Strings as JSON spells them.

use std::borrow::Cow;

use crate::memory::Vec;

/// A string as it stands between its quotes.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    pub(super) raw: &'a [u8],
    pub(super) escaped: bool,
}

impl<'a> Text<'a> {
    /// The characters in UTF-8, escapes resolved. A lone surrogate, which JSON can spell, comes out in the three bytes
    /// that Python's `surrogatepass` reads and writes.
    #[inline(always)]
    pub fn decode(self) -> Cow<'a, [u8]> {
        if self.escaped { Cow::Owned(unescape(self.raw).into_std()) } else { Cow::Borrowed(self.raw) }
    }
}

/// The number of leading bytes that a string may hold as they are, judged eight at a time.
#[inline(always)]
pub(super) fn plain_length(text: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let mut length = 0;
    while let Some(chunk) = text[length..].first_chunk() {
        let word = u64::from_le_bytes(*chunk);
        let quote = word ^ (ONES * u64::from(b'"'));
        let backslash = word ^ (ONES * u64::from(b'\\'));
        // A byte below 0x20, or equal to quote or backslash, borrows; the lowest bit set is always a true one.
        let special = (word.wrapping_sub(ONES * 0x20) & !word)
            | (quote.wrapping_sub(ONES) & !quote)
            | (backslash.wrapping_sub(ONES) & !backslash)
            | word;
        let special = special & HIGHS;
        if special != 0 {
            return length + special.trailing_zeros() as usize / 8;
        }
        length += 8;
    }
    length
}

fn unescape(raw: &[u8]) -> Vec<u8> {
    let hex = |at: usize| -> Option<u32> {
        let digits = raw.get(at..at + 6)?.strip_prefix(b"\\u")?;
        digits.iter().try_fold(0, |value, &digit| Some(value * 16 + char::from(digit).to_digit(16)?))
    };
    let mut text = Vec::with_capacity(raw.len());
    let mut at = 0;
    while at < raw.len() {
        if raw[at] != b'\\' {
            text.push(raw[at]);
            at += 1;
            continue;
        }
        if let Some(unit) = hex(at) {
            at += 6;
            let low = hex(at).filter(|low| (0xDC00..0xE000).contains(low));
            match (unit, low) {
                (0xD800..0xDC00, Some(low)) => {
                    at += 6;
                    push_code_point(&mut text, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
                }
                _ => push_code_point(&mut text, unit),
            }
            continue;
        }
        text.push(match raw[at + 1] {
            b'b' => 0x08,
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            other => other,
        });
        at += 2;
    }
    text
}

/// Appends a code point in UTF-8, a lone surrogate in the form that UTF-8 would give it if it were allowed.
fn push_code_point(text: &mut Vec<u8>, point: u32) {
    match char::from_u32(point) {
        Some(character) => text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        None => {
            text.extend([0xE0 | (point >> 12) as u8, 0x80 | (point >> 6 & 0x3F) as u8, 0x80 | (point & 0x3F) as u8])
        }
    }
}
