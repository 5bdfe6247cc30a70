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
	})
}
