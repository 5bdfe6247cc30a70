#pragma once

// Operations whose initiation a test writes itself.

#include <roost/asio/use_task.hpp>
#include <roost/task/task.hpp>

#include "all_of_asio.hpp"

#include <functional>
#include <optional>
#include <utility>

namespace asio_testing {

namespace net = roost::detail::net;

template <class Signature, class Token, class Initiation>
auto initiate(Initiation initiation, Token token) {
    return net::async_initiate<Token, Signature>(std::move(initiation), token);
}

// An operation made by hand: the test holds its handler and sees its cancellation.
struct by_hand {
    using handler = roost::detail::use_task_handler<roost::detail::error_code, int>;
    std::optional<handler> held;
    int begun = 0;
    int signals = 0;
    net::cancellation_type last = net::cancellation_type::none;
    std::function<void()> on_signal;

    auto operator()(roost::ext::use_task_t token) {
        return net::async_initiate<roost::ext::use_task_t, void(roost::detail::error_code, int)>(
            [this](auto h) {
                ++begun;
                h.get_cancellation_slot().assign([this](net::cancellation_type t) {
                    ++signals;
                    last = t;
                    if (on_signal) {
                        on_signal();
                    }
                });
                held.emplace(std::move(h));
            },
            token);
    }
    void complete(roost::detail::error_code ec, int value) {
        handler h = std::move(*held);
        held.reset();
        h(ec, value);
    }
};

inline roost::task<int> await_by_hand(by_hand& op, roost::ext::use_task_t how = roost::use_task) {
    co_return co_await op(how);
}

}  // namespace asio_testing
