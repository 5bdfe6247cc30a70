// An operation of several calls: an event that was none, a cancel, a close. On the shipped awaiter, over a socket of memory.

#include <roost/io/detail/stream_operations.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "../sync/coroutines.hpp"

#include <algorithm>
#include <cerrno>

namespace {

using namespace roost;
using namespace roost::seam;
using io::detail::direction;
using io::detail::moved;
using io::detail::read_amount;
using io::detail::read_operation;
using roost::testing::check;

class memory_socket final : public io::detail::pollable {
public:
    memory_socket() noexcept : pollable(true) {}
    ~memory_socket() = default;

    // The kernel's side: bytes, then the event.
    void arrive(int bytes) noexcept {
        bytes_.fetch_add(bytes, mo::relaxed);
        at(direction::in).set(false);
    }
    [[nodiscard]] int left() const noexcept { return bytes_.load(mo::relaxed); }

    std::error_code attach(executor_ref, direction) noexcept override { return {}; }
    moved read(const iovec* to, int) noexcept override {
        const int there = bytes_.load(mo::relaxed);
        if (there == 0) {
            return {-1, EAGAIN};
        }
        const int taken = std::min(there, static_cast<int>(to->iov_len));
        bytes_.fetch_sub(taken, mo::relaxed);
        return {taken, 0};
    }
    moved write(const iovec*, int) noexcept override { return {-1, EAGAIN}; }
    int end_writing() noexcept override { return 0; }
    bool block(direction, time_point) noexcept override { return true; }
    const char* name() const noexcept override { return "memory"; }

private:
    void released() noexcept override {}
    atomic<int> bytes_{0};
};

struct seen {
    plain<int> times{0};
    plain<int> bytes{0};
    plain<int> error{0};
};

sync_testing::fire read(read_operation& op, seen& into) {
    class by_reference {
    public:
        explicit by_reference(read_operation& o) noexcept : op_(o) {}
        bool await_ready() noexcept { return op_.await_ready(); }
        bool await_suspend(std::coroutine_handle<sync_testing::fire::promise_type> h) noexcept {
            return op_.await_suspend(h);
        }
        io::result<std::size_t> await_resume() { return op_.await_resume(); }

    private:
        read_operation& op_;
    };
    const io::result<std::size_t> got = co_await by_reference(op);
    into.times.set(into.times.get() + 1);
    into.bytes.set(static_cast<int>(got.transferred()));
    into.error.set(got.code().value());
}

// IO-16: an event without data makes it wait again; the data comes later.
MODEL(operation_model, IO_16_spurious_event) {
    memory_socket socket;
    char to[2];
    read_operation op(&socket, io::mutable_buffer(to, 2), read_amount::some);
    seen got;
    thread kernel([&] {
        socket.at(direction::in).set(false);
        socket.arrive(2);
    });
    read(op, got);
    kernel.join();
    check(got.times.get() == 1 && got.bytes.get() == 2, "IO-16: once, with the data");
}

// IO-17: a cancel meets the event: the bytes are delivered, or still there.
MODEL(operation_model, IO_17_cancel_vs_event) {
    memory_socket socket;
    char to[2];
    seen got;
    bool cancelled = false;
    {
        read_operation op(&socket, io::mutable_buffer(to, 2), read_amount::some);
        read(op, got);
        thread kernel([&] { socket.arrive(2); });
        cancelled = op.try_cancel();
        kernel.join();
    }
    check(got.times.get() == (cancelled ? 0 : 1), "IO-17: resumed or cancelled");
    check(got.bytes.get() + socket.left() == 2, "IO-17: no byte is lost");
}

// IO-18: a cancel loses against an event that was none. The operation finds it before it waits again.
MODEL(operation_model, IO_18_cancel_vs_spurious_event) {
    memory_socket socket;
    char to[2];
    seen got;
    bool cancelled = false;
    {
        read_operation op(&socket, io::mutable_buffer(to, 2), read_amount::some);
        read(op, got);
        thread kernel([&] { socket.at(direction::in).set(false); });
        cancelled = op.try_cancel();
        kernel.join();
    }
    check(got.times.get() == (cancelled ? 0 : 1), "IO-18: it never waits for ever");
    check(got.error.get() != 0 || cancelled, "IO-18: it says so");
}

// IO-17: a part was read when the cancel comes.
MODEL(operation_model, IO_17_part_and_cancel) {
    memory_socket socket;
    socket.arrive(1);
    char to[2];
    seen got;
    bool cancelled = false;
    {
        read_operation op(&socket, io::mutable_buffer(to, 2), read_amount::all);
        read(op, got);
        thread kernel([&] { socket.arrive(1); });
        cancelled = op.try_cancel();
        kernel.join();
    }
    const int taken = cancelled ? 1 : got.bytes.get();
    check(taken + socket.left() == 2, "IO-17: no byte is lost");
}

// IO-13: the owner closes it while it waits; the event comes as well.
MODEL(operation_model, IO_13_close_vs_wait) {
    memory_socket socket;
    char to[2];
    seen got;
    {
        read_operation op(&socket, io::mutable_buffer(to, 2), read_amount::some);
        read(op, got);
        thread kernel([&] { socket.arrive(2); });
        socket.close();
        kernel.join();
        check(got.times.get() == 1, "IO-13: a closed one wakes its operations");
    }
    check(got.bytes.get() + socket.left() == 2, "IO-13: read before, or not at all");
}

}  // namespace
