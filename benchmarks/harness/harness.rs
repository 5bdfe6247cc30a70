// The measuring side of the Rust subjects; same protocol as harness.hpp.
#![allow(dead_code)]
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

pub type Subject = (&'static str, &'static str, fn(u64) -> (f64, u64));

// Not 0: do exactly so many operations, once; for counting instructions.
static OPS: AtomicU64 = AtomicU64::new(0);

fn ns(start: Instant) -> f64 {
    start.elapsed().as_nanos() as f64
}

/// `batch(n)` does n operations and returns the nanoseconds they took; reports the batch at the 20th percentile.
pub fn measure(ms: u64, batch: impl FnMut(u64) -> f64) -> (f64, u64) {
    measure_from(2, ms, batch)
}

fn measure_from(first: u64, ms: u64, mut batch: impl FnMut(u64) -> f64) -> (f64, u64) {
    let exactly = OPS.load(Ordering::Relaxed);
    if exactly != 0 {
        return (batch(exactly) / exactly as f64, exactly);
    }
    let slice = ms as f64 * 1e6 / 20.0;
    let mut n = first;
    let mut took = batch(n);
    let mut sure = false;
    while took < slice || !sure {
        sure = took >= slice;
        if sure {
            took = batch(n); // one long batch may have been a disturbance: believe the second
            continue;
        }
        let want = slice / (took / n as f64) * 1.05;
        n = want.min(n as f64 * 16.0) as u64 + 2;
        took = batch(n);
    }
    let (mut per_op, mut ops, start) = (Vec::new(), 0, Instant::now());
    while per_op.len() < 5 || start.elapsed() < Duration::from_millis(ms) {
        per_op.push(batch(n) / n as f64);
        ops += n;
    }
    per_op.sort_by(|a, b| a.partial_cmp(b).unwrap());
    (per_op[per_op.len() / 5], ops)
}

/// One thread; `body(n)` does n operations.
pub fn per_op(ms: u64, mut body: impl FnMut(u64)) -> (f64, u64) {
    measure(ms, |n| {
        let start = Instant::now();
        body(n);
        ns(start)
    })
}

/// `count` threads released together; wall time / all operations.
pub fn per_op_threads(ms: u64, count: usize, body: impl Fn(usize, u64) + Sync) -> (f64, u64) {
    // Fewer would measure how the threads are scheduled.
    let (value, ops) = measure_from(1000, ms, |n| {
        let (ready, go) = (AtomicUsize::new(0), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let mut all = Vec::new();
            for i in 0..count {
                let (ready, go, body) = (&ready, &go, &body);
                all.push(scope.spawn(move || {
                    ready.fetch_add(1, Ordering::SeqCst);
                    while !go.load(Ordering::Acquire) {
                        std::hint::spin_loop();
                    }
                    body(i, n)
                }));
            }
            while ready.load(Ordering::SeqCst) != count {
                std::thread::yield_now();
            }
            let start = Instant::now();
            go.store(true, Ordering::Release);
            for t in all {
                t.join().unwrap();
            }
            ns(start) / count as f64
        })
    });
    (value, ops * count as u64)
}

/// Like std::hint's, which Debian 12's Rust does not have yet.
#[inline(always)]
pub fn black_box<T>(value: T) -> T {
    unsafe { std::arch::asm!("/* {0} */", in(reg) &value, options(nostack, preserves_flags)) };
    value
}

/// Polls a future once with a waker that does nothing: the cheapest possible executor, in favour of the peer.
pub fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    let waker = futures::task::noop_waker_ref();
    future.poll(&mut Context::from_waker(waker))
}

#[repr(C)]
struct Mallinfo2 {
    counts: [usize; 10], // arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost
}

extern "C" {
    fn mallinfo2() -> Mallinfo2;
}

/// Bytes of the heap that are in use, counted as in the C++ subjects.
pub fn heap_in_use() -> f64 {
    let counts = unsafe { mallinfo2() }.counts;
    (counts[4] + counts[7]) as f64
}

pub fn run(all: &[Subject]) {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|a| a == "--list") {
        for (name, subject, _) in all {
            println!("{name}\t{subject}\tpeer");
        }
        return;
    }
    let value_of = |key: &str| args.iter().position(|a| a == key).and_then(|i| args.get(i + 1)).cloned();
    let name = value_of("--case").unwrap_or_default();
    let which = value_of("--subject");
    let ms = value_of("--ms").and_then(|v| v.parse().ok()).unwrap_or(50);
    OPS.store(value_of("--ops").and_then(|v| v.parse().ok()).unwrap_or(0), Ordering::Relaxed);
    for (case, subject, body) in all {
        if *case == name && which.as_deref().map_or(true, |w| w == *subject) {
            let (value, ops) = body(ms);
            println!("{case} {value:.4} {ops}");
            return;
        }
    }
    eprintln!("no such case; try --list, or --case CASE --subject SUBJECT --ms N");
    std::process::exit(2);
}
