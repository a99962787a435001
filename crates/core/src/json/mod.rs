//! Strict JSON (RFC 8259) read in place: no document, no objects, one pass.
//!
//! It takes what Python's `json` takes, `NaN` and `Infinity` too, which that writes beside the standard, and refuses what
//! that refuses. Whoever asks for a number says whether it must be finite. `cursor` walks over one piece of text, `text` and `number` make values of it, `plain_numbers`
//! takes lists at once, `stream` feeds the cursor from a `source`, a file that need not be in memory, by all threads.

mod cursor;
mod number;
mod plain_numbers;
mod source;
mod stream;
mod syntax_error;
mod text;

pub use cursor::{Cursor, Scalar};
pub(crate) use number::{plain, plain_start};
pub use source::Source;
pub use stream::{Records, Stream, StreamError};
pub use syntax_error::SyntaxError;
pub use text::Text;
