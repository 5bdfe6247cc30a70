#include <roost/asio/detail/io_timers.hpp>

#include <utility>

namespace roost::inline ROOST_ABI::detail {

namespace {
// At most so many at a time, so that timers that arm each other in the past cannot occupy the context.
constexpr unsigned batch = 256;
}  // namespace

// The handler of the alarm. Destroyed unrun when its context ends.
class io_timers::rung {
public:
    explicit rung(io_timers& owner) noexcept : owner_(&owner) {}

    using allocator_type = handler_allocator<>;
    [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type(owner_->memory_); }
    void operator()(const error_code&) const noexcept { owner_->advance(); }
    void operator()() const noexcept { owner_->advance(); }

private:
    io_timers* owner_;
};

io_timers::io_timers(net::io_context& context) : alarm_(std::in_place, context.get_executor()) {}

bool io_timers::arm(timer& t) noexcept {
    table_.lock();
    const auto result = table_.arm(t, *this);
    if (result == timer_table::armed_as::earliest) {
        if (waiting_) {
            alarm_.value().cancel();  // its handler begins the next wait
        } else if (!advancing_) {
            begin_wait();
        }
    }
    table_.unlock();
    return result != timer_table::armed_as::refused;
}

bool io_timers::disarm(timer& t) noexcept {
    table_.lock();
    const bool never_fired = table_.disarm(t);
    if (waiting_ && alarm_ && table_.is_empty()) {
        // No timer is armed: the alarm must not keep io.run() from returning.
        table_.forget_next();
        alarm_.value().cancel();
    }
    table_.unlock();
    return never_fired;
}

// Called with the lock held. Asio calls no code of ours from inside these functions, so that is safe.
void io_timers::begin_wait() noexcept {
    waiting_ = true;
    alarm& a = alarm_.value();
    a.expires_at(alarm::time_point(table_.next().time_since_epoch()));
    try {
        a.async_wait(rung(*this));
    } catch (...) {
        // No memory in Asio's own table of timers: the context's next turn tries again, and posting that does not allocate.
        net::post(a.get_executor(), rung(*this));
    }
}

void io_timers::advance() noexcept {
    table_.lock();
    waiting_ = false;
    advancing_ = true;
    table_.fire_due(now(), batch);
    advancing_ = false;
    if (table_.has_next() && !table_.is_closed()) {
        begin_wait();
    }
    table_.unlock();
}

std::size_t io_timers::close() noexcept {
    table_.lock();
    const std::size_t left = table_.close();
    std::optional<alarm> gone = std::exchange(alarm_, std::nullopt);
    table_.unlock();
    return left;
}

}  // namespace roost::inline ROOST_ABI::detail
