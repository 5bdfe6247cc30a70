#include <roost/shutdown/detail/provenance.hpp>

#include <mutex>
#include <new>

// The guard tables of all threads. A table is created with a thread's first guard. When the thread ends, the next new thread
// takes it over, because guards of the old one may still live. Tables are never freed, so their number is the largest number of
// threads with guards at one time.
//
// id  operation           order    pairs  carries                          fails in
// T1  tracking: load      relaxed  -      a switch; publishes nothing      (floor)
//     unrecorded          relaxed  -      a flag that is never cleared     (floor)
// T2  tracking: exchange  relaxed  -      a switch; publishes nothing      (floor)

namespace roost::inline ROOST_ABI {

using namespace observe;

using namespace seam;

#if defined(ROOST_SEAM_MODEL)

guard_tracking observe::set_guard_tracking(guard_tracking) noexcept { return guard_tracking::off; }
guard_tracking observe::current_guard_tracking() noexcept { return guard_tracking::off; }

namespace detail {
void for_each_guard(void*, slot_function) {}
bool may_miss_guards() noexcept { return true; }
void notice_all_guards() noexcept {}
std::uint32_t notice_own_guards() noexcept { return thread_index(); }
std::size_t recorded_capacity() noexcept { return 0; }
}  // namespace detail

#else

guard_tracking observe::set_guard_tracking(guard_tracking mode) noexcept {
    return detail::tracking_now.exchange(mode, mo::relaxed);  // T2
}
guard_tracking observe::current_guard_tracking() noexcept { return detail::tracking_now.load(mo::relaxed); }  // T1

namespace detail {

constinit atomic<guard_tracking> tracking_now{guard_tracking::sites};
constinit atomic<bool> any_unrecorded{false};

bool may_miss_guards() noexcept { return any_unrecorded.load(mo::relaxed); }  // T1

namespace {

constinit small_mutex registry_lock;
constinit guard_table* all_tables = nullptr;
constinit guard_table* orphans = nullptr;

// Lives as long as its thread. Its destructor hands the table to the next new thread.
struct table_tag;
struct table_holder {
    guard_table* table = nullptr;
    ~table_holder() {
        auto& mine = guards_of_this_thread();
        mine.table = nullptr;
        mine.has_ended = true;
        if (table != nullptr) {
            const std::lock_guard lock(registry_lock);
            table->next_orphan = orphans;
            orphans = table;
        }
    }
};

guard_table* adopt_or_make() noexcept {
    const std::lock_guard lock(registry_lock);
    if (guard_table* found = orphans) {
        orphans = found->next_orphan;
        return found;
    }
    auto* made = new (std::nothrow) guard_table;
    if (made != nullptr) {
        made->next_table = all_tables;
        all_tables = made;
    }
    return made;
}

}  // namespace

namespace {

guard_table* table_of(thread_guards& mine) noexcept {
    if (mine.table == nullptr && !mine.has_ended) {
        if (guard_table* table = adopt_or_make()) {
            thread_value<table_tag, table_holder>::get().table = table;
            mine.table = table;
        }
    }
    return mine.table;
}

}  // namespace

guard_slot* record_guard_slow(thread_guards& mine, const void* owner, site where, guard_tracking mode) noexcept {
    guard_table* table = guard_slot::fits(owner) ? table_of(mine) : nullptr;
    guard_slot* s = table != nullptr ? table->free_slot() : nullptr;
    if (s != nullptr) {
        std::int64_t since = 0;
        if (mode != guard_tracking::sites) {
            since = (mode == guard_tracking::exact ? now() : coarse_now()).time_since_epoch().count();
        }
        s->take(owner, where, since, mine.made);
    } else {
        note_unrecorded();
    }
    return s;
}

namespace {

std::int64_t coarse_count() noexcept { return coarse_now().time_since_epoch().count(); }

template <class Fn>
void for_each_slot(Fn fn) {
    guard_table* t = nullptr;
    {
        const std::lock_guard lock(registry_lock);
        t = all_tables;
    }
    for (; t != nullptr; t = t->next_table) {  // written before the table was linked, never changed
        t->for_each(fn);
    }
}

}  // namespace

void for_each_guard(void* context, slot_function fn) {
    const std::int64_t at = coarse_count();
    for_each_slot([&](guard_slot& s) {
        const guard_slot::copy c = s.read();
        if (c.owner != nullptr) {
            s.notice(at);
            fn(context, s, c);
        }
    });
}

void notice_all_guards() noexcept {
    for_each_slot([at = coarse_count()](guard_slot& s) noexcept { s.notice(at); });
}

std::uint32_t notice_own_guards() noexcept {
    const thread_guards& here = guards_of_this_thread();
    guard_table* mine = here.table;
    // Reading the clock costs as much as a dozen guards, so not every sample does it.
    if (mine != nullptr && (here.made & 255U) == 0 && tracking_now.load(mo::relaxed) == guard_tracking::sites) {  // T1
        mine->notice_some(coarse_count());
    }
    return thread_index();
}

std::size_t recorded_capacity() noexcept {
    const std::lock_guard lock(registry_lock);
    std::size_t total = 0;
    for (const guard_table* t = all_tables; t != nullptr; t = t->next_table) {
        total += t->capacity();
    }
    return total;
}

}  // namespace detail

#endif

std::optional<duration> detail::age_of(std::int64_t since, time_point at) noexcept {
    if (since == 0) {
        return std::nullopt;
    }
    const duration age = at.time_since_epoch() - duration(since < 0 ? -since : since);
    return age < duration::zero() ? duration::zero() : age;
}

}  // namespace roost::inline ROOST_ABI
