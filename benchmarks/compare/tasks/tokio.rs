// tokio: spawn + join handles, yield_now, async fn for a child that is awaited.
#[path = "../../harness/harness.rs"]
mod harness;
use harness::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::runtime::{Builder, Runtime};

fn runtime(threads: usize) -> Runtime {
    match threads {
        1 => Builder::new_current_thread().build().unwrap(),
        n => Builder::new_multi_thread().worker_threads(n).build().unwrap(),
    }
}

fn spawn_join(ms: u64, threads: usize) -> (f64, u64) {
    let rt = runtime(threads);
    let (value, ops) = per_op(ms, |n| {
        rt.block_on(async move {
            // Spawned from a worker, as a service would.
            tokio::spawn(async move {
                for _ in 0..n {
                    let all: Vec<_> = (0..1000).map(|i| tokio::spawn(async move { i })).collect();
                    for child in all {
                        black_box(child.await.unwrap());
                    }
                }
            })
            .await
            .unwrap();
        })
    });
    (value / 1000.0, ops * 1000)
}

async fn child(i: u64) -> u64 {
    i
}

// A boxed future is what a coroutine frame is: allocated, polled through a pointer.
fn await_boxed(ms: u64) -> (f64, u64) {
    let rt = runtime(1);
    per_op(ms, |n| {
        rt.block_on(async move {
            for i in 0..n {
                let boxed: std::pin::Pin<Box<dyn std::future::Future<Output = u64>>> = Box::pin(child(i));
                black_box(black_box(boxed).await);
            }
        })
    })
}

// Set before, awaited again and again: tokio-util's token is its one-shot event, the cell its value that comes once.
fn await_ready(ms: u64) -> (f64, u64) {
    let rt = runtime(1);
    let token = tokio_util::sync::CancellationToken::new();
    token.cancel();
    per_op(ms, |n| {
        rt.block_on(async {
            for _ in 0..n {
                black_box(&token).cancelled().await;
            }
        })
    })
}

fn await_ready_cell(ms: u64) -> (f64, u64) {
    let rt = runtime(1);
    let cell = tokio::sync::OnceCell::new_with(Some(1u64));
    per_op(ms, |n| {
        rt.block_on(async {
            for _ in 0..n {
                black_box(black_box(&cell).get_or_init(|| async { 2 }).await);
            }
        })
    })
}

// Two tasks wake each other in turn; every await suspends.
fn await_suspended(ms: u64) -> (f64, u64) {
    let rt = runtime(1);
    per_op(ms, |n| {
        rt.block_on(async move {
            let turn = std::sync::Arc::new([tokio::sync::Notify::new(), tokio::sync::Notify::new()]);
            let each = |me: usize| {
                let turn = turn.clone();
                tokio::spawn(async move {
                    for _ in 0..n / 2 {
                        turn[me].notified().await;
                        turn[1 - me].notify_one();
                    }
                })
            };
            let (one, other) = (each(0), each(1));
            turn[0].notify_one();
            one.await.unwrap();
            other.await.unwrap();
        })
    })
}

// Only the spawn calls are timed.
fn create(ms: u64) -> (f64, u64) {
    let rt = runtime(1);
    measure(ms, |n| {
        rt.block_on(async move {
            let (mut took, mut left) = (0.0, n);
            while left > 0 {
                let now = left.min(500);
                left -= now;
                let start = std::time::Instant::now();
                let all: Vec<_> = (0..now).map(|i| tokio::spawn(async move { i })).collect();
                took += start.elapsed().as_nanos() as f64;
                for child in all {
                    black_box(child.await.unwrap());
                }
            }
            took
        })
    })
}

fn create_join(ms: u64) -> (f64, u64) {
    let rt = runtime(1);
    per_op(ms, |n| {
        rt.block_on(async move {
            for i in 0..n {
                black_box(tokio::spawn(async move { i }).await.unwrap());
            }
        })
    })
}

// Only the awaits are timed: the children have ended.
fn await_ended(ms: u64) -> (f64, u64) {
    let rt = runtime(1);
    measure(ms, |n| {
        rt.block_on(async move {
            let (mut took, mut left) = (0.0, n);
            while left > 0 {
                let now = left.min(500);
                left -= now;
                let all: Vec<_> = (0..now).map(|i| tokio::spawn(async move { i })).collect();
                while !all.iter().all(|child| child.is_finished()) {
                    tokio::task::yield_now().await;
                }
                let start = std::time::Instant::now();
                for child in all {
                    black_box(child.await.unwrap());
                }
                took += start.elapsed().as_nanos() as f64;
            }
            took
        })
    })
}

