use std::thread;

use super::*;
use crate::memory::vec;

/// The first column as text, the last one as numbers, and the lines.
type Read = (Vec<String>, Vec<f64>, Vec<i64>);

fn table(text: &[u8], fields: usize, threads: usize, size: u64) -> Result<Read, String> {
    let columns = [(0, Kind::Text), (fields - 1, Kind::Number)];
    let choice = Choice { fields, delimiter: b',', header: true, columns: &columns };
    let path = std::env::temp_dir().join(format!("ioukit-{}-{:?}.csv", std::process::id(), thread::current().id()));
    std::fs::write(&path, text).expect("a file");
    let read = with_threads(threads, || read_in_pieces(&path, choice, threads, size));
    std::fs::remove_file(&path).expect("the file");
    let Table { mut columns, lines } = read.map_err(|error| match error {
        NoTable::Invalid(problem) => problem.to_string(),
        NoTable::Io(error) => error.to_string(),
    })?;
    let (Some(Column::Number(numbers)), Some(Column::Text(codes, names))) = (columns.pop(), columns.pop()) else {
        unreachable!("two columns")
    };
    let text = codes.iter().map(|&code| String::from_utf8_lossy(names.get(code as usize)).into_owned()).collect();
    Ok((text, numbers, lines))
}

#[test]
fn takes_quotes_and_every_kind_of_line_end() {
    let (text, numbers, lines) =
        table(b"\xEF\xBB\xBFa,b\r\n\r\n\"x, \"\"y\"\"\n z\",1\nq, 2.5 \r\"\",x\n,", 2, 1, PIECE).expect("a table");
    assert_eq!(text, ["x, \"y\"\n z", "q", "", ""]);
    assert_eq!((numbers[0], numbers[1], lines), (1.0, 2.5, vec![4, 5, 6, 7]));
    assert!(numbers[2].is_nan() && numbers[3].is_nan());
}

#[test]
fn names_the_line_of_a_bad_row() {
    for (text, message) in [
        (&b"a,b\n1,2\n1,2,3\n"[..], "line 3: expected 2 fields, found 3"),
        (b"a,b\n,,,,,,,,\n", "line 2: expected 2 fields, found 9"),
        (b"a,b\n\"1,2\n", "line 2: expected the end of a field in quotes, found the end of the file"),
        (b"a,b\n\"1\"x,2\n", "line 2: expected the end of a field behind its quotes, found more"),
        (b"a,b\n1,2\n\xFF,2\n", "line 3: expected CSV in UTF-8, found bytes that are not UTF-8"),
        (b"a,b\n1,2\n1\0,2\n", "line 3: expected CSV in UTF-8, found a zero byte"),
        (b"a,b\n1,2\n1,\"\0\"\n\xFF,2\n", "line 3: expected CSV in UTF-8, found a zero byte"),
        (b"a,b\n\xFF,2\n1\0,2\n", "line 2: expected CSV in UTF-8, found bytes that are not UTF-8"),
        (b"\xFF\xFEa", "line 1: expected CSV in UTF-8, found UTF-16 text (save it as UTF-8)"),
    ] {
        assert_eq!(table(text, 2, 1, PIECE).expect_err("no table"), message);
    }
}

#[test]
fn fields_end_at_every_place_of_a_block() {
    // Blocks have 64 bytes; the text ends with the memory, behind any number of them.
    for length in 0..200 {
        let name = "n".repeat(length);
        for end in ["", "\n", "\r\n"] {
            let text = format!("{name},5{end}").into_bytes().into_boxed_slice();
            let choice =
                Choice { fields: 2, delimiter: b',', header: false, columns: &[(0, Kind::Text), (1, Kind::Number)] };
            let Ok(Table { columns, lines }) = read_rows(&text, true, choice, 1) else { panic!("no table") };
            let [Column::Text(codes, names), Column::Number(numbers)] = &columns[..] else { panic!("two columns") };
            assert_eq!(
                (names.get(codes[0] as usize), &numbers[..], &lines[..]),
                (name.as_bytes(), &[5.0][..], &[1][..])
            );
        }
    }
}

