#include <roost/base/failure_sink.hpp>
#include <roost/tree/external_resource.hpp>

#include <climits>

// 3. States   armed        neither side has claimed it
//             completed    the operation came first; final
//             cancelling   on_cancel runs on the thread in the upper bits
//             cancelled    on_cancel has returned; final
//             + awaited: close_handle() is blocked until cancelled
//
// 7. Ordering table
// id  operation                   order            pairs  carries                              fails in
// T1  try_complete: CAS           relaxed          -      the word alone decides who acts      (floor)
// T2  fire: CAS cancelling        relaxed          -      the word alone decides who acts      (floor)
// T3  close_handle: CAS           relaxed/acquire  T4     in: what on_cancel did               external_resource_model: close_waits
// T4  fire: exchange cancelled    release          T3     out: what on_cancel did              external_resource_model: close_waits
// T5  close_handle: CAS awaited   relaxed          -      only asks for a wake; T3 looks again (floor)
// T6  describe: load              relaxed          -      a word for a report                  (floor)

namespace roost::inline ROOST_ABI::detail {

namespace {
constexpr std::uint32_t armed = 0;
constexpr std::uint32_t completed = 1;
constexpr std::uint32_t cancelling = 2;
constexpr std::uint32_t cancelled_state = 3;
constexpr std::uint32_t awaited = 4;
}  // namespace

external_node::external_node(const node_functions& functions, node& parent, node_name name, site made_at,
                             cancel_function on_cancel)
    : node(functions, parent, name, made_at), on_cancel_(on_cancel) {}

bool external_node::try_complete() noexcept {
    std::uint32_t seen = armed;
    return state_.compare_exchange_strong(seen, completed, mo::relaxed, mo::relaxed);  // T1
}

void external_node::fire() noexcept {
    // Two cancellers can get here, so the runner's thread is part of the word.
    std::uint32_t seen = armed;
    if (!state_.compare_exchange_strong(seen, cancelling | (thread_index() + 1) * 8, mo::relaxed, mo::relaxed)) {  // T2
        return;
    }
    retain();
    try {
        on_cancel_(*this);
    } catch (...) {
        report_failure("on_cancel of external resource", name(), made_at(), std::current_exception());
    }
    if ((state_.exchange(cancelled_state, mo::release) & awaited) != 0) {  // T4
        wake_on(&state_, INT_MAX);
    }
    release();
}

// The parent's level may have been reached, and the frame that holds the handle unwound, before the walk has come here.
void external_node::close_handle() noexcept {
    if (is_cancelled() || (!is_shield() && parent()->is_cancelled())) {
        fire();
    }
    std::uint32_t seen = armed;
    while (!state_.compare_exchange_weak(seen, completed, mo::relaxed, mo::acquire)) {  // T3
        const std::uint32_t phase = seen & 3U;
        if (phase == completed || phase == cancelled_state) {
            break;
        }
        if (phase == cancelling) {
            if (seen / 8 == thread_index() + 1) {
                break;
            }
            if ((seen & awaited) == 0 &&
                !state_.compare_exchange_strong(seen, seen | awaited, mo::relaxed, mo::relaxed)) {  // T5
                seen = armed;
                continue;
            }
            wait_on(state_, seen | awaited);
        }
        seen = armed;
    }
    unlink_early();
    leave();
    release();
}

void external_node::level_raised_entry(node& self, level now) noexcept {
    if (now >= level::cancel) {
        static_cast<external_node&>(self).fire();
    }
}

void external_node::describe_entry(const node& self, node_description& d) noexcept {
    const auto& me = static_cast<const external_node&>(self);
    switch (me.state_.load(mo::relaxed) & 3U) {  // T6
        case armed: d.state = "under way"; break;
        case completed: d.state = "completed"; break;
        case cancelling: d.state = "cancelling"; break;
        default: d.state = "cancelled, not returned yet"; break;
    }
}

}  // namespace roost::inline ROOST_ABI::detail
