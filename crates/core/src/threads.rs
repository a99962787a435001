//! How many threads a call may use.

use rayon::ThreadPoolBuilder;
use std::sync::OnceLock;

/// Runs `work` so that every `rayon` operation inside it uses `threads` threads; 0 means all cores.
///
/// A pool of its own is made for any other number, which costs some tens of microseconds a thread:
/// decide first whether the work is worth it.
pub fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    if threads == 0 || threads == rayon::current_num_threads() {
        return work();
    }
    match ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(work),
        // The system refuses new threads: the shared pool gives the same bits, only later.
        Err(_) => work(),
    }
}

/// Whether the shared pool has its threads: a forked process (a worker of PyTorch's `DataLoader`) inherits the pool
/// without them, and would wait for ever.
pub fn pool_is_alive() -> bool {
    static OWNER: OnceLock<u32> = OnceLock::new();
    *OWNER.get_or_init(std::process::id) == std::process::id()
}
