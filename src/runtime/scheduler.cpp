// Orders S1 to S3: runtime/detail/scheduler.hpp.

#include <roost/runtime/detail/scheduler.hpp>

#include <roost/base/assert.hpp>
#include <roost/runtime/detail/keeper.hpp>

#include <algorithm>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

namespace {

constexpr unsigned older_rounds = 4;         // of so many bodies that ran where they were awaited
constexpr std::size_t fetch_limit = 16;      // from outside at a time, when no other worker is free to run them

}  // namespace

worker*& scheduler::this_worker() noexcept {
    struct tag;
    return thread_value<tag, worker*>::get();
}

scheduler::scheduler(scheduler_options options)
    : options_(std::move(options)),
      seat_(options_.driver),
      idle_(has_heavy_barrier(), options_.workers),
      workers_(new worker[options_.workers]) {
    for (unsigned i = 0; i < options_.workers; ++i) {
        workers_[i].owner = this;
        workers_[i].index = i;
        workers_[i].patience = patience(options_.search_rounds);
        workers_[i].beats.reset(new std::uint64_t[options_.workers]());
    }
    start_threads();
}

scheduler::~scheduler() {
    close();
    join();
    posters_.wait_until_none();
}

void scheduler::start_threads() {
    unsigned started = 0;
    try {
        for (; started < options_.workers; ++started) {
            worker& w = workers_[started];
            w.handle = thread([this, &w] { run_worker(w); });
        }
    } catch (...) {
        finish();
        for (unsigned i = 0; i < started; ++i) {
            workers_[i].handle.join();
        }
        throw;
    }
}

// --- posting -------------------------------------------------------------------------------------------------------------

bool scheduler::post(work& w) noexcept {
    fork_.require_parent("runtime", options_.name);
    worker* me = this_worker();
    if (me != nullptr && me->owner == this) {
        push(*me, w);
        return true;
    }
    return post_from_outside(w);
}

bool scheduler::post_from_outside(work& w) noexcept {
    if (outside_.push_further(w)) {
        return true;
    }
    const posting now(posters_);
    const bool taken = outside_.push(w);
    if (taken && idle_.needs_waking_strict()) {
        idle_.wake_one();
    }
    return taken;
}

bool scheduler::post_last(work& w) noexcept {
    worker* me = this_worker();
    if (me == nullptr || me->owner != this) {
        return post(w);
    }
    if (me->drives && outside_.push(w)) {
        return true;
    }
    fork_.require_parent("runtime", options_.name);
    me->inbox.push(w);
    me->yielded_hint.store(++me->yielded, mo::relaxed);  // S3
    if ((me->yielded > 1 || me->deque.size_approx() > 0) && idle_.needs_waking()) {
        idle_.wake_one();
    }
    return true;
}

// Counts as a body. Older work still runs in time: at once if it is known, within a few rounds if it may be in the deque.
bool scheduler::take_next(const work& w) noexcept {
    worker* me = this_worker();
    if (me == nullptr || me->owner != this) {
        return false;
    }
    if (me->pace.is_last()) [[unlikely]] {
        if (!outside_.is_empty() || me->yielded != 0 || ++me->rounds % older_rounds == 0) {
            return false;
        }
        static_cast<void>(me->pace.is_due());
        me->pace.looked(now());
        if (me->pace.is_last()) {
            return false;
        }
    }
    work* newest = me->deque.pop();
    if (newest != &w) {
        if (newest != nullptr) {
            push(*me, *newest);
        }
        return false;
    }
    static_cast<void>(me->pace.is_due());
    me->pulse.begin_body();
    return true;
}

void scheduler::push(worker& me, work& w) noexcept {
    const std::int64_t size = me.deque.push(w);
    if (size == 0) [[unlikely]] {
        me.inbox.push(w);  // no memory to grow: the inbox links the work itself
        me.yielded_hint.store(++me.yielded, mo::relaxed);  // S3
    }
    if (size != 1 && idle_.needs_waking()) {
        idle_.wake_one();
    }
}

bool scheduler::owns_this_thread() const noexcept {
    const worker* me = this_worker();
    return me != nullptr && me->owner == this;
}
bool scheduler::is_here() const noexcept { return owns_this_thread() && !this_worker()->drives; }

// --- the worker ------------------------------------------------------------------------------------------------------------

