// tokio: tasks with join handles; an actor is a task with an mpsc receiver that answers over oneshot channels, as its
// documentation recommends; broadcast for publishing.
#[path = "../../harness/harness.rs"]
mod harness;
use harness::*;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{broadcast, mpsc, oneshot, Semaphore};

fn runtime(threads: usize) -> Runtime {
    match threads {
        1 => Builder::new_current_thread().build().unwrap(),
        n => Builder::new_multi_thread().worker_threads(n).build().unwrap(),
    }
}

// Boxed, as in task/await_child: unboxed the compiler makes one state machine of the three.
fn boxed<T>(f: impl Future<Output = T> + Send + 'static) -> Pin<Box<dyn Future<Output = T> + Send>> {
    black_box(Box::pin(f))
}
async fn one() -> u64 {
    1
}
async fn middle() -> u64 {
    boxed(one()).await + 1
}
async fn outer() -> u64 {
    boxed(middle()).await + 1
}

fn chain(ms: u64) -> (f64, u64) {
    let rt = runtime(1);
    per_op(ms, |n| {
        rt.block_on(async move {
            for _ in 0..n {
                black_box(boxed(outer()).await);
            }
        })
    })
}

fn concurrent(ms: u64, count: u64) -> (f64, u64) {
    let rt = runtime(1);
    let (value, ops) = per_op(ms, |n| {
        rt.block_on(async move {
            let mut all = Vec::with_capacity(count as usize);
            for _ in 0..n {
                all.extend((0..count).map(|_| tokio::spawn(one())));
                for child in all.drain(..) {
                    black_box(child.await.unwrap());
                }
            }
        })
    });
    (value / count as f64, ops * count)
}

type Request = (u64, oneshot::Sender<u64>);

async fn actor(mut requests: mpsc::Receiver<Request>) {
    while let Some((value, reply)) = requests.recv().await {
        let _ = reply.send(value + 1);
    }
}

async fn ask(to: &mpsc::Sender<Request>, value: u64) -> u64 {
    let (reply, answer) = oneshot::channel();
    to.send((value, reply)).await.unwrap();
    answer.await.unwrap()
}

fn asks(ms: u64, count: u64) -> (f64, u64) {
    let rt = runtime(1);
    let (value, ops) = per_op(ms, |n| {
        rt.block_on(async move {
            let (to, requests) = mpsc::channel(64);
            let server = tokio::spawn(actor(requests));
            let all: Vec<_> = (0..count)
                .map(|_| {
                    let to = to.clone();
                    tokio::spawn(async move {
                        for i in 0..n {
                            assert_eq!(ask(&to, i).await, i + 1);
                        }
                    })
                })
                .collect();
            drop(to);
            for client in all {
                client.await.unwrap();
            }
            server.await.unwrap();
        })
    });
    (value / count as f64, ops * count)
}

async fn authenticate(user: u64) -> bool {
    user != u64::MAX
}

async fn handle(database: mpsc::Sender<Request>, user: u64) -> u64 {
    match authenticate(user).await {
        true => ask(&database, user).await + 1,
        false => 0,
    }
}

fn http(ms: u64, count: u64, threads: usize) -> (f64, u64) {
    let rt = runtime(threads);
    let (value, ops) = per_op(ms, |n| {
        rt.block_on(async move {
            // Started from a worker, as a service would.
            let all = tokio::spawn(async move {
                let (database, requests) = mpsc::channel(64);
                let server = tokio::spawn(actor(requests));
                for _ in 0..n {
                    let all: Vec<_> = (0..count).map(|k| tokio::spawn(handle(database.clone(), k))).collect();
                    for request in all {
                        black_box(request.await.unwrap());
                    }
                }
                drop(database);
                server.await.unwrap();
            });
            all.await.unwrap()
        })
    });
    (value / count as f64, ops * count)
}

const MESSAGES: u64 = 10;

