//! Pascal VOC's XML files: the objects of one image each.

use std::io;
use std::path::Path;

use super::text::{number, quoted, without_mark};
use super::xml::{Event, Reader, XmlError};
use super::{Columns, Labels, Problem, Problems, read_columns};
use crate::memory::{Vec, owned};

/// The files, and the objects in them, in order.
#[derive(Debug, Default)]
pub struct Annotations {
    /// `filename` of each file; empty if it has none.
    pub names: Vec<Vec<u8>>,
    /// Width and height of each image; NaN if the file does not say them.
    pub sizes: Vec<[f64; 2]>,
    /// Whether each file could be read.
    pub good: Vec<bool>,
    /// The file of each object, by its position.
    pub files: Vec<i64>,
    /// The line at which each object begins.
    pub lines: Vec<i64>,
    /// The class of each object.
    pub classes: Labels,
    /// The pose of each object; empty if it has none.
    pub poses: Labels,
    /// `xmin, ymin, xmax, ymax` of each object.
    pub corners: Vec<[f64; 4]>,
    /// `difficult`, `truncated` and `occluded` of each object; 2 if it does not say.
    pub flags: Vec<[u8; 3]>,
    /// Files that are no annotations.
    pub bad_files: Problems,
    /// Objects that are invalid.
    pub bad_objects: Problems,
    /// The first file that the system could not read, and why.
    pub unreadable: Option<(usize, io::Error)>,
}

impl Columns for Annotations {
    fn append(&mut self, mut other: Self) {
        self.names.append(&mut other.names);
        self.sizes.append(&mut other.sizes);
        self.good.append(&mut other.good);
        self.files.append(&mut other.files);
        self.lines.append(&mut other.lines);
        self.classes.append(other.classes);
        self.poses.append(other.poses);
        self.corners.append(&mut other.corners);
        self.flags.append(&mut other.flags);
        self.bad_files.append(other.bad_files);
        self.bad_objects.append(other.bad_objects);
        if let Some(first) = other.unreadable {
            self.unreadable.get_or_insert(first);
        }
    }
}

/// Reads files by `threads` threads (0: all cores). The first has the position `first` among all files. A box must be at
/// least `narrowest` from `xmin` to `xmax`, and from `ymin` to `ymax`.
pub fn read<P: AsRef<Path> + Sync>(paths: &[P], first: usize, narrowest: f64, threads: usize) -> Annotations {
    read_columns(paths, first, threads, |columns: &mut Annotations, file, bytes| match bytes {
        Ok(bytes) => take_file(columns, file, bytes, narrowest),
        Err(error) => {
            columns.names.push(Vec::new());
            columns.sizes.push([f64::NAN; 2]);
            columns.good.push(false);
            columns.unreadable.get_or_insert((file, error));
        }
    })
}

/// An element whose text is kept: `None` if there is none, or its text and whether it is text alone.
type Field = Option<Result<Vec<u8>, &'static str>>;

/// Takes the text of an element, which must come once.
fn take_text(reader: &mut Reader<'_>, field: &mut Field) -> Result<(), XmlError> {
    let text = reader.text()?;
    *field = Some(match (field.take(), text) {
        (Some(_), _) => Err("two of them"),
        (None, None) => Err("other elements"),
        (None, Some(text)) => Ok(owned(text)),
    });
    Ok(())
}

/// An object as it is in a file.
#[derive(Default)]
struct Object {
    start: usize,
    name: Field,
    pose: Field,
    flags: [Field; 3],
    boxes: usize,
    corners: [Field; 4],
}

/// What a file holds, in the order of its elements.
#[derive(Default)]
struct File {
    name: Field,
    size: [Field; 2],
    objects: Vec<Object>,
}

const FLAGS: [&[u8]; 3] = [b"difficult", b"truncated", b"occluded"];
const CORNERS: [&[u8]; 4] = [b"xmin", b"ymin", b"xmax", b"ymax"];
const SIDES: [&[u8]; 2] = [b"width", b"height"];

