#include <roost/service/detail/wake_fd.hpp>

#include <roost/base/atomic.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <system_error>

namespace roost::inline ROOST_ABI::service::detail {

wake_fd::wake_fd() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (fd_ < 0) {
        throw std::system_error(errno, std::generic_category(), "a service needs an eventfd");
    }
}

wake_fd::~wake_fd() { ::close(fd_); }

void wake_fd::ring(int fd) noexcept {
    const int saved = errno;
    const std::uint64_t one = 1;
    static_cast<void>(!::write(fd, &one, sizeof one));  // a full counter is a ring that has not been read yet
    errno = saved;
}

void wake_fd::sleep_until(time_point deadline) const noexcept {
    pollfd p{fd_, POLLIN, 0};
    timespec limit{};
    const time_point at = now();
    if (deadline != no_deadline && deadline > at) {
        const duration left = deadline - at;
        limit.tv_sec = static_cast<std::time_t>(left.count() / 1'000'000'000);
        limit.tv_nsec = static_cast<long>(left.count() % 1'000'000'000);
    }
    if (::ppoll(&p, 1, deadline == no_deadline ? nullptr : &limit, nullptr) > 0) {
        std::uint64_t rings = 0;
        static_cast<void>(!::read(fd_, &rings, sizeof rings));
    }
}

}  // namespace roost::inline ROOST_ABI::service::detail
