//! How many threads a call may use, and the loops that they share.
//!
//! All loops go through [`together`], so that the thread pool is compiled into one function and not into each of them.

use std::cell::Cell;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use rayon_core::{Scope, ThreadPool, ThreadPoolBuilder};

use crate::ending::{Carried, EVERY, ask};
use crate::memory::{Vec, granted};

/// The most threads that a pool of its own gets, if the machine has not more cores: more would only cost the time that
/// the system needs to start them.
const MOST: usize = 64;

thread_local! {
    /// Whether this thread works alone, as asked for or because the system has no threads to give.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` so that every loop inside it uses `threads` threads; 0 means all cores.
///
/// A pool of its own is made for any other number than 1 and that of the cores, and in a forked process. That costs some
/// tens of microseconds per thread: decide first whether the work is worth it.
pub fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    if threads == 1 {
        return alone(work);
    }
    if ALONE.get() || (is_in_pool() || shared_pool().is_some()) && (threads == 0 || threads == available()) {
        return work();
    }
    let mut result = None;
    let mut work = Some(work);
    in_own_pool(threads, &mut || result = work.take().map(|work| work()));
    result.expect("a pool runs what it is given")
}

/// Runs `work` on this thread, with all loops inside it.
fn alone<R>(work: impl FnOnce() -> R) -> R {
    struct Back(bool);
    impl Drop for Back {
        fn drop(&mut self) {
            ALONE.set(self.0);
        }
    }
    let _back = Back(ALONE.replace(true));
    work()
}

fn in_own_pool(threads: usize, work: &mut (dyn FnMut() + Send)) {
    let threads = threads.min(MOST.max(available()));
    match ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => {
            let helpers = Helpers::new();
            pool.in_place_scope(|scope| {
                helpers.spawn(scope, work);
                helpers.wait();
            });
        }
        // The system may refuse new threads: this one gives the same bits, only later.
        Err(_) => alone(work),
    }
}

/// How many threads a call uses where it is not told.
pub fn available() -> usize {
    if ALONE.get() {
        1
    } else if is_in_pool() {
        rayon_core::current_num_threads()
    } else {
        shared().pool.as_ref().map_or(1, ThreadPool::current_num_threads)
    }
}

/// Runs two pieces of work, at the same time where a thread is free.
pub fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    let (mut of_a, mut of_b) = (None, None);
    let mut a = Some(a);
    let mut b = Some(b);
    let works: [&mut (dyn FnMut() + Send); 2] =
        [&mut || of_a = a.take().map(|a| a()), &mut || of_b = b.take().map(|b| b())];
    each(works.into_iter(), 2, |work| work());
    (of_a.expect("every item is used"), of_b.expect("every item is used"))
}

/// Runs `work` on this thread and at the same time on others, `threads` in all (0: as many as there are cores).
///
/// This thread begins at once. It does not wait for the others to wake up, which takes as long as a small part of the
/// work.
pub fn together(threads: usize, work: &(dyn Fn() + Sync)) {
    if threads == 1 || ALONE.get() {
        work();
        return;
    }
    let helpers = Helpers::new();
    if is_in_pool() {
        rayon_core::in_place_scope(|scope| helpers.share(scope, threads, work));
    } else if let Some(pool) = shared_pool() {
        pool.in_place_scope(|scope| helpers.share(scope, threads, work));
    } else {
        in_own_pool(threads, &mut || together(threads, work));
    }
}

/// The threads that help with a call, for the one that made it.
struct Helpers {
    call: Carried,
    at_work: Mutex<usize>,
    one_is_done: Condvar,
}

impl Helpers {
    fn new() -> Self {
        Self { call: Carried::here(), at_work: Mutex::new(0), one_is_done: Condvar::new() }
    }

    fn share<'scope>(&'scope self, scope: &Scope<'scope>, threads: usize, work: &'scope (dyn Fn() + Sync)) {
        let available = available();
        for _ in 1..if threads == 0 { available } else { threads.min(available) } {
            self.spawn(scope, work);
        }
        work();
        self.wait();
    }

    fn spawn<'scope>(&'scope self, scope: &Scope<'scope>, work: impl FnOnce() + Send + 'scope) {
        struct Done<'a>(&'a Helpers);
        impl Drop for Done<'_> {
            fn drop(&mut self) {
                *lock(&self.0.at_work) -= 1;
                self.0.one_is_done.notify_one();
            }
        }
        *lock(&self.at_work) += 1;
        scope.spawn(|_| {
            let _done = Done(self);
            self.call.inside(work);
        });
    }

    /// Waits for all helpers, and asks the caller meanwhile whether they should stop.
    ///
    /// A thread of a pool does not wait here: it must do what other threads of its pool left, or all might wait.
    fn wait(&self) {
        let mut at_work = lock(&self.at_work);
        while *at_work > 0 && !is_in_pool() {
            let (still, waited) = self.one_is_done.wait_timeout(at_work, EVERY).unwrap_or_else(PoisonError::into_inner);
            at_work = still;
            if waited.timed_out() {
                drop(at_work);
                self.call.ask_while_waiting();
                at_work = lock(&self.at_work);
            }
        }
    }
}

/// Calls `work` with every item, on `threads` threads (0: all cores), in no order. Each thread has a state of its own.
pub fn each_with<S, I>(items: I, threads: usize, state: impl Fn() -> S + Sync, work: impl Fn(&mut S, I::Item) + Sync)
where
    I: ExactSizeIterator + Send,
{
    let count = items.len();
    if threads == 1 || count < 2 {
        let mut state = state();
        return items.for_each(|item| {
            ask();
            work(&mut state, item);
        });
    }
    let items = Mutex::new(items);
    let next = || lock(&items).next();
    together(if threads == 0 { count.min(available()) } else { count.min(threads) }, &|| {
        let mut state = state();
        while let Some(item) = next() {
            ask();
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
/// A part has `part` items.
pub fn fill<T: Send>(out: &mut [T], part: usize, threads: usize, work: &(dyn Fn(usize, &mut [T]) + Sync)) {
    if out.len() <= part {
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
        let make = |item| {
            ask();
            make(item)
        };
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
            ask();
            let item = produce(&mut state, index);
            let mut queue = lock(&queue);
            let (turn, waiting, consume) = &mut *queue;
            let place = index - *turn;
            if waiting.len() <= place {
                granted(waiting.try_reserve(place + 1 - waiting.len()));
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

/// The pool of all calls, of the process that made it, or none if the system refused its threads.
struct Shared {
    owner: u32,
    pool: Option<ThreadPool>,
}

fn shared() -> &'static Shared {
    static SHARED: OnceLock<Shared> = OnceLock::new();
    SHARED.get_or_init(|| Shared { owner: std::process::id(), pool: ThreadPoolBuilder::new().build().ok() })
}

/// The pool of all calls, if it has its threads. A forked process, such as a worker of PyTorch's `DataLoader`, inherits
/// the pool without them, and would wait for ever.
fn shared_pool() -> Option<&'static ThreadPool> {
    let shared = shared();
    shared.pool.as_ref().filter(|_| shared.owner == std::process::id())
}

fn is_in_pool() -> bool {
    rayon_core::current_thread_index().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::vec;

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
