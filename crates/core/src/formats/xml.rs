//! Strict XML 1.0 in UTF-8, read in place: elements and their text.
//!
//! Attributes are checked and passed over. There are no document types, so there are no entities but XML's own five; a
//! file that declares others is refused. Elements nest at most [`MAX_DEPTH`] deep.

use std::borrow::Cow;

use crate::memory::{Vec, copied, owned};

/// How deep elements may nest. Files of labels need less than ten.
pub const MAX_DEPTH: usize = 100;

/// What is wrong with the text, and where.
#[derive(Debug, PartialEq, Eq)]
pub struct XmlError {
    /// Offset of the byte.
    pub at: usize,
    /// What was expected.
    pub expected: &'static str,
    /// What was found.
    pub found: Cow<'static, str>,
}

type Result<T> = std::result::Result<T, XmlError>;

/// What follows in a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// An element begins; its name.
    Open(&'a [u8]),
    /// Text, with entities resolved.
    Text(Cow<'a, [u8]>),
    /// The innermost element ends.
    Close,
    /// The file ends.
    End,
}

/// A walk over a file.
pub struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    open: Vec<&'a [u8]>,
    /// The innermost element has no content: `<name/>`.
    closing: bool,
    /// The outermost element has begun.
    begun: bool,
}

impl<'a> Reader<'a> {
    /// Starts at the first byte.
    pub fn new(text: &'a [u8]) -> Result<Self> {
        if let Err(error) = str::from_utf8(text) {
            return Err(XmlError {
                at: error.valid_up_to(),
                expected: "text in UTF-8",
                found: "bytes that are not UTF-8".into(),
            });
        }
        if let Some(at) = text.iter().position(|byte| *byte < b' ' && !byte.is_ascii_whitespace()) {
            return Err(XmlError { at, expected: "text", found: "a control character".into() });
        }
        Ok(Self { text, at: 0, open: Vec::new(), closing: false, begun: false })
    }

    /// Offset of the next byte.
    pub fn at(&self) -> usize {
        self.at
    }

    #[cold]
    fn error<T>(&self, expected: &'static str) -> Result<T> {
        let found = match self.text.get(self.at) {
            None => "the end of the file".into(),
            Some(_) => {
                super::text::quoted(self.text[self.at..].split(|byte| *byte == b'\n').next().unwrap_or_default())
            }
        };
        Err(XmlError { at: self.at, expected, found })
    }

    fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    /// Takes the next event.
    pub fn next(&mut self) -> Result<Event<'a>> {
        if self.closing {
            self.closing = false;
            self.open.pop();
            return Ok(Event::Close);
        }
        loop {
            let rest = self.rest();
            let Some(first) = rest.first() else {
                return if self.begun && self.open.is_empty() {
                    Ok(Event::End)
                } else {
                    self.error(if self.begun { "the end of an element" } else { "an element" })
                };
            };
            if *first != b'<' {
                let length = rest.iter().position(|byte| *byte == b'<').unwrap_or(rest.len());
                let text = &rest[..length];
                if self.open.is_empty() {
                    let blank = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                    self.at += blank;
                    if blank < length {
                        return self.error(if self.begun { "the end of the file" } else { "an element" });
                    }
                    continue;
                }
                let text = self.resolved(text)?;
                self.at += length;
                return Ok(Event::Text(text));
            }
            if rest.starts_with(b"<!--") {
                self.pass(4, b"-->", "the end of a comment")?;
            } else if rest.starts_with(b"<?") {
                self.pass(2, b"?>", "the end of a processing instruction")?;
            } else if rest.starts_with(b"<![CDATA[") && !self.open.is_empty() {
                let start = self.at + 9;
                self.pass(9, b"]]>", "the end of a section of characters")?;
                return Ok(Event::Text(Cow::Borrowed(&self.text[start..self.at - 3])));
            } else if rest.starts_with(b"<!") {
                return self.error("an element, as document types and entities are not read");
            } else if rest.starts_with(b"</") {
                return self.close();
            } else {
                return self.open_element();
            }
        }
    }

    /// Passes over `skip` bytes, and over what follows up to and with `end`.
    fn pass(&mut self, skip: usize, end: &[u8], expected: &'static str) -> Result<()> {
        let body = &self.rest()[skip..];
        match body.windows(end.len()).position(|window| window == end) {
            Some(length) => {
                self.at += skip + length + end.len();
                Ok(())
            }
            None => self.error(expected),
        }
    }

    fn close(&mut self) -> Result<Event<'a>> {
        let Some(name) = self.open.last() else { return self.error("an element") };
        let rest = &self.rest()[2..];
        let Some(behind) = rest.strip_prefix(*name) else { return self.error("the end of the element that is open") };
        let blank = behind.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if behind.get(blank) != Some(&b'>') {
            return self.error("the end of the element that is open");
        }
        self.at += 2 + name.len() + blank + 1;
        self.open.pop();
        Ok(Event::Close)
    }

    fn open_element(&mut self) -> Result<Event<'a>> {
        if self.begun && self.open.is_empty() {
            return self.error("the end of the file");
        }
        if self.open.len() == MAX_DEPTH {
            return self.error("elements that nest at most 100 deep");
        }
        let start = self.at;
        self.at += 1;
        let Some(name) = self.name() else {
            self.at = start;
            return self.error("an element");
        };
        loop {
            let blank = self.rest().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            self.at += blank;
            let rest = self.rest();
            if rest.starts_with(b">") {
                self.at += 1;
                break;
            }
            if rest.starts_with(b"/>") {
                self.at += 2;
                self.closing = true;
                break;
            }
            if blank == 0 || self.attribute().is_none() {
                return self.error("an attribute, or the end of a tag");
            }
        }
        self.open.push(name);
        self.begun = true;
        Ok(Event::Open(name))
    }

    fn name(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest();
        let is_start = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b':' | 0x80..);
        rest.first().filter(|byte| is_start(byte))?;
        let length =
            rest.iter().take_while(|byte| is_start(byte) || byte.is_ascii_digit() || b"-.".contains(byte)).count();
        self.at += length;
        Some(&rest[..length])
    }

    /// Takes `name="value"`.
    fn attribute(&mut self) -> Option<()> {
        self.name()?;
        let equals = self.rest().trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
        let quote = *equals.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
        let length = equals[1..].iter().position(|byte| *byte == quote || *byte == b'<')?;
        let behind = &equals[1 + length..];
        self.at = self.text.len() - behind.len() + 1;
        (behind[0] == quote).then_some(())
    }

    fn resolved(&self, text: &'a [u8]) -> Result<Cow<'a, [u8]>> {
        let Some(first) = text.iter().position(|byte| *byte == b'&') else { return Ok(Cow::Borrowed(text)) };
        let (mut whole, mut rest) = (copied(&text[..first]), &text[first..]);
        while let Some(place) = rest.iter().position(|byte| *byte == b'&') {
            whole.extend_from_slice(&rest[..place]);
            let resolved = rest[place..].iter().take(12).position(|byte| *byte == b';');
            let entity = resolved.map(|end| &rest[place + 1..place + end]);
            let Some(character) = entity.and_then(entity_value) else {
                let at = self.at + text.len() - rest.len() + place;
                let found = super::text::quoted(&rest[place..]);
                return Err(XmlError { at, expected: "one of XML's own five entities", found });
            };
            whole.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            rest = &rest[place + resolved.unwrap_or_default() + 1..];
        }
        whole.extend_from_slice(rest);
        Ok(Cow::Owned(whole.into_std()))
    }

    /// Passes over the rest of the innermost element, and its end.
    pub fn skip(&mut self) -> Result<()> {
        let depth = self.open.len();
        while self.open.len() >= depth {
            self.next()?;
        }
        Ok(())
    }

    /// The text of the innermost element without white space around it, and takes its end. An element inside is passed
    /// over; it is an error for the caller, who gets `None`.
    pub fn text(&mut self) -> Result<Option<Cow<'a, [u8]>>> {
        let mut whole: Option<Cow<'a, [u8]>> = None;
        let mut plain = true;
        loop {
            match self.next()? {
                Event::Text(text) => match &mut whole {
                    None => whole = Some(text),
                    Some(before) => {
                        let mut both = owned(std::mem::take(before));
                        both.extend_from_slice(&text);
                        *before = Cow::Owned(both.into_std());
                    }
                },
                Event::Open(_) => {
                    plain = false;
                    self.skip()?;
                }
                Event::Close | Event::End => break,
            }
        }
        let whole = match whole.unwrap_or_default() {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim_ascii()),
            Cow::Owned(text) => Cow::Owned(copied(text.trim_ascii()).into_std()),
        };
        Ok(plain.then_some(whole))
    }
}

