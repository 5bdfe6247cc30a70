#pragma once

#include <roost/exec/executor.hpp>
#include <roost/tree/detail/callback_member.hpp>
#include <roost/tree/token.hpp>

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI {

namespace detail {

// Called in a catch block. Sends the exception to the failure sink, with the node's name and site if the node is known.
void report_thrown(const char* what, const node* at) noexcept;

// The part of a posted callback that may outlive its registration, in an executor's queue.
class posted_callback {
public:
    posted_callback(const posted_callback&) = delete;
    posted_callback& operator=(const posted_callback&) = delete;

    void add(token observed, level at, executor_ref on);
    void remove() noexcept;  // frees the block too

protected:
    using call_function = void (*)(posted_callback&);
    using destroy_function = void (*)(posted_callback&) noexcept;
    posted_callback(call_function call, destroy_function destroy) noexcept;
    ~posted_callback() = default;

private:
    struct listed_part final : callback_member {
        listed_part(level at, posted_callback& block) noexcept;
        posted_callback& owner;
    };
    struct work_part final : work {
        explicit work_part(posted_callback& block) noexcept;
        posted_callback& owner;
    };
    static void level_reached(callback_member& m) noexcept;
    static void run_posted(work& w) noexcept;
    void drop() noexcept;

    call_function call_;
    destroy_function destroy_;
    work_part work_;
    std::unique_ptr<listed_part> listed_;
    token observed_;
    executor_ref on_;
    atomic<std::uint32_t> state_{0};
    atomic<std::uint32_t> holders_{1};
    plain<std::uint32_t> runner_{0};
};

template <class Fn>
class posted_callback_of final : public posted_callback {
public:
    template <class F>
    explicit posted_callback_of(F&& fn) : posted_callback(&call, &destroy), fn_(std::forward<F>(fn)) {}

private:
    static void call(posted_callback& self) { static_cast<posted_callback_of&>(self).fn_(); }
    static void destroy(posted_callback& self) noexcept { delete static_cast<posted_callback_of*>(&self); }
    Fn fn_;
};

}  // namespace detail

// Runs fn once, on an executor, when the token's effective level reaches `at`; at once if it has been reached already.
// Destroying the callback waits for a running fn, unless fn itself destroys it; afterwards fn never runs. An exception from
// fn goes to the failure sink, with the name and site of the node.
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

namespace detail {
// What happens if an inline callback is destroyed after its level was reached and before the raise has called it.
enum class if_reached : unsigned char { runs, is_skipped };
}  // namespace detail

// Runs fn on the thread that raises the level, inside raise(). Only for claiming and posting: fn must be short, must not
// block, and takes no lock that a thread holds while it raises levels. Allocates nothing; not movable. If the level has been
// reached when it is destroyed, fn has run: the destructor runs it if the raise has not. Exceptions as in callback.
template <class Fn, detail::if_reached When = detail::if_reached::runs>
class inline_callback final : private detail::callback_member {
public:
    template <class F>
    inline_callback(token observed, level at, F&& fn)
        : callback_member(at, &run), observed_(std::move(observed)), fn_(std::forward<F>(fn)) {
        if (detail::node* target = observed_.target()) {
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
                detail::report_thrown("an inline callback of", *gone ? nullptr : me.observed_.target());
            }
        }
    }

    token observed_;
    Fn fn_;
};
template <class Fn>
inline_callback(token, level, Fn) -> inline_callback<Fn>;

namespace detail {
// For waits that have ended: fn does not run in the destructor.
template <class Fn>
using passing_callback = inline_callback<Fn, if_reached::is_skipped>;
}  // namespace detail

}  // namespace roost::inline ROOST_ABI
