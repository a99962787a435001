//! One member of a record: its value, or what stands in its place.

use crate::json::{Cursor, Scalar, SyntaxError};
use crate::memory::{Vec, owned};

/// Largest coordinate taken, 2^53: beyond it a double no longer tells neighbouring pixels apart. It also keeps areas and
/// sums of areas far from overflow.
const MAX_COORDINATE: f64 = 9_007_199_254_740_992.0;

/// What is found in an empty array of numbers.
const NO_NUMBERS: &str = "0 numbers";

/// A member that may be absent or of the wrong kind. Which one is decided when the record is complete: of a member that
/// is there twice the last one counts.
#[derive(Clone, Debug, Default)]
pub(super) enum Slot<T> {
    #[default]
    Missing,
    Wrong(String),
    Is(T),
}

impl<T> Slot<T> {
    /// The value, or what was found in its place.
    pub fn get(self) -> Result<T, String> {
        match self {
            Self::Is(value) => Ok(value),
            Self::Wrong(found) => Err(found),
            Self::Missing => Err("no such key".into()),
        }
    }

    /// Whether the member is absent.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    /// Whether the member is absent, or an empty array.
    pub fn is_none(&self) -> bool {
        match self {
            Self::Missing => true,
            Self::Wrong(found) => found == NO_NUMBERS,
            Self::Is(_) => false,
        }
    }

    /// The value of an optional member.
    pub fn ok(self) -> Option<T> {
        self.get().ok()
    }
}

type Result2<T> = Result<Slot<T>, Box<SyntaxError>>;

/// An id: an integer of 64 bits, also when written as a float (`42.0`), which some tools do.
#[inline(always)]
pub(super) fn integer(cursor: &mut Cursor<'_>) -> Result2<i64> {
    Ok(match cursor.scalar()? {
        Scalar::Number { integer: Some(value), .. } => Slot::Is(value),
        Scalar::Number { value, .. } if value.fract() == 0.0 && value.abs() < MAX_COORDINATE => Slot::Is(value as i64),
        Scalar::Number { value, .. } if value.is_finite() && value.abs() >= MAX_COORDINATE => {
            Slot::Wrong("an integer beyond 64 bits".into())
        }
        other => Slot::Wrong(describe(&other)),
    })
}

/// A finite number.
#[inline(always)]
pub(super) fn real(cursor: &mut Cursor<'_>) -> Result2<f64> {
    Ok(match cursor.scalar()? {
        Scalar::Number { value, .. } if value.is_finite() => Slot::Is(value),
        other => Slot::Wrong(describe(&other)),
    })
}

/// `true`, `false`, or an integer that stands for one of them.
#[inline(always)]
pub(super) fn flag(cursor: &mut Cursor<'_>) -> Result2<bool> {
    Ok(match cursor.scalar()? {
        Scalar::Bool(value) => Slot::Is(value),
        Scalar::Number { integer: Some(value @ (0 | 1)), .. } => Slot::Is(value == 1),
        Scalar::Number { value, .. } if value == 0.0 || value == 1.0 => Slot::Is(value == 1.0),
        other => Slot::Wrong(describe(&other)),
    })
}

/// `iscrowd` as pycocotools takes it: a value whose `int()` is a byte. It uses both that and the value's truth, so a value
/// of which the two differ, such as `0.5` or `"0"`, is ignored without being a crowd; that is refused.
pub(super) fn crowd_of_pycocotools(cursor: &mut Cursor<'_>) -> Result2<bool> {
    let scalar = cursor.scalar()?;
    let (is_true, whole) = match scalar {
        Scalar::Bool(value) => (value, Some(f64::from(u8::from(value)))),
        Scalar::Number { value, .. } => (value != 0.0, Some(value.trunc())),
        Scalar::Text(text) => {
            let text = text.decode();
            let whole = str::from_utf8(&text).ok().and_then(|text| text.trim().parse::<u8>().ok());
            (!text.is_empty(), whole.map(f64::from))
        }
        Scalar::Null | Scalar::Nested(_) => (false, None),
    };
    Ok(match whole {
        Some(whole) if (0.0..256.0).contains(&whole) && is_true == (whole > 0.0) => Slot::Is(is_true),
        _ => Slot::Wrong(describe(&scalar)),
    })
}

