// Construction, closing, resizing, reports. See pool_core.hpp.

#include <roost/pool/detail/pool_core.hpp>

#include <roost/tree/visit.hpp>

#include <algorithm>
#include <new>
#include <string>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

const node_functions pool_core::functions_table{.kind = "pool",
                                                .destroy = &pool_core::destroy_node,
                                                .level_raised = &pool_core::level_raised,
                                                .describe = &pool_core::describe};

pool_core::pool_core(pool_options options, kinds how, site made_at)
    : node(functions_table, node_name(std::string_view(options.name)), made_at),
      creates_async_(how.creates_async),
      examines_(how.has_check),
      checks_async_(how.checks_async),
      options_(std::move(options)),
      upkeep_(+[](work& w) noexcept { static_cast<maintenance&>(w).core->maintain(); }),
      reopening_(+[](work& w) noexcept { static_cast<maintenance&>(w).core->reopened(); }) {
    set_up();
}

pool_core::pool_core(node& parent, pool_options options, kinds how, site made_at)
    : node(functions_table, parent, node_name(std::string_view(options.name)), made_at),
      counts_(true),
      creates_async_(how.creates_async),
      examines_(how.has_check),
      checks_async_(how.checks_async),
      options_(std::move(options)),
      upkeep_(+[](work& w) noexcept { static_cast<maintenance&>(w).core->maintain(); }),
      reopening_(+[](work& w) noexcept { static_cast<maintenance&>(w).core->reopened(); }) {
    set_up();
}

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

}  // namespace

void pool_core::set_up() {
    pool_options& o = options_;
    const auto refuse = [&](const char* rule) { panic("pool", o.name, made_at(), rule); };
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
    unsigned stripes = o.stripes != 0 ? o.stripes : hardware_threads();
    stripes = std::clamp(stripes, 1U, o.capacity);
    stripes = std::max(stripes, (o.room + stripe_state::max_slots - 1) / stripe_state::max_slots);
    has_upkeep_ = o.idle_ttl > duration::zero() || o.max_lifetime > duration::zero() || o.check_after > duration::zero();
    examines_ = examines_ || has_upkeep_;
    tracks_ages_ = o.track_ages || o.leak_after > duration::zero();
    stripe_count_ = stripes;
    unit_ = counts_ ? stripe_state::counted_bit : 0;
    stripe_mask_ = (stripes & (stripes - 1)) == 0 ? stripes - 1 : 0;
    total_slots_ = o.room;
    capacity_now_ = o.capacity;
    void* memory = allocate(sizeof(pool_stripe) * stripes, alignof(pool_stripe));
    stripes_ = static_cast<pool_stripe*>(memory);
    for (unsigned i = 0; i < stripes; ++i) {
        pool_stripe* s = ::new (static_cast<void*>(stripes_ + i)) pool_stripe;
        s->number = i;
        s->slot_count = o.room / stripes + (i < o.room % stripes ? 1 : 0);
        const unsigned capacity = o.capacity / stripes + (i < o.capacity % stripes ? 1 : 0);
        s->word.store(stripe_state::make(s->slot_count, capacity).bits, mo::relaxed);  // T1
    }
    upkeep_.core = this;
    reopening_.core = this;
}

pool_core::~pool_core() {
    for (unsigned i = 0; i < stripe_count_; ++i) {
        stripes_[i].~pool_stripe();
    }
    deallocate(stripes_, sizeof(pool_stripe) * stripe_count_, alignof(pool_stripe));
}

void pool_core::bind_slot(unsigned index, slot_base& s) noexcept {
    pool_stripe& home = stripes_[index % stripe_count_];
    s.core = this;
    s.home = &home;
    s.number = index / stripe_count_;
    home.slots[s.number] = &s;
}

void pool_core::open() noexcept {
    retain();  // the reference that an open pool holds to itself
    if (parent() != nullptr && level_now() != level::running) {
        level_raised(*this, level_now());
    }
}

void pool_core::level_raised(node& n, level) noexcept {
    auto& self = static_cast<pool_core&>(n);
    for (unsigned i = 0; i < self.stripe_count_; ++i) {
        self.stripes_[i].commit([](stripe_state x) { return stripe::stop(x); });
    }
    self.refuse_all(gift::stopped);
}

std::int64_t pool_core::time_now() noexcept {
    const time_point t = !options_.exact_clock ? coarse_now() : options_.timers != nullptr ? options_.timers->now() : now();
    return t.time_since_epoch().count();
}

std::exception_ptr pool_core::make_error(gift why, pool_operation operation, int stripe, std::exception_ptr cause) noexcept {
    try {
        switch (why) {
            case gift::stopped: throw pool_error(errc::refused, name(), stripe, operation, "the pool is stopped");
            case gift::closed: throw pool_error(errc::closed, name(), stripe, operation, "the pool is closed");
            case gift::failed: throw pool_error(errc::broken, name(), stripe, operation, "", std::move(cause));
            default:
                throw pool_error(errc::timed_out, name(), stripe, operation,
                                 "no resource became available before the deadline");
        }
    } catch (...) {
        return std::current_exception();  // std::bad_alloc if there is no memory for it
    }
}

