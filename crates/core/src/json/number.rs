//! From the digits of a JSON number to the double nearest to it.
//!
//! Almost every number of a detector's output is settled in registers: up to 19 digits and a power of ten between
//! 1e-27 and 1e27, first by exact arithmetic where a double holds both parts (Clinger, PLDI 1990), then by one or two
//! 64-bit products (Lemire, "Number Parsing at a Gigabyte per Second", Software: Practice and Experience 51, 2021;
//! Mushtak and Lemire, "Fast Number Parsing Without Fallback", 2023). The rest goes to the standard library, which is
//! exact as well, only slower.

/// A number as it stands in the text: `mantissa * 10^exponent`, already checked against the grammar.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decimal {
    pub negative: bool,
    /// The digits as one integer; meaningless if `long`.
    pub mantissa: u64,
    pub exponent: i32,
    /// More digits, or a larger exponent, than the fields above can hold.
    pub long: bool,
    /// Written without fraction and exponent.
    pub integer: bool,
}

impl Decimal {
    /// The double nearest to the number, ties to even; infinite where it is beyond the largest double.
    #[inline(always)]
    pub fn to_f64(self, text: &[u8]) -> f64 {
        self.quick().unwrap_or_else(|| slow(text))
    }

    /// The same, where it can be told in registers.
    #[inline(always)]
    pub fn quick(self) -> Option<f64> {
        let size = nearest(self.mantissa, self.exponent).filter(|_| !self.long)?;
        // "-0" is the integer zero, which has no sign; "-0.0" is a double and keeps it.
        Some(if self.negative && !(self.integer && self.mantissa == 0) { -size } else { size })
    }

    /// The number as a 64-bit integer, if it was written as one and fits.
    #[inline]
    pub fn to_i64(self) -> Option<i64> {
        if self.long || !self.integer {
            return None;
        }
        if self.negative { 0i64.checked_sub_unsigned(self.mantissa) } else { self.mantissa.try_into().ok() }
    }
}

/// The double nearest to a word of at most 19 digits, with a point and a minus sign at most; `None` for any other word,
/// which may be a number as well.
#[inline]
pub(crate) fn plain(word: &[u8]) -> Option<f64> {
    plain_start(word).and_then(|(value, length)| (length == word.len()).then_some(value))
}

/// The same for the word at the beginning of a text, up to the first byte that such a word cannot have, and its length.
#[inline]
pub(crate) fn plain_start(text: &[u8]) -> Option<(f64, usize)> {
    let (negative, word) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let (mut mantissa, mut point, mut length) = (0u64, None, word.len());
    for (place, &byte) in word.iter().enumerate() {
        match byte {
            b'0'..=b'9' => mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(byte - b'0')),
            b'.' if point.is_none() => point = Some(place),
            _ => {
                length = place;
                break;
            }
        }
    }
    let digits = length - usize::from(point.is_some());
    if !(1..=19).contains(&digits) {
        return None;
    }
    let exponent = point.map_or(0, |place| place as i32 + 1 - length as i32);
    // Not as an integer of JSON, whose zero has no sign.
    let value = Decimal { negative, mantissa, exponent, long: false, integer: false }.quick()?;
    Some((value, length + usize::from(negative)))
}

#[cold]
fn slow(text: &[u8]) -> f64 {
    let text = str::from_utf8(text).expect("a checked number is ASCII");
    text.parse().expect("the grammar of JSON numbers is part of Rust's, and so are NaN and Infinity")
}

/// Powers of ten that a double holds exactly.
const EXACT_TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// The reach of `FIVES`: within it the 128 bits of a power of five are exact, or its reciprocal is rounded up.
const REACH: i32 = 27;

/// 128 leading bits of `5^q` for `q` in `-REACH..=REACH`.
static FIVES: [u128; 2 * REACH as usize + 1] = fives();

const fn fives() -> [u128; 2 * REACH as usize + 1] {
    let mut table = [0; 2 * REACH as usize + 1];
    let mut power: u128 = 1;
    let mut q = 0;
    while q <= REACH as usize {
        table[REACH as usize + q] = power << power.leading_zeros();
        table[REACH as usize - q] = if q == 0 { 1 << 127 } else { reciprocal(power) };
        power *= 5;
        q += 1;
    }
    table
}

