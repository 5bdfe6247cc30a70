#pragma once

// Starts a child without a body, whose result a promise sets, and ends it if it is abandoned.

#include <roost/task/deferred.hpp>
#include <roost/task/detail/job/scope_core.hpp>
#include <roost/task/scope.hpp>
#include <roost/tree/callback.hpp>

#include <exception>
#include <string_view>
#include <utility>

namespace roost::inline ROOST_ABI {
template <class T>
class promise;
}

namespace roost::inline ROOST_ABI::detail {

// Returns error(promise_dropped), or std::bad_alloc if there is no memory for it.
[[nodiscard]] std::exception_ptr dropped_promise(std::string_view name) noexcept;

// Ends a child that may be abandoned, when it is cancelled. Runs on the scope's executor.
class abandon_external {
public:
    explicit abandon_external(node_ref<job_core> job) noexcept : job_(std::move(job)) {}
    void operator()() noexcept;

private:
    node_ref<job_core> job_;
};

template <class T, class MakeCallback>
std::pair<deferred<T>, promise<T>> start_external(scope& in, node_name name, site where, MakeCallback make_callback) {
    auto* block = new job_block<T>(task_access::core_of(in), name, where);
    if (!attach_child(*block, task_access::outside_admission(in))) {
        block->discard();
        return {deferred<T>(), promise<T>()};
    }
    auto child = node_ref<job_block<T>>::adopt(block);
    block->begin_external();
    try {
        callback on_cancel = make_callback(*block);
        return {deferred<T>(child), promise<T>(child, std::move(on_cancel))};
    } catch (...) {
        if (block->claim_outcome()) {
            block->settle_cancelled(reason::plain_kind(reason_kind::dropped));
            block->end_body();
        }
        throw;
    }
}

}  // namespace roost::inline ROOST_ABI::detail
