//! From a path to a source of JSON text.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::ReadError;
use crate::json::Source;
use crate::memory::Vec;

/// What unpacks the bytes of a gzip file. The caller brings it: whoever reads files mostly has one already.
pub type Unpack<'a> = &'a dyn Fn(&[u8]) -> Result<Vec<u8>, ReadError>;

/// Opens `path`, unpacks it if its name ends in `.gz`, and refuses what is not JSON in UTF-8 at first sight. The text may
/// begin with a byte order mark.
pub fn open(path: &Path, unpack: Unpack<'_>) -> Result<Source, ReadError> {
    unpacked(path, Source::open(path)?, unpack)
}

/// What [`open`] makes of a file, for the whole content of a pipe or a device, which the caller has read.
pub fn open_special(path: &Path, content: Vec<u8>, unpack: Unpack<'_>) -> Result<Source, ReadError> {
    unpacked(path, Source::Memory(content), unpack)
}

fn unpacked(path: &Path, source: Source, unpack: Unpack<'_>) -> Result<Source, ReadError> {
    let packed = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    if !packed {
        return check_head(source);
    }
    if source.head(2)? != [0x1F, 0x8B] {
        return Err(ReadError::Invalid("expected a gzip file, as the name says, found something else".into()));
    }
    check_head(Source::Memory(unpack(&source.into_bytes()?)?))
}

/// Opens a file that is not packed. Reading it fails from the moment at which the caller has given it up.
pub fn open_until(path: &Path, given_up: Arc<AtomicBool>) -> Result<Source, ReadError> {
    check_head(Source::open(path)?.until(given_up))
}

fn check_head(source: Source) -> Result<Source, ReadError> {
    let head = source.head(4)?;
    let found = match head.as_slice() {
        [0x1F, 0x8B, ..] => "gzip data (name it .json.gz, or unpack it)",
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [0, _, ..] | [_, 0, ..] => "UTF-16 or UTF-32 text (save it as UTF-8)",
        _ => return Ok(source),
    };
    Err(ReadError::Invalid(format!("expected JSON in UTF-8, found {found}")))
}