/// `2^b / power + 1` for the `b` that leaves 128 bits, by long division: 127 bits follow the first one of the quotient.
const fn reciprocal(power: u128) -> u128 {
    let mut remainder = 1u128 << (128 - (power - 1).leading_zeros());
    let mut quotient = 0u128;
    let mut bit = 0;
    while bit < 128 {
        quotient <<= 1;
        if remainder >= power {
            remainder -= power;
            quotient |= 1;
        }
        remainder <<= 1;
        bit += 1;
    }
    quotient + 1
}

/// The double nearest to `mantissa * 10^exponent`, or `None` outside the reach of the table.
#[inline(always)]
fn nearest(mantissa: u64, exponent: i32) -> Option<f64> {
    const MANTISSA_BITS: u32 = 52;
    // A double holds 53 bits. Numbers of 16 digits lie on both sides of that, and a branch on it would be a coin toss; 40
    // bits tell what a person rounded from what a float printed.
    if mantissa >> 40 == 0 && exponent.unsigned_abs() < EXACT_TENS.len() as u32 {
        let value = mantissa as f64;
        let ten = EXACT_TENS[exponent.unsigned_abs() as usize];
        return Some(if exponent < 0 { value / ten } else { value * ten });
    }
    if exponent.unsigned_abs() > REACH as u32 || mantissa == 0 {
        return None;
    }
    let shift = mantissa.leading_zeros();
    let normal = mantissa << shift;
    let five = FIVES[(exponent + REACH) as usize];
    let product = u128::from(normal) * (five >> 64);
    let (mut high, mut low) = ((product >> 64) as u64, product as u64);
    if high & 0x1FF == 0x1FF {
        // The bits that decide the rounding are all ones: the lower half of the power may carry into them.
        let carry = ((u128::from(normal) * (five & u128::from(u64::MAX))) >> 64) as u64;
        let (sum, overflow) = low.overflowing_add(carry);
        low = sum;
        high += u64::from(overflow);
    }
    let upper = (high >> 63) as u32;
    let drop = upper + 64 - MANTISSA_BITS - 3;
    let mut significand = high >> drop;
    // Exactly half way between two doubles, which only small powers can be: to even.
    if low <= 1 && (-4..=23).contains(&exponent) && significand & 3 == 1 && significand << drop == high {
        significand &= !1;
    }
    significand = (significand + (significand & 1)) >> 1;
    // 217706 / 65536 is log2(10) to all the bits that these exponents need.
    let mut power = ((217_706 * exponent) >> 16) + 63 + upper as i32 - shift as i32 + 1023;
    if significand >= 2 << MANTISSA_BITS {
        significand = 1 << MANTISSA_BITS;
        power += 1;
    }
    significand &= !(1 << MANTISSA_BITS);
    debug_assert!((1..2047).contains(&power), "within the reach nothing is subnormal or infinite");
    Some(f64::from_bits(significand | ((power as u64) << MANTISSA_BITS)))
}

/// `10^n` for the digits of a word.
pub(super) const TENS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// The value of the first `count` bytes, 1 to 8 digits, of a little-endian word.
#[inline(always)]
pub(super) fn digits(word: u64, count: usize) -> u64 {
    // The digits moved behind zeros; then neighbours join: eight, four pairs, two fours, one number.
    let digits = (word ^ 0x3030_3030_3030_3030) << (64 - 8 * count);
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00FF_00FF_00FF_00FF;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_FFFF_0000_FFFF;
    fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xFFFF_FFFF
}

