// parking_lot: OS threads only, one byte, barging.
#[path = "../../harness/harness.rs"]
mod harness;
use harness::*;
use parking_lot::Mutex;

fn alone(ms: u64) -> (f64, u64) {
    let lock = Mutex::new(0u64);
    per_op(ms, |n| (0..n).for_each(|_| *black_box(&lock).lock() += 1))
}

fn contended(ms: u64) -> (f64, u64) {
    let lock = Mutex::new(0u64);
    per_op_threads(ms, 2, |_, n| (0..n).for_each(|_| *black_box(&lock).lock() += 1))
}

fn main() {
    run(&[("sync/mutex_1t", "parking_lot Mutex", alone), ("sync/mutex_2t", "parking_lot Mutex", contended)]);
}
