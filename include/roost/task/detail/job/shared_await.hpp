#pragma once

// The awaiter of `co_await shared_deferred`: waits for the computation and refers to its value.

#include <roost/task/detail/job/join_checks.hpp>
#include <roost/task/detail/job/settled_wait.hpp>
#include <roost/task/shared_deferred.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

template <class T>
class shared_await final : public settled_wait {
public:
    shared_await(promise_base& me, shared_deferred<T> from) noexcept
        : settled_wait(me, *task_access::block_of(*from.shared_)), from_(std::move(from)) {}
    ~shared_await() {
        if (!resumed_ && from_.how_ == getter_cancel::reaches_producer) {
            from_.cancel(reason::plain_kind(reason_kind::dropped));
        }
    }
    std::add_lvalue_reference_t<std::add_const_t<T>> await_resume() {
        resumed_ = true;
        job_block<T>& block = *task_access::block_of(*from_.shared_);
        if (block.result_link<T>::state() == ending::threw) {
            std::rethrow_exception(block.error());
        }
        return result_in<T>::refer(block.value());
    }

private:
    shared_deferred<T> from_;
    bool resumed_ = false;
};

}  // namespace roost::inline ROOST_ABI::detail

namespace roost::inline ROOST_ABI {

template <class T>
detail::shared_await<T> shared_deferred<T>::in_task(detail::promise_base& me) const {
    if (!*this) {
        detail::throw_refused();
    }
    detail::refuse_own_join(me, *detail::task_access::block_of(*shared_));
    return detail::shared_await<T>(me, *this);
}

}  // namespace roost::inline ROOST_ABI
