//! Lists of ids, one for each record.

use crate::memory::Vec;

/// Lists one behind the other.
#[derive(Debug, Default, PartialEq)]
pub struct IdLists {
    /// The ids of all lists.
    pub ids: Vec<i64>,
    /// Where each list ends.
    pub ends: Vec<i64>,
}

impl IdLists {
    pub(super) fn push(&mut self, list: &[i64]) {
        self.ids.extend_from_slice(list);
        self.ends.push(self.ids.len() as i64);
    }

    pub(super) fn append(&mut self, other: &mut Self) {
        let shift = self.ids.len() as i64;
        self.ids.append(&mut other.ids);
        self.ends.extend(other.ends.drain(..).map(|end| end + shift));
    }
}
