//! What is a region? One file or folder per kind.

pub mod boxes;
