#pragma once

// One computation, many getters.
//
//   shared_deferred<config> c(s.async("config", load_config()));
//   const config& mine = co_await c;          // any number of times, from any number of tasks; copies of c share it
//
// A cancelled getter affects neither the others nor the computation, unless `getter_cancel::reaches_producer` was chosen. It
// ends cancelled even if the value is there. Dropping the last copy without keep() requests cancellation of the computation.
// The reference is valid while a copy of c lives.

#include <roost/task/deferred.hpp>

#include <memory>

namespace roost::inline ROOST_ABI {

enum class getter_cancel : unsigned char { stays_here, reaches_producer };

namespace detail {
template <class T>
class shared_await;
}

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
    [[nodiscard]] job::join_awaiter join() const noexcept { return as_job().join(); }

    [[nodiscard]] detail::shared_await<T> in_task(detail::promise_base& me) const;

private:
    friend class detail::shared_await<T>;
    std::shared_ptr<deferred<T>> shared_;
    getter_cancel how_ = getter_cancel::stays_here;
};

namespace detail {

template <class T>
class shared_await final : public settled_wait {
public:
    shared_await(promise_base& me, shared_deferred<T> from) noexcept
        : settled_wait(me, *from.shared_->block()), from_(std::move(from)) {}
    ~shared_await() {
        if (!resumed_ && from_.how_ == getter_cancel::reaches_producer) {
            from_.cancel(reason::plain_kind(reason_kind::dropped));
        }
    }
    std::add_lvalue_reference_t<std::add_const_t<T>> await_resume() {
        resumed_ = true;
        job_block<T>& block = *from_.shared_->block();
        if (block.result_link<T>::state() == ending::threw) {
            std::rethrow_exception(block.error());
        }
        return result_in<T>::refer(block.value());
    }

private:
    shared_deferred<T> from_;
    bool resumed_ = false;
};

}  // namespace detail

template <class T>
detail::shared_await<T> shared_deferred<T>::in_task(detail::promise_base& me) const {
    if (!*this) {
        detail::throw_refused();
    }
    detail::refuse_own_join(me, *shared_->block());
    return detail::shared_await<T>(me, *this);
}

}  // namespace roost::inline ROOST_ABI
