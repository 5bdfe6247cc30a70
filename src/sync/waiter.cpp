#include <roost/sync/detail/wait_list.hpp>
#include <roost/sync/detail/wait_operation.hpp>
#include <roost/sync/waiter.hpp>

#include <cstdio>

namespace roost::inline ROOST_ABI {

namespace {

// Coroutines without an executor run here, one after the other: one that wakes the next only queues it, so a chain of
// hand-overs needs no more stack than a single one.
struct inline_runner {
    work_list queue;
    bool is_running = false;

    void run(work& w) noexcept {
        if (is_running) {
            queue.push(w);
            return;
        }
        is_running = true;
        w.run();
        while (work* next = queue.pop()) {
            next->run();
        }
        is_running = false;
    }
};

struct inline_runner_tag;

void run_here(work& w) noexcept { thread_value<inline_runner_tag, inline_runner>::get().run(w); }

template <class What>
inline void deliver_one(waiter& w, What what) noexcept {
    if (w.where()) {
        post_or_fall_back(w.where(), w, what);
    } else if (w.is_thread()) {
        w.run();
    } else {
        run_here(w);
    }
}

}  // namespace

void waiter::deliver(std::string_view what) noexcept { deliver_one(*this, what); }
void waiter::deliver(const char* what) noexcept { deliver_one(*this, what); }

template <class What>
void detail::wake_chain::deliver_all(What what) noexcept {
    waiter* w = first_;
    while (w != nullptr) {
        waiter* next = w->next_.get();  // read first: once delivered, a waiter may be gone
        w->next_.set(nullptr);
        if (w->state() == claim::waiting) {
            w->claim_.store(claim::released, mo::relaxed);  // W3
        }
        deliver_one(*w, what);
        w = next;
    }
}
void detail::wake_chain::deliver(std::string_view what) noexcept { deliver_all(what); }
void detail::wake_chain::deliver(const char* what) noexcept { deliver_all(what); }

void detail::destroyed_while_woken(wait_target target) noexcept {
    panic(target.kind(), target.name(), site(),
          "a coroutine waiting for it was destroyed while another thread was waking it: call try_cancel() first and let it "
          "resume when that says false");
}

void detail::destroyed_with_waiters(wait_target target, std::uint32_t waiters) noexcept {
    char rule[96];
    std::snprintf(rule, sizeof rule, "it was destroyed while %u waiter%s still queued", waiters,
                  waiters == 1 ? " was" : "s were");
    panic(target.kind(), target.name(), site(), rule);
}

}  // namespace roost::inline ROOST_ABI
