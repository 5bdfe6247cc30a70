#pragma once

// The scope of a group of children. A group that ended unobserved leaves its scope, with its first job, to the job above; the
// next group of that job uses both again. group/fork.hpp has the whole picture.
//
// The functions that run once per group are inline, for src/flow/fork.cpp; src/flow/fork_scope.cpp has the others.
//
// id  operation            order    pairs  carries                                                      fails in
// F1  end: load of work    acquire  W2     what children that ran elsewhere wrote: their results        fork_model: stolen_and_done
// F2  idle: load, store    relaxed  -      nothing: a report may show or leave out what comes and goes  (floor)

#include <roost/exec/detail/recent_time.hpp>
#include <roost/flow/detail/group/fork_job.hpp>

#include <cstring>

namespace roost::inline ROOST_ABI::detail {

class fork;

class fork_scope final : public scope_core {
public:
    // Makes a scope with its first job, or reuses the spare of the job above. The caller holds a reference and the one unit.
    // Throws std::bad_alloc.
    [[nodiscard]] static fork_scope& open(region& parent, node_name name, node_name child, site made_at,
                                          const scope_policy& policy) {
        fork_scope* kept = reuse(parent, name, made_at);
        return kept != nullptr ? *kept : make(parent, name, child, made_at, policy);
    }
    void serve(fork& group) noexcept { group_ = &group; }
    [[nodiscard]] fork_job& first_job() const noexcept { return *job_; }
    // Returns true if it is reusable: nothing runs in it, it is unobserved, and what its children wrote is visible. A failure
    // has cancelled the scope before the unit of the failed child was given back.
    [[nodiscard]] bool is_unobserved() const noexcept {
        constexpr work_word with_first_job = alone_with(2) + one_unit;
        return node_access::work_of(const_cast<fork_scope&>(*this)).load(mo::acquire) == with_first_job &&  // F1
               is_level_unused(*this);
    }
    // Requires is_unobserved(). Keeps the scope for the next group, or ends it. Takes the reference and the unit.
    void put_away() noexcept;
    // Returns the scope that the node is, or null.
    [[nodiscard]] static const fork_scope* from(const node& n) noexcept {
        return &n.functions() == &functions ? static_cast<const fork_scope*>(static_cast<const region*>(&n)) : nullptr;
    }
    // Returns true if the group ends only when each of its children has ended by itself: no race.
    [[nodiscard]] bool waits_for_each() const noexcept { return name() == "when_all" || name() == "when_all_settled"; }
    [[nodiscard]] bool is_idle() const noexcept { return idle_.load(mo::relaxed); }  // F2

    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { deallocate_frame(memory, size); }
    // Ends an idle scope, and those that its job keeps, innermost first.
    static void end_idle(fork_scope& top) noexcept;

private:
    fork_scope(region& parent, node_name name, site made_at, const scope_policy& policy)
        : scope_core(functions, parent, name, made_at, policy) {}
    [[nodiscard]] static fork_scope* reuse(region& parent, node_name name, site made_at) noexcept;
    [[nodiscard]] static fork_scope& make(region& parent, node_name name, node_name child, site made_at,
                                          const scope_policy& policy);
    [[nodiscard]] bool fits(node_name name, site made_at) const noexcept;
    static void destroy(node& self) noexcept { delete &static_cast<fork_scope&>(static_cast<region&>(self)); }
    static bool drained(node& self) noexcept;
    static void describe(const node& self, node_description& d) noexcept;
    static bool is_idle_node(const node& self) noexcept {
        return static_cast<const fork_scope&>(static_cast<const region&>(self)).is_idle();
    }

    static const node_functions functions;
    static constexpr std::uint16_t most_kept = 64;  // nested in each other
    fork* group_ = nullptr;
    fork_job* job_ = nullptr;
    std::uint32_t born_ = 0;
    std::uint16_t kept_ = 1;  // this one and those that its job keeps
    atomic<bool> idle_{false};
};

// Requires the same site, so that reports stay right, and the same time stamp, so that its age is right. A kind of group has
// a name of its own, so the policy is the same too. While jobs are observed, no job is reusable. Comparing the bytes of the
// sites is cheaper than ==; it may be false for the same site in two translation units.
inline bool fork_scope::fits(node_name name, site made_at) const noexcept {
    const site mine = this->made_at();
    return name_text() == name.text().data() && born_ == recent_time::stamp() &&
           std::memcmp(&mine, &made_at, sizeof mine) == 0 && is_level_unused(*this) && job_->is_unobserved();
}

inline fork_scope* fork_scope::reuse(region& parent, node_name name, site made_at) noexcept {
    fork_job* above = fork_job::of(parent);
    fork_scope* kept = above == nullptr ? nullptr : above->take_spare();
    if (kept == nullptr) {
        return nullptr;
    }
    if (!kept->fits(name, made_at)) {
        end_idle(*kept);
        return nullptr;
    }
    kept->idle_.store(false, mo::relaxed);  // F2
    return kept;
}

inline void fork_scope::put_away() noexcept {
    group_ = nullptr;
    fork_job* above = fork_job::of(static_cast<region&>(*parent()));
    fork_scope* inner = job_->spare();
    kept_ = static_cast<std::uint16_t>(1 + (inner == nullptr ? 0 : inner->kept_));
    if (above == nullptr || kept_ > most_kept) {
        end_idle(*this);
        return;
    }
    idle_.store(true, mo::relaxed);  // F2
    above->keep_spare(*this);
}

}  // namespace roost::inline ROOST_ABI::detail
