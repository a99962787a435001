//! The engine of ioukit: slices in, vectors out, no Python.
//!
//! The same input gives the same bits on every CPU and with every number of threads:
//! no fused multiply-add, no fast-math, no sum whose order depends on scheduling.

pub mod boxes3d;
pub mod coco;
pub mod convex;
pub mod evaluation;
pub mod float;
pub mod fusion;
pub mod greedy;
pub mod join;
pub mod json;
pub mod loss;
pub mod nms;
pub mod overlap;
pub mod polygon;
pub mod regions;
pub mod rle;
pub mod rotated;
pub mod simple;
pub mod threads;
