//! Threads that wait for work, and share it with the thread that brings it.
//!
//! This is all that the loops of `threads.rs` need. Crates for it have queues per thread that steal from each other, for
//! many small pieces of work, and took a twentieth of the time to compile everything.

use std::any::Any;
use std::cell::RefCell;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Thread};

thread_local! {
    /// The pool whose threads this thread uses, if it is not the common one.
    static POOL: RefCell<Option<Arc<Shared>>> = const { RefCell::new(None) };
}

/// Runs `work` with that pool as the one of this thread.
pub fn within<R>(pool: &Arc<Shared>, work: impl FnOnce() -> R) -> R {
    /// Sets the pool back, also after a panic.
    struct Before(Option<Arc<Shared>>);
    impl Drop for Before {
        fn drop(&mut self) {
            POOL.set(self.0.take());
        }
    }
    let _before = Before(POOL.replace(Some(Arc::clone(pool))));
    work()
}

/// The pool of this thread. There is none in a forked process, such as a worker of PyTorch's `DataLoader`: it inherits the
/// common pool without its threads.
pub fn current() -> Option<Arc<Shared>> {
    static COMMON: OnceLock<(u32, Pool)> = OnceLock::new();
    POOL.with_borrow(Clone::clone).or_else(|| {
        let (owner, pool) = COMMON.get_or_init(|| (std::process::id(), Pool::new(cores())));
        (*owner == std::process::id()).then(|| Arc::clone(pool.shared()))
    })
}

/// How many threads the machine runs at a time.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// A number of threads, which end when the pool is dropped.
pub struct Pool(Arc<Shared>);

/// What the threads of a pool have in common.
pub struct Shared {
    /// How many work on one job: the threads of the pool and the one that brings the job.
    pub threads: usize,
    state: Mutex<State>,
}

struct State {
    is_open: bool,
    /// What a thread may take, once for every call of its work that is still wanted. The newest is taken first: it may be a
    /// part of what the others wait for.
    wanted: Vec<*const Job>,
    /// Threads that wait for something to take.
    asleep: Vec<Thread>,
}

// SAFETY: a job may be used by all threads.
unsafe impl Send for State {}

/// Work of one thread that others may join. It lives on the stack of that thread, which waits until nobody uses it.
struct Job {
    work: *const (dyn Fn() + Sync),
    owner: Thread,
    /// How many other threads are at work. It changes only while the state is locked.
    running: AtomicUsize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Pool {
    /// A pool for jobs of so many threads, or of fewer where the system refuses new threads.
    pub fn new(threads: usize) -> Self {
        let state = State { is_open: true, wanted: Vec::new(), asleep: Vec::new() };
        let shared = Arc::new(Shared { threads, state: Mutex::new(state) });
        for _ in 1..threads {
            let shared = Arc::clone(&shared);
            let serve = move || within(&shared, || shared.serve(&|state| !state.is_open));
            if thread::Builder::new().spawn(serve).is_err() {
                break;
            }
        }
        Self(shared)
    }

    /// What its threads share.
    pub fn shared(&self) -> &Arc<Shared> {
        &self.0
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_open = false;
        state.asleep.iter().for_each(Thread::unpark);
    }
}

impl Shared {
    /// Calls `work` on this thread, and on up to `others` more that are free before this one is through.
    pub fn share(&self, others: usize, work: &(dyn Fn() + Sync)) {
        if others == 0 {
            return work();
        }
        // SAFETY: only the lifetime changes. The work is used by nobody once this function returns, see below.
        let work: *const (dyn Fn() + Sync) = unsafe { std::mem::transmute(work) };
        let job = Job { work, owner: thread::current(), running: AtomicUsize::new(0), panic: Mutex::new(None) };
        let mut state = self.lock();
        state.wanted.extend(std::iter::repeat_n(&raw const job, others));
        let awake = state.asleep.len().saturating_sub(others);
        let woken = state.asleep.split_off(awake);
        drop(state);
        woken.iter().for_each(Thread::unpark);
        job.run();
        self.lock().wanted.retain(|&wanted| !std::ptr::eq(wanted, &job));
        self.serve(&|_| job.running.load(Ordering::Relaxed) == 0);
        if let Some(panic) = job.panic.into_inner().unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(panic);
        }
    }

    /// Does what is wanted, until something holds.
    fn serve(&self, until: &dyn Fn(&State) -> bool) {
        let mut state = self.lock();
        while !until(&state) {
            if let Some(job) = state.wanted.pop() {
                // SAFETY: its owner waits while it is wanted or running.
                let job = unsafe { &*job };
                job.running.fetch_add(1, Ordering::Relaxed);
                drop(state);
                job.run();
                state = self.lock();
                if job.running.fetch_sub(1, Ordering::Relaxed) == 1 {
                    job.owner.unpark();
                }
            } else {
                let thread = thread::current();
                state.asleep.push(thread.clone());
                drop(state);
                thread::park();
                state = self.lock();
                state.asleep.retain(|other| other.id() != thread.id());
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Job {
    /// Calls the work and keeps its panic for the owner.
    fn run(&self) {
        // SAFETY: the owner waits until nobody uses its work.
        let work = unsafe { &*self.work };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
            *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_inside_work_ends() {
        let pool = Pool::new(3);
        for _ in 0..200 {
            let calls = AtomicUsize::new(0);
            pool.shared().share(2, &|| {
                pool.shared().share(2, &|| _ = calls.fetch_add(1, Ordering::Relaxed));
            });
            assert!((1..=9).contains(&calls.into_inner()));
        }
    }

    #[test]
    fn a_panic_of_any_thread_reaches_the_owner() {
        let pool = Pool::new(2);
        let calls = AtomicUsize::new(0);
        let share = || {
            pool.shared().share(1, &|| {
                // The second call panics, whichever thread makes it, once the first has waited for it.
                assert!(calls.fetch_add(1, Ordering::Relaxed) == 0, "the second call");
                while calls.load(Ordering::Relaxed) < 2 {
                    thread::yield_now();
                }
            });
        };
        assert!(catch_unwind(AssertUnwindSafe(share)).is_err());
        assert_eq!(calls.swap(0, Ordering::Relaxed), 2);
        pool.shared().share(1, &|| ());
    }
}
