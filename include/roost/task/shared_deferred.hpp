#pragma once

// One computation whose result many tasks await.
//
//   shared_deferred<config> c(s.async("config", load_config()));
//   const config& mine = co_await c;          // any number of times, from any number of tasks; copies of c share it
//
// A getter is a task that awaits it. A cancelled getter affects neither the other getters nor the computation, unless
// `getter_cancel::reaches_producer` was chosen. A cancelled getter ends cancelled even if the value exists. Dropping the
// last copy without keep() requests cancellation of the computation. The reference is valid while a copy of c lives.

#include <roost/task/deferred.hpp>
#include <roost/task/detail/forward.hpp>

#include <memory>
#include <utility>

namespace roost::inline ROOST_ABI {

enum class getter_cancel : unsigned char { stays_here, reaches_producer };

template <class T = void>
class shared_deferred {
public:
    using value_type = T;

    shared_deferred() noexcept = default;
    explicit shared_deferred(deferred<T> d, getter_cancel how = getter_cancel::stays_here)
        : shared_(std::make_shared<deferred<T>>(std::move(d))), how_(how) {}

    [[nodiscard]] explicit operator bool() const noexcept { return shared_ && *shared_; }
    void keep() noexcept { shared_->keep(); }
    [[nodiscard]] job as_job() const noexcept { return shared_ ? shared_->as_job() : job(); }
    [[nodiscard]] job_state state() const noexcept { return as_job().state(); }
    bool cancel(reason why = reason::plain_kind(reason_kind::requested)) const noexcept {
        return as_job().cancel(std::move(why));
    }
    [[nodiscard("it waits only when it is awaited: write co_await")]] job::join_awaiter join() const noexcept {
        return as_job().join();
    }

    [[nodiscard]] detail::shared_await<T> in_task(detail::promise_base& me) const;

private:
    friend class detail::shared_await<T>;
    std::shared_ptr<deferred<T>> shared_;
    getter_cancel how_ = getter_cancel::stays_here;
};

}  // namespace roost::inline ROOST_ABI

// The definitions.
#include <roost/task/detail/job/shared_await.hpp>
