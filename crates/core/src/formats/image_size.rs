//! How large an image is when it is shown, from the header of its file: JPEG, PNG, WebP, BMP, GIF and TIFF.
//!
//! Nothing is decoded, and nothing that a header says is allocated. Files are read in pieces of a few kilobytes. Sources:
//! JPEG, ITU-T T.81, annex B; PNG, W3C Recommendation, third edition; WebP, RFC 9649; TIFF 6.0 and BigTIFF; Exif 3.0 (CIPA
//! DC-008), the tag `Orientation`.
//!
//! Our own, because a size is that of the image as it is shown: the crate `imagesize` (0.15) reads more formats, and does
//! not read the Exif orientation of JPEG, PNG, WebP and TIFF, so the code for their headers would stay.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::memory::{Vec, read_to_end};
use crate::regular_file;
use crate::threads::{map, with_threads};

/// Why there is no size.
#[derive(Debug)]
pub enum NoSize {
    /// The system could not read the file.
    Io(io::Error),
    /// The file is not an image: what was found instead.
    NotAnImage(&'static str),
}

impl From<io::Error> for NoSize {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::NotAnImage("a file that ends inside its header"),
            _ => Self::Io(error),
        }
    }
}

type Result<T> = std::result::Result<T, NoSize>;

fn not<T>(what: &'static str) -> Result<T> {
    Err(NoSize::NotAnImage(what))
}

/// (width, height) of each image, by `threads` threads (0: all cores).
pub fn read_sizes<P: AsRef<Path> + Sync>(paths: &[P], threads: usize) -> Vec<Result<[u32; 2]>> {
    const AT_A_TIME: usize = 64;
    let parts = with_threads(threads, || {
        map(paths.chunks(AT_A_TIME), threads, |paths| {
            paths.iter().map(|path| size_of(&mut Bytes::new(regular_file::open(path.as_ref())?))).collect::<Vec<_>>()
        })
    });
    parts.into_iter().flatten().collect()
}

/// A file of which a piece is held.
struct Bytes<R> {
    source: R,
    start: u64,
    held: Vec<u8>,
}

impl<R: Read + Seek> Bytes<R> {
    fn new(source: R) -> Self {
        Self { source, start: 0, held: Vec::new() }
    }

    /// The bytes from `at` on.
    fn get<const N: usize>(&mut self, at: u64) -> Result<[u8; N]> {
        const PIECE: u64 = 1 << 12;
        let place = at.wrapping_sub(self.start) as usize;
        if at < self.start || place.saturating_add(N) > self.held.len() {
            // The first piece is at the start, where a file is already.
            if at != self.start || !self.held.is_empty() {
                self.source.seek(SeekFrom::Start(at))?;
            }
            self.held.clear();
            read_to_end(self.source.by_ref().take(PIECE), &mut self.held)?;
            self.start = at;
            return match self.held.first_chunk() {
                Some(bytes) => Ok(*bytes),
                None => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            };
        }
        Ok(*self.held[place..].first_chunk().expect("the piece is long enough"))
    }
}

/// (width, height) after the Exif orientation.
fn size_of<R: Read + Seek>(bytes: &mut Bytes<R>) -> Result<[u32; 2]> {
    let head: [u8; 4] = bytes.get(0)?;
    let ([width, height], orientation) = match head {
        [0xFF, 0xD8, ..] => jpeg(bytes)?,
        [0x89, b'P', b'N', b'G'] => png(bytes)?,
        [b'R', b'I', b'F', b'F'] => webp(bytes)?,
        [b'I', b'I', 42 | 43, 0] | [b'M', b'M', 0, 42 | 43] => tiff(bytes)?,
        [b'B', b'M', ..] => (bmp(bytes)?, 1),
        [b'G', b'I', b'F', b'8'] => {
            let [a, b, c, d] = bytes.get(6)?;
            ([u16::from_le_bytes([a, b]).into(), u16::from_le_bytes([c, d]).into()], 1)
        }
        _ => return not("a file that is no JPEG, PNG, WebP, BMP, GIF or TIFF"),
    };
    if width == 0 || height == 0 {
        return not("an image without width or height");
    }
    // From 5 on, the image is turned by a quarter.
    Ok(if (5..=8).contains(&orientation) { [height, width] } else { [width, height] })
}

fn png<R: Read + Seek>(bytes: &mut Bytes<R>) -> Result<([u32; 2], u32)> {
    const MAX_CHUNKS: usize = 10_000;
    if bytes.get(0)? != *b"\x89PNG\r\n\x1A\n" || bytes.get(12)? != *b"IHDR" {
        return not("a PNG file without a header");
    }
    let size = [u32::from_be_bytes(bytes.get(16)?), u32::from_be_bytes(bytes.get(20)?)];
    let mut at = 33u64;
    for _ in 0..MAX_CHUNKS {
        let (length, kind) = (u32::from_be_bytes(bytes.get(at)?), bytes.get(at + 4)?);
        match &kind {
            b"IDAT" | b"IEND" => break,
            b"eXIf" => return Ok((size, exif_orientation(bytes, at + 8))),
            _ => at += 12 + u64::from(length),
        }
    }
    Ok((size, 1))
}

