// Order V2: task/detail/job/value_region.hpp.

#include <roost/task/job_local.hpp>

#include <roost/base/atomic.hpp>
#include <roost/tree/visit.hpp>

namespace roost::inline ROOST_ABI::detail {

constinit const node_functions value_region::functions{.kind = "region",
                                                       .destroy = destroy,
                                                       .level_raised = region::level_raised,
                                                       .describe = region::describe,
                                                       .clock = region::clock,
                                                       .own = own_work::none};

value_region& value_region::make(region& parent, site made_at, const void* key, const void* value) {
    auto* made = new value_region(parent, made_at, key, value);
    if (made->attach(child_kind::working, admission::member) == attached::refused) {
        panic("region", "value", made_at,
              "it was entered in a job that has ended already; enter it while the job's body runs");
    }
    return *made;
}

void value_region::leave_for_good() noexcept {
    if (!end_alone(1)) {
        close_and_leave();
        release();
    }
}

namespace {
constinit atomic<const void*> shown_key{nullptr};
constinit atomic<value_region::text_function> shown_text{nullptr};
}  // namespace

void value_region::show(const void* key, text_function text) noexcept {
    shown_text.store(text, mo::seq_cst);  // V2
    shown_key.store(key, mo::seq_cst);    // V2
}

void value_region::describe_shown(const node& from, node_description& d) noexcept {
    const void* const key = shown_key.load(mo::seq_cst);  // V2
    if (key == nullptr) {
        return;
    }
    if (const void* value = find(from, key)) {
        const std::string_view text = shown_text.load(mo::seq_cst)(value);  // V2
        d.trace = std::string_view(d.trace_text, text.copy(d.trace_text, sizeof d.trace_text));
    }
}

const void* value_region::find(const node& from, const void* key) noexcept {
    for (const node* n = &from; n != nullptr; n = n->parent()) {
        if (&n->functions() == &functions) {
            const auto& level = static_cast<const value_region&>(static_cast<const region&>(*n));
            if (level.key_ == key) {
                return level.value_;
            }
        }
    }
    return nullptr;
}

}  // namespace roost::inline ROOST_ABI::detail