/// A string, decoded.
pub(super) fn text(cursor: &mut Cursor<'_>) -> Result2<Vec<u8>> {
    Ok(match cursor.scalar()? {
        Scalar::Text(text) => Slot::Is(owned(text.decode())),
        other => Slot::Wrong(describe(&other)),
    })
}

/// An array of ids.
pub(super) fn integers(cursor: &mut Cursor<'_>) -> Result2<Vec<i64>> {
    if cursor.peek() != Some(b'[') {
        return Ok(Slot::Wrong(describe(&cursor.scalar()?)));
    }
    let (mut values, mut wrong) = (Vec::new(), None);
    let mut more = cursor.open(b'[', b']')?;
    while more {
        match integer(cursor)?.get() {
            Ok(value) => values.push(value),
            Err(found) => wrong = wrong.or(Some(format!("{found} at position {}", values.len()))),
        }
        more = cursor.more(b']')?;
    }
    Ok(wrong.map_or(Slot::Is(values), Slot::Wrong))
}

/// An array of four finite numbers.
#[inline(always)]
pub(super) fn four(cursor: &mut Cursor<'_>) -> Result2<[f64; 4]> {
    if let Some(values) = cursor.try_four() {
        return Ok(Slot::Is(values));
    }
    if cursor.peek() != Some(b'[') {
        return Ok(Slot::Wrong(describe(&cursor.scalar()?)));
    }
    let mut values = [0.0; 4];
    let mut count = 0;
    let mut wrong = None;
    let mut more = cursor.open(b'[', b']')?;
    while more {
        match cursor.try_number()? {
            Some(value) if value.is_finite() => {
                if let Some(slot) = values.get_mut(count) {
                    *slot = value;
                }
            }
            Some(value) => wrong = wrong.or(Some((count, describe_number(value)))),
            None => {
                let found = describe(&cursor.scalar()?);
                wrong = wrong.or(Some((count, found)));
            }
        }
        count += 1;
        more = cursor.more(b']')?;
    }
    Ok(match wrong {
        Some((position, found)) => Slot::Wrong(format!("{found} at position {position}")),
        None if count == 4 => Slot::Is(values),
        None if count == 0 => Slot::Wrong(NO_NUMBERS.into()),
        None => Slot::Wrong(format!("{count} number{}", if count == 1 { "" } else { "s" })),
    })
}

/// What keeps `[x, y, width, height]` from being a box: what is expected and what came. No width or height is fine: a
/// detector may say so, and COCO's own files have some.
#[inline]
pub fn box_problem(values: &[f64; 4]) -> Option<(&'static str, String)> {
    let [_, _, width, height] = *values;
    if width >= 0.0 && height >= 0.0 && values.iter().all(|value| value.abs() <= MAX_COORDINATE) {
        return None;
    }
    let expected = if values.iter().any(|value| !value.is_finite()) {
        "finite numbers"
    } else if values.iter().any(|value| value.abs() > MAX_COORDINATE) {
        "coordinates of at most 2**53 pixels"
    } else {
        "a width and a height of at least 0"
    };
    Some((expected, format!("{values:?}")))
}

/// Names a value in the place of another.
fn describe(value: &Scalar<'_>) -> String {
    const SHOWN: usize = 40;
    match value {
        Scalar::Number { integer: Some(value), .. } => format!("the number {value}"),
        Scalar::Number { value, .. } => describe_number(*value),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Null => "null".into(),
        Scalar::Nested(kind) => (*kind).into(),
        Scalar::Text(text) => {
            let text = text.decode();
            let text = String::from_utf8_lossy(&text);
            let start: String = text.chars().take(SHOWN).collect();
            format!("the string {start:?}{}", if start.len() < text.len() { "..." } else { "" })
        }
    }
}

fn describe_number(value: f64) -> String {
    if value.is_finite() {
        format!("the number {value:?}")
    } else if value.is_nan() {
        "NaN".into()
    } else {
        format!("{}Infinity, a number beyond the largest double", if value < 0.0 { "-" } else { "" })
    }
}
