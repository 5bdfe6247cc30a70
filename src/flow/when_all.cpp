#include <roost/flow/when_all.hpp>

#include <roost/flow/map_concurrent.hpp>

namespace roost::inline ROOST_ABI::detail {

constinit const fork_rules all_rules{.policy = fail_fast_policy,
                                     .child = "one of all",
                                     .needs_all = true,
                                     .ended = nullptr,
                                     .finish = +[](fork& group) noexcept {
                                         for (const fork_slot* s = group.first(); s != nullptr; s = fork::after(*s)) {
                                             if (s->link().state() != ending::returned) [[unlikely]] {
                                                 return group.end_cancelled();
                                             }
                                         }
                                         return next_step::resume(group.waiter());
                                     }};

constinit const fork_rules settled_rules{.policy = outcome_policy,
                                         .child = "one of all",
                                         .needs_all = false,
                                         .ended =
                                             +[](fork&, fork_slot& slot, ending how, job_core* ran) noexcept {
                                                 if (how == ending::threw && ran != nullptr) {
                                                     static_cast<outcome_slot&>(slot).others =
                                                         ran->take_beside(slot.link().error(), 0);
                                                 }
                                                 return false;
                                             },
                                         .finish =
                                             +[](fork& group) noexcept {
                                                 if (!group.waiter().region().is_cancelled_relaxed()) {
                                                     return next_step::resume(group.waiter());
                                                 }
                                                 group.report_slots("when_all_settled");
                                                 return group.end_cancelled();
                                             }};

void refuse_no_limit(site where) {
    panic("map_concurrent", {}, where, "a limit of zero would never start anything; pass at least one");
}

}  // namespace roost::inline ROOST_ABI::detail
