#include "explore_engine.hpp"

#if defined(ROOST_SEAM_MODEL)

#include <bit>
#include <exception>

// Scheduling. A thread that reaches a step announces it. The thread that is picked makes its announced step and runs on to
// its next one. New and woken threads run to their next step at once, so that step is known before the next choice.

namespace roost::inline ROOST_ABI {
namespace testkit::detail {

namespace {
engine* running = nullptr;
}

void engine::reset() {
    for (auto& t : threads_) {
        t->status = thread_status::unused;
        for (auto& s : t->slots) {
            (void)s.release();  // the execution was abandoned: its values are not touched again
        }
        t->slots.clear();
    }
    thread_count_ = 0;
    current_ = 0;
    ++epoch_;
    steps_here_ = 0;
    fingerprint_ = 0xcbf29ce484222325U;
    object_count_ = first_real_object;
    queues_.clear();
    waiters_.clear();
    clock_ = time_point(std::chrono::hours(1));
    barriers_at_start_ = barriers_;
    arena_used_ = 0;
    blocks_.clear();
    allocations_to_fail_ = how.failing_allocations;
    failure_ = {};
}

failure engine::run(const std::function<void()>& body) {
    reset();
    body_ = &body;
    running = this;
    plan.begin_execution();
    roost::detail::active_engine = this;
    start_thread([](void* self) { (*static_cast<engine*>(self)->body_)(); }, this);
    context::switch_between(host_, threads_[0]->stack);  // comes back through leave()
    roost::detail::active_engine = nullptr;
    running = nullptr;
    return failure_;
}

void engine::leave() {
    roost::detail::active_engine = nullptr;
    context::switch_between(threads_[current_]->stack, host_, true);
    std::terminate();  // an abandoned execution is never continued
}

void engine::fail_with(verdict v, std::string message) {
    if (tracing()) {
        trace_note(std::string("=> ") + to_string(v) + ": " + message);
    }
    failure_ = failure{v, std::move(message)};
    leave();
}

void engine::fail(const char* text, model_site at) {
    fail_with(verdict::assertion, std::string(text) + " (" + place(at) + ")");
}

void engine::finish_execution() {
    check_leaks();
    leave();
}

void engine::switch_to(unsigned thread, bool ends) {
    context& from = threads_[current_]->stack;
    current_ = thread;
    context::switch_between(from, threads_[thread]->stack, ends);
}

void engine::thread_entry() {
    context::arrived();
    running->thread_main();
}

void engine::thread_main() {
    thread_record& self = me();
    try {
        self.run(self.argument);
    } catch (const std::exception& e) {
        fail_with(verdict::exception, std::string("an exception left a thread's body: ") + e.what());
    } catch (...) {
        fail_with(verdict::exception, "an exception left a thread's body");
    }
    finish_thread();
}

void engine::finish_thread() {
    thread_record& self = me();
    while (!self.slots.empty()) {
        std::unique_ptr<thread_record::slot> last = std::move(self.slots.back());
        self.slots.pop_back();
        last->destroy(last->value);
    }
    self.status = thread_status::finished;
    if (tracing()) {
        trace_note("ends");
    }
    if (self.starter >= 0) {
        const int starter = self.starter;
        self.starter = -1;
        switch_to(static_cast<unsigned>(starter), true);
    } else {
        switch_to(schedule(), true);
    }
    std::terminate();
}

// Runs a new or woken thread until it announces its next step, then comes back.
void engine::run_to_next_step(unsigned thread) {
    threads_[thread]->starter = static_cast<int>(current_);
    switch_to(thread);
}

void engine::visible(operation& what) {
    const unsigned self = current_;
    thread_record& t = *threads_[self];
    if (barriers_ && how.weak) {
        what.add(world_object, what.op == model_op::heavy_barrier);
    }
    plan.pending(self) = what;
    if (t.starter >= 0) {
        const int starter = t.starter;
        t.starter = -1;
        switch_to(static_cast<unsigned>(starter));
    } else {
        const unsigned next = schedule();
        if (next != self) {
            switch_to(next);
        }
    }
    for (unsigned i = 0; i < thread_count_; ++i) {
        if (i != self) {
            threads_[i]->waits_for_steps_of &= ~bit(self);
            threads_[i]->stepped_since_yield |= bit(self);
        }
    }
}

void engine::done(operation& what) {
    const unsigned self = current_;
    plan.executed(self, what);
    thread_record& t = *threads_[self];
    t.known.at[self] = ++t.now;
    t.yielded = what.op == model_op::yield;
    ++steps_;
    const std::uint64_t mixed = (std::uint64_t(self) << 56U) ^ (std::uint64_t(what.op) << 48U) ^
                                (std::uint64_t(what.at.line()) << 24U) ^ what.touched[0].object;
    fingerprint_ = (fingerprint_ ^ mixed) * 0x100000001b3U;
}

bool engine::can_step(unsigned thread) const {
    if (threads_[thread]->status != thread_status::ready) {
        return false;
    }
    const operation& next = const_cast<planner&>(plan).pending(thread);
    if (next.op == model_op::lock) {
        return objects_[next.touched[0].object].holder < 0;
    }
    if (next.op == model_op::await) {
        const object_record& word = objects_[next.touched[0].object];
        return word.store_count == 0 || static_cast<std::uint32_t>(word.stores[word.store_count - 1].value) != next.target;
    }
    if (next.op == model_op::join) {
        return threads_[next.target]->status == thread_status::finished;
    }
    return true;
}

thread_mask engine::able(thread_mask& resting) const {
    thread_mask all = 0;
    for (unsigned i = 0; i < thread_count_; ++i) {
        all |= can_step(i) ? bit(i) : 0;
    }
    resting = 0;
    for (thread_mask m = all; m != 0; m &= m - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(m));
        resting |= (threads_[i]->waits_for_steps_of & all) != 0 ? bit(i) : 0;
    }
    if (resting == all) {
        resting = 0;
    }
    return all & ~resting;
}

unsigned engine::schedule() {
    for (;;) {
        thread_mask resting = 0;
        const thread_mask enabled = able(resting);
        if (enabled == 0) {
            bool all_finished = true;
            for (unsigned i = 0; i < thread_count_; ++i) {
                all_finished = all_finished && threads_[i]->status == thread_status::finished;
            }
            if (all_finished) {
                finish_execution();
            }
            const int expired = fire_earliest_timeout();
            if (expired < 0) {
                report_deadlock();
            }
            if (expired == static_cast<int>(current_)) {
                return current_;
            }
            continue;
        }
        if (++steps_here_ > how.max_steps) {
            fail_with(verdict::livelock, "no end after " + std::to_string(how.max_steps) + " steps; thread " +
                                             std::to_string(current_) + " is at " + place(plan.pending(current_).at));
        }
        const unsigned next = plan.pick_thread(enabled, resting, current_);
        if (next == planner::disagrees) {
            fail_with(verdict::nondeterminism, "the body did something else when the same choices were made again; thread " +
                                                   std::to_string(current_) + " is at " + place(plan.pending(current_).at));
        }
        return next;
    }
}

unsigned engine::pick_value(unsigned count) {
    const unsigned value = plan.pick_value(count);
    if (value == planner::disagrees) {
        fail_with(verdict::nondeterminism, "a choice had other alternatives when the same choices were made again");
    }
    return value;
}

void engine::report_deadlock() {
    bool waits = false;
    std::string text = "every thread is blocked:";
    for (unsigned i = 0; i < thread_count_; ++i) {
        const thread_record& t = *threads_[i];
        if (t.status == thread_status::finished || t.status == thread_status::unused) {
            continue;
        }
        const operation& next = plan.pending(i);
        waits = waits || t.status == thread_status::blocked;
        text += " thread " + std::to_string(i) + " in " + name_of(next.op) + " at " + place(next.at) + ";";
    }
    text.pop_back();
    fail_with(verdict::deadlock, (waits ? "lost wake or deadlock: " : "deadlock: ") + text);
}

std::uint32_t engine::choose(std::uint32_t alternatives, model_site at) {
    if (alternatives > 26) {
        fail("choose() takes at most 26 alternatives", at);
    }
    const std::uint32_t value = pick_value(alternatives);
    if (tracing()) {
        trace_note("chooses " + std::to_string(value) + " of " + std::to_string(alternatives) + " at " + place(at));
    }
    return value;
}

void engine::yield(model_site at) {
    operation what;
    what.op = model_op::yield;
    what.at = at;
    visible(what);
    thread_mask resting = 0;
    thread_record& self = me();
    const thread_mask others = able(resting) & ~bit(current_);
    self.waits_for_steps_of = (others | (resting & ~bit(current_))) & ~self.stepped_since_yield;
    self.stepped_since_yield = 0;
    refresh_view();
    done(what);
    if (tracing()) {
        trace_step(what, "");
    }
}

}  // namespace testkit::detail
}  // namespace roost::inline ROOST_ABI

#endif  // ROOST_SEAM_MODEL
