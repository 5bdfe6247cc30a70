// crossbeam-channel between two OS threads (it has no coroutine form). Per hop, and per value
// for the stream.
#[path = "../../harness/harness.rs"]
mod harness;
use crossbeam::channel::bounded;
use harness::*;

fn ping_pong_2t(ms: u64) -> (f64, u64) {
    per_op(ms, |n| {
        let (there_tx, there_rx) = bounded::<u64>(1);
        let (back_tx, back_rx) = bounded::<u64>(1);
        let pong = std::thread::spawn(move || {
            for _ in 0..n / 2 {
                back_tx.send(there_rx.recv().unwrap()).unwrap();
            }
        });
        for i in 0..n / 2 {
            there_tx.send(i).unwrap();
            back_rx.recv().unwrap();
        }
        pong.join().unwrap();
    })
}

fn stream_2t(ms: u64) -> (f64, u64) {
    per_op(ms, |n| {
        let (tx, rx) = bounded::<u64>(64);
        let sender = std::thread::spawn(move || (0..n).for_each(|i| tx.send(i).unwrap()));
        (0..n).for_each(|_| assert!(rx.recv().is_ok()));
        sender.join().unwrap();
    })
}

fn main() {
    run(&[
        ("sync/channel_ping_pong_2t", "crossbeam channel (threads)", ping_pong_2t),
        ("sync/channel_stream_2t", "crossbeam channel (threads)", stream_2t),
    ]);
}
