#include <roost/runtime/loop.hpp>

#include <roost/base/assert.hpp>
#include <roost/exec/detail/flight_recorder.hpp>
#include <roost/runtime/detail/keeper.hpp>

#include <algorithm>
#include <utility>

// id  operation           order    pairs  carries                                           fails in
// L1  stop: stop_ store   release  L2     what the stopping thread did before               loop_model: stop_or_sleep
// L2  run: stop_ exchange acquire  L1     what the stopping thread did before               loop_model: stop_or_sleep
// L3  run: stop_ load     relaxed  -      nothing: L2 follows                               (floor)
//
// L2 survives exchange as load and store: a stop() in between is the same stop

namespace roost::inline ROOST_ABI {

using namespace ext;

using namespace seam;

namespace {

loop*& this_loop() noexcept {
    struct tag;
    return thread_value<tag, loop*>::get();
}

}  // namespace

loop::loop(std::string_view name, ext::driver* driver) : seat_(driver), timers_(bell_), name_(name) {}

loop::~loop() {
    if (fork_.is_forked_child()) {
        return;
    }
    if (running_) {
        detail::panic("loop", name_, site(), "it was destroyed while it runs; let run() return before");
    }
    close();
    posters_.wait_until_none();
    if (!outside_.is_empty() || !ready_.is_empty() || !yielded_.is_empty()) {
        detail::panic("loop", name_, site(), "it was destroyed with queued work; call close() and run() before");
    }
}

loop* loop::current() noexcept { return this_loop(); }
bool loop::owns_this_thread() const noexcept { return this_loop() == this; }
bool loop::is_here() const noexcept { return owns_this_thread() && !drives_; }

bool loop::post(work& w) noexcept {
    if (!owns_this_thread()) {
        return post_from_outside(w);
    }
    fork_.require_parent("loop", name_);
    if (!ready_.push_back(w)) [[unlikely]] {
        yielded_.push(w);
    }
    return true;
}

bool loop::post_from_outside(work& w) noexcept {
    fork_.require_parent("loop", name_);
    if (outside_.push_further(w)) {
        return true;
    }
    const detail::posting now(posters_);
    const auto result = outside_.push(w);
    if (result == detail::work_stack::pushed::first) {
        bell_.ring();
    }
    return result != detail::work_stack::pushed::refused;
}

bool loop::post_last(work& w) noexcept {
    if (!owns_this_thread()) {
        return post(w);
    }
    while (work* earlier = ready_.pop_front()) {
        yielded_.push(*earlier);
    }
    take_outside();
    yielded_.push(w);
    return true;
}

// Counts as a body for the watcher and for the pace, so that other work still runs in time.
bool loop::take_next(const work& w) noexcept {
    if (!is_here() || ready_.back() != &w || pace_.is_last()) {
        return false;
    }
    static_cast<void>(pace_.is_due());
    pulse_.begin_body();
    static_cast<void>(ready_.pop_back());
    return true;
}

void loop::stop() noexcept {
    const detail::posting now(posters_);
    stop_.store(true, mo::release);  // L1
    bell_.ring();
}

void loop::close() noexcept {
    const detail::posting now(posters_);
    outside_.close();
    bell_.ring();
}

// Returns the work that has waited longest, of either kind in turn. A single ready item has not been overtaken.
work* loop::oldest() noexcept {
    take_outside();
    older_ready_ = !older_ready_;
    if (older_ready_ && ready_.size() > 1) {
        return ready_.pop_front();
    }
    work* w = yielded_.pop();
    return w != nullptr ? w : ready_.pop_front();
}

work* loop::next() noexcept {
    if (work* w = ready_.pop_back()) {
        return w;
    }
    if (work* w = yielded_.pop()) {
        return w;
    }
    take_outside();
    return yielded_.pop();
}

// Moves the work of other threads, oldest first, behind everything that is queued here.
void loop::take_outside() noexcept { outside_.take_oldest_first(yielded_); }

void loop::enter() noexcept {
    fork_.require_parent("loop", name_);
    if (running_) {
        detail::panic("loop", name_, site(), "run() was called while it runs already; call it once at a time");
    }
    running_ = true;
    outer_ = this_loop();
    this_loop() = this;
    pulse_.set_label(&detail::activity::of_this_thread());
}

void loop::leave() noexcept {
    pulse_.rest();
    pulse_.set_label(nullptr);
    this_loop() = outer_;
    running_ = false;
}

// Runs a few bodies, the oldest first. Returns how many.
std::size_t loop::run_some() noexcept {
    std::size_t ran = 0;
    for (work* w = oldest(); w != nullptr; w = next()) {
        if (w == poll_end_) [[unlikely]] {
            poll_end_ = nullptr;
            break;
        }
        pulse_.begin_body();
        if (slept_) [[unlikely]] {
            slept_ = false;
            if (watcher_ != nullptr) {
                watcher_->started();
            }
        }
        w->run();
        ++ran;
        if (pace_.is_due() || stop_.load(mo::relaxed)) {  // L3
            break;
        }
    }
    return ran;
}

ext::reactor* loop::make_reactor(std::error_code& why) noexcept {
    const detail::driver_seat::made made = seat_.make_reactor(why);
    if (made.is_new()) {
        const detail::posting now(posters_);
        bell_.ring();  // the thread may sleep outside the driver
    }
    return made.reactor();
}

bool loop::is_anything_ready() const noexcept { return !ready_.is_empty() || !yielded_.is_empty() || !outside_.is_empty(); }

// Sleeps in the driver if there is one, and handles its events.
void loop::sleep(std::uint32_t heard, time_point next_timer) noexcept {
    ext::driver* const in = seat_.driver();
    if (in == nullptr) {
        const detail::recorded_park parked(false);
        bell_.sleep(heard, next_timer);
        return;
    }
    drives_ = true;
    {
        const detail::recorded_park parked(true);
        bell_.drive(heard, *in, next_timer);
    }
    poll_driver(*in);
}

void loop::poll_driver(ext::driver& in) noexcept {
    drives_ = true;
    in.poll();
    drives_ = false;
}

std::size_t loop::poll() noexcept {
    enter();
    pace_.restart();
    if (ext::driver* in = seat_.driver()) {
        poll_driver(*in);
    }
    time_point at = now();
    std::uint32_t heard = bell_.listen();
    time_point next_timer = timers_.advance(at);
    work end(+[](work&) noexcept {});  // behind all that is ready; it is never run
    static_cast<void>(post_last(end));
    poll_end_ = &end;
    std::size_t ran = run_some();
    while (poll_end_ != nullptr) {
        at = now();
        pace_.looked(at);
        const std::uint32_t rings = bell_.listen();
        if (rings != heard || at >= next_timer) {  // an earlier timer rings
            heard = rings;
            next_timer = timers_.advance(at);
        }
        ran += run_some();
    }
    leave();
    return ran;
}

void loop::run() noexcept {
    enter();
    std::uint32_t heard = bell_.listen();
    time_point next_timer = time_point::min();
    for (;;) {
        const std::uint32_t rings = bell_.listen();  // before every check: a later ring ends the sleep
        if (stop_.load(mo::relaxed)) {               // L3
            break;
        }
        const time_point at = now();
        pace_.looked(at);
        if (rings != heard || at >= next_timer) {  // an earlier timer rings
            heard = rings;
            next_timer = timers_.advance(at);
        }
        if (run_some() != 0) {
            // The last body that can run does not pay for a look at the driver: the thread sleeps there next.
            polls_ = !polls_;  // a round is half of what is promised
            if (ext::driver* in = polls_ && is_anything_ready() ? seat_.driver() : nullptr) {
                poll_driver(*in);
            }
            continue;
        }
        pulse_.rest();
        if (outside_.is_closed() && outside_.is_empty()) {
            timers_left_ = timers_.close();
            break;
        }
        sleep(heard, next_timer);
        pace_.restart();
        slept_ = true;
    }
    stop_.exchange(false, mo::acquire);  // L2
    leave();
}

}  // namespace roost::inline ROOST_ABI
