#pragma once

// Descriptors of the layer io on an io_context: they are registered in an epoll set of their own, and the context watches that
// set's descriptor.
//
// Why it is not simpler: Asio registers a descriptor with one of its I/O objects, which owns the descriptor, allocates per wait
// and is not thread-safe. A whole set is one such object, and a wait for it serves many events.
//
// A wait for the set is under way while a descriptor is registered. It keeps io.run() from returning. There is at most one, so
// its memory is here.
//
// Fields   set_, users_, waits_: under lock_. inner_.poll(): by the one handler
//
// id  operation            order    pairs  carries                                    fails in
// N1  retain: fetch_add    seq_cst  -      nothing: the caller holds a reference      (no model: Asio's queue)
// N2  release: fetch_sub   seq_cst  N2     all touches, before it is destroyed        (no model: Asio's queue)

#include <roost/asio/detail/handler_memory.hpp>
#include <roost/asio/detail/net.hpp>
#include <roost/base/atomic.hpp>
#include <roost/exec/driver.hpp>
#include <roost/io/epoll_driver.hpp>

#if defined(ROOST_ASIO_STANDALONE)
#include <asio/posix/basic_stream_descriptor.hpp>
#else
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#endif

#include <cstdint>
#include <optional>

namespace roost::inline ROOST_ABI::detail {

class nested_reactor final : public ext::reactor {
public:
    // Throws std::system_error, std::bad_alloc.
    explicit nested_reactor(net::io_context& context);

    void retain() noexcept override;
    void release() noexcept override;
    std::error_code watch(ext::event_source& source, int descriptor) noexcept override;
    std::error_code watch_reading(ext::event_source& source, int descriptor) noexcept override;
    void forget(int descriptor) noexcept override;

    // Called when the context ends: no event is reported any more.
    void close() noexcept;
    // Gives up the reference of the owner, who has called close().
    void drop() noexcept;

private:
    class ready;

    ~nested_reactor() = default;
    void begin_wait() noexcept;
    void handle() noexcept;

    io::epoll_driver inner_;
    ext::reactor* registry_;
    handler_memory memory_;
    seam::small_mutex lock_;
    std::optional<net::posix::basic_stream_descriptor<net::io_context::executor_type>> set_;
    unsigned users_ = 0;
    bool waits_ = false;
    seam::atomic<std::uint32_t> references_{1};
};

}  // namespace roost::inline ROOST_ABI::detail