/// The same in pieces of every size as in one.
fn check_pieces(text: &[u8]) {
    let whole = table(text, 2, 1, PIECE);
    for size in (1..40).chain([text.len() as u64 / 2 + 1, text.len() as u64 + 1]) {
        let shown = |read: Result<Read, String>| format!("{read:?}"); // a NaN is not equal to itself
        assert_eq!(shown(table(text, 2, 2, size)), shown(whole.clone()), "{size}: {:?}", text.escape_ascii());
    }
}

#[test]
fn pieces_change_nothing() {
    for text in [
        "name,number\nimage 1,2\nimage 1,3\nimage 2,x\nb,5\n",
        "name,number\r\nimage 1,2\r\n\r\n\r\nimage 2,3\r\nan image with a name that is long,4",
        "name,number\rimage 1,2\rimage 1,3\rimage 2,4\rb,5",
        "name,number\nimage 1,2\n\"image\n 1\",3\nimage 2,4\nb,5\n",
        "name,number\nimage 1,2\nimage 1,3\nimage 2,4\n\n\nb\n\nc,5",
        "name,number\nimage 1,2\nimage 1,3\nimage 2,\"4\nb,5\n",
        "\u{FEFF}name,number\nimage \u{E9},2\nimage \u{FEFF}1,3\nimage 2,4\n",
        "name,number",
        "\n",
        "",
    ] {
        check_pieces(text.as_bytes());
    }
    check_pieces(b"name,number\nimage 1,2\nimage \xFF,3\nimage 2,4\n");
    check_pieces(b"name,number\nimage 1,2\nimage \0,3\nimage 2,4\n");
    check_pieces(b"\xFF\xFEname,number\nimage 1,2\nimage 1,3\nimage 2,4\n");
    check_pieces(b"name,number\nimage 1\nimage \xFF,3\nimage 2,4\n");
    check_pieces(b"name,number\rimage 1,1\rimage \xFF,3\nimage 2\n");
    check_pieces(b"name,number\r\nimage 1,1\r\nimage \xFF,3\r\nimage 2\r\n");
}

#[test]
fn any_bytes_are_read_alike_in_pieces() {
    let mut state = 1u64;
    for round in 0..400 {
        let text: Vec<u8> = (0..round % 70)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let bytes = if round % 3 == 0 { b"12,,a\n\n\r\"" } else { b"1a,,,,\n\n\n" };
                bytes[(state >> 33) as usize % 9]
            })
            .collect();
        check_pieces(&text);
    }
}

#[test]
fn parts_have_the_rows_of_the_whole() {
    let text = b"\xEF\xBB\xBFa,b\r\n\r\n\"x, \"\"y\"\"\n z\",1\r\n5\" pipe,2.5\n\n\"\",4\r\"\n\n\",5\n,7\nq,8";
    let columns = [(0, Kind::Text), (1, Kind::Number)];
    let path = std::env::temp_dir().join(format!("ioukit-parts-{}.csv", std::process::id()));
    std::fs::write(&path, text).expect("a file");
    let take = |rows: &[u8], first: bool| {
        let choice = Choice { fields: 2, delimiter: b',', header: first, columns: &columns };
        let Ok(Table { mut columns, lines }) = read_rows(rows, first, choice, 1) else { panic!("no rows") };
        let (Some(Column::Number(numbers)), Some(Column::Text(codes, names))) = (columns.pop(), columns.pop()) else {
            unreachable!("two columns")
        };
        let text = codes.iter().map(|&code| String::from_utf8_lossy(names.get(code as usize)).into_owned());
        (text.collect::<Vec<_>>(), numbers, lines)
    };
    let whole = take(text, true);
    for bytes in 4..text.len() as u64 + 1 {
        let found = find_parts(&path, b',', bytes).expect("a file");
        assert_eq!(found.rows as usize, whole.0.len() + 1, "with the names");
        let mut all = (Vec::new(), Vec::new(), Vec::new());
        for (number, &[start, before]) in found.starts.iter().enumerate() {
            let end = found.starts.get(number + 1).map_or(text.len(), |next| next[0] as usize);
            let (names, numbers, lines) = take(&text[start as usize..end], number == 0);
            all.0.extend(names);
            all.1.extend(numbers);
            all.2.extend(lines.into_iter().map(|line| line + before as i64));
        }
        assert_eq!(all, whole, "{bytes} bytes a part");
    }
    std::fs::remove_file(&path).expect("the file");
}
