#include <roost/pool/detail/pool_settings.hpp>

#include <roost/base/atomic.hpp>
#include <roost/pool/detail/stripe_state.hpp>

#include <algorithm>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

namespace {

// Returns the message for a limit that is set and needs timers. Null if no such limit is set.
const char* limit_without_timers(const pool_options& o) noexcept {
    constexpr duration never = duration::zero();
    return o.create_timeout > never    ? "create_timeout needs options.where and options.timers"
           : o.check_timeout > never   ? "check_timeout needs options.where and options.timers"
           : o.destroy_timeout > never ? "destroy_timeout needs options.where and options.timers"
           : o.leak_after > never      ? "leak_after needs options.where and options.timers"
                                       : nullptr;
}

pool_options completed(pool_options o, site made_at) {
    const auto refuse = [&](const char* rule) { panic("pool", o.name, made_at, rule); };
    if (o.capacity == 0) {
        refuse("its capacity is 0; pass at least 1 to pool_options");
    }
    if (o.timers != nullptr && !o.where) {
        refuse("options.timers needs an executor: set options.where");
    }
    if (const char* rule = limit_without_timers(o); rule != nullptr && o.timers == nullptr) {
        refuse(rule);
    }
    o.room = std::max(o.room, o.capacity);
    o.warm = std::min(o.warm, o.capacity);
    o.stripes = std::clamp(o.stripes != 0 ? o.stripes : hardware_threads(), 1U, o.capacity);
    o.stripes = std::max(o.stripes, (o.room + stripe_state::max_slots - 1) / stripe_state::max_slots);
    return o;
}

}  // namespace

pool_settings::pool_settings(pool_options asked, pool_kinds how, site made_at)
    : options(completed(std::move(asked), made_at)),
      creates_async(how.creates_async),
      checks_async(how.checks_async),
      has_upkeep(options.idle_ttl > duration::zero() || options.max_lifetime > duration::zero() ||
                 options.check_after > duration::zero()),
      tracks_ages(options.track_ages || options.leak_after > duration::zero()) {
    examines = how.has_check || has_upkeep;
}

std::int64_t pool_settings::time_now() const noexcept {
    const time_point t = !options.exact_clock ? coarse_now() : options.timers != nullptr ? options.timers->now() : now();
    return t.time_since_epoch().count();
}

}  // namespace roost::inline ROOST_ABI::detail
