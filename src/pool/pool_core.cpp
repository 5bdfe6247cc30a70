// Effects, closing, resizing, reports. See pool_core.hpp.

// Orders H2, T6: pool/detail/slot.hpp.

#include <roost/pool/detail/pool_core.hpp>

#include <roost/sync/detail/thread_waiter.hpp>
#include <roost/tree/visit.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

const node_functions pool_core::functions_table{.kind = "pool",
                                                .destroy = &pool_core::destroy_node,
                                                .level_raised = &pool_core::level_raised,
                                                .describe = &pool_core::describe};

pool_core::pool_core(pool_options options, pool_kinds how, site made_at)
    : pool_life(functions_table, queue_, std::move(options), how, made_at) {}

pool_core::pool_core(node& parent, pool_options options, pool_kinds how, site made_at)
    : pool_life(functions_table, parent, queue_, std::move(options), how, made_at) {}

void pool_core::bind_slot(unsigned index, slot_base& s) noexcept {
    s.core = this;
    stripes().bind(index, s);
}

void pool_core::open() noexcept {
    retain();  // the reference that an open pool holds to itself
    meter_.enlist();
    if (parent() != nullptr && level_now() != level::running) {
        level_raised(*this, level_now());
    }
}

void pool_core::level_raised(node& n, level) noexcept {
    auto& self = static_cast<pool_core&>(n);
    for (pool_stripe& s : self.stripes()) {
        s.commit([](stripe_state x) { return stripe::stop(x); });
    }
    self.queue_.refuse_all(gift::stopped);
}

void pool_core::run_effects(pool_effects& fx) noexcept {
    const std::string_view what = name();
    if (fx.called != nullptr) {
        fx.called->run();
    }
    fx.handed.deliver(what);
    for (slot_base* s = fx.to_destroy; s != nullptr;) {
        creation_.destroy(*std::exchange(s, s->next_effect));
    }
    if (fx.to_create != nullptr) {
        pool_creation::start(fx.to_create);
    }
    for (; fx.units != 0; --fx.units) {
        leave();
    }
    if (fx.drained) {
        upkeep_.end();
        creation_.end();
        if (!fx.ended) {
            end_aside();
        }
    }
    if (fx.ended) {
        fx.closers.deliver(what);
        release();  // the reference that an open pool holds to itself
    }
}

void pool_core::pass_on(pool_waiter& w) noexcept {
    slot_base* s = std::exchange(w.slot, nullptr);
    if (w.given == gift::resource) {
        give_back(*s);
    } else if (w.given == gift::permit) {
        queue_.emptied(*s);
    }
}

// --- closing -----------------------------------------------------------------------------------------------------------------

namespace {

// Evicts all idle resources of a stripe in one commit, calls each(slot), and returns their number.
template <class Each>
std::uint32_t evict_all(pool_stripe& home, Each each) noexcept {
    stripe_state before;
    const stripe_step step = home.commit([&](stripe_state x) {
        before = x;
        return stripe::evict_all(x);
    });
    const unsigned count = step.is_refused() ? 0 : before.idle();
    for (unsigned position = 0; position < count; ++position) {
        each(*home.slots[before.at(position)]);
    }
    return count;
}

}  // namespace

void pool_core::begin_close() noexcept {
    pool_effects fx;
    queue_.lock();
    if (!set_closing()) {
        queue_.unlock();
        return;
    }
    queue_.give_all(gift::closed, fx);  // mutate
    for (pool_stripe& home : stripes()) {
        home.commit([](stripe_state x) { return stripe::close(x); });
        evict_all(home, [&](slot_base& s) { fx.destroy(s); });
    }
    drain_if_done(fx);
    queue_.unlock_and_run(fx);
}

bool pool_core::enqueue_closer(waiter& w) noexcept {
    begin_close();
    return add_closer(w);
}

bool pool_core::close_in_thread(time_point deadline) noexcept {
    thread_waiter self;
    return !enqueue_closer(self) || self.block(deadline, [&]() noexcept { return cancel_closer(self, claim::expired); });
}

// --- size --------------------------------------------------------------------------------------------------------------------

std::uint32_t pool_core::clear_idle() noexcept {
    std::uint32_t cleared = 0;
    for (pool_stripe& home : stripes()) {
        cleared += evict_all(home, [this](slot_base& s) { creation_.destroy(s); });
    }
    return cleared;
}

std::uint32_t pool_core::resize(std::uint32_t capacity) noexcept {
    pool_effects fx;
    queue_.lock();
    capacity = std::clamp(capacity, 1U, stripes().total_slots());
    for (pool_stripe& home : stripes()) {
        const unsigned share = stripes().share_of(capacity, home.number);
        unsigned over = home.commit([=](stripe_state x) { return stripe::set_capacity(x, share); }).next.over();
        // An evicted slot is busy until its resource is destroyed, and over() decreases only then. So count here.
        for (; over != 0; --over) {
            const stripe_step step = home.commit([](stripe_state x) { return stripe::evict(x); });  // idle longest
            if (step.is_refused()) {
                break;
            }
            fx.destroy(*home.slots[step.slot]);
        }
    }
    queue_.serve(fx);
    queue_.unlock_and_run(fx);
    return capacity;
}

