// parking_lot: OS threads only.
#[path = "../../harness/harness.rs"]
mod harness;
use harness::*;
use parking_lot::{Condvar, Mutex};

fn notify_nobody(ms: u64) -> (f64, u64) {
    let condvar = Condvar::new();
    per_op(ms, |n| {
        (0..n).for_each(|_| {
            black_box(black_box(&condvar).notify_one());
        })
    })
}

fn ping_pong(ms: u64) -> (f64, u64) {
    let (turn, changed) = (Mutex::new(0usize), [Condvar::new(), Condvar::new()]);
    per_op_threads(ms, 2, |me, n| {
        for _ in 0..n {
            let mut hold = turn.lock();
            while *hold != me {
                changed[me].wait(&mut hold);
            }
            *hold = 1 - me;
            drop(hold);
            changed[1 - me].notify_one();
        }
    })
}

fn main() {
    run(&[
        ("sync/notify_nobody", "parking_lot Condvar", notify_nobody),
        ("sync/thread_ping_pong", "parking_lot Condvar", ping_pong),
    ]);
}
