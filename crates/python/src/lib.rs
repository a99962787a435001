//! `ioukit._core`: registers the functions that Python calls. One file per subject; nothing here computes.

mod overlap;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::overlap::{elementwise, first_invalid, pairwise, simd_levels};

    #[pymodule_init]
    fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
        m.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
