//! What is a region, and how much do two of one kind overlap? One file or folder per kind.

pub mod boxes;
pub mod boxes3d;
pub mod concave;
pub mod convex;
pub mod hull;
pub mod keypoints;
pub mod rle;
pub mod rotated;
