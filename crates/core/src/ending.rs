//! How a call ends before its work is done: because its caller wants to stop, because memory ends, or by a defect.
//!
//! Long loops [`ask`]. Where the call is to end, they unwind, so that no function between them and [`endable`] needs to
//! know: every loop can stop, and what it held is given back on the way. A call is known to each thread that works for
//! it, because two callers may be at work at the same time: what ends one must not end the other.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// Why a call ended without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The caller wanted to stop.
    Stopped,
    /// The system refused memory.
    OutOfMemory,
    /// A defect of this library: what the panic said.
    Panicked(String),
}

/// How often a caller is asked: a person does not notice the delay, and the work does not notice the question.
pub const EVERY: Duration = Duration::from_millis(100);

/// What threads that work for the same call share: 0, or why it ends.
#[derive(Clone, Default)]
struct Call(Arc<AtomicU8>);

const STOPPED: u8 = 1;
const OUT_OF_MEMORY: u8 = 2;

/// What unwinds: no text, because there may be no memory for one.
struct Unwinding(u8);

/// The call that a thread works for.
#[derive(Clone)]
struct Place {
    /// Made where the first thread comes to help: a short call, which has none, asks for no memory.
    call: Option<Call>,
    caller: Option<Caller>,
}

/// The thread that made the call, which alone may ask.
#[derive(Clone, Copy)]
struct Caller {
    wants_to_stop: fn() -> bool,
    /// When it is asked next. A short call, which comes to no question, does not look at the clock.
    next: Option<Instant>,
}

thread_local! {
    static PLACE: RefCell<Option<Place>> = const { RefCell::new(None) };
    /// How many steps are done since this thread asked last.
    static STEPS: Cell<usize> = const { Cell::new(0) };
    static SHORT: Cell<bool> = const { Cell::new(false) };
}

/// Does `work`, which ends early if `wants_to_stop` returns true. It is asked on this thread, ten times a second.
pub fn endable<R>(wants_to_stop: fn() -> bool, work: impl FnOnce() -> R) -> Result<R, Ending> {
    let caller = Some(Caller { wants_to_stop, next: None });
    caught(|| inside(Some(Place { call: None, caller }), work))
}

/// Does `work` that nobody may stop, but which may end because of memory or a defect.
pub fn caught<R>(work: impl FnOnce() -> R) -> Result<R, Ending> {
    SHORT.set(false); // there may be memory again
    // Nothing that was being changed is looked at again: it is unwound with the call.
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| ending(&*payload))
}

fn ending(payload: &(dyn Any + Send)) -> Ending {
    match payload.downcast_ref::<Unwinding>() {
        Some(Unwinding(STOPPED)) => Ending::Stopped,
        Some(_) => Ending::OutOfMemory,
        None => Ending::Panicked(text_of(payload)),
    }
}

fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message").to_owned()
}

/// [`ask`]s at one of 65,536 numbers, for loops over items that take some nanoseconds each.
#[inline(always)]
pub(crate) fn ask_each(number: usize) {
    if number & 0xFFFF == 0xFFFF {
        ask();
    }
}

/// [`ask`]s where so many steps, with those since the last question, are worth it: for loops that take hardly longer.
///
/// A step may take as long as to compare a box with thousands of others.
#[inline]
pub(crate) fn ask_after(steps: usize) {
    let done = STEPS.get() + steps;
    if done < 64 {
        STEPS.set(done);
    } else {
        STEPS.set(0);
        ask();
    }
}

/// Ends the call here if it is to end: every loop asks that may run for long.
pub fn ask() {
    let (ends, question) = PLACE.with_borrow_mut(|place| {
        let Some(Place { call, caller }) = place else { return (0, None) };
        let question = caller.as_mut().and_then(|caller| {
            let now = Instant::now();
            let due = caller.next.is_some_and(|next| next <= now);
            if due || caller.next.is_none() {
                caller.next = Some(now + EVERY);
            }
            due.then_some(caller.wants_to_stop)
        });
        (call.as_ref().map_or(0, |call| call.0.load(Ordering::Relaxed)), question)
    });
    if ends != 0 {
        resume_unwind(Box::new(Unwinding(ends)));
    }
    // The answer may be that of a signal's handler, which may make calls of its own: nothing is borrowed here.
    if question.is_some_and(|wants_to_stop| wants_to_stop()) {
        end(STOPPED);
    }
}

/// Notes that the system refused memory where the call cannot end: it ends when it asks for more.
pub(crate) fn note_short() {
    SHORT.set(true);
}

/// Whether the system refused memory to this thread since its call began.
pub(crate) fn is_short() -> bool {
    SHORT.get()
}

