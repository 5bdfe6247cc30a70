// event-listener 2.5, polled by hand with a waker that does nothing.
#[path = "../../harness/harness.rs"]
mod harness;
use event_listener::Event;
use harness::*;
use std::pin::Pin;
use std::time::Instant;

fn notify_nobody(ms: u64) -> (f64, u64) {
    let event = Event::new();
    per_op(ms, |n| (0..n).for_each(|_| black_box(&event).notify(1)))
}

fn wait_wake_one(ms: u64) -> (f64, u64) {
    let event = Event::new();
    per_op(ms, |n| {
        for _ in 0..n {
            let mut wait = event.listen();
            assert!(poll_once(Pin::new(&mut wait)).is_pending());
            event.notify(1);
            assert!(poll_once(Pin::new(&mut wait)).is_ready());
        }
    })
}

fn wake_all_100(ms: u64) -> (f64, u64) {
    let event = Event::new();
    let (value, ops) = measure(ms, |n| {
        let mut took = 0.0;
        for _ in 0..n {
            let mut all: Vec<_> = (0..100).map(|_| event.listen()).collect();
            all.iter_mut().for_each(|w| assert!(poll_once(Pin::new(w)).is_pending()));
            let start = Instant::now();
            event.notify(usize::MAX);
            took += start.elapsed().as_nanos() as f64;
            all.iter_mut().for_each(|w| assert!(poll_once(Pin::new(w)).is_ready()));
        }
        took
    });
    (value / 100.0, ops * 100)
}

fn cycle_2t(ms: u64) -> (f64, u64) {
    let event = Event::new();
    per_op_threads(ms, 2, |_, n| {
        for _ in 0..n {
            let mut wait = event.listen();
            let _ = poll_once(Pin::new(&mut wait));
            event.notify(1);
        }
    })
}

fn main() {
    run(&[
        ("sync/notify_nobody", "event-listener", notify_nobody),
        ("sync/wait_wake_one", "event-listener", wait_wake_one),
        ("sync/wake_all_100", "event-listener", wake_all_100),
        ("sync/add_wake_2t", "event-listener", cycle_2t),
    ]);
}
