#include <roost/io/pipe.hpp>

#include <roost/io/detail/fd_state.hpp>

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace roost::inline ROOST_ABI::io {

namespace {

// Returns zero or an errno value.
int make_pipe_nonblocking(int fd) noexcept {
    struct stat file{};
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags < 0 || ::fstat(fd, &file) != 0) {
        return errno;
    }
    // A short read of anything else, for example of a terminal, does not mean that nothing is left.
    if (!S_ISFIFO(file.st_mode)) {
        return ENOTSUP;
    }
    return ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 ? 0 : errno;
}

detail::pollable_owner owned(int fd) {
    try {
        detail::fd_state* state = detail::fd_state::make(fd, detail::fd_kind::file);
        state->set_label("pipe");
        return detail::pollable_owner(state);
    } catch (...) {
        ::close(fd);
        throw;
    }
}

}  // namespace

pipe_stream::pipe_stream(int fd)
    : stream([fd] {
          if (const int why = make_pipe_nonblocking(fd)) {
              ::close(fd);
              throw std::system_error(why, std::system_category(), "a pipe that does not block");
          }
          return owned(fd);
      }()) {}

result<pipe_ends> make_pipe() noexcept {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        return {std::error_code(errno, std::system_category()), "make_pipe"};
    }
    try {
        pipe_stream reading(ends[0]);
        ends[0] = -1;
        return result<pipe_ends>(std::in_place, std::move(reading), pipe_stream(std::exchange(ends[1], -1)));
    } catch (const std::exception&) {
        if (ends[1] >= 0) {
            ::close(ends[1]);
        }
        return {std::make_error_code(std::errc::not_enough_memory), "make_pipe"};
    }
}

}  // namespace roost::inline ROOST_ABI::io
