// tokio-util 0.7.3: CancellationToken and its children.
#[path = "../../harness/harness.rs"]
mod harness;
use harness::*;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

fn is_cancelled(ms: u64) -> (f64, u64) {
    let token = CancellationToken::new();
    per_op(ms, |n| {
        for _ in 0..n {
            black_box(black_box(&token).is_cancelled());
        }
    })
}

fn child_token(ms: u64, siblings: usize) -> (f64, u64) {
    let parent = CancellationToken::new();
    let others: Vec<_> = (0..siblings).map(|_| parent.child_token()).collect();
    let result = per_op(ms, |n| (0..n).for_each(|_| drop(black_box(parent.child_token()))));
    drop(others);
    result
}

fn cancel_tree(ms: u64, count: u64) -> (f64, u64) {
    let (value, ops) = measure(ms, |n| {
        let mut took = 0.0;
        for _ in 0..n {
            let parent = CancellationToken::new();
            let all: Vec<_> = (0..count).map(|_| parent.child_token()).collect();
            let start = Instant::now();
            parent.cancel();
            took += start.elapsed().as_nanos() as f64;
            assert!(all.last().unwrap().is_cancelled());
        }
        took
    });
    (value / count as f64, ops * count)
}

fn bytes_per_child(_: u64) -> (f64, u64) {
    const COUNT: u64 = 10_000;
    let parent = CancellationToken::new();
    let mut all = Vec::with_capacity(COUNT as usize);
    let before = heap_in_use();
    all.extend((0..COUNT).map(|_| parent.child_token()));
    ((heap_in_use() - before) / COUNT as f64, COUNT)
}

fn main() {
    run(&[
        ("tree/is_cancelled", "tokio CancellationToken", is_cancelled),
        ("tree/child", "tokio CancellationToken", |ms| child_token(ms, 0)),
        ("tree/child_of_1000", "tokio CancellationToken", |ms| child_token(ms, 1000)),
        ("tree/cancel_children_1k", "tokio CancellationToken", |ms| cancel_tree(ms, 1_000)),
        ("tree/cancel_children_100k", "tokio CancellationToken", |ms| cancel_tree(ms, 100_000)),
        ("scale/bytes_per_child", "tokio CancellationToken", bytes_per_child),
        ("shutdown/child", "tokio CancellationToken", |ms| child_token(ms, 0)),
        ("shutdown/child_of_1000", "tokio CancellationToken", |ms| child_token(ms, 1000)),
        ("shutdown/stop_children_1k", "tokio CancellationToken", |ms| cancel_tree(ms, 1_000)),
        ("shutdown/stop_children_100k", "tokio CancellationToken", |ms| cancel_tree(ms, 100_000)),
    ]);
}
