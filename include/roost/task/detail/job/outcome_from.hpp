#pragma once

// The outcome of a task or job that has ended, with the failures beside its error.

#include <roost/base/failure_sink.hpp>
#include <roost/base/outcome.hpp>
#include <roost/task/detail/frame/promise_base.hpp>
#include <roost/task/detail/job/failure_list.hpp>

#include <exception>
#include <new>
#include <utility>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

// If there is no memory, `other` goes to the failure sink.
template <class T>
void add_other(outcome<T>& to, const std::exception_ptr& other) noexcept {
    try {
        to.add_other(other);
    } catch (const std::bad_alloc&) {
        report_failure("cleanup or another child of a task", "", site(), other);
    }
}
template <class T>
void add_others(outcome<T>& to, const std::vector<std::exception_ptr>& others) noexcept {
    for (const std::exception_ptr& other : others) {
        add_other(to, other);
    }
}
template <class T>
void add_others(outcome<T>& to, const failure_list& others) noexcept {
    others.for_each([&to](const std::exception_ptr& other) { add_other(to, other); }, to.error());
}

template <class T>
outcome<T> outcome_from(result_link<T>& link, const failure_list& others) {
    if (link.state() == ending::threw) {
        outcome<T> failed(link.error());
        add_others(failed, others);
        return failed;
    }
    if (link.state() == ending::cancelled) {
        return outcome<T>(cancelled(link.why()));
    }
    return outcome<T>(std::in_place, std::move(link.value()));
}

}  // namespace roost::inline ROOST_ABI::detail
