#pragma once

#include <roost/base/atomic.hpp>
#include <roost/exec/executor.hpp>
#include <roost/tree/detail/callback_member.hpp>
#include <roost/tree/token.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

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

}  // namespace roost::inline ROOST_ABI::detail
