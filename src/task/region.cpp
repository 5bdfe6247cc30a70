// Orders S2 to S10: task/detail/job/region.hpp.

#include <roost/task/detail/job/region.hpp>

#include <roost/exec/timer.hpp>
#include <roost/task/detail/job/scope_core.hpp>
#include <roost/task/detail/job/value_region.hpp>
#include <roost/tree/visit.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>

// S9 survives compare_exchange as load and store: no other thread changes a slot that is cancelled and holds no wait
// S9 survives compare_exchange as store: as load and store

namespace roost::inline ROOST_ABI::detail {

namespace {
constexpr int spins_before_yield = 64;
}

// Requires that the caller has set busy. After a lost try_cancel the woken body may free everything at once.
bool region::claim_wait(cancellable& what) noexcept {
    const bool claimed = what.functions_.get()->try_cancel(what);
    slot_.store(cancelled_bit | (claimed ? 0 : word_of(what)), mo::release);  // S4
    return claimed;
}

// Before S1: a body that was woken already waits for that, so the frame is still there.
void region::note_suspended(cancellable& what) noexcept {
    what.stamp_ = holdings::is_on() ? holdings::stamp() : 0;
    if (flight_recorder::now() == 0) {
        return;
    }
    const wait_target target = what.functions_.get()->what(what);
    promise_base& frame = what.frame();
    flight_recorder::write_suspended(&owner(), frame.handle().address(), flight_record::literal(target.kind().data()),
                                     flight_record::place(frame.await_site()));
}

bool region::commit_cancelled(cancellable& what) noexcept {
    const std::uintptr_t next = word_of(what) | cancelled_bit | busy_bit;
    std::uintptr_t expected = cancelled_bit;
    if (!slot_.compare_exchange_strong(expected, next, mo::acquire, mo::relaxed)) {  // S9
        panic("I1: a body can be suspended in one operation at a time");
    }
    return claim_wait(what);
}

void region::disarm_slow(cancellable& what) noexcept {
    for (int spin = 0;; ++spin) {
        const std::uintptr_t seen = slot_.load(mo::relaxed);  // S5
        if ((seen & ~cancelled_bit) == word_of(what)) {
            std::uintptr_t expected = seen;
            if (slot_.compare_exchange_strong(expected, seen & cancelled_bit, mo::acquire, mo::relaxed)) {  // S3
                return;
            }
            continue;
        }
        spin < spins_before_yield ? spin_hint() : yield_thread();
    }
}

void region::leave_wait() noexcept {
    for (int spin = 0;; ++spin) {
        std::uintptr_t seen = slot_.load(mo::relaxed);  // S5
        if ((seen & (busy_bit | peeked_bit)) == 0 &&
            slot_.compare_exchange_strong(seen, seen & cancelled_bit, mo::acquire, mo::relaxed)) {  // S3
            return;
        }
        spin < spins_before_yield ? spin_hint() : yield_thread();
    }
}

bool region::is_cancelled_with_its_job() const noexcept {
    const node* at = this;
    while (at->is_cancelled() && !static_cast<const region*>(at)->is_marked()) {
        at = at->parent();
    }
    return at->is_cancelled();
}

void region::interrupt() noexcept {
    std::uintptr_t seen = slot_.load(mo::relaxed);  // S5
    std::uintptr_t next = 0;
    do {
        const bool is_peeked = (seen & peeked_bit) != 0;  // or posted
        const bool is_busy = (seen & posted_bits) == busy_bit;
        if (is_busy || seen == cancelled_bit || (is_peeked && (seen & cancelled_bit) != 0)) {
            return;
        }
        next = seen | cancelled_bit | (seen <= cancelled_bit || is_peeked ? 0 : busy_bit);
    } while (!slot_.compare_exchange_weak(seen, next, mo::acq_rel, mo::relaxed));  // S2
    if ((next & posted_bits) == busy_bit) {
        claim_and_unwind(*reinterpret_cast<cancellable*>(seen & ~cancelled_bit));
    }
}

// Requires that the caller has set busy.
void region::claim_and_unwind(cancellable& what) noexcept {
    job_core& mine = owner();
    promise_base& frame = what.frame();
    if (claim_wait(what)) {
        mine.post_unwind(frame);
    }
}

// Calls look() with the operation that the body is suspended in. While peeked is set, the body cannot leave the wait. A
// cancel that comes meanwhile is carried out here.
template <class Look>
void region::peek(Look look) noexcept {
    std::uintptr_t seen = slot_.load(mo::relaxed);  // S5
    do {
        if ((seen & (busy_bit | peeked_bit)) != 0 || seen <= cancelled_bit) {
            return;
        }
    } while (!slot_.compare_exchange_weak(seen, seen | peeked_bit, mo::acquire, mo::relaxed));  // S6
    cancellable& waiting = *reinterpret_cast<cancellable*>(seen & ~cancelled_bit);
    look(waiting, *waiting.functions_.get());
    std::uintptr_t expected = seen | peeked_bit;
    if (!slot_.compare_exchange_strong(expected, seen, mo::release, mo::acquire)) {  // S7
        slot_.store((seen & ~cancelled_bit) | cancelled_bit | busy_bit, mo::relaxed);  // S10
        claim_and_unwind(waiting);
    }
}

namespace {

// is_pending() is asked after the look: if the wait is not over by then, the primitive existed during the look, and what was
// found at its address is its own.
template <class IsPending>
void describe_owners(const wait_subject& what, IsPending is_pending, node_description& d) noexcept {
    std::size_t length = 0;
    if (what.owners != nullptr) {
        length = what.owners(what.of, d.owner_text, sizeof d.owner_text);
    } else if (what.need != 0 && holdings::is_on()) {
        length = holdings::describe(what.of, d.owner_text, sizeof d.owner_text);
    }
    if (length != 0 && is_pending()) {
        d.held_by = std::string_view(d.owner_text, length);
    }
}

// Returns true if the file is in the folder of one of the layers, below `folder`.
bool is_in_layer(std::string_view below) noexcept {
    constexpr std::string_view layers[] = {"adapters/", "admin/",   "asio/",     "exec/", "flow/",    "io/",   "pool/",
                                           "runtime/",  "service/", "shutdown/", "sync/", "testing/", "task/", "tree/"};
    return std::any_of(std::begin(layers), std::end(layers),
                       [&](std::string_view layer) { return below.starts_with(layer); });
}

// Returns true for a coroutine of Roost itself, such as the loop of retry() in a header or the root task in a source.
bool is_of_library(const site& where) noexcept {
    constexpr std::string_view here = "task/region.cpp";
    const std::string_view mine = site::here().file();
    const std::string_view file = where.file();
    if (mine.ends_with(here) && file.starts_with(mine.substr(0, mine.size() - here.size()))) {
        return is_in_layer(file.substr(mine.size() - here.size()));
    }
    const std::size_t folder = file.rfind("/roost/");
    return folder != std::string_view::npos && file.ends_with(".hpp") &&
           is_in_layer(file.substr(folder + std::string_view("/roost/").size()));
}

// Requires that the body cannot leave the wait. The frames above it are suspended too, and their lines were written before.
void describe_frames(const promise_base& innermost, node_description& d) noexcept {
    for (const promise_base* at = &innermost; at != nullptr; at = at->caller()) {
        const site where = at->await_site();
        if (is_of_library(where)) {
            continue;
        }
        if (!d.waits_at.is_known()) {
            d.waits_at = where;
        } else if (d.caller_count < node_description::most_callers) {
            d.callers[d.caller_count++] = where;
        } else {
            d.has_more_callers = true;
            return;
        }
    }
}

}  // namespace

site await_line(const promise_base& innermost) noexcept {
    const promise_base* at = &innermost;
    while (at != nullptr && is_of_library(at->await_site())) {
        at = at->caller();
    }
    return at != nullptr ? at->await_site() : innermost.await_site();
}

void region::describe_wait(node_description& d) noexcept {
    peek([&d, this](const cancellable& waiting, const wait_functions& functions) {
        const wait_target what = functions.what(waiting);
        d.set_waits_on(what.kind(), what.name());
        d.uninterruptible = functions.is_uninterruptible();
        describe_owners(functions.subject(waiting), [&] { return functions.subject(waiting).is_pending; }, d);
        describe_frames(waiting.frame(), d);
        value_region::describe_shown(*this, d);
    });
}

void region::look_at_wait(void* context, wait_look look) noexcept {
    peek([=](const cancellable& waiting, const wait_functions& functions) { look(context, waiting, functions); });
}

job_core* region::joined_job() noexcept {
    job_core* found = nullptr;
    peek([&found](const cancellable& waiting, const wait_functions& functions) {
        found = functions.joined(waiting);
        if (found != nullptr) {
            found->retain();
        }
    });
    return found;
}

void region::describe(const node& self, node_description& d) noexcept {
    auto& mine = const_cast<region&>(static_cast<const region&>(self));
    if (timer_service* timers = mine.owner().executor()->timers(); timers != nullptr && d.deadline != no_deadline) {
        d.deadline_clock = timers->now();
    }
    mine.describe_wait(d);
}

time_point region::clock(const node& self) noexcept {
    timer_service* timers = static_cast<const region&>(self).owner().executor()->timers();
    return timers == nullptr ? now() : timers->now();
}

void region::level_raised(node& self, level now) noexcept {
    if (now >= level::cancel) {
        static_cast<region&>(self).interrupt();
    }
}

void region::note_cut_short(region& innermost) noexcept {
    for (node* at = &innermost; !static_cast<region&>(*at).is_marked() && at->is_cancelled(); at = at->parent()) {
        static_cast<guest_region&>(*at).cut_short_ = true;
    }
}

void region::keep_posted(promise_base& frame) noexcept {
    std::uintptr_t seen = slot_.load(mo::relaxed);  // S8
    do {
        ROOST_ASSERT((seen & ~cancelled_bit) == 0, "I1: a body was posted while it was suspended in an operation");
    } while (!slot_.compare_exchange_weak(seen, seen | reinterpret_cast<std::uintptr_t>(&frame) | posted_bits, mo::relaxed,
                                          mo::relaxed));  // S8
}

void job_core::post_unwind(promise_base& frame) noexcept {
    static_cast<job_core&>(*this).keep_posted(frame);
    set_run(run_unwind);
    post_or_fall_back(executor(), *this, "a job's body");
}

void job_core::run_unwind(work& self) noexcept {
    job_core& mine = static_cast<job_core&>(self);
    promise_base& frame = mine.take_posted();
    runner::of_this_thread().why = frame.region().why();
    mine.run(next_step::unwind(frame));
}

bool job_core::give_way(promise_base& frame) noexcept {
    job_core& mine = static_cast<job_core&>(*this);
    mine.keep_posted(frame);
    set_run(run_after_others);
    if (executor()->post_last(*this)) {
        return true;
    }
    static_cast<void>(mine.take_posted());
    return false;
}

void job_core::run_after_others(work& self) noexcept {
    job_core& mine = static_cast<job_core&>(self);
    mine.run(mine.take_posted());
}

void job_core::post_then(continuation& then) noexcept { post_or_fall_back(executor(), then, "a job's body"); }

void continuation::run_then(work& self) noexcept {
    continuation& mine = static_cast<continuation&>(self);
    const next_step step = mine.go_on_(mine);
    step.frame()->region().owner().run(step);
}

}  // namespace roost::inline ROOST_ABI::detail
