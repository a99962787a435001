//! Evaluation: `matching` decides which detection matches which object, `accumulate` computes precision and recall from
//! the matches.
//!
//! A `scene` holds the columns, `regions` compute the overlaps of each kind of region, and `rules` are the rules of a
//! protocol. With COCO's rules, both steps agree with pycocotools 2.0.11 to the last bit. Comments name the lines of
//! its `cocoeval.py` that a step corresponds to.

mod accumulate;
mod by_category;
mod choosing;
mod drawer;
mod influence;
mod matches;
mod matching;
mod object_choice;
mod pairs_of_images;
mod points;
pub mod regions;
pub mod replicates;
mod rules;
mod scene;
mod score;
mod steps;
mod sums;
#[cfg(test)]
mod tests;
mod together;
mod trapezoid;
mod verified;

pub use accumulate::{Outcomes, accumulate};
pub use by_category::order_by_category;
pub use drawer::{Area, Columns, CurveDrawer, Curves, Drawing, OutOfOrder, Steps};
pub use influence::{Inconsistent, Influence, LeftOut, Quantity, Reading, Table, influence};
pub use matches::{DetectionRows, Matches, ObjectRows, PairRows};
pub use matching::match_detections;
pub use object_choice::{Choices, Pair, StepCurve, Wanted, step_curve};
pub use pairs_of_images::pairs_of_images;
pub use points::Points;
pub use rules::{CapScope, Choice, Rules};
pub use scene::{Areas, Detections, NOWHERE, Objects, Scene, flag};
pub use sums::sums_by_category;
pub use verified::{Lists, Verified, special};
