// tokio mpsc between two tasks: current_thread runtime (1T), two workers (2T). Per hop, and per value for the stream.
#[path = "../../harness/harness.rs"]
mod harness;
use harness::*;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::channel;

async fn ping_pong(n: u64) {
    let (there_tx, mut there_rx) = channel(1);
    let (back_tx, mut back_rx) = channel(1);
    let pong = tokio::spawn(async move {
        for _ in 0..n / 2 {
            let v: u64 = there_rx.recv().await.unwrap();
            back_tx.send(v).await.unwrap();
        }
    });
    let ping = tokio::spawn(async move {
        for i in 0..n / 2 {
            there_tx.send(i).await.unwrap();
            back_rx.recv().await.unwrap();
        }
    });
    ping.await.unwrap();
    pong.await.unwrap();
}

async fn stream(n: u64) {
    let (tx, mut rx) = channel(64);
    let sender = tokio::spawn(async move {
        for i in 0..n {
            tx.send(i).await.unwrap();
        }
    });
    for _ in 0..n {
        rx.recv().await.unwrap();
    }
    sender.await.unwrap();
}

fn one_thread() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

fn main() {
    run(&[
        ("sync/channel_ping_pong_1t", "tokio mpsc", |ms| {
            let rt = one_thread();
            per_op(ms, |n| rt.block_on(ping_pong(n)))
        }),
        ("sync/channel_ping_pong_2t", "tokio mpsc", |ms| {
            let rt = Builder::new_multi_thread().worker_threads(2).build().unwrap();
            per_op(ms, |n| rt.block_on(ping_pong(n)))
        }),
        ("sync/channel_stream_2t", "tokio mpsc", |ms| {
            let rt = Builder::new_multi_thread().worker_threads(2).build().unwrap();
            per_op(ms, |n| rt.block_on(async move { tokio::spawn(stream(n)).await.unwrap() }))
        }),
        ("sync/channel_stream_1t", "tokio mpsc", |ms| {
            let rt = one_thread();
            per_op(ms, |n| rt.block_on(stream(n)))
        }),
    ]);
}
