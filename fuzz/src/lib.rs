//! What the targets share: files to read from, and values to choose from.
//!
//! A target compares what the core returns with a plain version of the same, written here or taken from another
//! library. Two different answers end the run, as do a panic and what AddressSanitizer finds.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process;

use arbitrary::{Result, Unstructured};
use ioukit_core::json::Source;

/// A file that other functions open by its path. It has no name in any folder, so nothing is left behind.
pub struct Nameless(File);

impl Nameless {
    /// An empty file; `what` differs for each that a target has open.
    #[allow(clippy::new_without_default)]
    pub fn new(what: &str) -> Self {
        let shared = PathBuf::from("/dev/shm"); // in memory
        let folder = if shared.is_dir() { shared } else { std::env::temp_dir() };
        let path = folder.join(format!("ioukit-fuzz-{}-{what}", process::id()));
        let file = File::options().read(true).write(true).create_new(true).open(&path).expect("a new file");
        std::fs::remove_file(path).expect("the file");
        Self(file)
    }

    /// Replaces what the file holds; its path.
    pub fn hold(&mut self, bytes: &[u8]) -> PathBuf {
        self.0.set_len(0).expect("an empty file");
        self.0.seek(SeekFrom::Start(0)).expect("its start");
        self.0.write_all(bytes).expect("room for the bytes");
        format!("/proc/self/fd/{}", self.0.as_raw_fd()).into()
    }

    /// Replaces what the file holds; the file as a source of JSON.
    pub fn source(&mut self, bytes: &[u8]) -> Source {
        Source::open(&self.hold(bytes)).expect("a file")
    }
}

/// JSON text with `null` in the place of each `NaN`, `Infinity` and `-Infinity` outside of strings: what a strict reader
/// takes if the core takes the text. Where text is no JSON, neither is what comes out.
pub fn without_constants(text: &str) -> String {
    let (mut made, mut rest) = (String::with_capacity(text.len()), text);
    let mut in_string = false;
    while let Some(next) = rest.chars().next() {
        let word = ["NaN", "Infinity", "-Infinity"].into_iter().find(|word| rest.starts_with(word));
        let length = match word.filter(|_| !in_string) {
            Some(word) => {
                made.push_str("null");
                word.len()
            }
            None => {
                in_string ^= next == '"';
                let escape = if in_string && next == '\\' { rest.chars().nth(1).map_or(0, char::len_utf8) } else { 0 };
                let length = next.len_utf8() + escape;
                made.push_str(&rest[..length]);
                length
            }
        };
        rest = &rest[length..];
    }
    made
}

/// A coordinate: often a small whole number or a quarter, so that corners meet; rarely any number within `most`.
pub fn coordinate(data: &mut Unstructured<'_>, most: f64) -> Result<f64> {
    let byte: u8 = data.arbitrary()?;
    Ok(match byte {
        0..=127 => f64::from(byte % 24),
        128..=223 => f64::from(byte - 128) / 4.0 - 4.0,
        224..=239 => f64::from(data.arbitrary::<i16>()?) / 7.0,
        _ => {
            let value = f64::from_bits(data.arbitrary()?);
            if value.is_finite() { value.clamp(-most, most) } else { most }
        }
    })
}