// --- reports -----------------------------------------------------------------------------------------------------------------

pool_stats pool_core::stats() noexcept {
    pool_stats all;
    for (const pool_stripe& home : stripes()) {
        const stripe_state s = home.look();
        all.capacity += s.capacity();
        all.free += s.free();
        all.idle += s.idle();
        all.out += s.out();
        all.busy += s.busy();
        all.over += s.over();
    }
    all.waiting = queue_.size_approx();
    counters().copy_to(all);
    return all;
}

std::vector<pool_holder> pool_core::holders() {
    std::vector<pool_holder> all;
    const bool tracks_ages = settings().tracks_ages;
    const std::int64_t now = tracks_ages ? settings().time_now() : 0;
    for (const pool_stripe& home : stripes()) {
        for (unsigned n = 0; n < home.slot_count; ++n) {
            const slot_base& s = *home.slots[n];
            const site where = s.where.load(mo::acquire);  // H2
            if (where.is_known()) {
                const char* holder = s.holder.load(mo::relaxed);  // T6
                const std::int64_t since = s.since.load(mo::relaxed);  // T6
                const std::int64_t age = std::max<std::int64_t>(now - since, 0);  // the acquire may be later than `now`
                all.emplace_back(holder == nullptr ? std::string_view() : std::string_view(holder), where,
                                 static_cast<int>(home.number), duration(tracks_ages ? age : 0));
            }
        }
    }
    std::sort(all.begin(), all.end(), [](const pool_holder& a, const pool_holder& b) { return a.age() > b.age(); });
    return all;
}

void pool_core::show_acquired(const slot_base& s, site where) const noexcept {
    if (flight_recorder::now() != 0) {
        flight_recorder::write(event_kind::pool_acquired, &s, flight_record::place(where), flight_recorder::name_of(*this));
    }
    if (holdings::is_on()) {
        holdings::took(this, &s, 1, &pool_core::capacity_of);
    }
}

void pool_core::show_released(const slot_base& s) const noexcept {
    if (flight_recorder::now() != 0) {
        flight_recorder::write(event_kind::pool_released, &s, flight_record::place(site()), flight_recorder::name_of(*this));
    }
    if (holdings::is_on()) {
        holdings::gave(this, &s);
    }
}

std::uint32_t pool_core::capacity_of(const void* self) noexcept {
    auto& mine = *const_cast<pool_core*>(static_cast<const pool_core*>(self));
    std::uint32_t all = 0;
    for (const pool_stripe& home : mine.stripes()) {
        const stripe_state now = home.look();
        all += now.capacity() + now.over();
    }
    return all;
}

std::size_t pool_core::describe_owners(const void* self, char* text, std::size_t size) noexcept {
    auto& mine = *const_cast<pool_core*>(static_cast<const pool_core*>(self));
    std::uint32_t out = 0;
    const slot_base* oldest = nullptr;
    for (const pool_stripe& home : mine.stripes()) {
        out += home.look().out();
        for (unsigned n = 0; n < home.slot_count; ++n) {
            const slot_base& s = *home.slots[n];
            const bool is_held = s.where.load(mo::acquire).is_known();  // H2
            if (is_held && (oldest == nullptr || s.since.load(mo::relaxed) < oldest->since.load(mo::relaxed))) {  // T6
                oldest = &s;
            }
        }
    }
    bounded_text to(text, size);
    to << std::uint64_t(out) << " of " << std::uint64_t(capacity_of(self)) << " out";
    char recorded[128];
    if (const std::size_t length = holdings::is_on() ? holdings::describe(self, recorded, sizeof recorded) : 0;
        length != 0) {
        to << ", oldest " << std::string_view(recorded, length);
    } else if (oldest != nullptr) {
        const bool has_age = mine.settings().tracks_ages;
        to << (has_age ? ", oldest held" : ", one held");
        if (has_age) {
            to << " "
               << duration(std::max<std::int64_t>(0, mine.settings().time_now() - oldest->since.load(mo::relaxed)));  // T6
        }
        if (const char* holder = oldest->holder.load(mo::relaxed); holder != nullptr && *holder != '\0') {  // T6
            to << " by '" << std::string_view(holder).substr(0, 60) << "'";
        }
        to << oldest->where.load(mo::relaxed);  // T6
    }
    return to.length();
}

namespace {
struct describe_tag;
}

void pool_core::describe(const node& n, node_description& d) noexcept {
    auto& self = const_cast<pool_core&>(static_cast<const pool_core&>(n));
    d.state = self.refusal() == gift::closed ? "closing" : "open";
    try {
        std::string& text = thread_value<describe_tag, std::string>::get();
        text.clear();
        const std::vector<pool_holder> held = self.holders();
        for (const pool_holder& h : held) {
            text += (text.empty() ? "" : ", ") + h.to_string();
        }
        if (!held.empty()) {
            d.waits_on = text;
            if (held.front().age() != duration::zero()) {
                d.started = time_point(duration(self.settings().time_now())) - held.front().age();
            }
        }
    } catch (...) {
        d.waits_on = "its holders (no memory to name them)";
    }
}

}  // namespace roost::inline ROOST_ABI::detail
