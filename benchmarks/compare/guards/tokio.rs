// tokio: Debian's tokio-util (0.7.3) has no TaskTracker, so a guard is what its documentation recommended before: a clone of
// an mpsc sender that is dropped when the work ends. Interrupt: select of the work and the token.
#[path = "../../harness/harness.rs"]
mod harness;
use harness::*;
use std::hint::black_box;
use std::pin::pin;
use tokio_util::sync::CancellationToken;

fn guard_1t(ms: u64) -> (f64, u64) {
    let (tx, _rx) = tokio::sync::mpsc::channel::<()>(1);
    per_op(ms, |n| (0..n).for_each(|_| drop(black_box(tx.clone()))))
}

fn guard_2t(ms: u64) -> (f64, u64) {
    let (tx, _rx) = tokio::sync::mpsc::channel::<()>(1);
    per_op_threads(ms, 2, |_, n| (0..n).for_each(|_| drop(black_box(tx.clone()))))
}

fn interrupt_ready(ms: u64) -> (f64, u64) {
    let token = CancellationToken::new();
    per_op(ms, |n| {
        for i in 0..n {
            let token = &token;
            let mut both = pin!(async move {
                tokio::select! {
                    biased;
                    _ = token.cancelled() => None,
                    v = async { black_box(i) } => Some(v),
                }
            });
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
        ("shutdown/interrupt_ready", "tokio select with CancellationToken", interrupt_ready),
    ]);
}
