// tokio: Debian's tokio-util (0.7.3) has no TaskTracker, so a guard is what its documentation recommended before: a clone of
// an mpsc sender that is dropped when the work ends. Interrupt: select of the work and the token.
#[path = "../../harness/harness.rs"]
mod harness;
use harness::*;
use tokio_util::sync::CancellationToken;

fn guard_1t(ms: u64) -> (f64, u64) {
    let (tx, _rx) = tokio::sync::mpsc::channel::<()>(1);
    per_op(ms, |n| (0..n).for_each(|_| drop(black_box(tx.clone()))))
}

fn guard_2t(ms: u64) -> (f64, u64) {
    let (tx, _rx) = tokio::sync::mpsc::channel::<()>(1);
    per_op_threads(ms, 2, |_, n| (0..n).for_each(|_| drop(black_box(tx.clone()))))
}

// Take and drop one more while `live` others are held.
fn guard_among(ms: u64, live: usize) -> (f64, u64) {
    let (tx, _rx) = tokio::sync::mpsc::channel::<()>(1);
    let held: Vec<_> = (0..live).map(|_| tx.clone()).collect();
    let result = per_op(ms, |n| (0..n).for_each(|_| drop(black_box(tx.clone()))));
    drop(held);
    result
}

// A sender of its own per thread.
fn guard_siblings_2t(ms: u64) -> (f64, u64) {
    let each = [tokio::sync::mpsc::channel::<()>(1), tokio::sync::mpsc::channel::<()>(1)];
    per_op_threads(ms, 2, |me, n| (0..n).for_each(|_| drop(black_box(each[me].0.clone()))))
}

fn interrupt_ready(ms: u64) -> (f64, u64) {
    let token = CancellationToken::new();
    per_op(ms, |n| {
        for i in 0..n {
            let token = &token;
            let both = async move {
                tokio::select! {
                    biased;
                    _ = token.cancelled() => None,
                    v = async { black_box(i) } => Some(v),
                }
            };
            futures::pin_mut!(both);
            assert!(poll_once(both.as_mut()).is_ready());
        }
    })
}

fn main() {
    run(&[
        ("shutdown/guard_1t", "tokio mpsc Sender clone", guard_1t),
        ("shutdown/guard_2t", "tokio mpsc Sender clone", guard_2t),
        ("shutdown/guard_untracked_1t", "tokio mpsc Sender clone", guard_1t),
        ("shutdown/guard_untracked_2t", "tokio mpsc Sender clone", guard_2t),
        ("shutdown/guard_siblings_2t", "tokio mpsc Sender clone", guard_siblings_2t),
        ("scale/guards_1k", "tokio mpsc Sender clone", |ms| guard_among(ms, 1_000)),
        ("scale/guards_100k", "tokio mpsc Sender clone", |ms| guard_among(ms, 100_000)),
        ("scale/guards_1m", "tokio mpsc Sender clone", |ms| guard_among(ms, 1_000_000)),
        ("shutdown/interrupt_ready", "tokio select with CancellationToken", interrupt_ready),
    ]);
}
