//! Kinds of regions, one file each.

pub mod boxes3d;
pub mod concave;
pub mod convex;
pub mod keypoints;
pub mod masks;
pub mod rotated;
