//! Convex regions of the plane: the area that two of them share.
//!
//! Computed in `f64` relative to a point near the pair, so that a far offset costs no digits, and without an epsilon, so
//! that scale does not matter.

pub mod clip;
pub mod rectangles;
