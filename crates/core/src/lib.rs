//! The engine of ioukit: slices in, vectors out, no Python.
//!
//! The same input gives the same bits on every CPU and with every number of threads:
//! no fused multiply-add, no fast-math, no sum whose order depends on scheduling.

pub mod assignment;
pub mod coco;
pub mod coordinate;
pub mod ending;
pub mod evaluation;
pub mod formats;
pub mod fusion;
pub mod join;
pub mod json;
pub mod losses;
pub mod memory;
pub mod nms;
pub mod number;
mod order;
pub mod overlap;
pub mod regions;
mod regular_file;
pub mod simd;
pub mod spare;
pub mod threads;
pub mod tracks;
