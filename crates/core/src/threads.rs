//! How many threads a call may use, and the loops that they share.
//!
//! All loops go through [`together`], so that the thread pool is compiled into one function and not into each of them.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rayon_core::ThreadPoolBuilder;

/// Runs `work` so that every loop inside it uses `threads` threads; 0 means all cores.
///
/// A pool of its own is made for any other number than that of the cores, and in a forked process. That costs some tens
/// of microseconds per thread: decide first whether the work is worth it.
pub fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    if pool_is_alive() && (threads == 0 || threads == rayon_core::current_num_threads()) {
        return work();
    }
    let mut result = None;
    let mut work = Some(work);
    in_own_pool(threads, &mut || result = work.take().map(|work| work()));
    result.expect("a pool runs what it is given")
}

fn in_own_pool(threads: usize, work: &mut (dyn FnMut() + Send)) {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    // The system may refuse new threads: this one gives the same bits, only later.
    match pool.or_else(|_| ThreadPoolBuilder::new().num_threads(1).use_current_thread().build()) {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

/// How many threads a call uses where it is not told.
pub fn available() -> usize {
    pool_is_alive(); // asking starts the pool, which from now on is that of this process
    rayon_core::current_num_threads()
}

/// Runs two pieces of work, at the same time where a thread is free.
pub fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    if is_stranded() { (a(), b()) } else { rayon_core::join(a, b) }
}

/// Runs `work` on this thread and at the same time on others, `threads` in all (0: as many as there are cores).
///
/// This thread begins at once. It does not wait for the others to wake up, which takes as long as a small part of the
/// work.
pub fn together(threads: usize, work: &(dyn Fn() + Sync)) {
    if is_stranded() {
        return in_own_pool(threads, &mut || spread(threads, work));
    }
    spread(threads, work);
}

fn spread(threads: usize, work: &(dyn Fn() + Sync)) {
    let available = rayon_core::current_num_threads();
    let threads = if threads == 0 { available } else { threads.min(available) };
    rayon_core::in_place_scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|_| work());
        }
        work();
    });
}

/// Calls `work` with every item, on `threads` threads (0: all cores), in no order. Each thread has a state of its own.
pub fn each_with<S, I>(items: I, threads: usize, state: impl Fn() -> S + Sync, work: impl Fn(&mut S, I::Item) + Sync)
where
    I: ExactSizeIterator + Send,
{
    let count = items.len();
    if threads == 1 || count < 2 {
        let mut state = state();
        return items.for_each(|item| work(&mut state, item));
    }
    let items = Mutex::new(items);
    let next = || lock(&items).next();
    together(if threads == 0 { count.min(available()) } else { count.min(threads) }, &|| {
        let mut state = state();
        while let Some(item) = next() {
            work(&mut state, item);
        }
    });
}

/// Calls `work` with every item, on `threads` threads (0: all cores), in no order.
pub fn each<I>(items: I, threads: usize, work: impl Fn(I::Item) + Sync)
where
    I: ExactSizeIterator + Send,
{
    each_with(items, threads, || (), |(), item| work(item));
}

/// Calls `work` with every part of `out`, and with where the part begins, on `threads` threads (0: all cores).
///
/// A part has `part` items. If there is no more than one thread or part, all of `out` is one part.
pub fn fill<T: Send>(out: &mut [T], part: usize, threads: usize, work: &(dyn Fn(usize, &mut [T]) + Sync)) {
    if threads == 1 || out.len() <= part {
        work(0, out);
    } else {
        each(out.chunks_mut(part).enumerate(), threads, |(number, out)| work(number * part, out));
    }
}

/// What `make` returns for every item, on `threads` threads (0: all cores).
pub fn map<I, T: Send>(items: I, threads: usize, make: impl Fn(I::Item) -> T + Sync) -> Vec<T>
where
    I: ExactSizeIterator + Send,
{
    let count = items.len();
    if threads == 1 || count < 2 {
        return items.map(make).collect();
    }
    let mut made: Vec<Option<T>> = (0..count).map(|_| None).collect();
    each(made.iter_mut().zip(items), threads, |(place, item)| *place = Some(make(item)));
    made.into_iter().map(|item| item.expect("every item is made")).collect()
}

/// Makes items by all threads and uses them in order, each as soon as those before it are used, until `consume` breaks
/// or `count` items are through.
///
/// Each thread starts from a state of its own. Items made after the break are lost, so `produce` must have no effect
/// but the item it returns.
pub fn in_order<S, T: Send>(
    count: usize,
    state: impl Fn() -> S + Sync,
    produce: impl Fn(&mut S, usize) -> T + Sync,
    consume: impl FnMut(T) -> ControlFlow<()> + Send,
) {
    // The next item to use, those from there on (made before their turn, or not made yet), and who uses them.
    let queue = Mutex::new((0, VecDeque::<Option<T>>::new(), consume));
    let (next, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    together(count.min(available()), &|| {
        let mut state = state();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count || done.load(Ordering::Relaxed) {
                return;
            }
            let item = produce(&mut state, index);
            let mut queue = lock(&queue);
            let (turn, waiting, consume) = &mut *queue;
            let place = index - *turn;
            if waiting.len() <= place {
                waiting.resize_with(place + 1, || None);
            }
            waiting[place] = Some(item);
            while !done.load(Ordering::Relaxed)
                && let Some(item) = waiting.front_mut().and_then(Option::take)
            {
                waiting.pop_front();
                *turn += 1;
                done.store(consume(item).is_break(), Ordering::Relaxed);
            }
        }
    });
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the shared pool has its threads. A forked process, such as a worker of PyTorch's `DataLoader`, inherits the
/// pool without them, and would wait for ever.
fn pool_is_alive() -> bool {
    static OWNER: OnceLock<u32> = OnceLock::new();
    *OWNER.get_or_init(std::process::id) == std::process::id()
}

/// Whether this thread would wait for a pool that has no threads.
fn is_stranded() -> bool {
    !pool_is_alive() && rayon_core::current_thread_index().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_used_once_whatever_the_threads() {
        for threads in [0, 1, 2, 5] {
            for count in [0, 1, 2, 77] {
                assert_eq!(map(0..count, threads, |number| 3 * number), (0..count).map(|n| 3 * n).collect::<Vec<_>>());
                let mut out = vec![0; count];
                fill(&mut out, 10, threads, &|start, part| {
                    part.iter_mut().enumerate().for_each(|(k, out)| *out += start + k + 1);
                });
                assert_eq!(out, (1..=count).collect::<Vec<_>>());
            }
        }
    }

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