fn jpeg<R: Read + Seek>(bytes: &mut Bytes<R>) -> Result<([u32; 2], u32)> {
    // Between segments there may be fill bytes; a file of megabytes of them is not read to its end.
    const MAX_FILL: usize = 1 << 16;
    let (mut at, mut fill) = (2u64, 0);
    let (mut size, mut orientation) = (None, 1);
    loop {
        let [mark, kind] = bytes.get(at)?;
        if mark != 0xFF || matches!(kind, 0x00 | 0xFF) {
            (at, fill) = (at + 1, fill + 1);
            if fill > MAX_FILL {
                return not("a JPEG file without segments");
            }
            continue;
        }
        at += 2;
        match kind {
            0x01 | 0xD0..=0xD8 => continue,
            0xD9 | 0xDA => break,
            _ => {}
        }
        let length = u16::from_be_bytes(bytes.get(at)?);
        if length < 2 {
            return not("a JPEG file with a damaged segment");
        }
        match kind {
            0xC4 | 0xC8 | 0xCC => {}
            0xC0..=0xCF => {
                let [a, b, c, d] = bytes.get(at + 3)?;
                size = Some([u16::from_be_bytes([c, d]).into(), u16::from_be_bytes([a, b]).into()]);
            }
            0xE1 if length >= 16 && bytes.get(at + 2)? == *b"Exif\0\0" => {
                orientation = exif_orientation(bytes, at + 8);
            }
            _ => {}
        }
        at += u64::from(length);
    }
    size.map_or_else(|| not("a JPEG file without a size"), |size| Ok((size, orientation)))
}

fn webp<R: Read + Seek>(bytes: &mut Bytes<R>) -> Result<([u32; 2], u32)> {
    const MAX_CHUNKS: usize = 10_000;
    const HAS_EXIF: u8 = 8;
    if bytes.get(8)? != *b"WEBP" {
        return not("a RIFF file that is no WebP");
    }
    let kind: [u8; 4] = bytes.get(12)?;
    match &kind {
        b"VP8 " => {
            let [a, b, c, d] = bytes.get(26)?;
            if bytes.get(23)? != [0x9D, 0x01, 0x2A] {
                return not("a WebP file with a damaged header");
            }
            let size = [u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d])];
            Ok((size.map(|side| u32::from(side & 0x3FFF)), 1))
        }
        b"VP8L" => {
            if bytes.get(20)? != [0x2F] {
                return not("a WebP file with a damaged header");
            }
            let bits = u32::from_le_bytes(bytes.get(21)?);
            Ok(([(bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1], 1))
        }
        b"VP8X" => {
            let [flags] = bytes.get(20)?;
            let [a, b, c, d, e, f] = bytes.get(24)?;
            let size = [u32::from_le_bytes([a, b, c, 0]) + 1, u32::from_le_bytes([d, e, f, 0]) + 1];
            let mut at = 30u64;
            for _ in 0..if flags & HAS_EXIF == 0 { 0 } else { MAX_CHUNKS } {
                let (kind, length) = (bytes.get(at)?, u64::from(u32::from_le_bytes(bytes.get(at + 4)?)));
                if kind == *b"EXIF" {
                    // Some writers keep the name that Exif data has in JPEG files.
                    let named = length >= 6 && bytes.get(at + 8)? == *b"Exif\0\0";
                    return Ok((size, exif_orientation(bytes, at + if named { 14 } else { 8 })));
                }
                at += 8 + length + length % 2;
            }
            Ok((size, 1))
        }
        _ => not("a WebP file with a damaged header"),
    }
}

fn bmp<R: Read + Seek>(bytes: &mut Bytes<R>) -> Result<[u32; 2]> {
    match u32::from_le_bytes(bytes.get(14)?) {
        12 => {
            let [a, b, c, d] = bytes.get(18)?;
            Ok([u16::from_le_bytes([a, b]).into(), u16::from_le_bytes([c, d]).into()])
        }
        // A negative height says that the first row is the top one.
        16..=256 => Ok([
            i32::from_le_bytes(bytes.get(18)?).max(0).cast_unsigned(),
            i32::from_le_bytes(bytes.get(22)?).unsigned_abs(),
        ]),
        _ => not("a BMP file with a damaged header"),
    }
}

fn tiff<R: Read + Seek>(bytes: &mut Bytes<R>) -> Result<([u32; 2], u32)> {
    match tags(bytes, 0)? {
        [Some(width), Some(height), orientation] => Ok(([width, height], orientation.unwrap_or(1))),
        _ => not("a TIFF file without a size"),
    }
}

/// The orientation in Exif data, which is a TIFF file inside of another; 1, upright, if it has none or is damaged.
fn exif_orientation<R: Read + Seek>(bytes: &mut Bytes<R>, start: u64) -> u32 {
    tags(bytes, start).map_or(1, |[.., orientation]| orientation.unwrap_or(1))
}

