#pragma once

// Static probes for bpftrace, perf and systemtap, if the library is built with ROOST_ENABLE_USDT. Each is a no-op instruction and a
// note in the program's file, which tells where its arguments are. Without the option there is no code at all.
//
//   probe         first argument   second argument
//   job_create    job              name
//   job_start     job              name             its body begins
//   job_run       job              frame            its body runs on this thread: it begins, or goes on
//   job_suspend   job              frame            its body waits
//   job_leave     job              -                its body left this thread
//   job_wake      frame            -                what waits in the frame is woken by this thread
//   job_end       job              how              its body has ended: 1 returned, 2 failed, 3 cancelled
//   job_cancel    job              level            2 cancel, 3 abort
//   stall         name             nanoseconds      a body did not suspend for longer than the soft budget
//
// A name is a C string. Jobs and frames are numbers for a script, addresses that are used again.

#include <roost/base/config.hpp>

#if defined(ROOST_ENABLE_USDT)
#include <sys/sdt.h>
#define ROOST_PROBE1(name, a) DTRACE_PROBE1(roost, name, a)
#define ROOST_PROBE2(name, a, b) DTRACE_PROBE2(roost, name, a, b)
#else
#define ROOST_PROBE1(name, a) static_cast<void>(0)
#define ROOST_PROBE2(name, a, b) static_cast<void>(0)
#endif
