#pragma once

// Static probes for bpftrace, perf and systemtap, if the library is built with ROOST_ENABLE_USDT. Each is a no-op
// instruction, and a note in the executable that states where its arguments are. Without the option there is no code.
//
//   probe         first argument   second argument
//   job_create    job              name
//   job_start     job              name             its body begins
//   job_run       job              frame            its body begins or continues on this thread
//   job_suspend   job              frame            its body is suspended
//   job_leave     job              -                its body has left this thread
//   job_wake      frame            -                this thread wakes the body that is suspended in the frame
//   job_end       job              outcome          its body has ended: 1 returned, 2 failed, 3 cancelled
//   job_cancel    job              level            2 cancel, 3 abort
//   stall         name             nanoseconds      a body did not suspend for longer than the soft budget
//
// A name is a C string. A job or a frame is an address. A later job or frame may have the same address.

#include <roost/base/config.hpp>

#if defined(ROOST_ENABLE_USDT)
#include <sys/sdt.h>
#define ROOST_PROBE1(name, a) DTRACE_PROBE1(roost, name, a)
#define ROOST_PROBE2(name, a, b) DTRACE_PROBE2(roost, name, a, b)
#else
#define ROOST_PROBE1(name, a) static_cast<void>(0)
#define ROOST_PROBE2(name, a, b) static_cast<void>(0)
#endif
