// A Vec under a parking_lot mutex with its condition variable. No health, lifetime, fairness or cancellation.
#[path = "../../harness/harness.rs"]
mod harness;
use harness::*;
use parking_lot::{Condvar, Mutex};

fn cycle(ms: u64, threads: usize, resources: u64) -> (f64, u64) {
    let (idle, back) = (Mutex::new((0..resources).collect::<Vec<u64>>()), Condvar::new());
    per_op_threads(ms, threads, |_, n| {
        for _ in 0..n {
            let mut held = idle.lock();
            let r = loop {
                match held.pop() {
                    Some(r) => break r,
                    None => back.wait(&mut held),
                }
            };
            drop(held);
            black_box(r);
            idle.lock().push(r);
            back.notify_one();
        }
    })
}

fn main() {
    run(&[
        ("pool/cycle_1t_4", "parking_lot mutex + condvar + Vec", |ms| cycle(ms, 1, 4)),
        ("pool/cycle_2t_4", "parking_lot mutex + condvar + Vec", |ms| cycle(ms, 2, 4)),
        ("pool/cycle_2t_2", "parking_lot mutex + condvar + Vec", |ms| cycle(ms, 2, 2)),
        ("pool/cycle_2t_1", "parking_lot mutex + condvar + Vec", |ms| cycle(ms, 2, 1)),
    ]);
}
