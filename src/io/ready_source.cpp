#include <roost/io/detail/ready_source.hpp>

#include <utility>

namespace roost::inline ROOST_ABI::io::detail {

ready_source::ready_source(ready_source&& other) noexcept
    : on_(other.on_), direction_(other.direction_), entered_(std::exchange(other.entered_, false)), code_(other.code_) {}

ready_source::~ready_source() {
    if (entered_) {
        on_->leave();
    }
}

// A descriptor that was ready may have been read by code that tells nothing of it. So the kernel is asked.
bool ready_source::try_pass() noexcept {
    entered_ = entered_ || (on_ != nullptr && on_->enter());
    if (!entered_) {
        code_ = make_error_code(errc::closed);
        return true;
    }
    for (readiness& ready = on_->at(direction_);;) {
        const readiness::snapshot seen = ready.look();
        if (!seen.is_ready()) {
            return false;
        }
        if (seen.is_closed() || on_->block(direction_, time_point::min())) {
            return true;
        }
        ready.clear(seen);
    }
}

bool ready_source::enqueue(waiter& w) noexcept {
    if (const std::error_code why = on_->attach(w.executor(), direction_)) {
        code_ = why;
        return false;
    }
    on_->begin_wait(direction_, w.executor());
    do {
        if (on_->at(direction_).enqueue(w)) {
            return true;
        }
    } while (!try_pass());
    return false;
}

wait_target ready_source::describe() const noexcept {
    return {direction_ == direction::in ? "readable" : "writable", on_ == nullptr ? "" : on_->name()};
}

io::result<> ready_source::result(claim how) const noexcept {
    if (code_) {
        return {code_, "wait for a descriptor"};
    }
    if (on_->at(direction_).look().is_closed()) {
        return {make_error_code(errc::closed), "wait for a descriptor"};
    }
    if (how == claim::expired || how == claim::cancelled) {
        return {make_error_code(how == claim::expired ? errc::timed_out : errc::cancelled), "wait for a descriptor"};
    }
    return io::result<>(std::in_place);
}

}  // namespace roost::inline ROOST_ABI::io::detail
