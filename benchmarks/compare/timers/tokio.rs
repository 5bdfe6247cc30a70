// tokio: a sleep that is polled once (which arms it) and dropped, with none or 10 000 others pending.
#[path = "../../harness/harness.rs"]
mod harness;
use harness::*;
use std::time::Duration;
use tokio::time::sleep;

fn arm_cancel(ms: u64, pending: u64) -> (f64, u64) {
    let rt = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let _inside = rt.enter();
    let mut others: Vec<_> =
        (0..pending).map(|i| Box::pin(sleep(Duration::from_secs(3600) + Duration::from_millis(i)))).collect();
    others.iter_mut().for_each(|s| assert!(poll_once(s.as_mut()).is_pending()));
    per_op(ms, |n| {
        for _ in 0..n {
            let timer = sleep(Duration::from_secs(3600));
            futures::pin_mut!(timer);
            assert!(poll_once(timer.as_mut()).is_pending());
        }
    })
}

fn main() {
    run(&[
        ("runtime/timer_arm_cancel", "tokio sleep", |ms| arm_cancel(ms, 0)),
        ("runtime/timer_arm_cancel_10k", "tokio sleep", |ms| arm_cancel(ms, 10_000)),
        ("scale/timers_1k", "tokio sleep", |ms| arm_cancel(ms, 1_000)),
        ("scale/timers_100k", "tokio sleep", |ms| arm_cancel(ms, 100_000)),
        ("scale/timers_1m", "tokio sleep", |ms| arm_cancel(ms, 1_000_000)),
    ]);
}
