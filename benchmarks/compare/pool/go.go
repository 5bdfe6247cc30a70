// Go: database/sql with a driver that does nothing (its pool is what is measured), and a buffered channel as a pool.
package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"runtime"
	"sync"
)

type nothing struct{}

func (nothing) Open(string) (driver.Conn, error)    { return nothing{}, nil }
func (nothing) Prepare(string) (driver.Stmt, error) { return nil, errors.New("no statements") }
func (nothing) Close() error                        { return nil }
func (nothing) Begin() (driver.Tx, error)           { return nil, errors.New("no transactions") }

func parallel(threads int, n uint64, body func(n uint64)) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	var ended sync.WaitGroup
	ended.Add(threads)
	arrived := int32(0)
	for t := 0; t < threads; t++ {
		go func() {
			meet(&arrived, threads)
			body(n / uint64(threads))
			ended.Done()
		}()
	}
	ended.Wait()
}

func databaseSQL(threads, resources int) func(n uint64) {
	db, _ := sql.Open("nothing", "")
	db.SetMaxOpenConns(resources)
	db.SetMaxIdleConns(resources)
	return func(n uint64) {
		parallel(threads, n, func(n uint64) {
			for i := uint64(0); i < n; i++ {
				conn, err := db.Conn(context.Background())
				if err != nil {
					panic(err)
				}
				conn.Close()
			}
		})
	}
}

func channelPool(threads, resources int) func(n uint64) {
	pool := make(chan int, resources)
	for i := 0; i < resources; i++ {
		pool <- i
	}
	return func(n uint64) {
		parallel(threads, n, func(n uint64) {
			for i := uint64(0); i < n; i++ {
				pool <- <-pool
			}
		})
	}
}

// Nothing is kept idle: every Conn opens a connection, every Close closes it.
func sqlChurn() func(n uint64) {
	db, _ := sql.Open("nothing", "")
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(-1)
	return func(n uint64) {
		parallel(1, n, func(n uint64) {
			for i := uint64(0); i < n; i++ {
				conn, err := db.Conn(context.Background())
				if err != nil {
					panic(err)
				}
				conn.Close()
			}
		})
	}
}

// Two goroutines on one processor take turns with one resource.
func takeTurns(borrow func() func()) func(n uint64) {
	return func(n uint64) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		var ended sync.WaitGroup
		ended.Add(2)
		for t := 0; t < 2; t++ {
			go func() {
				for i := uint64(0); i < n/2; i++ {
					giveBack := borrow()
					runtime.Gosched()
					giveBack()
				}
				ended.Done()
			}()
		}
		ended.Wait()
	}
}

func onlyConn() *sql.DB {
	db, _ := sql.Open("nothing", "")
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	return db
}

func sqlTurns() func(n uint64) {
	db := onlyConn()
	return takeTurns(func() func() {
		conn, err := db.Conn(context.Background())
		if err != nil {
			panic(err)
		}
		return func() { conn.Close() }
	})
}

func channelTurns() func(n uint64) {
	pool := make(chan int, 1)
	pool <- 1
	return takeTurns(func() func() {
		r := <-pool
		return func() { pool <- r }
	})
}

// The pool is empty; whoever waits is cancelled by another goroutine.
func sqlCancel(n uint64) {
	db := onlyConn()
	held, _ := db.Conn(context.Background())
	for i := uint64(0); i < n; i++ {
		ctx, cancel := context.WithCancel(context.Background())
		go cancel()
		if _, err := db.Conn(ctx); err == nil {
			panic("got one")
		}
	}
	held.Close()
	db.Close()
}

func channelCancel(n uint64) {
	pool := make(chan int)
	for i := uint64(0); i < n; i++ {
		ctx, cancel := context.WithCancel(context.Background())
		go cancel()
		select {
		case <-pool:
			panic("got one")
		case <-ctx.Done():
		}
	}
}

func main() {
	sql.Register("nothing", nothing{})
	run([]subject{
		{"pool/cycle_1t_4", "Go database/sql", databaseSQL(1, 4)},
		{"pool/cycle_2t_4", "Go database/sql", databaseSQL(2, 4)},
		{"pool/cycle_2t_2", "Go database/sql", databaseSQL(2, 2)},
		{"pool/cycle_2t_1", "Go database/sql", databaseSQL(2, 1)},
		{"pool/cycle_1t_4", "Go buffered channel", channelPool(1, 4)},
		{"pool/cycle_2t_4", "Go buffered channel", channelPool(2, 4)},
		{"pool/cycle_2t_2", "Go buffered channel", channelPool(2, 2)},
		{"pool/cycle_2t_1", "Go buffered channel", channelPool(2, 1)},
		{"pool/churn", "Go database/sql", sqlChurn()},
		{"pool/handoff_tasks", "Go database/sql", sqlTurns()},
		{"pool/handoff_tasks", "Go buffered channel", channelTurns()},
		{"pool/cancel_waiting", "Go database/sql", sqlCancel},
		{"pool/cancel_waiting", "Go buffered channel", channelCancel},
	})
}
