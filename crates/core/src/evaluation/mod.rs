//! Judging detections: which detection matches which object (`matching`), and what precision and recall follow from that
//! (`accumulate`).
//!
//! A `scene` holds the columns, `regions` measure the overlaps of each kind of region, `rules` are what a protocol asks
//! for. With COCO's rules both steps follow pycocotools 2.0.11 to the last bit; comments give the lines of its
//! `cocoeval.py` that a step stands for.

mod accumulate;
mod matching;
pub mod regions;
mod rules;
mod scene;
mod score;
mod verified;

pub use accumulate::{Curves, Drawing, Outcomes, accumulate};
pub use matching::{DetectionRows, Matches, ObjectRows, PairRows, match_detections};
pub use rules::{CapScope, Choice, Rules};
pub use scene::{Areas, Detections, NOWHERE, Objects, Scene, flag};
pub use verified::{Lists, Verified, special};