/// The character of an entity, without `&` and `;`.
fn entity_value(name: &[u8]) -> Option<char> {
    match name {
        b"lt" => Some('<'),
        b"gt" => Some('>'),
        b"amp" => Some('&'),
        b"quot" => Some('"'),
        b"apos" => Some('\''),
        [b'#', digits @ ..] => {
            let (digits, base) = match digits {
                [b'x', digits @ ..] => (digits, 16),
                digits => (digits, 10),
            };
            let digits = str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
            let character = char::from_u32(u32::from_str_radix(digits, base).ok()?)?;
            (character >= ' ' || character.is_ascii_whitespace()).then_some(character)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(text: &[u8]) -> Result<String> {
        let mut reader = Reader::new(text)?;
        let mut seen = String::new();
        loop {
            match reader.next()? {
                Event::Open(name) => seen += &format!("<{}", String::from_utf8_lossy(name)),
                Event::Text(text) => seen += &format!("[{}]", String::from_utf8_lossy(&text)),
                Event::Close => seen.push('>'),
                Event::End => return Ok(seen),
            }
        }
    }

    #[test]
    fn walks_over_elements_and_text() {
        let text = br#"<?xml version="1.0"?><!-- a --><a x = 'y>"' z="1"> t <b/><c >&lt;&#65;&#x42;&amp;</c ><![CDATA[<&]]></a> "#;
        assert_eq!(walk(text).as_deref(), Ok("<a[ t ]<b><c[<AB&]>[<&]>"));
    }

    #[test]
    fn refuses_what_is_not_xml() {
        for (text, expected) in [
            (&b""[..], "an element"),
            (b"x<a/>", "an element"),
            (b"<a>", "the end of an element"),
            (b"<a></b>", "the end of the element that is open"),
            (b"<a></ab>", "the end of the element that is open"),
            (b"<a/><b/>", "the end of the file"),
            (b"<a/>x", "the end of the file"),
            (b"<a b></a>", "an attribute, or the end of a tag"),
            (b"<a b=1></a>", "an attribute, or the end of a tag"),
            (b"<a b='<'></a>", "an attribute, or the end of a tag"),
            (b"<a", "an attribute, or the end of a tag"),
            (b"<a b='1", "an attribute, or the end of a tag"),
            (b"<1/>", "an element"),
            (b"<a>&b;</a>", "one of XML's own five entities"),
            (b"<a>& b</a>", "one of XML's own five entities"),
            (b"<a>&#0;</a>", "one of XML's own five entities"),
            (b"<a>&#xD800;</a>", "one of XML's own five entities"),
            (b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "an element, as document types and entities are not read"),
            (b"<a><!-- </a>", "the end of a comment"),
            (b"<?xml", "the end of a processing instruction"),
            (b"<a><![CDATA[", "the end of a section of characters"),
            (b"</a>", "an element"),
            (b"<a>\xFF</a>", "text in UTF-8"),
            (b"<a>\x01</a>", "text"),
        ] {
            assert_eq!(walk(text).map_err(|error| error.expected), Err(expected), "{text:?}");
        }
        let deep = [b"<a>".repeat(10_000), b"</a>".repeat(10_000)].concat();
        assert_eq!(walk(&deep).map_err(|error| error.at), Err(3 * MAX_DEPTH));
        assert!(walk(&[b"<a>".repeat(MAX_DEPTH), b"</a>".repeat(MAX_DEPTH)].concat()).is_ok());
    }

    #[test]
    fn any_bytes_end_in_events_or_an_error() {
        const PARTS: [&str; 16] = [
            "<a>",
            "</a>",
            "<b",
            "/>",
            ">",
            " c='d'",
            "&lt;",
            "&",
            "<!--",
            "-->",
            "<![CDATA[",
            "]]>",
            "<?",
            "?>",
            "x",
            "\n",
        ];
        let mut state = 3u64;
        for round in 0..50_000 {
            let text: String = (0..round % 12)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    PARTS[(state >> 33) as usize % PARTS.len()]
                })
                .collect();
            if let Ok(seen) = walk(text.as_bytes()) {
                let (open, close) =
                    (seen.matches("<a").count() + seen.matches("<b").count(), seen.matches('>').count());
                assert!(open <= close, "{text}: {seen}");
            }
        }
    }
}
