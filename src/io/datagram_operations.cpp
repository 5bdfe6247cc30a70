#include <roost/io/detail/datagram_operations.hpp>

#include <cerrno>

#include <sys/socket.h>

namespace roost::inline ROOST_ABI::io::detail {

bool send_operation::attempt(operation& self, readiness::snapshot) noexcept {
    auto& mine = static_cast<send_operation&>(self);
    ssize_t n = 0;
    do {
        n = ::sendto(mine.on().native_handle(), mine.from_.data(), mine.from_.size(), MSG_NOSIGNAL,
                     mine.to_.size() == 0 ? nullptr : mine.to_.data(), static_cast<socklen_t>(mine.to_.size()));
    } while (n < 0 && errno == EINTR);
    const moved sent(n, errno);
    if (!sent.is_done()) {
        return !sent.would_block() && mine.fail(sent.why());
    }
    mine.set_count(sent.count());
    return true;
}

bool receiving::attempt(operation& self, readiness::snapshot) noexcept {
    auto& mine = static_cast<receiving&>(self);
    sockaddr_storage peer{};
    iovec to{mine.to_.data(), mine.to_.size()};
    msghdr all{};
    all.msg_name = &peer;
    all.msg_namelen = sizeof peer;
    all.msg_iov = &to;
    all.msg_iovlen = 1;
    ssize_t n = 0;
    do {
        n = ::recvmsg(mine.on().native_handle(), &all, 0);
    } while (n < 0 && errno == EINTR);
    const moved got(n, errno);
    if (!got.is_done()) {
        return !got.would_block() && mine.fail(got.why());
    }
    mine.set_count(got.count());
    mine.from_ = endpoint::from(reinterpret_cast<const sockaddr*>(&peer), all.msg_namelen);
    mine.truncated_ = (all.msg_flags & MSG_TRUNC) != 0;
    return true;
}

}  // namespace roost::inline ROOST_ABI::io::detail
