//! What is wrong with a piece of JSON text.

use std::borrow::Cow;

/// What is wrong with the text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Offset of the offending byte.
    pub at: u64,
    /// What is wrong there, to follow "at byte N: ".
    pub what: Cow<'static, str>,
    /// The text ended too early: more of it might mend this.
    pub ended: bool,
    /// The member of a record in which it is; empty if that is not known.
    pub field: String,
}

impl SyntaxError {
    /// The error, said to be in the value of `key`.
    #[cold]
    pub fn within(mut self: Box<Self>, key: &[u8]) -> Box<Self> {
        self.field = String::from_utf8_lossy(key).into_owned();
        self
    }
}
