// tokio::sync::Mutex and Semaphore. Alone: polled by hand, no runtime in the way. Two threads: the thread-blocking
// form where there is one (Mutex::blocking_lock), otherwise block_on of the future on each thread.
#[path = "../../harness/harness.rs"]
mod harness;
use harness::*;
use std::cell::UnsafeCell;
use std::task::Poll;
use tokio::sync::{Mutex, Semaphore};

struct Shared(UnsafeCell<u64>);
unsafe impl Sync for Shared {}

fn mutex_alone(ms: u64) -> (f64, u64) {
    let lock = Mutex::new(0u64);
    per_op(ms, |n| {
        for _ in 0..n {
            let wait = lock.lock();
            futures::pin_mut!(wait);
            match poll_once(wait.as_mut()) {
                Poll::Ready(mut held) => *held += 1,
                Poll::Pending => unreachable!(),
            }
        }
    })
}

fn mutex_try(ms: u64) -> (f64, u64) {
    let lock = Mutex::new(0u64);
    per_op(ms, |n| (0..n).for_each(|_| *lock.try_lock().unwrap() += 1))
}

fn mutex_2t(ms: u64) -> (f64, u64) {
    let lock = Mutex::new(0u64);
    per_op_threads(ms, 2, |_, n| (0..n).for_each(|_| *lock.blocking_lock() += 1))
}

fn semaphore_alone(ms: u64) -> (f64, u64) {
    let permits = Semaphore::new(1);
    per_op(ms, |n| {
        for _ in 0..n {
            let wait = permits.acquire();
            futures::pin_mut!(wait);
            assert!(poll_once(wait.as_mut()).is_ready());
        }
    })
}

fn semaphore_many(ms: u64) -> (f64, u64) {
    let permits = Semaphore::new(1000);
    per_op(ms, |n| {
        for _ in 0..n {
            let wait = permits.acquire_many(100);
            futures::pin_mut!(wait);
            assert!(poll_once(wait.as_mut()).is_ready());
        }
    })
}

fn semaphore_many_try(ms: u64) -> (f64, u64) {
    let permits = Semaphore::new(1000);
    per_op(ms, |n| (0..n).for_each(|_| drop(permits.try_acquire_many(100).unwrap())))
}

fn semaphore_try(ms: u64) -> (f64, u64) {
    let permits = Semaphore::new(1);
    per_op(ms, |n| (0..n).for_each(|_| drop(permits.try_acquire().unwrap())))
}

fn semaphore_2t(ms: u64) -> (f64, u64) {
    let (permits, counter) = (Semaphore::new(1), Shared(UnsafeCell::new(0)));
    let counter = &counter;
    per_op_threads(ms, 2, |_, n| {
        for _ in 0..n {
            let held = futures::executor::block_on(permits.acquire()).unwrap();
            unsafe { *counter.0.get() += 1 };
            drop(held);
        }
    })
}

fn main() {
    run(&[
        ("sync/mutex_1t", "tokio Mutex::lock", mutex_alone),
        ("sync/mutex_1t", "tokio Mutex::try_lock", mutex_try),
        ("sync/mutex_2t", "tokio Mutex", mutex_2t),
        ("sync/semaphore_1t", "tokio Semaphore::acquire", semaphore_alone),
        ("sync/semaphore_1t", "tokio Semaphore::try_acquire", semaphore_try),
        ("sync/semaphore_100_of_1000", "tokio Semaphore::acquire_many", semaphore_many),
        ("sync/semaphore_100_of_1000", "tokio Semaphore::try_acquire_many", semaphore_many_try),
        ("sync/semaphore_2t", "tokio Semaphore", semaphore_2t),
    ]);
}
