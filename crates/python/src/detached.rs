//! How a call works without the GIL, and which exception it becomes if it ends early.
//!
//! Python runs the handlers of signals in its main thread, between its own instructions: never, while the core works. So
//! the core asks now and then, and an exception that a handler raises (KeyboardInterrupt, or that of a handler of the
//! user's) ends the call.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

use ioukit_core::ending::{Ending, caught, endable, stop};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;

thread_local! {
    /// What a handler raised while the core worked.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Does `work` while other threads of Python run.
pub fn detached<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> PyResult<R> {
    py.detach(|| endable(raised, work)).map_err(exception)
}

/// Does `work` that takes memory while Python waits.
pub fn attached<R>(work: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
    caught(work).map_err(exception).flatten()
}

/// Ends the call with an exception that Python raised for the core.
pub fn raise(error: PyErr) -> ! {
    RAISED.set(Some(error));
    stop()
}

#[cold]
fn exception(ending: Ending) -> PyErr {
    match ending {
        Ending::Stopped => RAISED.take().unwrap_or_else(|| PyRuntimeError::new_err("stopped")),
        Ending::OutOfMemory => PyMemoryError::new_err("not enough memory"),
        Ending::Panicked(text) => {
            PyRuntimeError::new_err(format!("a defect of ioukit, please report it: {text}{}", place()))
        }
    }
}

/// Whether a handler of a signal raised an exception.
fn raised() -> bool {
    Python::try_attach(|py| py.check_signals().map_err(|error| RAISED.set(Some(error))).is_err()).unwrap_or(false)
}

/// Where the last panic was, of any thread.
static PLACE: Mutex<String> = Mutex::new(String::new());

/// Keeps where a panic is for its exception, in place of Rust's own lines on the standard error stream.
pub fn note_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|place| format!(" ({place})")).unwrap_or_default();
        *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }));
}

fn place() -> String {
    PLACE.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