// Evicts all idle resources of a stripe in one commit, calls each(slot), and returns their number.
template <class Each>
std::uint32_t pool_core::evict_all(pool_stripe& home, Each each) noexcept {
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

// --- closing -----------------------------------------------------------------------------------------------------------------

void pool_core::begin_close() noexcept {
    pool_effects fx;
    waiters_.lock();
    if (is_closing_) {
        waiters_.unlock();
        return;
    }
    is_closing_ = true;
    while (auto* w = static_cast<pool_waiter*>(waiters_.front())) {
        give(*w, gift::closed, nullptr, fx);  // mutate
    }
    settle_queue(fx);
    for (unsigned i = 0; i < stripe_count_; ++i) {
        pool_stripe& home = stripes_[i];
        home.commit([](stripe_state x) { return stripe::close(x); });
        evict_all(home, [&](slot_base& s) { s.next_effect = std::exchange(fx.to_destroy, &s); });
    }
    drain_if_done(fx);
    unlock_and_run(fx);
}

bool pool_core::enqueue_closer(waiter& w) noexcept {
    begin_close();
    waiters_.lock();
    const bool must_wait = !has_ended_;
    if (must_wait) {
        closers_.lock();
        closers_.push_back(w);
        closers_.unlock();
    }
    waiters_.unlock();
    return must_wait;
}

bool pool_core::cancel_closer(waiter& w, claim as) noexcept {
    closers_.lock();
    const bool claimed = closers_.take_if_queued(w, as);
    closers_.unlock();
    return claimed;
}

bool pool_core::close_in_thread(time_point deadline) noexcept {
    thread_waiter self;
    return !enqueue_closer(self) || self.block(deadline, [&]() noexcept { return cancel_closer(self, claim::expired); });
}

// --- size --------------------------------------------------------------------------------------------------------------------

std::uint32_t pool_core::clear_idle() noexcept {
    std::uint32_t cleared = 0;
    for (unsigned i = 0; i < stripe_count_; ++i) {
        cleared += evict_all(stripes_[i], [this](slot_base& s) { destroy_or_post(s); });
    }
    return cleared;
}

std::uint32_t pool_core::resize(std::uint32_t capacity) noexcept {
    pool_effects fx;
    waiters_.lock();
    capacity = std::clamp(capacity, 1U, total_slots_);
    capacity_now_ = capacity;
    for (unsigned i = 0; i < stripe_count_; ++i) {
        pool_stripe& home = stripes_[i];
        const unsigned share = capacity / stripe_count_ + (i < capacity % stripe_count_ ? 1 : 0);
        unsigned over = home.commit([=](stripe_state x) { return stripe::set_capacity(x, share); }).next.over();
        // An evicted slot is busy until its resource is destroyed, and over() decreases only then. So count here.
        for (; over != 0; --over) {
            const stripe_step step = home.commit([](stripe_state x) { return stripe::evict(x); });  // idle longest
            if (step.is_refused()) {
                break;
            }
            slot_base* s = home.slots[step.slot];
            s->next_effect = std::exchange(fx.to_destroy, s);
        }
    }
    serve(fx);
    unlock_and_run(fx);
    return capacity;
}

// --- reports -----------------------------------------------------------------------------------------------------------------

pool_stats pool_core::stats() noexcept {
    pool_stats all;
    for (unsigned i = 0; i < stripe_count_; ++i) {
        const stripe_state s = look(stripes_[i]);
        all.capacity += s.capacity();
        all.free += s.free();
        all.idle += s.idle();
        all.out += s.out();
        all.busy += s.busy();
        all.over += s.over();
    }
    all.waiting = waiters_.size_approx();
    counters_.copy_to(all);
    return all;
}

std::vector<pool_holder> pool_core::holders() {
    std::vector<pool_holder> all;
    const std::int64_t now = tracks_ages_ ? time_now() : 0;
    for (unsigned i = 0; i < stripe_count_; ++i) {
        for (unsigned n = 0; n < stripes_[i].slot_count; ++n) {
            const slot_base& s = *stripes_[i].slots[n];
            const site where = s.where.load(mo::acquire);  // H2
            if (where.is_known()) {
                const char* who = s.who.load(mo::relaxed);  // T6
                const std::int64_t since = s.since.load(mo::relaxed);  // T6
                const std::int64_t age = std::max<std::int64_t>(now - since, 0);  // the acquire may be later than `now`
                all.emplace_back(who == nullptr ? std::string_view() : std::string_view(who), where, static_cast<int>(i),
                                 duration(tracks_ages_ ? age : 0));
            }
        }
    }
    std::sort(all.begin(), all.end(), [](const pool_holder& a, const pool_holder& b) { return a.age() > b.age(); });
    return all;
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
                d.started = time_point(duration(self.time_now())) - held.front().age();
            }
        }
    } catch (...) {
        d.waits_on = "its holders (no memory to name them)";
    }
}

}  // namespace roost::inline ROOST_ABI::detail
