// Go: goroutines, a channel per direction; an actor answers over a channel that comes with the request; a buffered channel
// is the semaphore; publishing sends to one channel per subscriber.
package main

import (
	"fmt"
	"runtime"
	"sync"
)

func on(threads int, body func(n uint64)) func(n uint64) {
	return func(n uint64) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		body(n)
	}
}

// One round does `per` operations.
func add(all []subject, name, who string, per int, body func(n uint64)) []subject {
	perRound[name] = uint64(per)
	return append(all, subject{name, who, body})
}

func concurrent(count int) func(n uint64) {
	return on(1, func(n uint64) {
		results := make(chan int, count)
		for i := uint64(0); i < n; i++ {
			for k := 0; k < count; k++ {
				go func() { results <- 1 }()
			}
			for k := 0; k < count; k++ {
				<-results
			}
		}
	})
}

type request struct {
	value uint64
	reply chan uint64
}

func actor(requests chan request) {
	for r := range requests {
		r.reply <- r.value + 1
	}
}

func asks(count int) func(n uint64) {
	return on(1, func(n uint64) {
		to := make(chan request, 64)
		go actor(to)
		var all sync.WaitGroup
		all.Add(count)
		for k := 0; k < count; k++ {
			go func() {
				defer all.Done()
				reply := make(chan uint64, 1) // used again for every request
				for i := uint64(0); i < n; i++ {
					to <- request{i, reply}
					if <-reply != i+1 {
						panic("wrong answer")
					}
				}
			}()
		}
		all.Wait()
		close(to)
	})
}

//go:noinline
func authenticate(user uint64) bool { return user != ^uint64(0) }

func handle(database chan request, user uint64) uint64 {
	if !authenticate(user) {
		return 0
	}
	reply := make(chan uint64, 1)
	database <- request{user, reply}
	return <-reply + 1
}

func http(count, threads int) func(n uint64) {
	return on(threads, func(n uint64) {
		database := make(chan request, 64)
		go actor(database)
		for i := uint64(0); i < n; i++ {
			var all sync.WaitGroup
			all.Add(count)
			for k := 0; k < count; k++ {
				go func(user uint64) {
					handle(database, user)
					all.Done()
				}(uint64(k))
			}
			all.Wait()
		}
		close(database)
	})
}

const messages = 10

// Publishers and subscribers are spread over the topics in turn.
func pubsub(publishers, subscribers, topics int) func(n uint64) {
	published := make([]int, topics)
	for k := 0; k < publishers; k++ {
		published[k%topics]++
	}
	return on(1, func(n uint64) {
		for i := uint64(0); i < n; i++ {
			var all sync.WaitGroup
			all.Add(publishers + subscribers)
			boxes := make([][]chan uint64, topics)
			for k := 0; k < subscribers; k++ {
				mine, topic := make(chan uint64, 64), k%topics
				boxes[topic] = append(boxes[topic], mine)
				go func() {
					sum := uint64(0)
					for m := 0; m < published[topic]*messages; m++ {
						sum += <-mine
					}
					all.Done()
				}()
			}
			for k := 0; k < publishers; k++ {
				go func(boxes []chan uint64) {
					for m := 0; m < messages; m++ {
						for _, box := range boxes {
							box <- 1
						}
						runtime.Gosched()
					}
					all.Done()
				}(boxes[k%topics])
			}
			all.Wait()
		}
	})
}

func contended(count, threads int) func(n uint64) {
	return on(threads, func(n uint64) {
		permits := make(chan struct{}, 4)
		var all sync.WaitGroup
		all.Add(count)
		for k := 0; k < count; k++ {
			go func() {
				defer all.Done()
				for i := uint64(0); i < n; i++ {
					permits <- struct{}{}
					runtime.Gosched()
					<-permits
				}
			}()
		}
		all.Wait()
	})
}

func main() {
	var all []subject
	for _, n := range []int{1, 2, 4, 8, 16, 32, 64} {
		all = add(all, fmt.Sprintf("jobs/concurrent_%d", n), "Go goroutine", n, concurrent(n))
	}
	for _, n := range []int{1, 10, 100} {
		all = add(all, fmt.Sprintf("jobs/ask_%d", n), "Go channel", n, asks(n))
	}
	for _, n := range []int{1, 10, 100, 1000} {
		all = add(all, fmt.Sprintf("jobs/http_%d", n), "Go", n, http(n, 1))
	}
	all = add(all, "jobs/http_1000_2t", "Go", 1000, http(1000, 2))
	for _, n := range [][2]int{{1, 10}, {10, 10}, {10, 100}, {100, 100}} {
		all = add(all, fmt.Sprintf("jobs/pubsub_%dx%d", n[0], n[1]), "Go channels", n[0]*n[1]*messages, pubsub(n[0], n[1], 1))
	}
	for _, n := range []int{10, 100} {
		all = add(all, fmt.Sprintf("jobs/pubsub_%dx100x4", n), "Go channels", n*25*messages, pubsub(n, 100, 4))
	}
	for _, n := range []int{2, 4, 8, 16, 32, 64} {
		all = add(all, fmt.Sprintf("sync/semaphore_tasks_%d", n), "Go channel", n, contended(n, 1))
	}
	run(add(all, "sync/semaphore_tasks_64_2t", "Go channel", 64, contended(64, 2)))
}
