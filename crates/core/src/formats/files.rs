//! Many small files, read by all threads.

use std::io::{self, Read};
use std::path::Path;

use crate::memory::Vec;
use crate::regular_file;
use crate::threads::{map, with_threads};

/// What is read of some files that follow each other.
pub trait Columns: Default + Send {
    /// Adds the columns of files that lie behind.
    fn append(&mut self, other: Self);
}

/// How many files a thread reads at a time: enough to hide what sharing them costs.
const AT_A_TIME: usize = 64;

/// Reads files by `threads` threads (0: all cores). `take` adds what a file has to the columns of the files before it.
/// It gets the position of the file, counted from `first` on, and its bytes or why it cannot be read.
pub fn read_columns<P, C>(
    paths: &[P],
    first: usize,
    threads: usize,
    take: impl Fn(&mut C, usize, io::Result<&[u8]>) + Sync,
) -> C
where
    P: AsRef<Path> + Sync,
    C: Columns,
{
    let parts = with_threads(threads, || {
        map(paths.chunks(AT_A_TIME).enumerate(), threads, |(number, paths)| {
            let (mut columns, mut bytes) = (C::default(), Vec::new());
            for (place, path) in paths.iter().enumerate() {
                let length = read(path.as_ref(), &mut bytes);
                take(&mut columns, first + number * AT_A_TIME + place, length.map(|length| &bytes[..length]));
            }
            columns
        })
    });
    let mut all = C::default();
    parts.into_iter().for_each(|part| all.append(part));
    all
}

/// Reads a file into a buffer that grows as needed, and returns its length. It takes fewer calls of the system than
/// `std::fs::read`, which asks for the length first.
fn read(path: &Path, bytes: &mut Vec<u8>) -> io::Result<usize> {
    const FIRST: usize = 1 << 14;
    let mut file = regular_file::open(path)?;
    let mut length = 0;
    loop {
        if length == bytes.len() {
            bytes.resize((2 * length).max(FIRST), 0);
        }
        match file.read(&mut bytes[length..]) {
            Ok(0) => return Ok(length),
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
