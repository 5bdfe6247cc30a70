#include <roost/io/descriptor.hpp>

#include <roost/io/detail/fd_state.hpp>

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace roost::inline ROOST_ABI::io {

descriptor::descriptor(int fd) {
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags < 0 || ((flags & O_NONBLOCK) == 0 && ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)) {
        const int why = errno;
        ::close(fd);
        throw std::system_error(why, std::system_category(), "a descriptor that does not block");
    }
    try {
        state_ = detail::pollable_owner(detail::fd_state::make(fd, detail::fd_kind::file));
    } catch (...) {
        ::close(fd);
        throw;
    }
    // Whether it is ready is not known: the first wait asks the kernel.
    state_.get()->at(direction::in).open(false);
    state_.get()->at(direction::out).open(false);
}

descriptor descriptor::borrow(int fd) { return descriptor(detail::fd_state::make(fd, detail::fd_kind::file, false, false)); }

void descriptor::close_after_owner() noexcept {
    if (state_) {
        static_cast<detail::fd_state*>(state_.get())->forget_number();
        state_.close();
    }
}

bool descriptor::wait_blocking(direction d, time_point deadline) noexcept {
    detail::pollable* const on = state_.get();
    if (on == nullptr || !on->enter()) {
        return false;
    }
    bool is_ready = false;
    while (!is_ready && !on->at(d).look().is_closed() && roost::now() < deadline) {
        is_ready = on->block(d, deadline);
    }
    on->leave();
    return is_ready;
}

}  // namespace roost::inline ROOST_ABI::io
