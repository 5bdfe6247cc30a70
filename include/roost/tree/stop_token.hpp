#pragma once

#include <roost/tree/callback.hpp>

#include <stop_token>
#include <utility>

// Links to and from std::stop_token.

namespace roost::inline ROOST_ABI::ext {

// Raises a node when a std::stop_token is stopped. If the token is stopped already, the constructor raises it. Raising only
// sets levels, claims and posts, so it may run inside request_stop().
class stop_token_link {
public:
    stop_token_link(std::stop_token from, const node& target, level to = level::cancel)
        : callback_(std::move(from), raise_it(detail::node_ref<>::share(detail::tree_access::core_of(target)), to)) {}

private:
    class raise_it {
    public:
        raise_it(detail::node_ref<> target, level to) noexcept : target_(std::move(target)), to_(to) {}
        void operator()() noexcept { target_->raise(to_, reason::plain_kind(reason_kind::requested)); }

    private:
        detail::node_ref<> target_;
        level to_;
    };
    std::stop_callback<raise_it> callback_;
};

// A std::stop_source that follows a node. request_stop() runs user callbacks, so it is posted to an executor. raise() does
// not wait for it.
class linked_stop_source {
public:
    linked_stop_source(token observed, level at, executor_ref on)
        : callback_(std::move(observed), at, on, request_it(source_)) {}
    [[nodiscard]] std::stop_token get_token() const noexcept { return source_.get_token(); }

private:
    class request_it {
    public:
        explicit request_it(std::stop_source source) noexcept : source_(std::move(source)) {}
        void operator()() noexcept { source_.request_stop(); }

    private:
        std::stop_source source_;
    };
    std::stop_source source_;
    callback callback_;
};

}  // namespace roost::inline ROOST_ABI::ext