/// How many of eight bytes, given as a little-endian word, are digits before the first that is not, and their value.
#[inline(always)]
pub(super) fn leading_digits(word: u64) -> (usize, u64) {
    let nibbles = word ^ 0x3030_3030_3030_3030;
    // A byte that is no digit has a high nibble, or gets one from the 6; a carry only reaches the bytes behind it.
    let others = (nibbles | nibbles.wrapping_add(0x0606_0606_0606_0606)) & 0xF0F0_F0F0_F0F0_F0F0;
    let count = others.trailing_zeros() as usize / 8;
    (count, if count == 0 { 0 } else { digits(word, count) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reproducible stream of 64-bit words (SplitMix64).
    fn words(mut state: u64) -> impl Iterator<Item = u64> {
        std::iter::repeat_with(move || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        })
    }

    #[test]
    fn agrees_with_the_standard_library() {
        let mut random = words(7);
        for _ in 0..200_000 {
            let mantissa = random.next().unwrap() >> (random.next().unwrap() % 64);
            let exponent = (random.next().unwrap() % 70) as i32 - 35;
            let expected: f64 = format!("{mantissa}e{exponent}").parse().unwrap();
            if let Some(value) = nearest(mantissa, exponent) {
                assert_eq!(value.to_bits(), expected.to_bits(), "{mantissa}e{exponent}");
            } else {
                assert!(exponent.abs() > REACH || mantissa == 0, "{mantissa}e{exponent}");
            }
        }
    }

    #[test]
    fn plain_words_are_read_as_the_standard_library_reads_them() {
        let mut random = words(8);
        for _ in 0..200_000 {
            let length = random.next().unwrap() % 24;
            let word: Vec<u8> =
                (0..length).map(|_| b"0123456789012345678900.-+e"[(random.next().unwrap() % 26) as usize]).collect();
            let expected = str::from_utf8(&word).unwrap().parse::<f64>().ok();
            if let Some(value) = plain(&word) {
                assert_eq!(Some(value.to_bits()), expected.map(f64::to_bits), "{word:?}");
            } else if length < 20 && expected.is_some() {
                assert!(word.iter().any(|byte| b"e+".contains(byte)) || word.iter().all(|byte| b"-0.".contains(byte)));
            }
        }
        for (word, value) in [(&b"-0"[..], -0.0), (b".5", 0.5), (b"5.", 5.0), (b"-0.250", -0.25), (b"0007", 7.0)] {
            assert_eq!(plain(word).map(f64::to_bits), Some(f64::to_bits(value)));
        }
        for word in [&b""[..], b"-", b".", b"-.", b"1.2.3", b"+1", b"1e3", b"--1", b"nan"] {
            assert_eq!(plain(word), None);
        }
    }

    #[test]
    fn rounds_half_way_cases_to_even() {
        for value in words(11).take(20_000) {
            // An integer of 54 to 64 bits whose tail is exactly one half of the last place of a double.
            let bits = 54 + (value % 10) as u32;
            let mantissa = (1 << (bits - 1)) | ((value >> 8) & ((1 << (bits - 1)) - 1));
            let tail = bits - 53;
            let half = (mantissa >> tail << tail) | (1 << (tail - 1));
            for (mantissa, exponent) in [(half, 0), (half - 1, 0), (half.saturating_add(1), 0)] {
                assert_eq!(nearest(mantissa, exponent).unwrap(), mantissa as f64);
            }
        }
        for text in [
            "9007199254740993",
            "4503599627370497.5",
            "4503599627370496.5",
            "0.5000000000000000555",
            "0.5000000000000000556",
        ] {
            let digits: String = text.chars().filter(|c| *c != '.').collect();
            let places = text.len() - text.find('.').map_or(text.len(), |dot| dot + 1);
            let value = nearest(digits.parse().unwrap(), -(places as i32)).unwrap();
            assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        }
    }

    #[test]
    fn reads_the_digits_in_front() {
        assert_eq!(leading_digits(u64::from_le_bytes(*b"12345678")), (8, 12_345_678));
        assert_eq!(leading_digits(u64::from_le_bytes(*b"00000000")), (8, 0));
        for position in 0..8 {
            for byte in (0..=255u8).filter(|byte| !byte.is_ascii_digit()) {
                let mut text = *b"90817263";
                text[position] = byte;
                let value = str::from_utf8(&text[..position]).unwrap().parse().unwrap_or(0);
                assert_eq!(leading_digits(u64::from_le_bytes(text)), (position, value), "{byte} at {position}");
                // What stands behind the first other byte does not matter.
                text[position + 1..].fill(0xFF);
                assert_eq!(leading_digits(u64::from_le_bytes(text)), (position, value), "{byte} at {position}");
            }
        }
    }
}
