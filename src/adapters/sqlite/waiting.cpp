#include "state.hpp"

#include <roost/exec/timer.hpp>
#include <roost/sync/interruptible.hpp>
#include <roost/task/sleep.hpp>

#include <chrono>
#include <coroutine>

// How the statements of a task run: on the blocking lane, without keeping a thread of it while they wait for a lock.

namespace roost::inline ROOST_ABI::sqlite {

using namespace ext;
using namespace seam;

namespace {

// co_await returns the executor of the coroutine. Does not suspend.
class own_executor {
public:
    own_executor() noexcept = default;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
        where_ = executor_of(h);
        return false;
    }
    [[nodiscard]] executor_ref await_resume() const noexcept { return where_; }
    [[nodiscard]] bool try_cancel() const noexcept { return false; }

private:
    executor_ref where_;
};

// An await that reports show as a statement of its file.
template <class Awaiter>
class statement_wait {
public:
    template <class Make>
    statement_wait(const std::string& file, Make make) : inner_(make()), file_(file) {}
    [[nodiscard]] bool await_ready() noexcept { return inner_.await_ready(); }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
        return inner_.await_suspend(h);
    }
    decltype(auto) await_resume() { return inner_.await_resume(); }
    [[nodiscard]] bool try_cancel() noexcept { return inner_.try_cancel(); }
    [[nodiscard]] wait_target waits_on() const noexcept { return {"sqlite statement", std::string_view(file_)}; }

private:
    Awaiter inner_;
    const std::string& file_;
};

constexpr duration first_pause = std::chrono::milliseconds(1);
constexpr duration longest_pause = std::chrono::milliseconds(10);

}  // namespace

auto connection::script::on_lane(state& s, detail::lock_wait how) {
    const auto make = [this, &s, how] {
        return blocking(
            interrupted_by([&s]() noexcept { s.interrupt(); }),
            +[](script* self, state* on, detail::lock_wait way) { return self->go_on(*on, way); }, this, &s, how);
    };
    return statement_wait<decltype(make())>(s.path, make);
}

task<> connection::script::run(state& s, detail::lock_wait first_try) {
    const bool done = co_await on_lane(s, first_try);
    if (!done) {
        co_await wait_for_lock(s);
    }
}

task<> connection::script::wait_for_lock(state& s) {
    const executor_ref where = co_await own_executor();
    timer_service* const clock = where ? where->timers() : nullptr;
    if (clock == nullptr) {
        static_cast<void>(co_await on_lane(s, detail::lock_wait::in_thread));  // no other way to wait here
        co_return;
    }
    const time_point give_up = deadline_after(clock->now(), std::chrono::milliseconds(s.busy_limit));
    const bool in_transaction = s.is_in_transaction();
    mutex::guard turn;
    if (!in_transaction) {  // a transaction may hold what the queued statements wait for
        auto got = co_await with_deadline(s.line->turn.lock(), give_up);
        if (!got) {
            s.fail_busy();
        }
        turn = std::move(*got);
    }
    for (duration pause = first_pause;; pause = std::min(2 * pause, longest_pause)) {
        const bool done = co_await on_lane(s, detail::lock_wait::first);
        if (done) {
            co_return;
        }
        const time_point now = clock->now();
        if (now >= give_up) {
            s.fail_busy();
        }
        const time_point next = std::min(give_up, deadline_after(now, pause));
        if (in_transaction) {
            co_await sleep_until(next);
        } else {
            static_cast<void>(co_await with_deadline(s.line->released.wait(), next));
        }
    }
}

}  // namespace roost::inline ROOST_ABI::sqlite
