use super::{first_of, four, skip};
use crate::memory::{Vec, vec};

/// The same, byte by byte.
fn plain_skip(text: &str) -> usize {
    let mut safe = 0;
    for number in text.split_inclusive(',') {
        let Some(number) = number.strip_suffix(',') else { break };
        let digits = if safe > 0 { number.strip_prefix(' ').unwrap_or(number) } else { number };
        let digits = digits.strip_prefix('-').unwrap_or(digits);
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
        let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !all_digits(whole) || !all_digits(fraction) || (whole.len() > 1 && whole.starts_with('0')) {
            break;
        }
        safe += number.len() + 1;
    }
    safe
}

#[test]
fn passes_over_good_numbers_and_no_others() {
    let numbers = ["0", "7", "-1", "12.5", "0.25", "-0.5", "345.678", "1234567890.0123456789", "-0", "10", "100.0"];
    let faults = [
        "01", "00", "-01", "1.2.3", "1.", ".5", "-", "--1", "1-2", "", "1e5", "  1", "1 ", "- 1", "]", "[1", "a",
        "0.0.0", "1..2", "-.5", "\u{e9}", "1.5.", "00.5", "-00", "0-", "/", ":", "1/2", "\0",
    ];
    let mut state = 1u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for round in 0..20_000 {
        let count = random(60);
        let mut parts: Vec<&str> = (0..count).map(|_| numbers[random(numbers.len())]).collect();
        if round % 3 > 0 && count > 0 {
            let at = random(count);
            parts[at] = faults[random(faults.len())];
        }
        let text = format!("{}{}", parts.join(if round % 2 == 0 { "," } else { ", " }), "]".repeat(random(80)));
        // The last whole block is all that is looked at.
        let seen = text.len() / 64 * 64;
        let expected = plain_skip(&text)
            .min(text.as_bytes()[..seen].iter().rposition(|&byte| byte == b',').map_or(0, |at| at + 1));
        assert_eq!(skip(text.as_bytes(), 0), expected, "{text}");
    }
}

#[test]
fn reads_four_numbers_as_the_standard_library_does() {
    let mut state = 1u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut taken = 0;
    for _ in 0..50_000 {
        let numbers: Vec<String> = (0..3 + random(3).max(1))
            .map(|_| {
                let sign = if random(4) == 0 { "-" } else { "" };
                let size = random(5) as u32;
                let whole = random(10usize.pow(size));
                let places = random(18);
                let fraction: String = (0..places).map(|_| char::from(b'0' + random(10) as u8)).collect();
                format!("{sign}{whole}{}{fraction}", if places > 0 { "." } else { "" })
            })
            .collect();
        let list = numbers.join([",", ", "][random(2)]);
        let text = format!("{list}]{}", "x".repeat(144));
        if let Some((values, end)) = four(text.as_bytes(), 0) {
            taken += 1;
            assert_eq!((numbers.len(), end), (4, list.len()), "{list}");
            for (value, number) in values.iter().zip(&numbers) {
                let expected: f64 = if number == "-0" { 0.0 } else { number.parse().unwrap() };
                assert_eq!(value.to_bits(), expected.to_bits(), "{list}");
            }
        }
    }
    assert!(taken > 10_000, "{taken}");
    for list in
        ["1,2,3", "1,2,3,4,", "1,2,3,4.", "1,2,3,-", "1,2,3,04", "1,2,3,4e5", "1,,3,4", "", "1,2,3,4,5", "a,2,3,4"]
    {
        assert_eq!(four(format!("{list}]{}", " ".repeat(144)).as_bytes(), 0), None, "{list}");
    }
}

#[test]
fn reads_the_first_numbers_of_a_list() {
    let numbers = ["0", "7", "-1", "12.5", "0.25", "-0.5", "345.678", "12345678.012345", "10", "100.0"];
    let others = ["01", "1.", ".5", "-", "", "1e5", "  1", "1 ", "null", "[1]", "123456789.5", "0.12345678901234567"];
    let mut state = 7u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for round in 0..20_000 {
        let count = 1 + random(60);
        let mut parts: Vec<&str> = (0..count).map(|_| numbers[random(numbers.len())]).collect();
        let plain = if round % 3 == 0 { count } else { random(count) };
        if plain < count {
            parts[plain] = others[random(others.len())];
        }
        let separator = [",", ", "][round % 2];
        let text = format!("{}]{}", parts.join(separator), "],7".repeat(random(60)));
        let mut values = vec![0.5];
        let end = first_of(text.as_bytes(), 0, &mut values);
        let expected: Vec<f64> = parts[..plain].iter().map(|number| number.parse().unwrap()).collect();
        assert_eq!(values, [&[0.5], &expected[..]].concat(), "{text}");
        let behind: usize = parts[..plain].iter().map(|number| number.len() + separator.len()).sum();
        if plain == count {
            assert_eq!(end, behind - separator.len(), "{text}"); // the bracket
        } else {
            let comma = behind.saturating_sub(separator.len() - 1);
            assert!(end == behind || end == comma, "{end}: {text}");
        }
    }
    assert_eq!(first_of(b"", 0, &mut Vec::new()), 0);
}

#[test]
fn sees_a_second_point_blocks_away() {
    for gap in [1, 30, 62, 63, 64, 65, 200] {
        let text = format!("1.{}.5,7,{}", "2".repeat(gap), "8,".repeat(64));
        assert_eq!(skip(text.as_bytes(), 0), 0, "{gap}");
        let text = format!("1.{},5.5,{}", "2".repeat(gap), "8,".repeat(64));
        assert!(skip(text.as_bytes(), 0) > gap + 7, "{gap}");
    }
}