void scheduler::run_worker(worker& me) noexcept {
    name_this_thread(options_.name, me.index);
    this_worker() = &me;
    me.pulse.set_label(&activity::of_this_thread());
    while (work* w = find(me)) {
        me.pulse.begin_body();
        w->run();
    }
    me.pulse.set_label(nullptr);
    this_worker() = nullptr;
}

work* scheduler::find(worker& me) noexcept {
    if (work* w = next(me)) {
        return w;
    }
    me.pulse.rest();
    bool searching = idle_.try_begin_search(std::max(1U, options_.workers / 2));
    for (;;) {
        if (searching) {
            if (work* w = search(me)) {
                return end_search(me, w);
            }
        }
        if (!park(me, searching)) {
            // A handler may have posted in the driver while the last other worker found nothing and ended the runtime.
            work* last = next(me);
            if (last != nullptr) {
                idle_.withdraw(me.sleeper);
                end_search(me, last);
            }
            return last;
        }
        me.pace.restart();
        searching = true;
        if (work* w = next(me)) {  // what the driver's events woke
            return end_search(me, w);
        }
    }
}

work* scheduler::next(worker& me) noexcept {
    if (me.pace.is_due()) {
        me.pace.looked(now());
        if (me.turn % 2 == 0) {
            poll_driver(me);
        }
        if (work* w = older(me)) {
            return w;
        }
    }
    if (work* w = me.deque.pop()) {
        return w;
    }
    if (work* w = fetch_outside(me)) {
        return w;
    }
    return take_inbox(me, me);
}

// Every second time work from outside comes first, every fourth the inbox, every fourth the oldest of the deque.
work* scheduler::older(worker& me) noexcept {
    const unsigned turn = me.turn++;
    if (turn % 2 == 0) {
        if (work* w = fetch_outside(me)) {
            return w;
        }
    }
    bool lost = false;
    const bool inbox_first = turn / 2 % 2 == 0;
    if (work* w = inbox_first ? take_inbox(me, me) : me.deque.steal(lost)) {
        return w;
    }
    if (work* w = inbox_first ? me.deque.steal(lost) : take_inbox(me, me)) {
        return w;
    }
    return fetch_outside(me);
}

// Takes all of an inbox: runs the oldest next, the others after it.
work* scheduler::take_inbox(worker& me, worker& from) noexcept {
    work* w = from.inbox.take();
    if (&me == &from) {
        me.yielded = 0;
    }
    // Also if another worker took it first: its store may precede one of the owner, which may be in a long body since.
    from.yielded_hint.store(0, mo::relaxed);  // S3
    if (w == nullptr) {
        return nullptr;
    }
    while (work* older = w->next) {
        push(me, *w);
        w = older;
    }
    return w;
}

work* scheduler::fetch_outside(worker& me) noexcept {
    if (outside_.is_empty()) {
        return nullptr;
    }
    work* batch[fetch_limit];
    const std::size_t count = outside_.fetch(idle_.is_any_parked() ? 1 : fetch_limit, batch);
    if (count == 0) {
        return nullptr;
    }
    for (std::size_t i = count; i > 1; --i) {
        push(me, *batch[i - 1]);
    }
    if (!outside_.is_empty() && idle_.needs_waking()) {
        idle_.wake_one();
    }
    return batch[0];
}

void scheduler::rescue(std::uint64_t* beats) noexcept {
    bool stuck = false;
    for (unsigned i = 0; i < options_.workers; ++i) {
        const std::uint64_t beat = workers_[i].pulse.read();
        const bool same = pulse::is_in_body(beat) && beat == std::exchange(beats[i], beat);
        const bool keeps = workers_[i].deque.size_approx() != 0 || !workers_[i].inbox.is_empty();
        stuck = stuck || (same && (keeps || (seat_.driver() != nullptr && seat_.is_free())));
    }
    if (stuck && idle_.needs_waking_strict()) {
        idle_.wake_one();
    }
}

// --- the end ---------------------------------------------------------------------------------------------------------------

void scheduler::close() noexcept {
    if (fork_.is_forked_child()) {
        return;
    }
    outside_.close();
    idle_.wake_all();
}

void scheduler::finish() noexcept {
    finished_.store(true, mo::relaxed);  // S1
    idle_.wake_all();
}

void scheduler::join() {
    if (owns_this_thread()) {
        panic("runtime", options_.name, site(), "a worker cannot wait for its own runtime to end");
    }
    for (unsigned i = 0; i < options_.workers; ++i) {
        if (workers_[i].handle.joinable()) {
            workers_[i].handle.join();
        }
    }
}

}  // namespace roost::inline ROOST_ABI::detail
