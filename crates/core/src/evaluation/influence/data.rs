//! What the influence of every row is computed from, once for all: curves and the order of detections.

use super::super::rules::{CapScope, Rules};
use super::super::score::falling;
use super::curve::{Curve, State};
use super::reading::{Curves, Reading};
use super::spans::{Entrants, by_category, sequence};
use super::{Span, Table};
use crate::memory::{Vec, vec};
use crate::threads::map;

/// One category: its groups, its detections from the best on, and its curves.
pub(super) struct Category {
    pub spans: Vec<Span>,
    pub order: Vec<u32>,
    pub curves: Curves,
}

/// What all work reads.
pub(super) struct Data<'a> {
    pub table: Table<'a>,
    pub rules: Rules<'a>,
    pub reading: Reading<'a>,
    /// The thresholds that the number is about, by position.
    pub thresholds: &'a [usize],
    pub categories: Vec<Category>,
    /// For each detection its place among those of its category.
    pub places: Vec<u32>,
    /// For each detection its place among equal scores.
    pub sequence: Vec<u32>,
    pub entrants: Entrants,
}

impl<'a> Data<'a> {
    pub fn new(table: Table<'a>, rules: Rules<'a>, reading: Reading<'a>, thresholds: &'a [usize]) -> Self {
        let (sequence, spans) = (sequence(&table, &rules), by_category(&table, &rules));
        let mut data = Self {
            table,
            rules,
            reading,
            thresholds,
            categories: Vec::new(),
            places: vec![0; table.category.len()],
            entrants: Entrants::new(&table, &rules),
            sequence,
        };
        let orders = map(spans.iter(), 0, |spans| data.order(spans));
        for order in &orders {
            for (place, &row) in (0..).zip(order) {
                data.places[row as usize] = place;
            }
        }
        let parts = spans.into_iter().zip(orders);
        data.categories = map(parts, 0, |(spans, order)| data.category(spans, order));
        data
    }

    /// The detections of some groups, by descending score.
    fn order(&self, spans: &[Span]) -> Vec<u32> {
        let rows = spans.iter().flat_map(|span| span.detections.clone());
        let key = |row: usize| {
            u128::from(falling(self.table.score[row])) << 64 | u128::from(self.sequence[row]) << 32 | row as u128
        };
        let mut keys: Vec<u128> = rows.map(key).collect();
        keys.sort_unstable();
        keys.into_iter().map(|key| key as u32).collect()
    }

    fn category(&self, spans: Vec<Span>, order: Vec<u32>) -> Category {
        let state = |row: u32, threshold| {
            if self.is_counted(row) { self.table.state(row, threshold, &self.rules) } else { State::Out }
        };
        let curve = |&threshold: &usize| Curve::new(order.iter().map(|&row| state(row, threshold)));
        let curves = self.thresholds.iter().map(curve).collect();
        let objects = spans.iter().flat_map(|span| span.objects.clone());
        let objects = objects.filter(|&object| !self.table.object_ignored[object]).count() as u64;
        Category { spans, order, curves: Curves { curves, objects } }
    }

    /// Whether a detection is within the cap of the number.
    pub fn is_counted(&self, row: u32) -> bool {
        let by_place = self.rules.cap_scope == CapScope::Category;
        (if by_place { self.places[row as usize] } else { self.table.rank[row as usize] }) < self.table.cap
    }

    /// Whether all detections of an image share its cap, over several categories.
    pub fn shares_cap(&self) -> bool {
        self.rules.cap_scope == CapScope::Image && !self.rules.class_agnostic
    }

    /// Whether detections may choose in another order than that of their ranks: a cap per image takes equal scores in the
    /// order of the data, and matching takes them by category.
    pub fn ranks_differ(&self) -> bool {
        self.rules.cap_scope == CapScope::Image && self.rules.class_agnostic
    }

    pub fn category_of(&self, row: u32) -> usize {
        self.table.evaluated(self.table.category[row as usize], &self.rules)
    }
}