// The first of two children; the other one is aborted and awaited.
fn race_two(ms: u64) -> (f64, u64) {
    let rt = runtime(1);
    per_op(ms, |n| {
        rt.block_on(async move {
            for i in 0..n {
                let mut a = tokio::spawn(async move { i });
                let mut b = tokio::spawn(async move { i + 1 });
                tokio::select! {
                    biased;
                    got = &mut a => { black_box(got.unwrap()); b.abort(); let _ = b.await; }
                    got = &mut b => { black_box(got.unwrap()); a.abort(); let _ = a.await; }
                }
            }
        })
    })
}

fn yield_now(ms: u64, threads: usize) -> (f64, u64) {
    let rt = runtime(threads);
    per_op(ms, |n| {
        rt.block_on(async move {
            tokio::spawn(async move {
                for _ in 0..n {
                    tokio::task::yield_now().await;
                }
            })
            .await
            .unwrap()
        })
    })
}

fn cancel_sleepers(ms: u64, count: usize) -> (f64, u64) {
    let rt = Builder::new_current_thread().enable_time().build().unwrap();
    per_op(ms, |n| {
        rt.block_on(async move {
            for _ in 0..n {
                let mut set = tokio::task::JoinSet::new();
                for _ in 0..count {
                    set.spawn(tokio::time::sleep(std::time::Duration::from_secs(3600)));
                }
                tokio::task::yield_now().await;
                set.shutdown().await;
            }
        })
    })
}

// Start and join one task while `live` others are suspended.
fn spawn_among(ms: u64, live: usize) -> (f64, u64) {
    let rt = runtime(1);
    let open = std::sync::Arc::new((tokio::sync::Notify::new(), AtomicUsize::new(0)));
    let others: Vec<_> = (0..live)
        .map(|_| {
            let open = open.clone();
            rt.spawn(async move {
                open.1.fetch_add(1, Ordering::Relaxed);
                open.0.notified().await
            })
        })
        .collect();
    rt.block_on(async {
        while open.1.load(Ordering::Relaxed) < live {
            tokio::task::yield_now().await;
        }
    });
    let result = per_op(ms, |n| {
        rt.block_on(async move {
            for i in 0..n {
                black_box(tokio::spawn(async move { i }).await.unwrap());
            }
        })
    });
    std::mem::forget(others);
    result
}

// Heap bytes per suspended task, when the queue of the runtime has grown to its size.
fn bytes_per_job(_: u64) -> (f64, u64) {
    const COUNT: usize = 20_000;
    static WAITING: AtomicUsize = AtomicUsize::new(0);
    let open: &'static tokio::sync::Notify = Box::leak(Box::new(tokio::sync::Notify::new()));
    let rt = runtime(1);
    let all_waiting = |expected: usize| {
        rt.block_on(async move {
            while WAITING.load(Ordering::Relaxed) < expected {
                tokio::task::yield_now().await;
            }
        })
    };
    (0..COUNT).for_each(|_| drop(rt.spawn(async { WAITING.fetch_add(1, Ordering::Relaxed) })));
    all_waiting(COUNT);
    let before = heap_in_use();
    for _ in 0..COUNT {
        rt.spawn(async move {
            WAITING.fetch_add(1, Ordering::Relaxed);
            open.notified().await
        });
    }
    all_waiting(2 * COUNT);
    ((heap_in_use() - before) / COUNT as f64, COUNT as u64)
}

fn main() {
    run(&[
        ("jobs/spawn_join_1t", "tokio::spawn", |ms| spawn_join(ms, 1)),
        ("jobs/spawn_join_2t", "tokio::spawn", |ms| spawn_join(ms, 2)),
        ("jobs/create", "tokio::spawn", create),
        ("jobs/create_join", "tokio::spawn", create_join),
        ("jobs/await_ended", "tokio JoinHandle", await_ended),
        ("jobs/race_two", "tokio select!", race_two),
        ("scale/bytes_per_job", "tokio::spawn", bytes_per_job),
        ("scale/jobs_1k", "tokio::spawn", |ms| spawn_among(ms, 1_000)),
        ("scale/jobs_100k", "tokio::spawn", |ms| spawn_among(ms, 100_000)),
        ("scale/jobs_1m", "tokio::spawn", |ms| spawn_among(ms, 1_000_000)),
        ("task/await_child", "Rust boxed future", await_boxed),
        ("task/await_ready", "tokio CancellationToken", await_ready),
        ("task/await_ready", "tokio OnceCell", await_ready_cell),
        ("task/await_suspended", "tokio Notify", await_suspended),
        ("runtime/yield_1t", "tokio yield_now", |ms| yield_now(ms, 1)),
        ("runtime/yield_2t", "tokio yield_now", |ms| yield_now(ms, 2)),
        ("jobs/cancel_sleepers_1", "tokio JoinSet", |ms| cancel_sleepers(ms, 1)),
        ("jobs/cancel_sleepers_8", "tokio JoinSet", |ms| cancel_sleepers(ms, 8)),
        ("jobs/cancel_sleepers_32", "tokio JoinSet", |ms| cancel_sleepers(ms, 32)),
    ]);
}
