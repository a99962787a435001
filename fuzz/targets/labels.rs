//! Text labels, Pascal VOC's XML and headers of images: beside the numbers of the standard library and beside roxmltree.
#![no_main]

use std::cell::RefCell;

use ioukit_core::formats::{image_size, number_lines, voc};
use ioukit_fuzz::Nameless;
use libfuzzer_sys::fuzz_target;

thread_local!(static FILE: RefCell<Nameless> = RefCell::new(Nameless::new("labels")));

fuzz_target!(|bytes: &[u8]| {
    let path = FILE.with_borrow_mut(|file| file.hold(bytes));
    let paths = [path.clone(), path];
    lines(bytes, &number_lines::read(&paths, 0, number_lines::Between::Space, 0));
    annotations(bytes, &voc::read(&paths, 0, 0.0, 0));
    let sizes = image_size::read_sizes(&paths, 0);
    assert_eq!(format!("{:?}", sizes[0]), format!("{:?}", sizes[1]));
    if let Ok([width, height]) = sizes[0] {
        assert!(width > 0 && height > 0, "an image without pixels");
    }
});

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

/// The lines of the file, which was read twice.
fn lines(bytes: &[u8], found: &number_lines::NumberLines) {
    let per_file = found.lines.len() / 2;
    assert_eq!(found.lines[..per_file], found.lines[per_file..], "both files alike");
    assert!(found.ends.is_sorted() && found.ends.last().copied().unwrap_or(0) == found.numbers.len() as i64);
    let mut start = 0;
    let rows: Vec<(i64, &[f64])> = (0..per_file)
        .map(|row| {
            let numbers = &found.numbers[start..found.ends[row] as usize];
            start = found.ends[row] as usize;
            (found.lines[row], numbers)
        })
        .collect();
    let Ok(text) = str::from_utf8(without_mark(bytes)) else { return };
    // Bytes that are not text at the start of a file refuse all of it. Behind a mark of UTF-8, they refuse their line.
    let marked = text.len() < bytes.len();
    if !marked && (bytes[..bytes.len().min(4)].contains(&0) || bytes.starts_with(b"\x1F\x8B")) {
        assert!(rows.is_empty() && found.problems.count == 2);
        return;
    }
    let mut problems = 0;
    let mut expected = Vec::new();
    for (number, line) in text.replace("\r\n", "\n").split(['\n', '\r']).enumerate() {
        let words = line.split(|c: char| c.is_ascii_whitespace()).filter(|word| !word.is_empty());
        let numbers: Option<Vec<f64>> =
            words.map(|word| word.parse::<f64>().ok().filter(|value| value.is_finite())).collect();
        match numbers {
            Some(numbers) if numbers.is_empty() => {}
            Some(numbers) => expected.push((number as i64 + 1, numbers)),
            None => problems += 1,
        }
    }
    assert_eq!(rows.len(), expected.len());
    for ((line, numbers), (expected_line, expected)) in rows.into_iter().zip(&expected) {
        assert_eq!((line, numbers), (*expected_line, &expected[..]));
    }
    assert_eq!(found.problems.count, 2 * problems);
}

/// A file that is read is XML, and its objects have these classes and corners.
fn annotations(bytes: &[u8], found: &voc::Annotations) {
    assert_eq!(found.good[0], found.good[1], "both files alike");
    let text = str::from_utf8(without_mark(bytes));
    let document = text.ok().and_then(|text| roxmltree::Document::parse(text).ok());
    let Some(document) = document else { return };
    let root = document.root_element();
    if !found.good[0] || !root.has_tag_name("annotation") {
        return;
    }
    let all: Vec<_> = root.children().filter(|node| node.has_tag_name("object")).collect();
    let per_file = found.corners.len() / 2;
    assert_eq!(all.len(), per_file + found.bad_objects.count / 2, "the objects");
    if found.bad_objects.count > 0 {
        return;
    }
    for (object, corners) in all.iter().zip(&found.corners) {
        let frame = child(*object, "bndbox");
        let expected = ["xmin", "ymin", "xmax", "ymax"].map(|name| {
            let words: String = child(frame, name).children().filter_map(|node| node.text()).collect();
            words.trim_ascii().parse::<f64>().expect("a number that was read")
        });
        assert_eq!(*corners, expected);
    }
}

fn child<'a, 'b>(node: roxmltree::Node<'a, 'b>, name: &str) -> roxmltree::Node<'a, 'b> {
    node.children().find(|node| node.has_tag_name(name)).expect("an element that was read")
}
