// crossbeam-channel between two OS threads (it has no coroutine form). Per hop.
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

fn main() {
    run(&[("sync/channel_ping_pong_2t", "crossbeam channel (threads)", ping_pong_2t)]);
}
