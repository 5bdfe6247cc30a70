#pragma once

// Bytes in both directions: the common part of TCP, Unix and pipe streams, and of testing::duplex. Write code that serves a
// connection against io::stream&, and test it without a network.
//
//   task<> echo(io::stream& peer) {
//       std::array<char, 4096> data;
//       for (;;) {
//           const std::size_t n = co_await peer.read_some(data).or_throw();
//           if (n == 0) co_return;
//           co_await peer.write_all(io::const_buffer(data.data(), n)).or_throw();
//       }
//   }
//
// Each operation completes with an io::result. Append or_throw() for a value or an exception, blocking(limit) to call it from a
// plain thread. One task may read while another one writes. Several tasks may read, or write, but which of them gets which
// bytes is unspecified, and the bytes of several write_all() may mix.
//
// Resumes: on the coroutine's executor, which needs a driver: a runtime or a loop has one.
// Cancelled: bytes that were not read stay in the kernel. If a part was transferred, and only a deadline or a scope was
//            cancelled, the operation completes with errc::cancelled, and transferred() is the part. If the whole job is
//            cancelled, the job unwinds.
// Closed: by close(), also while another task uses the stream: the operation of that task completes with errc::closed.

#include <roost/io/buffer.hpp>
#include <roost/io/detail/ready_source.hpp>
#include <roost/io/detail/stream_operations.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI::io {

class stream {
public:
    // Completes when read_some() would not wait, also at the end of the stream and after an error. Reads nothing: a connection
    // that waits here needs no buffer. A clause of select. A read limit ends it, but not inside a select.
    [[nodiscard("it waits only when it is awaited: write co_await")]] detail::ready_operation readable() noexcept {
        return detail::ready_operation(detail::ready_source(state_.get(), detail::direction::in));
    }
    // Reads the bytes that are there, at least one. Completes with 0 at the end of the stream, or if the buffer is empty.
    [[nodiscard]] detail::read_operation read_some(mutable_buffer to) noexcept {
        return {state_.get(), to, detail::read_amount::some};
    }
    // Fills the buffer. If the stream ends before, the error is errc::end_of_stream.
    [[nodiscard]] detail::read_operation read_exactly(mutable_buffer to) noexcept {
        return {state_.get(), to, detail::read_amount::all};
    }
    // Reads until `data` contains the delimiter, and appends what it reads. Completes with the length up to and including the
    // first delimiter; what follows it stays in `data` for the next call. If the first `limit` bytes of `data` contain none,
    // the error is errc::too_long. If the stream ends before, it is errc::end_of_stream. In any case `data` keeps what was read.
    // `data` and the text of `delimiter` must outlive the operation.
    [[nodiscard]] detail::read_until_operation read_until(std::string& data, std::string_view delimiter,
                                                          std::size_t limit = 64 * 1024) noexcept {
        return {state_.get(), data, delimiter, limit};
    }

    // Writes as much as the kernel has room for, at least one byte. Completes with 0 if the buffer is empty.
    [[nodiscard]] detail::write_operation write_some(const_buffer from) noexcept {
        return {state_.get(), from, detail::write_amount::some};
    }
    // Writes everything.
    [[nodiscard]] detail::write_operation write_all(const_buffer from) noexcept {
        return {state_.get(), from, detail::write_amount::all};
    }
    // Writes several buffers, in order, with as few system calls as possible.
    template <class... More>
    [[nodiscard]] auto write_all(const_buffer first, const_buffer second, const More&... more) noexcept {
        return detail::gather_operation<2 + sizeof...(More)>(state_.get(), first, second, const_buffer(more)...);
    }
    // Writes `count` bytes of an open file, from `offset` on, without copying them through the program. Reading the file may
    // block the thread. If the file is shorter, the error is errc::end_of_stream.
    [[nodiscard]] detail::send_file_operation send_file(int file, std::uint64_t offset, std::size_t count) noexcept {
        return {state_.get(), file, offset, count};
    }

    // Tells the peer that no more will be written. Reading goes on.
    [[nodiscard]] result<> shutdown_write() noexcept;
    // Ends the operations of other tasks with errc::closed. The kernel closes the descriptor when the last of them has ended.
    // Does nothing if the stream is closed. Thread-safe.
    void close() noexcept { state_.close(); }
    [[nodiscard]] bool is_open() const noexcept { return state_.is_open(); }

    // Limits each wait of a read or write for the peer. At the limit the operation ends with errc::timed_out. This is cheaper
    // than fail_after around each operation: one timer per direction, which each wait moves. Applies to waits that begin
    // later; duration::max() is no limit. Has no effect on blocking(), or on an executor without timers. Throws std::bad_alloc.
    void set_read_limit(duration longest) { set_limit(detail::direction::in, longest); }
    void set_write_limit(duration longest) { set_limit(detail::direction::out, longest); }

    // Returns "fd 12 (10.0.0.7:51022)", as reports print it; "closed" if it is closed. The text lives as long as the stream.
    [[nodiscard]] const char* name() const noexcept { return is_open() ? state_.get()->name() : "closed"; }
    // Returns -1 if there is no descriptor.
    [[nodiscard]] int native_handle() const noexcept { return state_.native_handle(); }

protected:
    stream() noexcept = default;
    explicit stream(detail::pollable_owner state) noexcept : state_(std::move(state)) {}
    stream(stream&&) noexcept = default;
    stream& operator=(stream&&) noexcept = default;
    ~stream() = default;

private:
    void set_limit(detail::direction d, duration longest);

    detail::pollable_owner state_;
};

}  // namespace roost::inline ROOST_ABI::io
