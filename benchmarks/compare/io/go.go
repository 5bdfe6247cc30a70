// Go's echo server: a goroutine per connection; the deadline is the connection's own read deadline. Go sets TCP_NODELAY, and
// raises the soft limit of descriptors, by itself.
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"runtime"
	"time"
)

func echo(c net.Conn, limit time.Duration) {
	defer c.Close()
	data := make([]byte, 4096)
	for {
		if limit > 0 {
			c.SetReadDeadline(time.Now().Add(limit))
		}
		n, err := c.Read(data)
		if err != nil {
			return
		}
		if _, err = c.Write(data[:n]); err != nil {
			return
		}
	}
}

func main() {
	port := flag.Int("port", 0, "0: any")
	threads := flag.Int("threads", 1, "GOMAXPROCS")
	limit := flag.Int("timeout-ms", 0, "of every read; 0: none")
	flag.Parse()
	runtime.GOMAXPROCS(*threads)
	listener, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		fmt.Fprintln(os.Stderr, "go: cannot listen:", err)
		os.Exit(1)
	}
	fmt.Println("listening on", listener.Addr())
	for {
		c, err := listener.Accept()
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		go echo(c, time.Duration(*limit)*time.Millisecond)
	}
}
