// The measuring side of the Go subjects; same protocol as harness.hpp.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"sync/atomic"
	"time"
)

type subject struct {
	name, subject string
	body          func(n uint64) // does n operations; nil where timedInside has the case
}

// Cases that are reported in milliseconds.
var inMilliseconds = map[string]bool{}

// How many operations one round of a body is; 1 where nothing is said.
var perRound = map[string]uint64{}

// Cases of which only a part is timed: these return the nanoseconds of that part, and the subject has no other body.
var timedInside = map[string]func(n uint64) float64{}

func timed(body func(n uint64)) func(n uint64) float64 {
	return func(n uint64) float64 {
		start := time.Now()
		body(n)
		return float64(time.Since(start).Nanoseconds())
	}
}

// batch does n operations and returns the nanoseconds. first: fewer would measure how threads are scheduled.
func measure(ms int, first uint64, batch func(n uint64) float64) (float64, uint64) {
	slice := float64(ms) * 1e6 / 20
	n := first
	took := batch(n)
	for sure := false; took < slice || !sure; {
		if sure = took >= slice; sure { // one long batch may have been a disturbance: believe the second
			took = batch(n)
			continue
		}
		want := slice / (took / float64(n)) * 1.05
		if most := float64(n) * 16; want > most {
			want = most
		}
		n = uint64(want) + 2
		took = batch(n)
	}
	var perOp []float64
	ops, start := uint64(0), time.Now()
	for len(perOp) < 5 || time.Since(start) < time.Duration(ms)*time.Millisecond {
		perOp = append(perOp, batch(n)/float64(n))
		ops += n
	}
	sort.Float64s(perOp)
	return perOp[len(perOp)/5], ops // the 20th percentile, as in harness.hpp
}

// Returns when all goroutines of a case are running, so that they really meet.
func meet(arrived *int32, count int) {
	atomic.AddInt32(arrived, 1)
	for atomic.LoadInt32(arrived) < int32(count) {
		runtime.Gosched()
	}
}

func run(all []subject) {
	name, which, ms := "", "", 50
	for i := 1; i < len(os.Args); i++ {
		if os.Args[i] == "--list" {
			for _, s := range all {
				fmt.Printf("%s\t%s\tpeer\n", s.name, s.subject)
			}
			return
		}
		if i+1 == len(os.Args) {
			break
		}
		switch os.Args[i] {
		case "--case":
			name = os.Args[i+1]
		case "--subject":
			which = os.Args[i+1]
		case "--ms":
			ms, _ = strconv.Atoi(os.Args[i+1])
		default:
			continue
		}
		i++
	}
	for _, s := range all {
		if s.name == name && (which == "" || which == s.subject) {
			first := uint64(1000)
			per := perRound[s.name]
			if per == 0 {
				per = 1
			}
			if inMilliseconds[s.name] {
				first = 1
			}
			first = first/per + 1
			batch := timedInside[s.name]
			if batch == nil {
				batch = timed(s.body)
			}
			value, ops := measure(ms, first, batch)
			value, ops = value/float64(per), ops*per
			if inMilliseconds[s.name] {
				value /= 1e6
			}
			fmt.Printf("%s %.4f %d\n", s.name, value, ops)
			return
		}
	}
	fmt.Fprintln(os.Stderr, "no such case; try --list, or --case CASE --subject SUBJECT --ms N")
	os.Exit(2)
}
