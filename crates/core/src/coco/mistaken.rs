//! What a file is that is not what was expected: guessed from its first bytes, for the message.

use crate::json::{Cursor, Source};
use crate::memory::Vec;

/// As much of a file as a guess looks at.
const HEAD: u64 = 1 << 14;

/// The words for an object where an array of detections is expected.
pub(super) fn object(source: &Source) -> String {
    let head = source.head(HEAD).unwrap_or_default();
    let keys = first_keys(&head, b'{');
    let has = |names: &[&str]| keys.iter().any(|key| names.iter().any(|name| key == name));
    if keys.is_empty() {
        "an empty object".into()
    } else if has(&["images", "categories", "annotations", "info", "licenses"]) {
        "an object with images or annotations (a data set; detections are a plain array of objects with image_id, \
         category_id, bbox and score; `ioukit agree` compares two data sets, `ioukit view --annotators` shows them)"
            .into()
    } else {
        format!("an object with the key {:?}", keys[0])
    }
}

/// The words for an array where an object with images, categories and annotations is expected.
pub(super) fn array(source: &Source) -> &'static str {
    let head = source.head(HEAD).unwrap_or_default();
    let mut cursor = Cursor::new(&head, 0, 0);
    let record = cursor.open(b'[', b']').ok().and_then(|more| more.then(|| cursor.at())).unwrap_or(head.len());
    if first_keys(&head[record..], b'{').iter().any(|key| key == "score") {
        "an array of objects with scores (detections: are the two files swapped?)"
    } else {
        "an array"
    }
}

/// The keys of the object with which some text begins, as far as it goes.
fn first_keys(text: &[u8], open: u8) -> Vec<String> {
    let mut cursor = Cursor::new(text, 0, 0);
    let mut keys = Vec::new();
    let mut more = cursor.open(open, b'}').unwrap_or(false);
    while more && let Ok(key) = cursor.key() {
        keys.push(String::from_utf8_lossy(&key).into_owned());
        more = cursor.skip().and_then(|()| cursor.more(b'}')).unwrap_or(false);
    }
    keys
}

/// Whether an object ends and another one begins on a line of its own, as in JSON Lines.
pub(super) fn is_lines(source: &Source) -> bool {
    let head = source.head(HEAD).unwrap_or_default();
    let mut cursor = Cursor::new(&head, 0, 0);
    cursor.skip().is_ok() && cursor.next_line(true) == Ok(true) && cursor.peek() == Some(b'{')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_a_file_is_instead() {
        let memory = |text: &str| Source::Memory(text.as_bytes().to_vec().into());
        for (text, says) in [
            ("{}", "an empty object"),
            ("{\"info\": {}, \"images\": [", "a data set; detections are a plain array"),
            ("{\"images\": [], \"annotations\": [{\"score\": 1}]}", "a data set; detections are a plain array"),
            ("{\"boxes\": [[1, 2]]}", "the key \"boxes\""),
        ] {
            let words = object(&memory(text));
            assert!(words.contains(says), "{text}: {words}");
            assert!(!words.contains("swapped"), "who reads both files has read the ground truth by now: {words}");
        }
        assert!(is_lines(&memory("\u{FEFF}{\"score\": 1}\r\n{\"score\": 2}\r\n")));
        assert!(!is_lines(&memory("{\"score\": 1} {\"score\": 2}")));
        assert!(array(&memory("[{\"image_id\": 1, \"score\": 0.5}, ")).contains("swapped"));
        assert_eq!(array(&memory("[{\"image_id\": 1}]")), "an array");
        assert_eq!(array(&memory("[]")), "an array");
        assert_eq!(array(&memory("[3]")), "an array");
    }
}
