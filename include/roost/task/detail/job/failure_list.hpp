#pragma once

// Failures in order, to be passed on.
//
// Each level of a deep tree may add failures of its own to those from below, and every job on the way keeps its list for handles
// that ask later. So a list is shared and never copied: copying one, and putting two together, costs the same however long they
// are. What is in it twice, because it came two ways, is seen once.
//
// id  operation       order    pairs  carries                                           fails in
// K1  retained: add   relaxed  -      nothing: the caller has a holder                  (floor)
// K2  drop: sub       acq_rel  K2     accesses of the other holders end before the link  failure_list_model: JOB_161_copy_and_release
// K3  enter: load     relaxed  -      nothing: each way to a link is a holder of it     (floor)

#include <roost/base/atomic.hpp>

#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

class failure_list {
public:
    failure_list() noexcept = default;
    failure_list(const failure_list& other) noexcept : top_(retained(other.top_.get())) {}
    failure_list(failure_list&& other) noexcept : top_(other.top_.get()) { other.top_.set(nullptr); }
    failure_list& operator=(failure_list other) noexcept {
        link* const mine = top_.get();
        top_.set(other.top_.get());
        other.top_.set(mine);
        return *this;
    }
    ~failure_list() { release(top_.get()); }

    [[nodiscard]] bool is_empty() const noexcept { return top_.get() == nullptr; }
    // Throws std::bad_alloc; then nothing has changed.
    void add(std::exception_ptr error);
    void add(const failure_list& more);

    // Each once, at its first place; `except` is left out. Throws std::bad_alloc.
    [[nodiscard]] std::vector<std::exception_ptr> to_vector(const std::exception_ptr& except = nullptr) const;

    // Calls fn(const std::exception_ptr&) for each of them. Without memory some may come twice, and of many hundreds some not.
    template <class Fn>
    void for_each(Fn fn, const std::exception_ptr& except = nullptr) const noexcept {
        struct call {
            static void one(void* to, const std::exception_ptr& error) noexcept { (*static_cast<Fn*>(to))(error); }
        };
        visit(except, &fn, &call::one);
    }

private:
    // Those of `before`, then `error` if there is one, then those of `after`.
    struct link {
        atomic<std::size_t> holders{1};
        plain<link*> before;
        std::exception_ptr error;
        plain<link*> after;
        link* next_gone = nullptr;
        link(link* b, std::exception_ptr e, link* a) noexcept : before(b), after(a) { error = std::move(e); }
    };
    using visitor = void (*)(void*, const std::exception_ptr&) noexcept;

    [[nodiscard]] static link* retained(link* l) noexcept;
    static void release(link* l) noexcept;
    static void drop(link* l, link*& gone) noexcept;
    void visit(const std::exception_ptr& except, void* to, visitor each) const noexcept;
    static void visit_without_memory(const link* l, void* to, visitor each, unsigned deeper, unsigned& visits) noexcept;
    class collector;

    plain<link*> top_{nullptr};
};

}  // namespace roost::inline ROOST_ABI::detail