fn take_file(columns: &mut Annotations, file: usize, bytes: &[u8], narrowest: f64) {
    let text = without_mark(bytes);
    let line_of = |at: usize| 1 + bytes[..at.min(bytes.len())].iter().filter(|byte| **byte == b'\n').count();
    let read = match text {
        Err(found) => {
            Err(Problem { file, line: 0, field: "".into(), expected: "XML in UTF-8".into(), found: found.into() })
        }
        Ok(text) => {
            let before = bytes.len() - text.len();
            parse(text)
                .map_err(|XmlError { at, expected, found }| (before + at, "", expected, found))
                .and_then(|read| header(&read).map(|header| (read, header, before)))
                .map_err(|(at, field, expected, found)| {
                    let line = if field.is_empty() { line_of(at) } else { 0 };
                    Problem { file, line, field: field.into(), expected: expected.into(), found }
                })
        }
    };
    let (read, (name, size), before) = match read {
        Ok(read) => read,
        Err(problem) => {
            columns.names.push([].into());
            columns.sizes.push([f64::NAN; 2]);
            columns.good.push(false);
            return columns.bad_files.meet(problem);
        }
    };
    columns.names.push(name);
    columns.sizes.push(size);
    columns.good.push(true);
    // Lines are counted once, from object to object.
    let (mut at, mut line) = (0, 1);
    for (place, object) in read.objects.into_iter().enumerate() {
        let start = before + object.start;
        line += bytes[at..start].iter().filter(|byte| **byte == b'\n').count();
        at = start;
        match settle(&object, narrowest) {
            Ok((class, pose, corners, flags)) => {
                columns.files.push(file as i64);
                columns.lines.push(line as i64);
                columns.classes.push(class);
                columns.poses.push(pose);
                columns.corners.push(corners);
                columns.flags.push(flags);
            }
            Err((field, expected, found)) => {
                let field = format!("object[{place}].{field}").into();
                columns.bad_objects.meet(Problem { file, line, field, expected: expected.into(), found });
            }
        }
    }
}

type Found = std::borrow::Cow<'static, str>;

/// What is wrong with a file: the offset, the field, what was expected and what was found.
type Wrong = (usize, &'static str, &'static str, Found);

/// The name and the size of the image.
fn header(read: &File) -> Result<(Vec<u8>, [f64; 2]), Wrong> {
    let name = match &read.name {
        None => Vec::new(),
        Some(Ok(name)) => name.clone(),
        Some(Err(found)) => return Err((0, "filename", "the name of a file", (*found).into())),
    };
    let mut size = [f64::NAN; 2];
    for ((side, field), name) in size.iter_mut().zip(&read.size).zip(["size.width", "size.height"]) {
        let expected = "a number of pixels of at least 0";
        match field {
            None => {}
            Some(Err(found)) => return Err((0, name, expected, (*found).into())),
            Some(Ok(text)) => match number(text) {
                // Tools write 0 for a size that they do not know.
                Some(0.0) => {}
                Some(value) if value > 0.0 => *side = value,
                _ => return Err((0, name, expected, quoted(text))),
            },
        }
    }
    Ok((name, if size.iter().any(|side| side.is_nan()) { [f64::NAN; 2] } else { size }))
}

type Settled<'a> = (&'a [u8], &'a [u8], [f64; 4], [u8; 3]);

/// The values of an object: its class, its pose, its corners and its flags.
fn settle(object: &Object, narrowest: f64) -> Result<Settled<'_>, (&'static str, &'static str, Found)> {
    const FARTHEST: f64 = 9_007_199_254_740_992.0;
    let class = match &object.name {
        Some(Ok(name)) if !name.is_empty() => &name[..],
        other => return Err(("name", "the name of a class", missing(other))),
    };
    if object.boxes != 1 {
        let found = if object.boxes == 0 { "none".into() } else { format!("{} of them", object.boxes).into() };
        return Err(("bndbox", "a box", found));
    }
    let mut corners = [0.0; 4];
    let fields = ["bndbox.xmin", "bndbox.ymin", "bndbox.xmax", "bndbox.ymax"];
    for ((corner, field), name) in corners.iter_mut().zip(&object.corners).zip(fields) {
        let value = match field {
            Some(Ok(text)) => number(text).filter(|value| value.abs() <= FARTHEST),
            _ => None,
        };
        *corner = value.ok_or_else(|| (name, "a number of pixels", missing(field)))?;
    }
    for (low, high, field, expected) in [(0, 2, "bndbox.xmax", "at least xmin"), (1, 3, "bndbox.ymax", "at least ymin")]
    {
        if corners[high] < corners[low] + narrowest {
            return Err((field, expected, format!("{} and {}", corners[low], corners[high]).into()));
        }
    }
    let mut flags = [2; 3];
    for ((flag, field), name) in flags.iter_mut().zip(&object.flags).zip(["difficult", "truncated", "occluded"]) {
        *flag = match field {
            None => continue,
            Some(Ok(text)) => match &text[..] {
                b"0" | b"" => 0,
                b"1" => 1,
                text if text.eq_ignore_ascii_case(b"false") || text.eq_ignore_ascii_case(b"unspecified") => 0,
                text if text.eq_ignore_ascii_case(b"true") => 1,
                _ => return Err((name, "0 or 1", missing(field))),
            },
            Some(Err(_)) => return Err((name, "0 or 1", missing(field))),
        };
    }
    let pose = match &object.pose {
        None => &[][..],
        Some(Ok(pose)) => pose,
        other => return Err(("pose", "text", missing(other))),
    };
    Ok((class, pose, corners, flags))
}

/// What a field has in the place of what it should.
fn missing(field: &Field) -> Found {
    match field {
        None => "none".into(),
        Some(Err(found)) => (*found).into(),
        Some(Ok(text)) => quoted(text),
    }
}

fn parse(text: &[u8]) -> Result<File, XmlError> {
    let mut reader = Reader::new(text)?;
    let mut file = File::default();
    match reader.next()? {
        Event::Open(b"annotation") => {}
        Event::Open(name) => {
            return Err(XmlError { at: reader.at(), expected: "the element annotation", found: quoted(name) });
        }
        _ => {}
    }
    loop {
        match reader.next()? {
            Event::Open(b"filename") => take_text(&mut reader, &mut file.name)?,
            Event::Open(b"size") => take_children(&mut reader, &SIDES, &mut file.size)?,
            Event::Open(b"object") => {
                let mut object = Object { start: reader.at(), ..Object::default() };
                take_object(&mut reader, &mut object)?;
                file.objects.push(object);
            }
            Event::Open(_) => reader.skip()?,
            Event::Text(_) => {}
            Event::Close | Event::End => break,
        }
    }
    reader.next()?; // nothing may follow
    Ok(file)
}

/// Takes an object. Elements that are not known are passed over, such as `part`, which has a name and a box of its own.
fn take_object(reader: &mut Reader<'_>, object: &mut Object) -> Result<(), XmlError> {
    loop {
        match reader.next()? {
            Event::Open(b"name") => take_text(reader, &mut object.name)?,
            Event::Open(b"pose") => take_text(reader, &mut object.pose)?,
            Event::Open(b"bndbox") => {
                object.boxes += 1;
                take_children(reader, &CORNERS, &mut object.corners)?;
            }
            Event::Open(name) => match FLAGS.iter().position(|flag| *flag == name) {
                Some(place) => take_text(reader, &mut object.flags[place])?,
                None => reader.skip()?,
            },
            Event::Text(_) => {}
            Event::Close | Event::End => return Ok(()),
        }
    }
}

