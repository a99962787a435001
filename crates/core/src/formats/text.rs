//! Text as label files have it: what is shown of it in messages, numbers, and encodings that are not UTF-8.

use std::borrow::Cow;

use crate::json::plain;

/// How much of a word a message shows.
const SHOWN: usize = 40;

/// Bytes in quotes, for a message. What is not UTF-8 is replaced; long text is cut.
pub(super) fn quoted(bytes: &[u8]) -> Cow<'static, str> {
    let text = String::from_utf8_lossy(bytes);
    let start: String = text.chars().take(SHOWN).collect();
    format!("{start:?}{}", if start.len() < text.len() { "..." } else { "" }).into()
}

/// A finite number, written in decimal digits.
#[inline]
pub(super) fn number(word: &[u8]) -> Option<f64> {
    if let [digit @ b'0'..=b'9'] = word {
        return Some(f64::from(digit - b'0'));
    }
    if let Some(value) = plain(word) {
        return Some(value);
    }
    str::from_utf8(word).ok()?.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// The text behind a byte order mark of UTF-8; what the text is if its first bytes say that it is something else.
pub(super) fn without_mark(bytes: &[u8]) -> Result<&[u8], &'static str> {
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => Ok(rest),
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => Err("UTF-16 text (save it as UTF-8)"),
        [0x1F, 0x8B, ..] => Err("gzip data"),
        _ if bytes[..bytes.len().min(4)].contains(&0) => Err("bytes that are not text"),
        _ => Ok(bytes),
    }
}