/// Ends the call as if its caller had been asked and wanted to stop.
pub fn stop() -> ! {
    end(STOPPED)
}

/// Ends the call because the system refused memory.
pub(crate) fn out_of_memory() -> ! {
    end(OUT_OF_MEMORY)
}

/// Ends the call on this thread, and at their next question on all others.
fn end(reason: u8) -> ! {
    PLACE.with_borrow(|place| {
        if let Some(Place { call: Some(call), .. }) = place {
            call.0.store(reason, Ordering::Relaxed);
        }
    });
    resume_unwind(Box::new(Unwinding(reason)))
}

/// The call that this thread works for, to be carried to threads that help it.
pub(crate) struct Carried(Option<Call>);

impl Carried {
    pub(crate) fn here() -> Self {
        Self(PLACE.with_borrow_mut(|place| place.as_mut().map(|place| place.call.get_or_insert_default().clone())))
    }

    /// Does `work` on a thread that helps.
    pub(crate) fn inside<R>(&self, work: impl FnOnce() -> R) -> R {
        SHORT.set(false);
        inside(self.0.clone().map(|call| Place { call: Some(call), caller: None }), work)
    }

    /// Asks the caller, if this is its thread: it waits for threads that help, and tells them by what they share.
    pub(crate) fn ask_while_waiting(&self) {
        let asked = PLACE.with_borrow(|place| place.as_ref().and_then(|place| place.caller));
        if let (Some(call), Some(caller)) = (&self.0, asked)
            && (caller.wants_to_stop)()
        {
            call.0.store(STOPPED, Ordering::Relaxed);
        }
    }
}

fn inside<R>(place: Option<Place>, work: impl FnOnce() -> R) -> R {
    struct Back(Option<Place>);
    impl Drop for Back {
        fn drop(&mut self) {
            PLACE.set(self.0.take());
        }
    }
    let _back = Back(PLACE.replace(place));
    work()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::thread::sleep;

    use super::*;
    use crate::threads::{each, in_order, join, with_threads};

    fn never() -> bool {
        false
    }

    fn at_once() -> bool {
        true
    }

    fn for_ever() {
        loop {
            ask();
            sleep(Duration::from_micros(50));
        }
    }

    #[test]
    fn a_call_that_nobody_stops_has_its_result() {
        assert_eq!(endable(never, || 3), Ok(3));
        ask(); // outside of a call, too
    }

    #[test]
    fn endless_work_stops_whatever_threads_do_it() {
        let works: [fn(); 5] = [
            for_ever,
            || each(0..2, 2, |_| for_ever()),
            // The caller's own part is done: it only waits.
            || {
                each(0..2, 2, |number| {
                    if number == 0 {
                        for_ever()
                    }
                })
            },
            || with_threads(3, || each(0..9, 3, |_| for_ever())),
            || {
                join(for_ever, || ());
            },
        ];
        for work in works {
            let began = Instant::now();
            assert_eq!(endable(at_once, work), Err(Ending::Stopped));
            assert!(began.elapsed() < Duration::from_secs(1));
        }
    }

    #[test]
    fn what_ends_one_thread_ends_the_others_for_the_same_reason() {
        let work = || {
            each(0..4, 2, |number| {
                if number == 1 {
                    out_of_memory();
                }
                for_ever();
            });
        };
        assert_eq!(endable(never, work), Err(Ending::OutOfMemory));
    }

    #[test]
    fn a_defect_says_what_it_is() {
        let work = || each(0..4, 2, |number| assert!(number != 2, "number {number}"));
        assert_eq!(endable(never, work), Err(Ending::Panicked("number 2".to_owned())));
    }

    #[test]
    fn the_end_of_one_call_is_not_that_of_another() {
        let steps = AtomicUsize::new(0);
        let other = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                endable(never, || {
                    each(0..20_000, 2, |_| {
                        steps.fetch_add(1, Ordering::Relaxed);
                        ask();
                    });
                })
            });
            for _ in 0..3 {
                assert_eq!(endable(never, || each(0..4, 2, |_| out_of_memory())), Err(Ending::OutOfMemory));
            }
            other.join().expect("its thread does not panic")
        });
        assert_eq!((other, steps.into_inner()), (Ok(()), 20_000));
    }

    #[test]
    fn items_that_are_used_in_order_end_too() {
        let work = || {
            in_order(1_000, || (), |(), _| sleep(Duration::from_millis(5)), |()| std::ops::ControlFlow::Continue(()))
        };
        let began = Instant::now();
        assert_eq!(endable(at_once, work), Err(Ending::Stopped));
        assert!(began.elapsed() < Duration::from_secs(1));
    }
}
