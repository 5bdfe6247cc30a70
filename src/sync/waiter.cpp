// Order W3: sync/detail/wait_list.hpp.

#include <roost/base/detail/quiet_drops.hpp>
#include <roost/base/detail/report_misuse.hpp>
#include <roost/sync/detail/wait_list.hpp>
#include <roost/sync/detail/wait_operation.hpp>
#include <roost/sync/wait_status.hpp>
#include <roost/sync/waiter.hpp>

#include <cstdio>

namespace roost::inline ROOST_ABI {

using namespace ext;

using namespace seam;

namespace {

// Runs coroutines without an executor, one after the other. One that wakes the next only queues it, so a chain of hand-offs
// needs no more stack than a single one.
struct inline_runner {
    work_list queue;
    bool is_running = false;

    void run(work& w) noexcept {
        w.run();
        while (work* next = queue.pop()) {
            next->run();
        }
    }
};

struct inline_runner_tag;

inline_runner& runner_here() noexcept { return thread_value<inline_runner_tag, inline_runner>::get(); }

}  // namespace

void waiter::deliver_here() noexcept {
    if (is_thread()) {
        run();
        return;
    }
    inline_runner& here = runner_here();
    if (here.is_running) {
        here.queue.push(*this);
        return;
    }
    here.is_running = true;
    here.run(*this);  // mutate
    here.is_running = false;
}

// Marks w as posted, and as released unless it was claimed before. Returns the next waiter: once delivered, w may be gone.
inline waiter* detail::wake_chain::mark(waiter& w) noexcept {
    waiter* next = w.next_.get();
    w.now_posted();  // before the claim: after that a thread may return whose stack the waiter lives on
    if (w.state() == claim::waiting) {
        w.claim_.store(claim::released, mo::relaxed);  // W3
    }
    return next;
}

// Posts w and the waiters behind it with the same executor as one chain. Requires takes_chains(). Returns the rest.
template <class What>
waiter* detail::wake_chain::post_together(waiter* w, What what) noexcept {
    const executor_ref where = w->executor();
    work_list all;
    do {
        waiter* next = mark(*w);
        all.push(*w);
        w = next;
    } while (w != nullptr && w->executor() == where);
    where->post_all(all);
    while (work* refused = all.pop()) {
        fall_back(where, *refused, what);
    }
    return w;
}

waiter* detail::wake_chain::run_in_turn(waiter* w) noexcept {
    inline_runner& here = runner_here();
    const bool is_outermost = !here.is_running;
    here.is_running = true;
    do {
        waiter* next = mark(*w);
        if (w->is_thread()) {
            w->run();  // mutate
        } else if (is_outermost) {
            here.run(*w);  // mutate
        } else {
            here.queue.push(*w);
        }
        w = next;
    } while (w != nullptr && !w->executor());
    here.is_running = !is_outermost;
    return w;
}

template <class What>
void detail::wake_chain::deliver_all(What what) noexcept {
    waiter* w = first_;
    while (w != nullptr) {
        const executor_ref where = w->executor();
        if (!where) {
            w = run_in_turn(w);
        } else if (where->takes_chains()) {
            w = post_together(w, what);
        } else {
            waiter* next = mark(*w);
            post_or_fall_back(where, *w, what);
            w = next;
        }
    }
}
void detail::wake_chain::deliver(std::string_view what) noexcept { deliver_all(what); }
void detail::wake_chain::deliver(const char* what) noexcept { deliver_all(what); }

void detail::wake_chain::deliver_last(const char* what) noexcept {
    waiter* w = first_;
    while (w != nullptr) {
        const executor_ref where = w->executor();
        if (!where) {
            w = run_in_turn(w);
            continue;
        }
        waiter* next = mark(*w);
        if (!where->post_last(*w)) [[unlikely]] {
            fall_back(where, *w, what);
        }
        w = next;
    }
}

void waiter::destroyed_before_it_ran() noexcept {
    detail::panic(
        "a coroutine was destroyed after it had been woken and before its executor ran it: call try_cancel() first, and let "
        "it resume when that returns false");
}

void detail::destroyed_while_woken(wait_target target) noexcept {
    detail::panic(
        target.kind(), target.name(), site(),
        "a coroutine waiting for it was destroyed while another thread was waking it: call try_cancel() first, and let it "
        "resume when that returns false");
}

void detail::destroyed_with_waiters(wait_target target, std::uint32_t waiters) noexcept {
    char rule[160];
    std::snprintf(rule, sizeof rule,
                  "it was destroyed while %u waiter%s still queued; let it outlive the scope of the jobs that wait for it",
                  waiters, waiters == 1 ? " was" : "s were");
    detail::panic(target.kind(), target.name(), site(), rule);
}

void detail::value_not_sent(wait_status why) noexcept {
    if (drops_are_quiet()) {
        return;
    }
    char rule[200];
    const std::string_view how = to_string(why);
    std::snprintf(
        rule, sizeof rule,
        "a value was not sent (%.*s) and is lost, because the result of send() was not checked; write `if (!sent)` or "
        "sent.take_back()",
        static_cast<int>(how.size()), how.data());
    report_misuse("channel", "", site(), rule);
}

void detail::never_awaited(wait_target target, const char* call) noexcept {
    if (drops_are_quiet()) {
        return;
    }
    char rule[160];
    std::snprintf(rule, sizeof rule, "%s was called and never awaited, so it did nothing; write co_await x.%s", call, call);
    report_misuse(target.kind(), target.name(), site(), rule);
}

}  // namespace roost::inline ROOST_ABI
