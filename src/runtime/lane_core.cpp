#include <roost/runtime/detail/lane_core.hpp>

#include <roost/base/detail/write_stderr.hpp>
#include <roost/exec/detail/limited_thread.hpp>

#include <algorithm>
#include <climits>
#include <mutex>
#include <new>
#include <system_error>

// id  operation         order    pairs  carries                                    fails in
// N1  fetch_add         relaxed  N2     nothing: changed and compared under lock_  (floor)
// N2  load              relaxed  N1     nothing: as N1                             (floor)
//
// N1 survives fetch_add as load and store: changed under lock_

namespace roost::inline ROOST_ABI::detail {

namespace {

using guard_type = std::lock_guard<small_mutex>;

constexpr duration growth_period = std::chrono::milliseconds(20);
constexpr std::size_t longest_lane_name = 64;

}  // namespace

// One thread of the lane. All fields are under the lane's lock.
struct lane_core::member final : limited_thread {
    explicit member(lane_core& lane) noexcept : of(&lane) {}

    void begin_wait() noexcept override {
        const guard_type held(of->lock_);
        waits = true;
        ++of->waiting_;
    }
    void still_waits() noexcept override { of->grow_if_stuck(); }
    void end_wait() noexcept override {
        const guard_type held(of->lock_);
        waits = false;
        --of->waiting_;
    }
    bool may_deliver() noexcept override {
        const guard_type held(of->lock_);
        of->last_end_ = now();  // the function has returned
        delivers = !abandoned;
        return delivers;
    }
    void has_delivered() noexcept override {
        const guard_type held(of->lock_);
        delivers = false;
    }

