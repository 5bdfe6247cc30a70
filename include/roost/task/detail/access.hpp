#pragma once

// How the library and its tests reach into the handles of this layer. Ships because templates need it; not API. Each public
// header defines the functions for its own class.

#include <roost/task/detail/forward.hpp>
#include <roost/tree/detail/node.hpp>

#include <cstdint>
#include <utility>

namespace roost::inline ROOST_ABI {
class scope;
class job;
template <class T>
class deferred;
}  // namespace roost::inline ROOST_ABI

namespace roost::inline ROOST_ABI::detail {

class job_core;
class scope_core;
class promise_base;
template <class T>
class job_block;

struct task_access {
    [[nodiscard]] static scope_core& core_of(const scope& of) noexcept;
    // How callers outside the scope are admitted.
    [[nodiscard]] static admission outside_admission(const scope& of) noexcept;
    // Null for an empty job.
    [[nodiscard]] static job_core* core_of(const job& of) noexcept;
    // Null for an empty deferred.
    template <class T>
    [[nodiscard]] static job_block<T>* block_of(const deferred<T>& of) noexcept {
        return of.block_.get();
    }
    // The caller owns the deferred's reference from now on.
    template <class T>
    [[nodiscard]] static job_block<T>* release_block(deferred<T>& of) noexcept {
        return of.block_.release_to_caller();
    }

    // Task: a task or a call that becomes one. The caller owns the frame from now on. Ends the program if the task was used
    // before.
    template <class Task>
    [[nodiscard]] static promise_base& release_frame(Task&& of) {
        return of.release_frame();
    }
    // Returns the address on the stack that the unstarted frame refers to, null if there is none.
    template <class Task>
    [[nodiscard]] static const void* borrowed(const Task& of) noexcept {
        return of.borrowed();
    }
    // Call: a with_scope. Calls its function.
    template <class Call>
    [[nodiscard]] static promise_base& start(Call& call, scope& in) {
        return call.start(in);
    }

    // Awaiter: what a task waits with. Returns the job whose end it waits for, or null.
    template <class Awaiter>
    [[nodiscard]] static job_core* joined(const Awaiter& by) noexcept {
        if constexpr (requires { by.joined(); }) {
            return by.joined();
        }
        return nullptr;
    }
    // Throws if `me` would wait for itself, for an awaiter that can know.
    template <class Awaiter>
    static void check(const Awaiter& by, const promise_base& me) {
        if constexpr (requires { by.check(me); }) {
            by.check(me);
        }
    }

    template <class Counts, class Which>
    static void add(Counts& to, Which what, std::uint64_t n) noexcept {
        to.add(what, n);
    }
};

}  // namespace roost::inline ROOST_ABI::detail
