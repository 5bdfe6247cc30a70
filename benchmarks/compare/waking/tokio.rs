// tokio::sync::Notify, polled by hand with a waker that does nothing: no runtime in the way.
#[path = "../../harness/harness.rs"]
mod harness;
use harness::*;
use std::time::Instant;
use tokio::sync::Notify;

fn notify_waiters_nobody(ms: u64) -> (f64, u64) {
    let notify = Notify::new();
    per_op(ms, |n| (0..n).for_each(|_| black_box(&notify).notify_waiters()))
}

// Stores a permit, so the call after the first one finds it already there.
fn notify_one_nobody(ms: u64) -> (f64, u64) {
    let notify = Notify::new();
    per_op(ms, |n| (0..n).for_each(|_| black_box(&notify).notify_one()))
}

fn wait_wake_one(ms: u64) -> (f64, u64) {
    let notify = Notify::new();
    per_op(ms, |n| {
        for _ in 0..n {
            let wait = notify.notified();
            futures::pin_mut!(wait);
            assert!(poll_once(wait.as_mut()).is_pending());
            notify.notify_one();
            assert!(poll_once(wait.as_mut()).is_ready());
        }
    })
}

// The call alone, per waiter; 100 waiters registered before.
fn wake_all_100(ms: u64) -> (f64, u64) {
    let notify = Notify::new();
    let (value, ops) = measure(ms, |n| {
        let mut took = 0.0;
        for _ in 0..n {
            let mut all: Vec<_> = (0..100).map(|_| Box::pin(notify.notified())).collect();
            all.iter_mut().for_each(|w| assert!(poll_once(w.as_mut()).is_pending()));
            let start = Instant::now();
            notify.notify_waiters();
            took += start.elapsed().as_nanos() as f64;
            all.iter_mut().for_each(|w| assert!(poll_once(w.as_mut()).is_ready()));
        }
        took
    });
    (value / 100.0, ops * 100)
}

// A stored permit makes the poll ready without registering; every operation here registers once, as everybody's does.
fn cycle_2t(ms: u64) -> (f64, u64) {
    let notify = Notify::new();
    per_op_threads(ms, 2, |_, n| {
        for _ in 0..n {
            let wait = notify.notified();
            futures::pin_mut!(wait);
            while poll_once(wait.as_mut()).is_ready() {
                wait.set(notify.notified());
            }
            notify.notify_one();
        }
    })
}

// Leave a queue of `count` waiters from somewhere in the middle, and register again.
fn cancel_among(ms: u64, count: usize) -> (f64, u64) {
    let notify = Notify::new();
    let mut all: Vec<_> = (0..count).map(|_| Box::pin(notify.notified())).collect();
    all.iter_mut().for_each(|w| assert!(poll_once(w.as_mut()).is_pending()));
    let mut at = 0;
    per_op(ms, |n| {
        for _ in 0..n {
            at = (at + 7919) % count;
            all[at].set(notify.notified());
            assert!(poll_once(all[at].as_mut()).is_pending());
        }
    })
}

fn main() {
    run(&[
        ("sync/notify_nobody", "tokio Notify::notify_waiters", notify_waiters_nobody),
        ("sync/notify_nobody", "tokio Notify::notify_one", notify_one_nobody),
        ("sync/wait_wake_one", "tokio Notify", wait_wake_one),
        ("sync/wake_all_100", "tokio Notify", wake_all_100),
        ("sync/add_wake_2t", "tokio Notify", cycle_2t),
        ("scale/waiters_1k", "tokio Notify", |ms| cancel_among(ms, 1_000)),
        ("scale/waiters_100k", "tokio Notify", |ms| cancel_among(ms, 100_000)),
        ("scale/waiters_1m", "tokio Notify", |ms| cancel_among(ms, 1_000_000)),
        // A wait is part of the future that waits.
        ("scale/bytes_per_waiter", "tokio Notify", |_| (std::mem::size_of_val(&Notify::new().notified()) as f64, 1)),
    ]);
}
