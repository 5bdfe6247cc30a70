// r2d2: the pool itself, with a manager whose connections are integers and always healthy. No test on check-out except in
// pool/checked_1t_4.
#[path = "../../harness/harness.rs"]
mod harness;
use harness::*;

struct Numbers;

impl r2d2::ManageConnection for Numbers {
    type Connection = u64;
    type Error = std::io::Error;
    fn connect(&self) -> Result<u64, Self::Error> {
        Ok(1)
    }
    fn is_valid(&self, _: &mut u64) -> Result<(), Self::Error> {
        Ok(())
    }
    fn has_broken(&self, _: &mut u64) -> bool {
        false
    }
}

fn cycle(ms: u64, threads: usize, resources: u32, is_checked: bool) -> (f64, u64) {
    let pool = r2d2::Pool::builder().max_size(resources).test_on_check_out(is_checked).build(Numbers).unwrap();
    per_op_threads(ms, threads, |_, n| (0..n).for_each(|_| drop(black_box(pool.get().unwrap()))))
}

fn main() {
    run(&[
        ("pool/cycle_1t_4", "r2d2", |ms| cycle(ms, 1, 4, false)),
        ("pool/checked_1t_4", "r2d2", |ms| cycle(ms, 1, 4, true)),
        ("pool/cycle_2t_4", "r2d2", |ms| cycle(ms, 2, 4, false)),
        ("pool/cycle_2t_2", "r2d2", |ms| cycle(ms, 2, 2, false)),
        ("pool/cycle_2t_1", "r2d2", |ms| cycle(ms, 2, 1, false)),
    ]);
}
