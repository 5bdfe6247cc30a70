#include <roost/runtime/blocking_lane.hpp>

#include <roost/base/assert.hpp>

#include <climits>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>

// Everything is under one lock: a thread switch costs a hundred times more than the lock does.
//
// id  operation               order    pairs  carries                                    fails in
// N1  called_ fetch_add       relaxed  N2     nothing: changed and compared under lock_  (floor)
// N2  called_ load            relaxed  N1     nothing: as N1                             (floor)
//
// N1 survives fetch_add as load and store: changed under lock_

namespace roost::inline ROOST_ABI {

struct blocking_lane::member {
    thread handle;
    member* next = nullptr;
    bool ended = false;
};

using guard_type = std::lock_guard<small_mutex>;

namespace {

const blocking_lane*& this_lane() noexcept {
    struct tag;
    return thread_value<tag, const blocking_lane*>::get();
}

}  // namespace

blocking_lane::blocking_lane(std::size_t limit, std::string_view name, duration keep_idle)
    : limit_(limit == 0 ? 1 : limit), keep_idle_(keep_idle), name_(name) {}

blocking_lane::~blocking_lane() { close(); }

bool blocking_lane::submit(blocking_work& w) noexcept {
    fork_.require_parent("blocking lane", name_);
    bool call = false;
    {
        const guard_type held(lock_);
        if (closed_ || (idle_ <= queued_ && !ensure_thread())) {
            return false;
        }
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
        call = idle_ != 0;
        if (call) {
            called_.fetch_add(1, mo::relaxed);  // N1
        }
    }
    if (call) {
        wake_on(&called_, 1);
    }
    return true;
}

bool blocking_lane::withdraw(blocking_work& w) noexcept {
    const guard_type held(lock_);
    if (!w.queued) {
        return false;
    }
    auto* next = static_cast<blocking_work*>(w.next);
    if (w.prev == nullptr) {
        first_ = next;
    } else {
        w.prev->next = next;
    }
    (next == nullptr ? last_ : next->prev) = w.prev;
    w.queued = false;
    --queued_;
    return true;
}

blocking_work* blocking_lane::pop() noexcept {
    blocking_work* w = first_;
    if (w != nullptr) {
        first_ = static_cast<blocking_work*>(w->next);
        (first_ == nullptr ? last_ : first_->prev) = nullptr;
        w->queued = false;
        --queued_;
    }
    return w;
}

// With the lock. True when some thread will come for the work.
bool blocking_lane::ensure_thread() noexcept {
    if (live_ >= limit_) {
        return true;
    }
    reap();
    try {
        auto fresh = std::make_unique<member>();
        member* m = fresh.get();
        m->handle = thread([this, m] { run(*m); });
        m->next = members_;
        members_ = fresh.release();
        ++live_;
        return true;
    } catch (const std::exception&) {
        return live_ != 0;  // no thread to be had: the others will get to it
    }
}

// With the lock: joins threads that have said they are done.
void blocking_lane::reap() noexcept {
    for (member** link = &members_; *link != nullptr;) {
        member* m = *link;
        if (m->ended) {
            *link = m->next;
            m->handle.join();
            delete m;
        } else {
            link = &m->next;
        }
    }
}

void blocking_lane::run(member& me) noexcept {
    detail::name_this_thread(name_, 0);
    this_lane() = this;
    lock_.lock();
    time_point leave_at = deadline_after(now(), keep_idle_);
    for (;;) {
        if (blocking_work* w = pop()) {
            lock_.unlock();
            w->run();
            lock_.lock();
            leave_at = deadline_after(now(), keep_idle_);
            continue;
        }
        if (closed_) {
            break;
        }
        const std::uint32_t seen = called_.load(mo::relaxed);  // N2
        ++idle_;
        lock_.unlock();
        const bool in_time = wait_on_until(called_, seen, leave_at);
        lock_.lock();
        --idle_;
        if (!in_time && first_ == nullptr) {
            break;
        }
    }
    --live_;
    me.ended = true;
    lock_.unlock();
}

void blocking_lane::close() noexcept {
    if (fork_.is_forked_child()) {
        return;
    }
    if (is_here()) {
        panic("blocking lane", name_, site(), "a thread of the lane cannot wait for its own lane to end");
    }
    {
        const guard_type held(lock_);
        closed_ = true;
        called_.fetch_add(1, mo::relaxed);  // N1
    }
    wake_on(&called_, INT_MAX);
    for (;;) {
        lock_.lock();
        member* m = members_;
        if (m != nullptr) {
            members_ = m->next;
        }
        lock_.unlock();
        if (m == nullptr) {
            return;
        }
        m->handle.join();
        delete m;
    }
}

bool blocking_lane::is_here() const noexcept { return this_lane() == this; }

std::size_t blocking_lane::threads() const noexcept {
    const guard_type held(lock_);
    return live_;
}

std::size_t blocking_lane::queued() const noexcept {
    const guard_type held(lock_);
    return queued_;
}

}  // namespace roost::inline ROOST_ABI