// Publishers and subscribers are spread over the topics in turn.
fn pubsub(ms: u64, publishers: u64, subscribers: u64, topics: u64) -> (f64, u64) {
    let rt = runtime(1);
    let (value, ops) = per_op(ms, |n| {
        rt.block_on(async move {
            let news: Vec<_> = (0..topics).map(|_| broadcast::channel(1024)).collect();
            for _ in 0..n {
                let mut all = Vec::new();
                for k in 0..subscribers {
                    let topic = k % topics;
                    let expected = (publishers + topics - 1 - topic) / topics * MESSAGES;
                    let mut mine = news[topic as usize].0.subscribe();
                    all.push(tokio::spawn(async move {
                        let mut sum = 0u64;
                        for _ in 0..expected {
                            sum += mine.recv().await.unwrap();
                        }
                        black_box(sum);
                    }));
                }
                for k in 0..publishers {
                    let news = news[(k % topics) as usize].0.clone();
                    all.push(tokio::spawn(async move {
                        for _ in 0..MESSAGES {
                            news.send(1u64).unwrap();
                            tokio::task::yield_now().await;
                        }
                    }));
                }
                for task in all {
                    task.await.unwrap();
                }
            }
        })
    });
    let per = publishers * subscribers / topics * MESSAGES;
    (value / per as f64, ops * per)
}

fn contended(ms: u64, count: u64, threads: usize) -> (f64, u64) {
    let rt = runtime(threads);
    let (value, ops) = per_op(ms, |n| {
        rt.block_on(async move {
            let permits = Arc::new(Semaphore::new(4));
            let all: Vec<_> = (0..count)
                .map(|_| {
                    let permits = permits.clone();
                    tokio::spawn(async move {
                        for _ in 0..n {
                            let _held = permits.acquire().await.unwrap();
                            tokio::task::yield_now().await;
                        }
                    })
                })
                .collect();
            for holder in all {
                holder.await.unwrap();
            }
        })
    });
    (value / count as f64, ops * count)
}

fn main() {
    run(&[
        ("task/chain", "Rust boxed futures", chain),
        ("jobs/concurrent_1", "tokio::spawn", |ms| concurrent(ms, 1)),
        ("jobs/concurrent_2", "tokio::spawn", |ms| concurrent(ms, 2)),
        ("jobs/concurrent_4", "tokio::spawn", |ms| concurrent(ms, 4)),
        ("jobs/concurrent_8", "tokio::spawn", |ms| concurrent(ms, 8)),
        ("jobs/concurrent_16", "tokio::spawn", |ms| concurrent(ms, 16)),
        ("jobs/concurrent_32", "tokio::spawn", |ms| concurrent(ms, 32)),
        ("jobs/concurrent_64", "tokio::spawn", |ms| concurrent(ms, 64)),
        ("jobs/handles_64", "tokio::spawn", |ms| concurrent(ms, 64)),
        ("jobs/ask_1", "tokio mpsc + oneshot", |ms| asks(ms, 1)),
        ("jobs/ask_10", "tokio mpsc + oneshot", |ms| asks(ms, 10)),
        ("jobs/ask_100", "tokio mpsc + oneshot", |ms| asks(ms, 100)),
        ("jobs/http_1", "tokio", |ms| http(ms, 1, 1)),
        ("jobs/http_10", "tokio", |ms| http(ms, 10, 1)),
        ("jobs/http_100", "tokio", |ms| http(ms, 100, 1)),
        ("jobs/http_1000", "tokio", |ms| http(ms, 1000, 1)),
        ("jobs/http_1000_2t", "tokio", |ms| http(ms, 1000, 2)),
        ("jobs/pubsub_1x10", "tokio broadcast", |ms| pubsub(ms, 1, 10, 1)),
        ("jobs/pubsub_10x10", "tokio broadcast", |ms| pubsub(ms, 10, 10, 1)),
        ("jobs/pubsub_10x100", "tokio broadcast", |ms| pubsub(ms, 10, 100, 1)),
        ("jobs/pubsub_100x100", "tokio broadcast", |ms| pubsub(ms, 100, 100, 1)),
        ("jobs/pubsub_10x100x4", "tokio broadcast", |ms| pubsub(ms, 10, 100, 4)),
        ("jobs/pubsub_100x100x4", "tokio broadcast", |ms| pubsub(ms, 100, 100, 4)),
        ("sync/semaphore_tasks_2", "tokio Semaphore", |ms| contended(ms, 2, 1)),
        ("sync/semaphore_tasks_4", "tokio Semaphore", |ms| contended(ms, 4, 1)),
        ("sync/semaphore_tasks_8", "tokio Semaphore", |ms| contended(ms, 8, 1)),
        ("sync/semaphore_tasks_16", "tokio Semaphore", |ms| contended(ms, 16, 1)),
        ("sync/semaphore_tasks_32", "tokio Semaphore", |ms| contended(ms, 32, 1)),
        ("sync/semaphore_tasks_64", "tokio Semaphore", |ms| contended(ms, 64, 1)),
        ("sync/semaphore_tasks_64_2t", "tokio Semaphore", |ms| contended(ms, 64, 2)),
    ]);
}
