#pragma once

#include <roost/exec/executor.hpp>
#include <roost/tree/detail/callback_member.hpp>
#include <roost/tree/detail/posted_callback.hpp>
#include <roost/tree/token.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI {

// Runs fn once, on an executor, when the token's effective level reaches `at`. If the level is reached already, fn is posted
// at once. Destroying the callback blocks until a running fn has returned, unless fn itself destroys it. After that fn never
// runs. An exception from fn goes to the failure sink, with the name and site of the node.
class callback {
public:
    callback() noexcept = default;
    template <std::invocable<> Fn>
    callback(token observed, level at, executor_ref on, Fn&& fn)
        : block_(new detail::posted_callback_of<std::decay_t<Fn>>(std::forward<Fn>(fn))) {
        try {
            block_->add(std::move(observed), at, on);
        } catch (...) {
            block_->remove();
            throw;
        }
    }
    callback(callback&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
    callback& operator=(callback&& other) noexcept {
        if (this != &other) {
            reset();
            block_ = std::exchange(other.block_, nullptr);
        }
        return *this;
    }
    ~callback() { reset(); }

    void reset() noexcept {
        if (detail::posted_callback* block = std::exchange(block_, nullptr)) {
            block->remove();
        }
    }
    [[nodiscard]] explicit operator bool() const noexcept { return block_ != nullptr; }

private:
    detail::posted_callback* block_ = nullptr;
};

namespace ext {

// Runs fn on the thread that raises the level, inside raise(). Only for claiming and posting: fn must be short and must not
// block. fn must not take a lock that a thread holds while it raises levels. Allocates nothing; not movable. If the level is
// reached when the callback is destroyed, and fn has not run yet, the destructor runs fn. Exceptions are treated as in
// callback.
template <class Fn, detail::if_reached When = detail::if_reached::runs>
class inline_callback final : private detail::callback_member {
public:
    template <class F>
    inline_callback(token observed, level at, F&& fn)
        : callback_member(at, &run), observed_(std::move(observed)), fn_(std::forward<F>(fn)) {
        if (detail::node* target = detail::tree_access::target_of(observed_)) {
            add(*target);
        }
    }
    ~inline_callback() {
        if constexpr (When == detail::if_reached::runs) {
            run_if_reached();
        }
        remove();
    }

private:
    static void run(callback_member& self) noexcept {
        auto& me = static_cast<inline_callback&>(self);
        if constexpr (std::is_nothrow_invocable_v<Fn&>) {
            me.fn_();
        } else {
            const bool* gone = me.gone_flag();
            try {
                me.fn_();
            } catch (...) {
                detail::report_thrown("an inline callback of",
                                      *gone ? nullptr : detail::tree_access::target_of(me.observed_));
            }
        }
    }

    token observed_;
    Fn fn_;
};
template <class Fn>
inline_callback(token, level, Fn) -> inline_callback<Fn>;

}  // namespace ext

}  // namespace roost::inline ROOST_ABI
