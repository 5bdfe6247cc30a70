#pragma once

// Everything. Each header can also be included by itself.

#include <roost/base/clock.hpp>
#include <roost/base/error.hpp>
#include <roost/base/outcome.hpp>
#include <roost/base/reason.hpp>
#include <roost/base/site.hpp>
#include <roost/exec/executor.hpp>
#include <roost/exec/timer.hpp>
#include <roost/exec/work.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/checkpoint.hpp>
#include <roost/task/coalescer.hpp>
#include <roost/task/deferred.hpp>
#include <roost/task/external.hpp>
#include <roost/task/failure_sink.hpp>
#include <roost/task/ignore.hpp>
#include <roost/task/job.hpp>
#include <roost/task/job_state.hpp>
#include <roost/task/on_exit.hpp>
#include <roost/task/root.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/shared_deferred.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/task.hpp>
#include <roost/task/timeout.hpp>
#include <roost/task/trace.hpp>
#include <roost/tree/callback.hpp>
#include <roost/tree/lease.hpp>
#include <roost/tree/level.hpp>
#include <roost/tree/token.hpp>
