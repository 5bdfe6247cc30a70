#pragma once

// Finds the addresses of a name.
//
//   for (const io::endpoint& at : co_await io::resolve("db.example.org", "5432").or_throw()) ...
//
// A numeric address with a numeric service completes at once, on the calling thread. A name is resolved with the system's
// getaddrinfo, on the blocking lane of the coroutine's executor. If the executor has no lane, the error is ENOTSUP; if the
// lane is closed, errc::closed.
//
// Resumes: on the coroutine's executor.
// Cancelled: a call that has not begun never runs. One that runs is abandoned: it holds its thread of the lane until the
//            system's time limits end it, and its result is dropped.
// Errors: errc::no_address if the name or service does not exist; otherwise a code of resolve_category(), or of the system.

#include <roost/io/detail/resolve_operation.hpp>

#include <string>

namespace roost::inline ROOST_ABI::io {

// The codes EAI_... of the system. A temporary failure equals std::errc::resource_unavailable_try_again.
[[nodiscard]] const std::error_category& resolve_category() noexcept;

// Completes with result<std::vector<endpoint>>, in the order in which they should be tried; never an empty one. `service` is a
// number or a name such as "https". The other forms are .or_throw(), .blocking() and .blocking(limit). .blocking() makes the
// call on the calling thread, and blocks for as long as the system's resolver does. .blocking(limit) makes the call on a
// thread of its own, which it abandons at the limit. Throws std::bad_alloc.
[[nodiscard]] inline detail::resolve_operation resolve(std::string name, std::string service) {
    return detail::resolve_operation(std::move(name), std::move(service));
}

}  // namespace roost::inline ROOST_ABI::io