    lane_core* of;
    thread handle;
    member* next = nullptr;
    std::array<char, longest_lane_name> name{};  // copied: the work may be destroyed before its thread returns
    std::size_t name_size = 0;
    site where;
    time_point since{};
    bool busy = false;
    bool waits = false;
    bool delivers = false;
    bool ended = false;
    bool abandoned = false;
};

lane_core::lane_core(std::size_t limit, std::string_view name, duration keep_idle)
    : limit_(limit == 0 ? 1 : limit), keep_idle_(keep_idle), name_(name) {}

lane_core::member*& lane_core::this_member() noexcept {
    struct tag;
    return thread_value<tag, member*>::get();
}

const lane_core* lane_core::of_this_thread() noexcept {
    const member* me = this_member();
    return me == nullptr ? nullptr : me->of;
}

// --- the queue -----------------------------------------------------------------------------------------------------------

bool lane_core::submit(blocking_work& w) noexcept {
    bool call = false;
    {
        const guard_type held(lock_);
        if (closed_ || (idle_ <= queued_ && live_ < limit_ && !start_thread() && live_ == 0)) {
            return false;
        }
        push(w);
        call = idle_ != 0;
        if (call) {
            called_.fetch_add(1, mo::relaxed);  // N1
        }
    }
    if (call) {
        wake_on(&called_, 1);  // the address alone: the submitted work may have ended everything meanwhile
    }
    return true;
}

bool lane_core::withdraw(blocking_work& w) noexcept {
    const guard_type held(lock_);
    if (!w.queued) {
        return false;
    }
    unlink(w);
    return true;
}

void lane_core::push(blocking_work& w) noexcept {
    w.next = nullptr;
    w.prev = last_;
    w.queued = true;
    if (last_ == nullptr) {
        first_ = &w;
    } else {
        last_->next = &w;
    }
    last_ = &w;
    ++queued_;
}

void lane_core::unlink(blocking_work& w) noexcept {
    auto* next = static_cast<blocking_work*>(w.next);
    if (w.prev == nullptr) {
        first_ = next;
    } else {
        w.prev->next = next;
    }
    (next == nullptr ? last_ : next->prev) = w.prev;
    w.queued = false;
    --queued_;
}

blocking_work* lane_core::pop() noexcept {
    blocking_work* w = first_;
    if (w != nullptr) {
        unlink(*w);
    }
    return w;
}

// --- threads -------------------------------------------------------------------------------------------------------------

bool lane_core::start_thread() noexcept {
    try {
        auto fresh = std::make_unique<member>(*this);
        member* m = fresh.get();
        m->handle = thread([keep = shared_from_this(), m] { keep->run(*m); });
        m->next = members_;
        members_ = fresh.release();
        ++live_;
        return true;
    } catch (const std::exception&) {
        return false;  // no thread can be started: the existing ones will run the work
    }
}

// When every thread waits for a task, the tasks may wait for what is queued here.
void lane_core::grow_if_stuck() noexcept {
    lock_.lock();
    const bool stuck = queued_ != 0 && idle_ == 0 && live_ == waiting_;
    if (!stuck || now() < deadline_after(last_end_, growth_period)) {
        lock_.unlock();
        return;
    }
    last_end_ = now();
    const std::size_t threads = live_;
    const bool started = start_thread();
    const bool says = !std::exchange(grew_, true);
    lock_.unlock();
    if (!says) {
        return;
    }
    try {
        write_stderr(
            "roost: blocking lane '" + name_ + "': all " + std::to_string(threads) +
            " threads wait for tasks (block_on() or close_blocking() inside blocking()) while more work is queued, so " +
            (started ? "it starts more threads beyond its limit"
                     : "they may wait for ever: no further thread can be started") +
            "; raise blocking_threads(), or await the tasks instead\n");
    } catch (const std::exception&) {
        write_stderr("roost: all threads of a blocking lane wait for tasks; it exceeds its limit\n");
    }
}

bool lane_core::is_surplus() const noexcept { return live_ > limit_ && (queued_ == 0 || live_ - waiting_ > 1); }

void lane_core::run(member& me) noexcept {
    name_this_thread(name_, 0);
    this_member() = &me;
    limited_thread::of_this_thread() = &me;
    lock_.lock();
    time_point leave_at = deadline_after(now(), keep_idle_);
    while (!me.abandoned) {  // before it begins work too: what close() has returned as not begun never runs
        bool needed = true;
        if (blocking_work* w = pop()) {
            run_one(me, *w);
            leave_at = deadline_after(now(), keep_idle_);
        } else {
            needed = !closed_ && sleep(leave_at);
        }
        if (me.abandoned || (needed && !is_surplus())) {
            continue;
        }
        lock_.unlock();
        join_ended(time_point::min());
        lock_.lock();
        if (first_ == nullptr || is_surplus()) {  // what was submitted meanwhile counted on this thread
            break;
        }
    }
    leave(me);
}

// Called with the lock held; releases it while the work runs.
void lane_core::run_one(member& me, blocking_work& w) noexcept {
    me.name_size = w.name().copy(me.name.data(), me.name.size());
    me.where = w.site();
    me.since = now();
    me.busy = true;
    lock_.unlock();
    w.run();
    lock_.lock();
    me.busy = false;
    me.delivers = false;
    last_end_ = now();
    ended_.fetch_add(1, mo::relaxed);  // N1
}

// Called with the lock held; releases it while asleep. Returns false if no work arrived in time.
bool lane_core::sleep(time_point until) noexcept {
    const std::uint32_t seen = called_.load(mo::relaxed);  // N2
    ++idle_;
    lock_.unlock();
    const bool in_time = wait_on_until(called_, seen, until);
    lock_.lock();
    --idle_;
    return in_time || first_ != nullptr;
}

// Called with the lock held; releases it. The destructors of the thread's thread-locals follow, and may use the lane.
void lane_core::leave(member& me) noexcept {
    const bool abandoned = me.abandoned;
    this_member() = nullptr;
    limited_thread::of_this_thread() = nullptr;
    if (!abandoned) {
        --live_;
        me.since = now();
        me.ended = true;
        ended_.fetch_add(1, mo::relaxed);  // N1
    }
    lock_.unlock();
    if (abandoned) {
        delete &me;
    } else {
        wake_on(&ended_, INT_MAX);
    }
}

// Called without the lock: an ended thread still runs the destructors of its thread-locals, which may take any time.
void lane_core::join_ended(time_point limit) noexcept {
    lock_.lock();
    member* ended = nullptr;
    for (member** link = &members_; *link != nullptr;) {
        member* m = *link;
        if (m->ended) {
            *link = m->next;
            m->next = ended;
            ended = m;
        } else {
            link = &m->next;
        }
    }
    lock_.unlock();
    while (member* m = ended) {
        ended = m->next;
        if (m->handle.join_until(limit)) {
            delete m;
            continue;
        }
        lock_.lock();
        m->next = members_;
        members_ = m;
        lock_.unlock();
    }
}

// --- the end -------------------------------------------------------------------------------------------------------------

std::vector<lane_entry> lane_core::close(duration patience) noexcept {
    {
        const guard_type held(lock_);
        closed_ = true;
        last_end_ = std::max(last_end_, now());
        called_.fetch_add(1, mo::relaxed);  // N1
    }
    wake_on(&called_, INT_MAX);
    std::vector<lane_entry> left;
    for (;;) {
        wait_until_ended(patience);
        join_ended(deadline_after(now(), patience));
        const guard_type held(lock_);
        if (!is_delivering()) {
            name_queued(left);
            abandon_members(left, now());
            return left;
        }
    }
}

// About to come back: it is inside some executor's post(), which must not end meanwhile. Never while it runs a coroutine.
bool lane_core::is_delivering() const noexcept {
    for (const member* m = members_; m != nullptr; m = m->next) {
        if (m->delivers) {
            return true;
        }
    }
    return false;
}

// Blocks until every thread has ended, or none has made progress for `patience`.
void lane_core::wait_until_ended(duration patience) noexcept {
    for (;;) {
        lock_.lock();
        const std::uint32_t seen = ended_.load(mo::relaxed);  // N2
        const time_point limit = deadline_after(last_end_, patience);
        const bool delivering = is_delivering();
        const bool over = live_ == 0 || (!delivering && now() >= limit);
        lock_.unlock();
        if (over) {
            return;
        }
        static_cast<void>(wait_on_until(ended_, seen, delivering ? deadline_after(now(), growth_period) : limit));
    }
}

// Work that never began stays in the queue, from which it can still be withdrawn.
void lane_core::name_queued(std::vector<lane_entry>& left) const noexcept {
    try {
        for (const work* w = first_; w != nullptr; w = w->next) {
            const auto& queued = *static_cast<const blocking_work*>(w);
            left.emplace_back(lane_entry::state::queued, std::string(queued.name()), queued.site(), duration(0));
        }
    } catch (const std::exception&) {  // no memory to name them
    }
}

void lane_core::abandon_members(std::vector<lane_entry>& left, time_point at) noexcept {
    while (member* m = members_) {
        members_ = m->next;
        if (m->busy || m->ended) {  // an idle one is only slow to leave
            try {
                left.push_back(describe(*m, at));
            } catch (const std::exception&) {  // no memory to name it
            }
        }
        m->handle.detach();
        if (m->ended) {
            delete m;
        } else {
            m->abandoned = true;
            --live_;
        }
    }
}

bool lane_core::may_deliver() noexcept { return limited_thread::may_deliver_here(); }
void lane_core::has_delivered() noexcept { limited_thread::has_delivered_here(); }

// --- reports -------------------------------------------------------------------------------------------------------------

lane_entry lane_core::describe(const member& m, time_point at) const {
    using state = lane_entry::state;
    return {m.ended   ? state::ending
            : m.waits ? state::waits_for_task
                      : state::running,
            std::string(m.name.data(), m.name_size), m.where, std::max(duration(0), at - m.since)};
}

std::vector<lane_entry> lane_core::running() const {
    std::vector<lane_entry> busy;
    const time_point at = now();
    const guard_type held(lock_);
    for (const member* m = members_; m != nullptr; m = m->next) {
        if (m->busy) {
            busy.push_back(describe(*m, at));
        }
    }
    return busy;
}

std::size_t lane_core::threads() const noexcept {
    const guard_type held(lock_);
    return live_;
}

std::size_t lane_core::busy() const noexcept {
    const guard_type held(lock_);
    return live_ - idle_;
}

std::size_t lane_core::queued() const noexcept {
    const guard_type held(lock_);
    return queued_;
}

}  // namespace roost::inline ROOST_ABI::detail
