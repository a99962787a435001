//! How many threads a call may use.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

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

/// Makes items by all threads and uses them in order, each as soon as those before it are used, until `consume` breaks
/// or `count` items are through.
///
/// Each thread starts from a state of its own. Items made after the break are lost, so `produce` must not matter beyond
/// the item it returns.
pub fn in_order<S, T: Send>(
    count: usize,
    state: impl Fn() -> S + Sync,
    produce: impl Fn(&mut S, usize) -> T + Sync,
    consume: impl FnMut(T) -> ControlFlow<()> + Send,
) {
    // The next item to use, those made before their turn, and who uses them.
    let queue = Mutex::new((0, BTreeMap::new(), consume));
    let (next, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    let work = || {
        let mut state = state();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count || done.load(Ordering::Relaxed) {
                return;
            }
            let item = produce(&mut state, index);
            let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
            let (turn, early, consume) = &mut *queue;
            early.insert(index, item);
            while !done.load(Ordering::Relaxed)
                && let Some(item) = early.remove(turn)
            {
                *turn += 1;
                done.store(consume(item).is_break(), Ordering::Relaxed);
            }
        }
    };
    if count == 1 {
        work();
    } else {
        rayon::broadcast(|_| work());
    }
}

/// Whether the shared pool has its threads: a forked process (a worker of PyTorch's `DataLoader`) inherits the pool
/// without them, and would wait for ever.
pub fn pool_is_alive() -> bool {
    static OWNER: OnceLock<u32> = OnceLock::new();
    *OWNER.get_or_init(std::process::id) == std::process::id()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_items_in_order_whoever_makes_them_first() {
        for threads in [1, 2, 8] {
            let mut used = Vec::new();
            with_threads(threads, || {
                let produce = |_: &mut (), index: usize| {
                    std::thread::sleep(std::time::Duration::from_micros((index as u64 * 37) % 101));
                    index
                };
                in_order(
                    100,
                    || (),
                    produce,
                    |index| {
                        used.push(index);
                        if index == 70 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                    },
                );
            });
            assert_eq!(used, (0..=70).collect::<Vec<_>>());
        }
    }
}
