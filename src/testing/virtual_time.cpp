#include <roost/testing/virtual_time.hpp>

#include <algorithm>
#include <climits>
#include <exception>
#include <memory>
#include <mutex>

// Everything is under one lock, which is never held while other code is called.
//
// id  operation             order    pairs  carries                                               fails in
// V1  rounds_ fetch_add     relaxed  V2     nothing: changed and compared under the lock          (floor)
// V2  rounds_ load          relaxed  V1     nothing: as V1                                        (floor)
// V3  set_now: store        relaxed  V4     nothing: the time alone                               (floor)
// V4  now: load             relaxed  V3     nothing: the time alone                               (floor)

namespace roost::inline ROOST_ABI::testkit {

using namespace ext;

using namespace seam;

namespace {

using hold = std::lock_guard<small_mutex>;
enum : std::uint32_t { idle = 0, armed = 1, fired = 2 };

constexpr time_point start{std::chrono::hours(1000)};
constexpr std::uint64_t first_draw = 0x6a09e667f3bcc908U;
constexpr std::uint64_t mixing_window = 16;  // how far a seed may change the order

const virtual_time*& playing_here() noexcept {
    struct tag;
    return thread_value<tag, const virtual_time*>::get();
}

}  // namespace

struct virtual_time::helper {
    blocking_work* what = nullptr;
    thread handle;
    std::uint64_t draws = 0;
    bool ended = false;
    helper* next = nullptr;
};

virtual_time::virtual_time(std::uint64_t seed, std::string_view name)
    : random_(seed), draws_(seed ^ first_draw), now_(start.time_since_epoch().count()), name_(name) {
    wheel_.advance(wheel::begun_at(start));
}

virtual_time::~virtual_time() {
    join_helpers(true);
    const std::string left = leaks();
    if (!left.empty()) {
        roost::detail::panic("virtual time", name_, site(), "it was destroyed, but there is still " + left);
    }
}

// --- for the code under test -------------------------------------------------------------------------------------------------

bool virtual_time::post(work& w) noexcept {
    const hold held(lock_);
    if (closed_) {
        return false;
    }
    w.next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = &w;
    last_ = &w;
    ++pending_;
    bell_.ring();  // under the lock: as soon as the work can be taken, it may end the executor
    return true;
}

bool virtual_time::is_here() const noexcept { return playing_here() == this; }

time_point virtual_time::now() noexcept { return time_point(duration(now_.load(mo::relaxed))); }  // V4

bool virtual_time::arm(timer& t) noexcept {
    const hold held(lock_);
    t.service = this;
    if (closed_) {
        t.state = idle;
        return false;
    }
    ROOST_ASSERT(t.state != armed, "a timer that is armed was armed again");
    t.state = armed;
    wheel_.insert(t);
    ++armed_;
    bell_.ring();  // under the lock: the timer may fire and end the executor as soon as it can be taken
    return true;
}

bool virtual_time::disarm(timer& t) noexcept {
    lock_.lock();
    if (t.state == armed) {
        wheel_.erase(t);
        t.state = idle;
        --armed_;
        bell_.ring();  // under the lock: the last timer may be what the end of the executor waits for
        lock_.unlock();
        return true;
    }
    const bool never_fired = t.state == idle;
    while (firing_ == &t && firing_thread_ != thread_index()) {
        const std::uint32_t round = rounds_.load(mo::relaxed);  // V2
        lock_.unlock();
        wait_on(rounds_, round);
        lock_.lock();
    }
    lock_.unlock();
    return never_fired;
}

bool virtual_time::submit(blocking_work& w) noexcept {
    const hold held(lock_);
    if (closed_) {
        return false;
    }
    try {
        auto fresh = std::make_unique<helper>();
        helper* h = fresh.get();
        h->what = &w;
        w.queued = true;
        h->draws = draws_ ^ ++submitted_;
        h->handle = thread([this, h] { run_blocking(*h); });
        h->next = helpers_;
        helpers_ = fresh.release();
        ++outside_;
        return true;
    } catch (const std::exception&) {
        w.queued = false;
        return false;
    }
}

bool virtual_time::withdraw(blocking_work& w) noexcept {
    const hold held(lock_);
    for (helper* h = helpers_; h != nullptr; h = h->next) {
        if (h->what == &w && w.queued) {
            w.queued = false;
            h->what = nullptr;
            return true;
        }
    }
    return false;
}

void virtual_time::run_blocking(helper& h) noexcept {
    lock_.lock();
    blocking_work* w = h.what;
    h.what = nullptr;
    swap_random_state(h.draws);
    if (w != nullptr) {
        w->queued = false;
    }
    lock_.unlock();
    if (w != nullptr) {
        w->run();
    }
    lock_.lock();
    --outside_;
    h.ended = true;
    lock_.unlock();
    bell_.ring();
}

void virtual_time::join_helpers(bool all) noexcept {
    for (;;) {
        lock_.lock();
        helper** link = &helpers_;
        while (*link != nullptr && !all && !(*link)->ended) {
            link = &(*link)->next;
        }
        helper* h = *link;
        if (h != nullptr) {
            *link = h->next;
        }
        lock_.unlock();
        if (h == nullptr) {
            return;
        }
        h->handle.join();
        delete h;
    }
}

// --- for the test --------------------------------------------------------------------------------------------------------------

// Takes the oldest work, or with a seed one of the oldest few.
work* virtual_time::pick() noexcept {
    const hold held(lock_);
    if (first_ == nullptr) {
        return nullptr;
    }
    std::uint64_t skip = 0;
    if (random_ != 0) {
        random_ ^= random_ << 13U;
        random_ ^= random_ >> 7U;
        random_ ^= random_ << 17U;
        skip = random_ % std::min<std::uint64_t>(pending_, mixing_window);
    }
    work* before = nullptr;
    work* w = first_;
    for (; skip > 0; --skip) {
        before = w;
        w = w->next;
    }
    (before == nullptr ? first_ : before->next) = w->next;
    last_ = last_ == w ? before : last_;
    w->next = nullptr;
    --pending_;
    return w;
}

bool virtual_time::run_one() noexcept {
    work* w = pick();
    if (w == nullptr) {
        return fire_one();
    }
    const virtual_time* outer = playing_here();
    playing_here() = this;
    const std::uint64_t outer_draws = swap_random_state(draws_);  // changed here alone, read by submit() on other threads
    w->run();
    {
        const hold held(lock_);
        draws_ = swap_random_state(outer_draws);
    }
    playing_here() = outer;
    return true;
}

bool virtual_time::fire_one() noexcept {
    lock_.lock();
    wheel_.advance(wheel::begun_at(now()));
    timer* t = wheel_.pop_due();
    if (t == nullptr) {
        lock_.unlock();
        return false;
    }
    t->state = fired;
    --armed_;
    firing_ = t;
    firing_thread_ = thread_index();
    lock_.unlock();
    t->fire();  // may destroy it
    lock_.lock();
    firing_ = nullptr;
    rounds_.fetch_add(1, mo::relaxed);  // V1
    lock_.unlock();
    wake_on(&rounds_, INT_MAX);
    return true;
}

// Moves the clock to the next deadline. Returns false if there is none.
bool virtual_time::jump() noexcept {
    const hold held(lock_);
    const auto next = wheel_.next_tick();
    if (next >= wheel::tick_of(no_deadline)) {
        return false;
    }
    set_now(std::max(now(), wheel::start_of(next)));
    return true;
}

// Called when nothing is ready: waits for another thread, or moves to the next deadline. Returns false if there is neither.
bool virtual_time::wait_or_jump(std::uint32_t heard) noexcept {
    join_helpers(false);
    if (is_outside_busy()) {
        bell_.sleep(heard);
        return true;
    }
    return bell_.listen() != heard || jump();
}

std::size_t virtual_time::run() noexcept {
    std::size_t ran = 0;
    for (std::uint32_t heard = bell_.listen();; heard = bell_.listen()) {
        if (run_one()) {
            ++ran;
        } else if (!wait_or_jump(heard)) {
            return ran;
        }
    }
}

std::size_t virtual_time::run_ready() noexcept {
    std::size_t ran = 0;
    while (run_one()) {
        ++ran;
    }
    return ran;
}

// Runs until nothing is ready and no other thread can make it so.
void virtual_time::settle() noexcept {
    for (;;) {
        const std::uint32_t heard = bell_.listen();
        run_ready();
        join_helpers(false);
        if (is_outside_busy()) {
            bell_.sleep(heard);
        } else if (bell_.listen() == heard) {
            return;
        }
    }
}

void virtual_time::advance(duration d) noexcept {
    const time_point target = deadline_after(now(), d);
    for (;;) {
        settle();
        time_point next = target;
        {
            const hold held(lock_);
            next = std::min(next, wheel::start_of(wheel_.next_tick()));
            set_now(std::max(next, now()));
        }
        if (next >= target) {
            settle();
            return;
        }
    }
}

void virtual_time::skip(duration d) noexcept {
    const hold held(lock_);
    set_now(deadline_after(now(), d));
}

void virtual_time::set_now(time_point t) noexcept { now_.store(t.time_since_epoch().count(), mo::relaxed); }  // V3

bool virtual_time::is_outside_busy() const noexcept {
    const hold held(lock_);
    return outside_ != 0;
}

void virtual_time::change_outside(int by) noexcept {
    const hold held(lock_);
    outside_ += by;
    bell_.ring();  // under the lock: the executor may end as soon as nothing is outside
}

void virtual_time::close() noexcept {
    const hold held(lock_);
    closed_ = true;
}

std::size_t virtual_time::armed_timers() const noexcept {
    const hold held(lock_);
    return armed_;
}

std::size_t virtual_time::pending_work() const noexcept {
    const hold held(lock_);
    return pending_;
}

void virtual_time::add_reporter(std::function<std::string()> left) { reporters_.push_back(std::move(left)); }

std::string virtual_time::leaks() const {
    std::string out = own_leaks();
    for (const std::function<std::string()>& left : reporters_) {
        if (const std::string more = left(); !more.empty()) {
            out += (out.empty() ? "" : ", ") + more;
        }
    }
    return out;
}

std::string virtual_time::own_leaks() const {
    const hold held(lock_);
    std::string out;
    const auto add = [&](std::size_t count, const char* what) {
        if (count != 0) {
            out += (out.empty() ? "" : ", ") + std::to_string(count) + what;
        }
    };
    add(pending_, " posted work(s) that never ran");
    add(armed_, " armed timer(s)");
    add(static_cast<std::size_t>(outside_), " blocking work(s) or standstill(s)");
    return out;
}

}  // namespace roost::inline ROOST_ABI::testkit
