#pragma once

// Errors of sockets and descriptors. An operation returns a result<T>: a value or a std::error_code. Errors of the system have
// their own codes; compare them with std::errc. The codes of this layer are below.

#include <roost/base/config.hpp>

#include <system_error>

namespace roost::inline ROOST_ABI::io {

enum class errc {
    end_of_stream = 1,  // the peer has sent everything, and less than was asked for; send_file: the file is shorter
    too_long,  // read_until: the limit was reached before the delimiter
    timed_out,  // a limit passed: that of the stream, or of blocking(limit)
    closed,  // the object was never opened, or was closed, perhaps by another task; or its executor has ended
    cancelled,  // ended by a cancel, stop or deadline after a part was transferred; transferred() is the part
    no_address,  // the text is no address, or the name has none
};

[[nodiscard]] const std::error_category& io_category() noexcept;
[[nodiscard]] std::error_code make_error_code(errc e) noexcept;

// Thrown by value() and by the throwing forms. what() names the operation and the cause.
class error : public std::system_error {
public:
    error(std::error_code code, const char* what, std::size_t transferred)
        : std::system_error(code, what), transferred_(transferred) {}
    // Returns the number of bytes that were transferred before the error.
    [[nodiscard]] std::size_t transferred() const noexcept { return transferred_; }

private:
    std::size_t transferred_;
};

}  // namespace roost::inline ROOST_ABI::io

template <>
struct std::is_error_code_enum<roost::io::errc> : std::true_type {};
