#pragma once

// How a scope treats its children. Each option returns a copy with one setting changed, so options combine.
//
//   co_await with_scope(scope_options("crawl").at_most(8).keep_going(), crawl, std::ref(urls));

#include <roost/base/site.hpp>
#include <roost/tree/node.hpp>

#include <cstdint>
#include <source_location>

namespace roost::inline ROOST_ABI {

class scope_options {
public:
    // What the failure of a child does.
    enum class on_child_failure : std::uint8_t {
        cancel_others,  // fail fast: the scope is cancelled, and its end rethrows the first failure
        keep_going,  // the others run on; the end rethrows the first failure, the further ones travel with it
        report,  // the others run on; the failure goes to the failure sink at once
    };

    // The name and the site appear in reports. A name that is no literal is copied when the scope begins.
    explicit scope_options(node_name name = "scope", std::source_location where = std::source_location::current()) noexcept
        : name_(name), site_(where) {}

    // At most n children run at the same time. The others queue in order of launch. Ends the program if n is zero.
    [[nodiscard]] scope_options at_most(std::uint32_t n) const noexcept {
        if (n == 0) [[unlikely]] {
            refuse_zero();
        }
        scope_options changed = *this;
        changed.at_most_ = n;
        return changed;
    }
    // A failed child does not cancel the others. The first failure is rethrown when all have ended.
    [[nodiscard]] scope_options keep_going() const noexcept { return with(on_child_failure::keep_going); }
    // Failures of children go to the failure sink when they happen, and are not rethrown. A failure of the body cancels the
    // children and is rethrown.
    [[nodiscard]] scope_options report_failures() const noexcept { return with(on_child_failure::report); }

    [[nodiscard]] node_name name() const noexcept { return name_; }
    [[nodiscard]] roost::site site() const noexcept { return site_; }
    // Zero: no limit.
    [[nodiscard]] std::uint32_t limit() const noexcept { return at_most_; }
    [[nodiscard]] on_child_failure failures() const noexcept { return failures_; }

private:
    [[nodiscard]] scope_options with(on_child_failure what) const noexcept {
        scope_options changed = *this;
        changed.failures_ = what;
        return changed;
    }
    [[noreturn, gnu::cold]] void refuse_zero() const noexcept;

    node_name name_;
    roost::site site_;
    std::uint32_t at_most_ = 0;
    on_child_failure failures_ = on_child_failure::cancel_others;
};

}  // namespace roost::inline ROOST_ABI
