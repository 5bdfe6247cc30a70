#include "explore_engine.hpp"

#if defined(ROOST_SEAM_MODEL)

// Locks, waiting on a word, conditions, threads, time.

namespace roost::inline ROOST_ABI {
namespace testkit::detail {

// --- locks ---------------------------------------------------------------------------------------------------------------

void engine::lock(const model_object& object, model_site at) {
    operation what = step_on(model_op::lock, object, model_kind::lock, true, at);
    visible(what);
    object_record& record = resolve(object, model_kind::lock, at);
    note_access(record, at);
    record.holder = static_cast<int>(current_);
    me().known.join(record.release);
    done(what);
    if (tracing()) {
        trace_step(what, "");
    }
}

bool engine::try_lock(const model_object& object, model_site at) {
    operation what = step_on(model_op::try_lock, object, model_kind::lock, true, at);
    visible(what);
    object_record& record = resolve(object, model_kind::lock, at);
    note_access(record, at);
    const bool taken = record.holder < 0;
    if (taken) {
        record.holder = static_cast<int>(current_);
        me().known.join(record.release);
    } else {
        what.touched[0].write = false;
    }
    done(what);
    if (tracing()) {
        trace_step(what, taken ? "succeeds" : "fails");
    }
    return taken;
}

void engine::unlock(const model_object& object, model_site at) {
    operation what = step_on(model_op::unlock, object, model_kind::lock, true, at);
    visible(what);
    object_record& record = resolve(object, model_kind::lock, at);
    if (record.holder != static_cast<int>(current_)) {
        fail("a mutex is unlocked by a thread that does not hold it", at);
    }
    note_access(record, at);
    record.holder = -1;
    record.release = me().known;
    done(what);
    if (tracing()) {
        trace_step(what, "");
    }
}

// --- waiting -------------------------------------------------------------------------------------------------------------

void engine::block() {
    const unsigned self = current_;
    threads_[self]->status = thread_status::blocked;
    const unsigned next = schedule();
    if (next != self) {
        switch_to(next);
    }
}

bool engine::sleep_in(std::uint32_t queue, time_point deadline) {
    thread_record& self = me();
    self.queue = queue;
    self.deadline = deadline;
    self.timed_out = false;
    waiters_.push_back(waiter{queue, current_});
    block();
    return !self.timed_out;
}

// "The deadline passes before a wake" is a choice, unless there is no deadline. Leaving at once stands for leaving at any
// later moment before a wake: in between the waiter would have had no effect on other threads.
// The step was announced as writing the clock; if it does not, other steps need not be ordered with it.
bool engine::times_out(time_point deadline, operation& what) {
    if (deadline == no_deadline) {
        return false;
    }
    if (deadline > clock_ && pick_value(2) == 0) {
        for (touch& t : what.touched) {
            t.write = t.write && t.object != clock_object;
        }
        return false;
    }
    clock_ = deadline > clock_ ? deadline : clock_;
    return true;
}

bool engine::wait(model_word& word, std::uint32_t expected, time_point deadline, model_site at) {
    operation what = step_on(model_op::wait, word, model_kind::word, false, at);
    const std::uint32_t queue = queue_of(&word);
    what.add(queue, true);
    if (deadline != no_deadline) {
        what.add(clock_object, true);
    }
    visible(what);
    object_record& record = resolve(word, model_kind::word, at);
    note_access(record, at);
    store_record& newest = record.stores[record.store_count - 1];
    newest.seen[current_] = newest.seen[current_] == 0 ? me().now : newest.seen[current_];
    me().fence_acquire.join(newest.release);
    const bool differs = static_cast<std::uint32_t>(newest.value) != expected;
    const bool early = !differs && how.spurious_wakes && pick_value(2) == 1;
    const bool expired = !differs && !early && times_out(deadline, what);
    done(what);
    if (tracing()) {
        trace_step(what, differs ? "returns: the word differs" : early ? "returns early" : expired ? "times out" : "blocks");
    }
    if (differs || early) {
        return true;
    }
    return !expired && sleep_in(queue, deadline);
}

void engine::await(model_word& word, std::uint32_t expected, model_site at) {
    operation what = step_on(model_op::await, word, model_kind::word, false, at);
    what.target = expected;
    visible(what);
    object_record& record = resolve(word, model_kind::word, at);
    note_access(record, at);
    store_record& newest = record.stores[record.store_count - 1];
    newest.seen[current_] = newest.seen[current_] == 0 ? me().now : newest.seen[current_];
    me().fence_acquire.join(newest.release);
    done(what);
    if (tracing()) {
        trace_step(what, "sees another value");
    }
}

void engine::wake_from(std::uint32_t queue, int count, operation& what) {
    std::vector<unsigned> chosen;
    for (; count > 0; --count) {
        unsigned available = 0;
        for (const waiter& w : waiters_) {
            available += w.queue == queue ? 1 : 0;
        }
        if (available == 0) {
            break;
        }
        unsigned skip = available > static_cast<unsigned>(count) ? pick_value(available) : 0;
        for (std::size_t i = 0; i < waiters_.size(); ++i) {
            if (waiters_[i].queue == queue && skip-- == 0) {
                chosen.push_back(waiters_[i].thread);
                waiters_.erase(waiters_.begin() + static_cast<std::ptrdiff_t>(i));
                break;
            }
        }
    }
    done(what);
    if (tracing()) {
        std::string text = chosen.empty() ? "no thread" : "thread";
        for (const unsigned t : chosen) {
            text += " " + std::to_string(t);
        }
        trace_step(what, text);
    }
    for (const unsigned t : chosen) {
        plan.ordered(t, current_);
        threads_[t]->status = thread_status::ready;
        run_to_next_step(t);
    }
}

void engine::wake(const void* address, int count, model_site at) {
    if (mutant.is_active() && mutant.hits(mutation::what::skip, model_op::wake, at)) {
        return;
    }
    operation what;
    what.op = model_op::wake;
    what.at = at;
    const std::uint32_t queue = queue_of(address);
    what.add(queue, true);
    visible(what);
    wake_from(queue, count, what);
}

bool engine::condition_wait(const model_object& condition, const model_object& lock_object, time_point deadline,
                            model_site at) {
    operation what = step_on(model_op::condition_wait, condition, model_kind::condition, true, at);
    what.add(id_of(resolve(lock_object, model_kind::lock, at)), true);
    if (deadline != no_deadline) {
        what.add(clock_object, true);
    }
    visible(what);
    note_access(resolve(condition, model_kind::condition, at), at);
    object_record& held = resolve(lock_object, model_kind::lock, at);
    held.holder = -1;
    held.release = me().known;
    const std::uint32_t queue = what.touched[0].object;
    const bool early = how.spurious_wakes && pick_value(2) == 1;
    const bool expired = !early && times_out(deadline, what);
    done(what);
    if (tracing()) {
        trace_step(what, early ? "returns early" : expired ? "times out" : "blocks");
    }
    const bool in_time = early || (!expired && sleep_in(queue, deadline));
    lock(lock_object, at);
    return in_time;
}

void engine::condition_notify(const model_object& condition, model_site at) {
    if (mutant.is_active() && mutant.hits(mutation::what::skip, model_op::notify, at)) {
        return;
    }
    operation what = step_on(model_op::notify, condition, model_kind::condition, true, at);
    visible(what);
    object_record& record = resolve(condition, model_kind::condition, at);
    note_access(record, at);
    wake_from(id_of(record), 1, what);
}

// No thread can move, but at least one waits with a deadline: time passes until the earliest one.
int engine::fire_earliest_timeout() {
    std::size_t best = waiters_.size();
    for (std::size_t i = 0; i < waiters_.size(); ++i) {
        const time_point t = threads_[waiters_[i].thread]->deadline;
        if (t != no_deadline && (best == waiters_.size() || t < threads_[waiters_[best].thread]->deadline)) {
            best = i;
        }
    }
    if (best == waiters_.size()) {
        return -1;
    }
    const unsigned t = waiters_[best].thread;
    waiters_.erase(waiters_.begin() + static_cast<std::ptrdiff_t>(best));
    thread_record& expired = *threads_[t];
    clock_ = expired.deadline > clock_ ? expired.deadline : clock_;
    expired.timed_out = true;
    expired.status = thread_status::ready;
    if (tracing()) {
        trace_note("no thread can move: the wait of thread " + std::to_string(t) + " times out");
    }
    for (unsigned other = 0; other < thread_count_; ++other) {
        plan.ordered(t, other);
    }
    if (t != current_) {
        run_to_next_step(t);
    }
    return static_cast<int>(t);
}

// --- threads, time, chance -----------------------------------------------------------------------------------------------

unsigned engine::start_thread(void (*entry)(void*), void* argument) {
    const unsigned id = thread_count_++;
    if (id == threads_.size()) {
        threads_.push_back(std::make_unique<thread_record>());
    }
    thread_record& t = *threads_[id];
    t.stack.prepare(&engine::thread_entry);
    t.status = thread_status::ready;
    t.starter = -1;
    t.now = 1;
    t.known = {};
    t.known.at[id] = t.now;
    t.fence_acquire = {};
    t.fence_release = {};
    t.fenced = false;
    t.run = entry;
    t.argument = argument;
    t.waits_for_steps_of = 0;
    t.stepped_since_yield = 0;
    t.yielded = false;
    t.timed_out = false;
    t.random = (id + 1) * 0x9e3779b97f4a7c15U;
    plan.pending(id) = operation{};
    return id;
}

std::uint32_t engine::spawn(void (*entry)(void*), void* argument, model_site at) {
    if (thread_count_ == max_threads) {
        fail("a model has at most eight threads in one execution", at);
    }
    const unsigned id = start_thread(entry, argument);
    thread_record& parent = me();
    thread_record& child = *threads_[id];
    child.known = parent.known;
    child.known.at[id] = child.now;
    parent.known.at[current_] = ++parent.now;
    plan.ordered(id, current_);
    if (tracing()) {
        trace_note("starts thread " + std::to_string(id) + " at " + place(at));
    }
    run_to_next_step(id);
    return id;
}

void engine::join(std::uint32_t thread, model_site at) {
    operation what;
    what.op = model_op::join;
    what.at = at;
    what.target = thread;
    visible(what);
    me().known.join(threads_[thread]->known);
    plan.ordered(current_, thread);
    done(what);
    if (tracing()) {
        trace_step(what, "thread " + std::to_string(thread));
    }
}

void*& engine::thread_slot(const void* key, void (*ends)(void*)) {
    thread_record& self = me();
    for (auto& s : self.slots) {
        if (s->key == key) {
            return s->value;
        }
    }
    self.slots.push_back(std::make_unique<thread_record::slot>(thread_record::slot{key, nullptr, ends}));
    return self.slots.back()->value;
}

time_point engine::now(model_site at) {
    operation what;
    what.op = model_op::clock;
    what.at = at;
    what.add(clock_object, false);
    visible(what);
    done(what);
    return clock_;
}

std::uint64_t engine::random() {
    std::uint64_t& s = me().random;
    s ^= s << 13U;
    s ^= s >> 7U;
    return s ^= s << 17U;
}

}  // namespace testkit::detail
}  // namespace roost::inline ROOST_ABI

#endif  // ROOST_SEAM_MODEL
