#pragma once

// The switches of a program. Each belongs to the whole program and has one shape: `previous = set_x(next)`. Code that sets
// one for a while restores the previous value at its end.
//
//   switch                        value                                     default    receives or decides
//   set_panic_handler(f)          panic_handler, null: none                 none       the sentence of a bug, before the program ends
//   set_failure_sink(f)           failure_sink, null: the default           stderr     failures that no parent receives
//   set_fallback_executor(e)      executor_ref, empty: none                 none       work that its executor refused
//   set_shutdown_log(s)           shutdown_log_sink, empty: off             off        records of shutdown nodes
//   set_guard_tracking(m)         guard_tracking                            sites      what each guard records for a report
//   set_job_counting(on)          bool                                      false      whether jobs are counted: job_counts_now()
//   set_owner_tracking(on)        bool                                      false      which jobs own locks and permits: waits()
//
// set_panic_handler and set_shutdown_log require that no other thread uses Roost; the others are thread-safe. Only
// `observation` may exist several times: up to eight observers of all jobs, each from its constructor to its destructor. The
// log of a service is no switch of the program but an option of that service (service::options).

#include <roost/base/assert.hpp>
#include <roost/base/failure_sink.hpp>
#include <roost/exec/executor.hpp>
#include <roost/observe/job_events.hpp>
#include <roost/observe/waits.hpp>
#include <roost/shutdown/log.hpp>
#include <roost/shutdown/tracking.hpp>