/// Takes an element that has one number in each of its children.
fn take_children<const N: usize>(
    reader: &mut Reader<'_>,
    names: &[&[u8]; N],
    fields: &mut [Field; N],
) -> Result<(), XmlError> {
    loop {
        match reader.next()? {
            Event::Open(name) => match names.iter().position(|known| *known == name) {
                Some(place) => take_text(reader, &mut fields[place])?,
                None => reader.skip()?,
            },
            Event::Text(_) => {}
            Event::Close | Event::End => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::vec;

    fn read_one(text: &str) -> Annotations {
        let mut columns = Annotations::default();
        take_file(&mut columns, 0, text.as_bytes(), 0.0);
        columns
    }

    const BOX: &str = "<bndbox><xmin>1</xmin><ymax>4.5</ymax><ymin> 2 </ymin><xmax>3</xmax></bndbox>";

    #[test]
    fn takes_objects_and_passes_over_their_parts() {
        let found = read_one(&format!(
            "<annotation>\n<filename>a &amp; b.jpg</filename><size><width>5</width><height>6</height></size>\n<object>\n\
             <name>cat</name><part><name>head</name>{BOX}{BOX}</part>{BOX}<pose>Left</pose><difficult>1</difficult>\
             <truncated>True</truncated></object><object><name>dog</name>{BOX}</object></annotation>\n"
        ));
        assert_eq!((&*found.names[0], found.sizes[0]), (&b"a & b.jpg"[..], [5.0, 6.0]));
        assert_eq!((found.corners[0], found.flags), ([1.0, 2.0, 3.0, 4.5], vec![[1, 1, 2], [2; 3]]));
        assert_eq!((found.lines, found.bad_files.count, found.bad_objects.count), (vec![3, 4], 0, 0));
        let names = found.classes.sorted().1;
        assert_eq!((names.text.as_slice(), names.ends), (b"catdog".as_slice(), vec![3, 6]));
    }

    #[test]
    fn names_the_field_of_an_object() {
        let changed = |from: &str, to: &str| BOX.replace(from, to);
        for (inner, message) in [
            (BOX.to_owned(), "line 2, object[0].name: expected the name of a class, found none"),
            (format!("<name> </name>{BOX}"), "object[0].name: expected the name of a class, found \"\""),
            ("<name>a</name>".into(), "object[0].bndbox: expected a box, found none"),
            (format!("<name>a</name>{BOX}{BOX}"), "object[0].bndbox: expected a box, found 2 of them"),
            (
                format!("<name>a</name>{}", changed("1<", "x<")),
                "object[0].bndbox.xmin: expected a number of pixels, found \"x\"",
            ),
            (
                format!("<name>a</name>{}", changed("3<", "nan<")),
                "object[0].bndbox.xmax: expected a number of pixels, found \"nan\"",
            ),
            (
                format!("<name>a</name>{}", changed("3<", "0.5<")),
                "object[0].bndbox.xmax: expected at least xmin, found 1 and 0.5",
            ),
            (
                format!("<name>a</name>{}", changed("1<", "<b/>1<")),
                "object[0].bndbox.xmin: expected a number of pixels, found other elements",
            ),
            (
                format!("<name>a</name><name>b</name>{BOX}"),
                "object[0].name: expected the name of a class, found two of them",
            ),
            (
                format!("<name>a</name>{BOX}<difficult>2</difficult>"),
                "object[0].difficult: expected 0 or 1, found \"2\"",
            ),
        ] {
            let found = read_one(&format!("<annotation>\n<object>{inner}</object></annotation>"));
            let first = found.bad_objects.first.expect("a problem").to_string();
            assert!(first.starts_with("line 2, ") && first.ends_with(message), "{first}");
            assert_eq!((found.bad_objects.count, found.corners.len(), found.good), (1, 0, vec![true]));
        }
    }

    #[test]
    fn names_what_is_wrong_with_a_file() {
        for (text, message) in [
            ("<annotations/>", "line 1: expected the element annotation, found \"annotations\""),
            ("<annotation>\n<object></annotation>", "line 2: expected the end of the element that is open, found"),
            ("<annotation><size><width>-1</width></size></annotation>", "size.width: expected a number of pixels"),
            ("<annotation/>x", "line 1: expected the end of the file, found \"x\""),
            ("\u{1}", "line 1: expected text, found a control character"),
        ] {
            let found = read_one(text);
            let first = found.bad_files.first.expect("a problem").to_string();
            assert!(first.starts_with(message), "{first}");
            assert_eq!(found.good, [false]);
        }
        assert!(
            read_one("<annotation><size><width>0</width><height>5</height></size></annotation>").sizes[0][1].is_nan()
        );
    }
}
