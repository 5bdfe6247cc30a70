// Go: goroutines with a WaitGroup, Gosched, context for cancellation.
package main

import (
	"context"
	"runtime"
	"sync"
	"time"
)

func with(threads int, body func(n uint64)) func(n uint64) {
	return func(n uint64) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		body(n)
	}
}

// n counts children, a thousand at a time.
func spawnJoin(n uint64) {
	for left := n; left > 0; {
		count := uint64(1000)
		if left < count {
			count = left
		}
		left -= count
		var all sync.WaitGroup
		all.Add(int(count))
		for i := uint64(0); i < count; i++ {
			go all.Done()
		}
		all.Wait()
	}
}

func createJoin(n uint64) {
	result := make(chan int, 1)
	for i := uint64(0); i < n; i++ {
		go func() { result <- 1 }()
		<-result
	}
}

func raceTwo(n uint64) {
	for i := uint64(0); i < n; i++ {
		result := make(chan int, 2)
		go func() { result <- 1 }()
		go func() { result <- 2 }()
		<-result
		<-result // the other one has ended as well
	}
}

// Only the receives are timed: the goroutines have ended, their results lie in the channel.
func awaitEnded(n uint64) float64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	took := time.Duration(0)
	results := make(chan int, 500)
	for left := n; left > 0; {
		count := uint64(500)
		if left < count {
			count = left
		}
		left -= count
		var all sync.WaitGroup
		all.Add(int(count))
		for i := uint64(0); i < count; i++ {
			go func() {
				results <- 1
				all.Done()
			}()
		}
		all.Wait()
		sum := 0
		start := time.Now()
		for i := uint64(0); i < count; i++ {
			sum += <-results
		}
		took += time.Since(start)
		expect(uint64(sum), count)
	}
	return float64(took.Nanoseconds())
}

// Two goroutines wake each other in turn; every receive waits.
func awaitSuspended(n uint64) {
	turn := [2]chan struct{}{make(chan struct{}, 1), make(chan struct{}, 1)}
	var both sync.WaitGroup
	both.Add(2)
	for me := 0; me < 2; me++ {
		go func(mine, other chan struct{}) {
			for i := uint64(0); i < n/2; i++ {
				<-mine
				other <- struct{}{}
			}
			both.Done()
		}(turn[me], turn[1-me])
	}
	turn[0] <- struct{}{}
	both.Wait()
}

func yield(n uint64) {
	for i := uint64(0); i < n; i++ {
		runtime.Gosched()
	}
}

func fib(n uint) uint64 {
	if n < 2 {
		return uint64(n)
	}
	left := make(chan uint64, 1)
	go func() { left <- fib(n - 1) }()
	right := fib(n - 2)
	return <-left + right
}

func skynet(number uint64, depth uint) uint64 {
	if depth == 0 {
		return number
	}
	width := uint64(1)
	for i := uint(1); i < depth; i++ {
		width *= 10
	}
	parts := make(chan uint64, 10)
	for i := uint64(0); i < 10; i++ {
		go func(i uint64) { parts <- skynet(number+i*width, depth-1) }(i)
	}
	sum := uint64(0)
	for i := 0; i < 10; i++ {
		sum += <-parts
	}
	return sum
}

const queens = 8

// Columns of the queens in the rows filled so far.
type board struct {
	columns [queens]uint8
	rows    int
}

func (b board) isFree(column int) bool {
	for row := 0; row < b.rows; row++ {
		other, away := int(b.columns[row]), b.rows-row
		if other == column || other+away == column || column+away == other {
			return false
		}
	}
	return true
}

func nqueens(at board) uint64 {
	if at.rows == queens {
		return 1
	}
	parts, started := make(chan uint64, queens), 0
	for column := 0; column < queens; column++ {
		if at.isFree(column) {
			next := at
			next.columns[next.rows] = uint8(column)
			next.rows++
			started++
			go func() { parts <- nqueens(next) }()
		}
	}
	sum := uint64(0)
	for ; started > 0; started-- {
		sum += <-parts
	}
	return sum
}

func cancelSleepers(count int) func(n uint64) {
	return func(n uint64) {
		for i := uint64(0); i < n; i++ {
			ctx, cancel := context.WithCancel(context.Background())
			var all sync.WaitGroup
			all.Add(count)
			for k := 0; k < count; k++ {
				go func() {
					defer all.Done()
					timer := time.NewTimer(time.Hour)
					defer timer.Stop()
					select {
					case <-timer.C:
					case <-ctx.Done():
					}
				}()
			}
			runtime.Gosched()
			cancel()
			all.Wait()
		}
	}
}

func expect(got, want uint64) {
	if got != want {
		panic("wrong answer")
	}
}

func main() {
	inMilliseconds["jobs/fib_2t"], inMilliseconds["jobs/skynet_2t"], inMilliseconds["jobs/nqueens_2t"] = true, true, true
	timedInside["jobs/await_ended"] = awaitEnded
	run([]subject{
		{"jobs/spawn_join_1t", "Go goroutine", with(1, spawnJoin)},
		{"jobs/spawn_join_2t", "Go goroutine", with(2, spawnJoin)},
		{"jobs/create_join", "Go goroutine", with(1, createJoin)},
		{"jobs/race_two", "Go goroutine", with(1, raceTwo)},
		{"jobs/await_ended", "Go channel", nil},
		{"task/await_suspended", "Go channel", with(1, awaitSuspended)},
		{"runtime/yield_1t", "Go Gosched", with(1, yield)},
		{"jobs/cancel_sleepers_1", "Go context", with(1, cancelSleepers(1))},
		{"jobs/cancel_sleepers_8", "Go context", with(1, cancelSleepers(8))},
		{"jobs/cancel_sleepers_32", "Go context", with(1, cancelSleepers(32))},
		{"jobs/fib_2t", "Go goroutine", with(2, func(n uint64) {
			for i := uint64(0); i < n; i++ {
				expect(fib(22), 17711)
			}
		})},
		{"jobs/skynet_2t", "Go goroutine", with(2, func(n uint64) {
			for i := uint64(0); i < n; i++ {
				expect(skynet(0, 5), 4999950000)
			}
		})},
		{"jobs/nqueens_2t", "Go goroutine", with(2, func(n uint64) {
			for i := uint64(0); i < n; i++ {
				expect(nqueens(board{}), 92)
			}
		})},
	})
}
