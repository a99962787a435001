//! What is computed of boxes, for each type of their coordinates.

use crate::join::{self, Pairs, Set, Threshold};
use crate::losses::{self, Loss};
use crate::memory::Vec;
use crate::nms::soft::{self, Decay};
use crate::nms::{self, Rule, Scores};
use crate::number::Float;
use crate::overlap::{self, Run, Variant};
use crate::regions::boxes::{self, Layout};
use crate::simd::Level;

/// Declares the trait and implements it by the generic functions of the same names.
macro_rules! coordinates {
    ($($(#[$line:meta])* fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? = $module:ident;)*) => {
        /// A type of coordinates, with the functions on boxes that others call.
        ///
        /// They are compiled here, once for each type. The generic functions behind them would be compiled in every
        /// crate that calls them.
        pub trait Coordinate: Float {
            $($(#[$line])* fn $name($($argument: $type),*) $(-> $result)?;)*
        }

        impl Coordinate for f32 {
            $(fn $name($($argument: $type),*) $(-> $result)? { $module::$name($($argument),*) })*
        }

        impl Coordinate for f64 {
            $(fn $name($($argument: $type),*) $(-> $result)? { $module::$name($($argument),*) })*
        }
    };
}

coordinates! {
    /// See [`boxes::first_invalid`].
    fn first_invalid(rows: &[[Self; 4]], layout: Layout) -> Option<usize> = boxes;
    /// See [`overlap::pairwise`].
    fn pairwise(
        variant: Variant,
        boxes1: &[[Self; 4]],
        boxes2: &[[Self; 4]],
        batch: usize,
        out: &mut [Self],
        run: Run
    ) = overlap;
    /// See [`overlap::elementwise`].
    fn elementwise(
        variant: Variant,
        boxes1: &[[Self; 4]],
        boxes2: &[[Self; 4]],
        out: &mut [Self],
        run: Run
    ) = overlap;
    /// See [`losses::value_and_gradient`].
    fn value_and_gradient(
        loss: Loss,
        pred: &[[Self; 4]],
        target: &[[Self; 4]],
        values: &mut [Self],
        gradient: &mut [[Self; 4]],
        threads: usize,
        level: Level
    ) = losses;
    /// See [`join::join`].
    fn join(
        first: Set<'_, Self>,
        second: Set<'_, Self>,
        threshold: Threshold<Self>,
        threads: usize
    ) -> Pairs<Self> = join;
    /// See [`join::self_join`].
    fn self_join(set: Set<'_, Self>, threshold: Threshold<Self>, threads: usize) -> Pairs<Self> = join;
    /// See [`nms::survivors`].
    fn survivors(
        rows: &[[Self; 4]],
        scores: Scores<'_>,
        labels: Option<&[i64]>,
        rule: Rule<Self>,
        least: Option<f64>,
        threads: usize
    ) -> Result<Vec<i64>, usize> = nms;
    /// See [`nms::first_suppressors`].
    fn first_suppressors(
        kept: Set<'_, Self>,
        others: Set<'_, Self>,
        rule: Rule<Self>,
        threads: usize
    ) -> Vec<Option<(u32, Self)>> = nms;
    /// The places of the best scores of each image, by one least score per column: see [`nms`].
    fn best_candidates(
        images: &[&[Self]],
        least: &[Self],
        one_per_row: bool,
        most: usize,
        threads: usize
    ) -> Vec<Result<Vec<i64>, usize>> = nms;
    /// See [`soft::soft_nms`].
    fn soft_nms(
        scores: &[f64],
        pairs: &Pairs<Self>,
        decay: Decay,
        min_score: f64,
        max_keep: usize
    ) -> (Vec<i64>, Vec<f64>) = soft;
}