/// Width, height and orientation as the first directory of a TIFF file has them; the file begins at `start`.
fn tags<R: Read + Seek>(bytes: &mut Bytes<R>, start: u64) -> Result<[Option<u32>; 3]> {
    const WIDTH: u16 = 256;
    const HEIGHT: u16 = 257;
    const ORIENTATION: u16 = 274;
    const MAX_TAGS: u64 = 4096;
    let head: [u8; 4] = bytes.get(start)?;
    let little = head[0] == b'I';
    let two = |bytes: [u8; 2]| if little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) };
    let four = |bytes: [u8; 4]| if little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) };
    let eight = |bytes: [u8; 8]| if little { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) };
    let far = |place: u64| start.checked_add(place).map_or_else(|| not("a directory out of reach"), Ok);
    let big = match (&head[..2], two([head[2], head[3]])) {
        (b"II" | b"MM", 42) => false,
        (b"II" | b"MM", 43) => true,
        _ => return not("Exif data without a header"),
    };
    let (count, first, length) = if big {
        let place = far(eight(bytes.get(start + 8)?))?;
        (eight(bytes.get(place)?), place.checked_add(8), 20)
    } else {
        let place = far(four(bytes.get(start + 4)?).into())?;
        (two(bytes.get(place)?).into(), place.checked_add(2), 12)
    };
    let mut found = [None; 3];
    for entry in 0..count.min(MAX_TAGS) {
        let Some(at) = first.and_then(|first| first.checked_add(entry * length)).filter(|at| *at < u64::MAX / 2) else {
            return not("a directory out of reach");
        };
        let place = match two(bytes.get(at)?) {
            WIDTH => 0,
            HEIGHT => 1,
            ORIENTATION => 2,
            _ => continue,
        };
        let value = at + if big { 12 } else { 8 };
        found[place] = match two(bytes.get(at + 2)?) {
            3 => Some(two(bytes.get(value)?).into()),
            4 => Some(four(bytes.get(value)?)),
            _ => None,
        };
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use std::vec::Vec;

    fn size(bytes: &[u8]) -> Result<[u32; 2]> {
        size_of(&mut Bytes::new(Cursor::new(bytes)))
    }

    fn exif(orientation: u8) -> Vec<u8> {
        let mut bytes = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
        bytes.extend([orientation, 0, 0, 0, 0, 0, 0, 0]);
        bytes
    }

    /// One small file of each kind, 40 by 20, lying if it can be turned.
    fn files() -> Vec<Vec<u8>> {
        let exif = exif(6);
        let mut jpeg = b"\xFF\xD8\xFF\xE1\0\x22Exif\0\0".to_vec();
        jpeg.extend(&exif);
        jpeg.extend(b"\xFF\xFF\xC0\0\x0B\x08\0\x14\0\x28\x01\x01\x11\0\xFF\xDA");
        let mut png = b"\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR\0\0\0\x28\0\0\0\x14\x08\x02\0\0\0crc.".to_vec();
        png.extend(b"\0\0\0\x1AeXIf");
        png.extend(&exif);
        let mut webp = b"RIFF\0\0\0\0WEBPVP8X\x0A\0\0\0\x08\0\0\0\x27\0\0\x13\0\0".to_vec();
        webp.extend(b"ICCP\x03\0\0\0abc\0EXIF\x20\0\0\0Exif\0\0");
        webp.extend(&exif);
        let mut tiff = b"MM\0*\0\0\0\x08\0\x03".to_vec();
        tiff.extend(b"\x01\0\0\x03\0\0\0\x01\0\x28\0\0\x01\x01\0\x04\0\0\0\x01\0\0\0\x14");
        tiff.extend(b"\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0");
        let mut bmp = b"BM\0\0\0\0\0\0\0\0\0\0\0\0\x28\0\0\0\x14\0\0\0".to_vec();
        bmp.extend((-40i32).to_le_bytes());
        let gif = b"GIF89a\x14\0\x28\0".to_vec();
        let vp8 = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\x30\0\0\x9D\x01\x2A\x14\0\x28\0".to_vec();
        let bits: u32 = 19 | 39 << 14;
        let mut vp8l = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2F".to_vec();
        vp8l.extend(bits.to_le_bytes());
        vec![jpeg, png, webp, tiff, bmp, gif, vp8, vp8l]
    }

    #[test]
    fn finds_the_size_as_it_is_shown() {
        for (number, file) in files().iter().enumerate() {
            assert_eq!(size(file).expect("a size"), [20, 40], "file {number}");
        }
    }

    #[test]
    fn cut_or_changed_headers_end_in_a_size_or_an_error() {
        let mut state = 7u64;
        for file in files() {
            for length in 0..file.len() {
                let _ = size(&file[..length]);
            }
            for _ in 0..20_000 {
                let mut changed = file.clone();
                for _ in 0..3 {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let place = (state >> 40) as usize % changed.len();
                    changed[place] = (state >> 32) as u8;
                }
                if let Ok(size) = size(&changed) {
                    assert!(size[0] > 0 && size[1] > 0);
                }
            }
        }
        assert!(size(&[&b"\xFF\xD8"[..], &[0xFF; 1 << 18]].concat()).is_err());
        assert!(size(b"").is_err());
    }
}
