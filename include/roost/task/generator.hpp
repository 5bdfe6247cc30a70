#pragma once

// A stream of values. Each value is computed when next() is awaited.
//
//   generator<row> all_rows(database& db) {
//       for (int page = 0;; ++page) {
//           auto rows = co_await db.load(page);          // anything a task may await
//           if (rows.empty()) co_return;
//           for (auto& r : rows) co_yield std::move(r);
//       }
//   }
//
//   auto rows = all_rows(db);
//   for (row* r = co_await rows.next(); r != nullptr; r = co_await rows.next()) { ... }
//
// A generator runs inside next(), in the job that calls it. It needs no node, no thread and no buffer. The value lives until
// the following call of next() and may be moved out. next() returns null at the end. It rethrows an exception of the
// generator, once. When the calling job is cancelled, the generator's frame is destroyed with the others, innermost first. A
// generator may be destroyed before its end; its locals are destroyed with it. on_exit and ignore_cancellation are for tasks
// only. A generator has no fixed end, and each next() may run in another job. Code that must run to its end belongs in a
// task or a shield.

#include <roost/task/detail/frame/generator_promise.hpp>

#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI {

template <class T>
class [[nodiscard("a generator does nothing until next() is awaited")]] generator {
    static_assert(!std::is_reference_v<T> && !std::is_void_v<T>,
                  "generator<T>: T cannot be void or a reference; to refer to objects use generator<T*>");
    static_assert(alignof(T) <= 2 * alignof(void*),
                  "generator<T>: T is aligned more strictly than coroutine frames; use generator<T*>");

public:
    using promise_type = detail::generator_promise<T>;
    using value_type = T;

    generator() noexcept = default;
    generator(generator&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    generator& operator=(generator&& other) noexcept {
        if (this != &other) {
            reset();
            frame_ = std::exchange(other.frame_, nullptr);
        }
        return *this;
    }
    ~generator() { reset(); }

    // co_await returns a pointer to the next value, or null at the end.
    [[nodiscard]] detail::next_call<T> next() noexcept { return detail::next_call<T>(*this); }

private:
    friend promise_type;
    template <class U, detail::transfer Mode>
    friend class detail::next_await;
    explicit generator(promise_type& frame) noexcept : frame_(&frame) {}
    void reset() noexcept {
        if (frame_ != nullptr) {
            detail::drop_suspended(*std::exchange(frame_, nullptr));
        }
    }

    promise_type* frame_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI
