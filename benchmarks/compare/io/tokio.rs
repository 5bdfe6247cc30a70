// tokio's echo server: a task per connection. One thread: the current_thread runtime; two: the multi_thread runtime, with the
// accept loop in a task, because the thread in block_on is no worker.
use std::io::Write;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::time::timeout;

async fn echo(mut stream: TcpStream, limit: Option<Duration>) {
    let mut data = [0u8; 4096];
    loop {
        let read = match limit {
            None => stream.read(&mut data).await,
            Some(limit) => match timeout(limit, stream.read(&mut data)).await {
                Ok(read) => read,
                Err(_) => return,
            },
        };
        match read {
            Ok(n) if n > 0 => {
                if stream.write_all(&data[..n]).await.is_err() {
                    return;
                }
            }
            _ => return,
        }
    }
}

async fn serve(port: u16, limit: Option<Duration>) {
    let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap_or_else(|e| fail(&format!("cannot listen: {e}")));
    println!("listening on {}", listener.local_addr().unwrap());
    std::io::stdout().flush().unwrap();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let _ = stream.set_nodelay(true);
                tokio::spawn(echo(stream, limit));
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

fn fail(what: &str) -> ! {
    eprintln!("tokio: {what}");
    std::process::exit(1)
}

#[repr(C)]
struct Limits {
    soft: u64,
    hard: u64,
}

extern "C" {
    fn getrlimit(resource: i32, limits: *mut Limits) -> i32;
    fn setrlimit(resource: i32, limits: *const Limits) -> i32;
}

// A thousand connections need more descriptors than the usual soft limit.
fn raise_file_limit() {
    const FILES: i32 = 7;
    let mut limits = Limits { soft: 0, hard: 0 };
    unsafe {
        if getrlimit(FILES, &mut limits) == 0 {
            limits.soft = limits.hard;
            setrlimit(FILES, &limits);
        }
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (mut port, mut threads, mut limit) = (0, 1, None);
    for pair in args.chunks(2) {
        let value: u64 = pair.get(1).and_then(|v| v.parse().ok()).unwrap_or_else(|| fail("an option without a number"));
        match pair[0].as_str() {
            "--port" => port = value as u16,
            "--threads" => threads = value as usize,
            "--timeout-ms" => limit = Some(Duration::from_millis(value)).filter(|_| value > 0),
            other => fail(&format!("unknown option {other}")),
        }
    }
    raise_file_limit();
    if threads == 1 {
        Builder::new_current_thread().enable_all().build().unwrap().block_on(serve(port, limit));
    } else {
        let runtime = Builder::new_multi_thread().worker_threads(threads).enable_all().build().unwrap();
        let _ = runtime.block_on(runtime.spawn(serve(port, limit)));
    }
}
