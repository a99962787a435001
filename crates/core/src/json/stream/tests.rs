use super::*;
use crate::json::Scalar;
use crate::memory::Vec;

/// Keeps the member "id" of every element.
#[derive(Default)]
struct Ids(Vec<i64>);

impl Records for Ids {
    fn take(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Box<SyntaxError>> {
        let mut id = None;
        if cursor.open(b'{', b'}')? {
            loop {
                if cursor.key()?.as_ref() == b"id" {
                    let Scalar::Number { integer, .. } = cursor.scalar()? else { panic!("ids are numbers") };
                    id = integer;
                } else {
                    cursor.skip()?;
                }
                if !cursor.more(b'}')? {
                    break;
                }
            }
        }
        self.0.push(id.unwrap_or(-1));
        Ok(())
    }

    fn append(&mut self, other: &mut dyn Any) {
        self.0.append(&mut other.downcast_mut::<Self>().unwrap().0);
    }
}

fn ids(text: &str) -> Result<Vec<i64>, StreamError> {
    read_ids(text, |stream| stream.array(Ids::default))
}

fn ids_of_lines(text: &str) -> Result<Vec<i64>, StreamError> {
    read_ids(text, |stream| stream.lines(Ids::default))
}

/// The ids that are read of a text in memory and in a file, behind a byte order mark as well.
fn read_ids(text: &str, read: impl Fn(&mut Stream<'_>) -> Result<Ids, StreamError>) -> Result<Vec<i64>, StreamError> {
    let path =
        std::env::temp_dir().join(format!("ioukit-stream-{}-{:?}", std::process::id(), std::thread::current().id()));
    std::fs::write(&path, text).unwrap();
    let mut results = Vec::new();
    let marked = format!("\u{FEFF}{text}").into_bytes();
    for source in
        [Source::Memory(text.as_bytes().to_vec().into()), Source::Memory(marked.into()), Source::open(&path).unwrap()]
    {
        let mut stream = Stream::new(&source).unwrap();
        let columns = read(&mut stream);
        let rest = stream.peek();
        results.push(columns.map(|columns| {
            assert_eq!(rest.unwrap(), None);
            columns.0
        }));
    }
    std::fs::remove_file(&path).unwrap();
    let file = results.pop().unwrap();
    for memory in &results {
        match (memory, &file) {
            (Ok(memory), Ok(file)) => assert_eq!(memory, file),
            (Err(_), Err(_)) => {}
            (memory, file) => panic!("memory gives {memory:?}, a file {file:?}"),
        }
    }
    file
}

#[test]
fn reads_short_arrays() {
    assert_eq!(ids("[]").unwrap(), []);
    assert_eq!(ids(" [ ] ").unwrap(), []);
    assert_eq!(ids("[{\"id\":1}]\n").unwrap(), [1]);
    assert_eq!(ids("[{\"id\":1} , {} ]").unwrap(), [1, -1]);
}

#[test]
fn reads_long_arrays_whatever_stands_in_them() {
    let fillers = [
        String::new(),
        "\"},{\\\"id\\\":7},{\"".to_string(),
        "[{\"id\":8},{\"id\":9} , {}]".to_string(),
        format!("\"{}\"", "x".repeat(3 * CHUNK as usize + 5)),
        " ".repeat(2 * CHUNK as usize + 3) + "0",
    ];
    for filler in &fillers {
        let count = if filler.len() > 1000 { 5 } else { 4 * CHUNK as usize / (filler.len() + 20) };
        for gap in ["", "\n  "] {
            let elements: Vec<String> = (0..count)
                .map(|id| {
                    if filler.is_empty() {
                        format!("{{\"id\":{id}}}")
                    } else {
                        format!("{{\"other\":{filler},\"id\":{id}}}")
                    }
                })
                .collect();
            let text = format!("[{gap}{}{gap}]", elements.join(&format!("{gap},{gap}")));
            assert_eq!(ids(&text).unwrap(), (0..count as i64).collect::<Vec<_>>());
            let lines = elements.join(&format!("\n{gap}"));
            assert_eq!(ids_of_lines(&lines).unwrap(), (0..count as i64).collect::<Vec<_>>());
        }
    }
}

#[test]
fn reads_gaps_longer_than_a_piece() {
    let gap = " ".repeat(2 * CHUNK as usize + 100);
    assert_eq!(ids(&format!("[{gap}{{\"id\":1}}{gap},{gap}{{\"id\":2}}{gap}]{gap}")).unwrap(), [1, 2]);
}

#[test]
fn counts_the_elements_before_an_error() {
    let mut text = format!("[{}", "{\"id\":1},".repeat(400_000));
    let end = text.len() as u64;
    text.push_str("{\"id\":nil}]");
    let Err(StreamError::Syntax { error, element }) = ids(&text) else { panic!("a word was taken") };
    assert_eq!((error.at, element), (end + 6, Some(400_000)));
    let Err(StreamError::Syntax { error, .. }) = ids(&text[..text.len() - 300]) else { panic!("a cut was taken") };
    assert!(error.ended);
}

#[test]
fn reads_lines() {
    assert_eq!(ids_of_lines("").unwrap(), []);
    assert_eq!(ids_of_lines(" \n\n").unwrap(), []);
    assert_eq!(ids_of_lines("{\"id\":1}").unwrap(), [1]);
    assert_eq!(ids_of_lines("{\"id\":1}\r\n\n {}\r\n").unwrap(), [1, -1]);
    let gap = "\n".repeat(2 * CHUNK as usize + 100);
    assert_eq!(ids_of_lines(&format!("{gap}{{\"id\":1}}{gap}{{\"id\":2}}{gap}")).unwrap(), [1, 2]);
}

#[test]
fn lines_end_at_line_breaks() {
    let lines = "{\"id\":1}\n".repeat(400_000);
    for (end, at, words) in [
        ("{\"id\":1} {\"id\":2}", 9, "expected a line break behind the value, found '{'"),
        ("{\"id\":1},\n{\"id\":2}", 8, "expected a line break behind the value, found ','"),
    ] {
        for (before, count) in [("", 0), (lines.as_str(), 400_000)] {
            let Err(StreamError::Syntax { error, element }) = ids_of_lines(&format!("{before}{end}")) else {
                panic!("{end} was taken")
            };
            let element = element.unwrap();
            assert_eq!((error.at, error.what.as_ref(), element), (before.len() as u64 + at, words, count + 1));
        }
    }
    let Err(StreamError::Syntax { error, .. }) = ids_of_lines("{\"id\":1}\n{\"id\"") else { panic!("a cut was taken") };
    assert!(error.ended);
}

/// Keeps where every element is.
struct Places(Vec<[u64; 2]>);

impl Records for Places {
    fn take(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Box<SyntaxError>> {
        self.0.push(cursor.span()?);
        Ok(())
    }

    fn append(&mut self, other: &mut dyn Any) {
        self.0.append(&mut other.downcast_mut::<Self>().unwrap().0);
    }
}

/// A file with this text.
fn in_file(text: &str, name: &str) -> Source {
    let path = std::env::temp_dir().join(format!("ioukit-stream-{name}-{}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let source = Source::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    source
}

#[test]
fn a_number_goes_on_behind_the_end_of_a_window() {
    for ahead in 0..=7 {
        let text = format!("{}12.5e3,8", " ".repeat((CHUNK / 32) as usize - ahead));
        let source = in_file(&text, "number");
        let mut stream = Stream::new(&source).unwrap();
        let value = stream.step(|cursor| cursor.try_number()).unwrap();
        assert_eq!(value, Some(12.5e3), "{ahead}");
        assert_eq!(stream.peek().unwrap(), Some(b','));
    }
    let spaces = " ".repeat(CHUNK as usize - 10);
    let number = format!("{}.5", "1".repeat(SLACK as usize + 1000));
    let source = in_file(&format!("[{spaces}{number}]"), "element");
    let places = Stream::new(&source).unwrap().array(|| Places(Vec::new())).unwrap().0;
    let start = 1 + spaces.len() as u64;
    assert_eq!(places, [[start, start + number.len() as u64]]);
}
