#pragma once

// The job of a group of children, in which one child after the other may run. group/fork.hpp has the whole picture.
//
// id  operation            order    pairs  carries                                                      fails in
// F3  load of the level    relaxed  -      only whether it is reusable; a later raise reaches it        (floor)
// F4  job: load of work    acquire  N6     what its holders did to it: its level                        fork_model: cancelled_and_let_go

#include <roost/task/detail/job/scope_core.hpp>
#include <roost/tree/detail/node_access.hpp>

namespace roost::inline ROOST_ABI::detail {

class fork_scope;

// Returns true if the node was never cancelled and has no reason or guard: at most stopped from above, as a new one would be.
[[nodiscard]] inline bool is_level_unused(const node& n) noexcept {
    constexpr level_word harmless = raised_bit(level::stop) | spread_bit(level::stop);
    return (node_access::level_of(const_cast<node&>(n)).load(mo::relaxed) & ~harmless) == heeding_bit;  // F3
}

class fork_job final : public job_core, private result_link<void> {
public:
    // Makes one in the scope, with its unit and no handle. Throws std::bad_alloc.
    [[nodiscard]] static fork_job& make(fork_scope& in, node_name name);
    // Returns null if the region is no fork_job.
    [[nodiscard]] static fork_job* of(region& r) noexcept {
        return &r.functions() == &functions ? &static_cast<fork_job&>(r) : nullptr;
    }
    [[nodiscard]] fork_scope& scope() const noexcept;
    // Called when the child has ended: ends this job with it.
    void end(ending how, const settled_link& child, reason& why) noexcept;
    void end_idle() noexcept;
    // Returns true if it is unobserved and reusable: not referenced, cancelled or counted, and nothing is below it but the
    // spare.
    [[nodiscard]] bool is_unobserved() const noexcept {
        const work_word expected = spare_ == nullptr ? alone_with(0) : alone_with(1) + one_unit;
        return node_access::work_of(const_cast<fork_job&>(*this)).load(mo::acquire) == expected &&  // F4
               has_nothing_to_report() && is_level_unused(*this);
    }

    // Returns true if its scope has had it from the beginning.
    [[nodiscard]] bool is_first() const noexcept { return is_first_; }
    void set_first() noexcept { is_first_ = true; }
    [[nodiscard]] fork_scope* take_spare() noexcept { return std::exchange(spare_, nullptr); }
    [[nodiscard]] fork_scope* spare() const noexcept { return spare_; }
    void keep_spare(fork_scope& s) noexcept {
        ROOST_ASSERT(spare_ == nullptr, "I3: opening a group takes the spare, and a body has one group at a time");
        spare_ = &s;
    }

    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { deallocate_frame(memory, size); }

private:
    fork_job(fork_scope& in, node_name name);
    static void destroy(node& self) noexcept;
    static void describe(const node& self, node_description& d) noexcept;
    static next_step never_done(await_link& link, ending how, reason& why) noexcept;

    static const link_ops root_ops;
    static const job_functions functions;
    fork_scope* spare_ = nullptr;
    bool is_first_ = false;
};

}  // namespace roost::inline ROOST_ABI::detail
