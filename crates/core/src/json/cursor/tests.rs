use super::*;

fn skip(text: &str) -> Result<()> {
    let mut cursor = Cursor::new(text.as_bytes(), 0, 0);
    cursor.skip()?;
    match cursor.peek() {
        None => Ok(()),
        Some(_) => cursor.expected("the end"),
    }
}

#[test]
fn takes_what_the_grammar_takes() {
    for text in [
        "0",
        "-0",
        "1.5",
        "-0.0e+10",
        "1E5",
        "123456789012345678901234567890",
        "\"\"",
        "\"a\\u00e9\\n\\ud800\"",
        "\"é\"",
        " [ ] ",
        "{ }",
        "[1,[2,{\"a\":[]}],null,true,false]",
        "{\"a\":1,\"a\":{\"b\":\"c\"}}",
        "\t\r\n 1 \n",
    ] {
        assert_eq!(skip(text), Ok(()), "{text}");
    }
}

#[test]
fn refuses_what_the_grammar_refuses() {
    for text in [
        "",
        " ",
        "01",
        "-",
        "+1",
        ".5",
        "1.",
        "1e",
        "1e+",
        "1.e5",
        "0x10",
        "1_000",
        "--1",
        "\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\n\"",
        "\"\u{1}\"",
        "'a'",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{1:1}",
        "[1",
        "{\"a\":1",
        "tru",
        "True",
        "nul",
        "nan",
        "-NaN",
        "+Infinity",
        "inf",
        "Infinity1",
        "NaN.0",
        "{NaN:1}",
        "[1]]",
        "1 2",
        "// a",
        "\u{feff}1",
        "\u{a0}1",
        "[1}",
        "{\"a\":1]",
    ] {
        assert!(skip(text).is_err(), "{text}");
    }
    let latin1 = [b'"', 0xE9, b'"'];
    assert!(Cursor::new(&latin1, 0, 0).skip().unwrap_err().what.contains("UTF-8"));
}

#[test]
fn says_of_every_cut_that_the_text_ended() {
    let text = r#"{"a": [1.25e-3, "x\u00e9\n", true, null, false, {"b": []}], "c": -1}"#;
    for length in 0..text.len() {
        let error = skip(&text[..length]).expect_err(&text[..length]);
        assert!(error.ended, "{:?} of {:?}", error, &text[..length]);
    }
}

#[test]
fn takes_nan_and_infinity_as_python_writes_them() {
    for (word, expected) in [("NaN", f64::NAN), ("Infinity", f64::INFINITY), ("-Infinity", f64::NEG_INFINITY)] {
        let Ok(Scalar::Number { value, integer: None }) = Cursor::new(word.as_bytes(), 0, 0).scalar() else {
            panic!("{word} is no number")
        };
        assert_eq!(value.total_cmp(&expected), std::cmp::Ordering::Equal, "{word}");
        let list = format!("[1.5, {word},{word} , 2]");
        assert_eq!(skip(&list), Ok(()));
        let mut cursor = Cursor::new(list.as_bytes(), 1, 0);
        assert_eq!(cursor.try_number(), Ok(Some(1.5)));
        assert_eq!(cursor.more(b']'), Ok(true));
        assert!(!cursor.try_number().unwrap().unwrap().is_finite(), "{list}");
        let first = if word.starts_with('-') { 2 } else { 1 };
        for length in first..word.len() {
            let error = skip(&word[..length]).unwrap_err();
            assert!(error.ended, "{error:?} of {:?}", &word[..length]);
            let error = skip(&format!("{}?", &word[..length])).unwrap_err();
            assert!(!error.ended && error.what.starts_with("expected "), "{error:?}");
        }
    }
}

#[test]
fn refuses_deep_nesting_without_recursion() {
    assert_eq!(skip(&format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH))), Ok(()));
    for depth in [MAX_DEPTH + 1, 1_000_000] {
        assert!(skip(&"[".repeat(depth)).unwrap_err().what.contains("nested"));
        assert!(skip(&"{\"a\":".repeat(depth)).unwrap_err().what.contains("nested"));
    }
}

#[test]
fn resolves_escapes() {
    let decode = |text: &str| match Cursor::new(text.as_bytes(), 0, 0).scalar().unwrap() {
        Scalar::Text(text) => text.decode().into_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        decode(r#""a\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\ud83d\ude00""#),
        "a\"\\/\u{8}\u{c}\n\r\tAé€😀".as_bytes()
    );
    assert_eq!(decode(r#""\ud800x""#), [0xED, 0xA0, 0x80, b'x']);
    assert_eq!(decode(r#""\ud800\u0041""#), [0xED, 0xA0, 0x80, b'A']);
}

#[test]
fn rounds_every_number_as_the_standard_library_does() {
    for text in [
        "0",
        "-0.0",
        "0.1",
        "1e22",
        "1e23",
        "123.45678710937500",
        "17.976931348623157e307",
        "1.7976931348623159e308",
        "5e-324",
        "2e-324",
        "2.2250738585072011e-308",
        "9007199254740993",
        "0.000000000000000000000000000000001234567890123456789",
        "12345678901234567890123456789.5",
        "1e999",
        "1e-999",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "0e999",
        "8.5e-27",
        "179769313486231580793728971405301e5",
        "0.30000000000000004",
        "100000000000000000000000000000000e-32",
    ] {
        let mut cursor = Cursor::new(text.as_bytes(), 0, 0);
        let value = cursor.try_number().unwrap().unwrap();
        assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        assert_eq!(cursor.at(), text.len());
    }
}

#[test]
fn keeps_integers_of_64_bits() {
    let integer = |text: &str| match Cursor::new(text.as_bytes(), 0, 0).scalar().unwrap() {
        Scalar::Number { integer, .. } => integer,
        other => panic!("{other:?}"),
    };
    assert_eq!(integer("9223372036854775807"), Some(i64::MAX));
    assert_eq!(integer("-9223372036854775808"), Some(i64::MIN));
    assert_eq!(integer("9223372036854775808"), None);
    assert_eq!(integer("18446744073709551617"), None);
    assert_eq!(integer("1.0"), None);
    assert_eq!(integer("-0"), Some(0));
}
