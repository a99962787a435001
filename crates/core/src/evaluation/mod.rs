//! Judging detections: which detection found which object (`matching`), and what that makes of precision and recall
//! (`accumulate`).
//!
//! Both follow pycocotools 2.0.11 to the last bit; comments give the lines of its `cocoeval.py` that a step stands for.

mod accumulate;
mod by_image;
mod matching;
mod score;

pub use accumulate::{Curves, Outcomes, accumulate};
pub use matching::{Matches, Scene, Settings, match_detections};
