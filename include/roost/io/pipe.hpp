#pragma once

// A pipe inside the process, or to a child process.
//
//   auto [reading, writing] = io::make_pipe().value();
//
// Writing to a pipe whose reading end is closed is the error EPIPE; the signal SIGPIPE is not raised. shutdown_write() of a
// pipe is the error ENOTSOCK: close() the writing end instead.

#include <roost/io/result.hpp>
#include <roost/io/stream.hpp>

namespace roost::inline ROOST_ABI::io {

// One end of a pipe. Reading the writing end, or writing to the reading end, is the error EBADF.
class pipe_stream final : public stream {
public:
    pipe_stream() noexcept = default;
    // Takes ownership of one end of a pipe or FIFO, and sets O_NONBLOCK. Throws std::system_error if it is neither, or
    // std::bad_alloc. In both cases it closes fd. For a pipe to a child process call pipe2() yourself: the child expects an
    // end that blocks.
    explicit pipe_stream(int fd);
};

class pipe_ends {
public:
    pipe_ends(pipe_stream from, pipe_stream to) noexcept : reading(std::move(from)), writing(std::move(to)) {}

    pipe_stream reading;
    pipe_stream writing;
};

// Returns both ends of a new pipe, or the error of the system.
[[nodiscard]] result<pipe_ends> make_pipe() noexcept;

}  // namespace roost::inline ROOST_ABI::io
