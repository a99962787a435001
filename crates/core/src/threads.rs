//! How many threads a call may use.

use std::sync::OnceLock;

use rayon::ThreadPoolBuilder;

/// Runs `work` so that every `rayon` operation inside it uses `threads` threads; 0 means all cores.
///
/// A pool of its own is made for any other number, and in a forked process, which costs some tens of microseconds a
/// thread: decide first whether the work is worth it.
pub fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    if pool_is_alive() && (threads == 0 || threads == rayon::current_num_threads()) {
        return work();
    }
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    // The system may refuse new threads: this one gives the same bits, only later.
    match pool.or_else(|_| ThreadPoolBuilder::new().num_threads(1).use_current_thread().build()) {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

/// How many threads a call may use where it is not told.
pub fn available() -> usize {
    rayon::current_num_threads()
}

/// Runs two pieces of work, at the same time where a thread is free.
pub fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    rayon::join(a, b)
}

/// Whether the shared pool has its threads: a forked process (a worker of PyTorch's `DataLoader`) inherits the pool
/// without them, and would wait for ever.
pub fn pool_is_alive() -> bool {
    static OWNER: OnceLock<u32> = OnceLock::new();
    *OWNER.get_or_init(std::process::id) == std::process::id()
}
