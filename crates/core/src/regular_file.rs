//! Opening regular files, and no others.
//!
//! A pipe may have no writer and a device no end. Whoever waits for them here cannot be interrupted, because the core does
//! not know the signals of the process that calls it. The caller reads them, where it may, and brings their text.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Opens a file for reading. Asks before what it is: to open a pipe waits for its writer.
pub fn open(path: &Path) -> io::Result<File> {
    let about = fs::metadata(path)?;
    if about.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !about.is_file() {
        return Err(io::Error::other("expected a regular file, found a pipe, a device or a socket"));
    }
    File::open(path)
}
