#pragma once

// What handlers write and other threads read: how many signals arrived, their senders, and which descriptors to ring.
// Separate from the handlers, so that the explorer can run it.
//
// Why it is not simpler: a handler runs on any thread at any instruction, so it can take no lock. And another thread owns
// the descriptor that it rings, and closes it.
//
// fields   none
// I1       a handler is counted inside before it reads a descriptor; listen(-1) clears the descriptors, then waits for a count of
//          zero: no handler rings a descriptor that is closed or reused
// I2       a handler counts its signal before it reads the descriptors, and listen() sets them before it reads the counts:
//          one of the two sees the other
//
// id  operation               order    pairs  carries                                             fails in
// A1  handler: number         relaxed  -      nothing: each takes one of its own                  (floor)
// A2  sender: store, load     relaxed  -      A3 carries it; the number inside says whose it is   (floor)
// A3  handler: count          seq_cst  A4 A7  out: the sender; I2                                 signal_box_model: listen_vs_handler
// A4  read: count             acquire  A3     in: the sender                                      signal_box_model: read_vs_handler
// A5  handler in: fetch_add   seq_cst  A7     I1                                                  signal_box_model: close_vs_handler
// A6  handler: descriptor     seq_cst  A7     I1 I2                                               signal_box_model: close_vs_handler
// A7  listen: stores, loads   seq_cst  A3 A6  I1 I2                                               signal_box_model: close_vs_handler
// A8  handler out: fetch_sub  release  A7     out: it is done with the descriptor                 signal_box_model: close_vs_handler
// A9  clear: stores           relaxed  -      nothing: no handler is left                         (floor)

#include <roost/service/detail/signal_inbox.hpp>

namespace roost::inline ROOST_ABI::service::detail {

using namespace seam;

class signal_box {
public:
    constexpr signal_box() noexcept = default;
    signal_box(const signal_box&) = delete;
    signal_box& operator=(const signal_box&) = delete;

    // Called by a handler. Calls ring(descriptor) for every listener.
    template <class Ring>
    void arrived(std::size_t kind, int sender, Ring ring) noexcept {
        inside_.fetch_add(1, mo::seq_cst);  // A5
        const std::uint32_t mine = taken_[kind].fetch_add(1, mo::relaxed);  // A1
        sender_[kind][mine % senders_kept].store(packed(mine, sender), mo::relaxed);  // A2
        count_[kind].fetch_add(1, mo::seq_cst);  // A3
        for (const atomic<int>& fd : fds_) {
            if (const int to = fd.load(mo::seq_cst); to >= 0) {  // A6
                ring(to);
            }
        }
        inside_.fetch_sub(1, mo::release);  // A8
    }

    [[nodiscard]] signal_counts read() const noexcept {
        signal_counts c;
        for (std::size_t i = 0; i < handled_count; ++i) {
            c.count_[i] = count_[i].load(mo::acquire);  // A4
            for (std::size_t k = 0; k < senders_kept; ++k) {
                c.sender_[i][k] = sender_[i][k].load(mo::relaxed);  // A2
            }
        }
        return c;
    }

    // Sets the descriptors to ring. Returns true if a signal arrived before and may not have rung. With -1 none is rung:
    // when the call returns, no handler uses a descriptor any more.
    template <class Pause>
    [[nodiscard]] bool listen(int first_fd, int second_fd, Pause pause) noexcept {
        fds_[0].store(first_fd, mo::seq_cst);  // A7
        fds_[1].store(second_fd, mo::seq_cst);  // A7
        if (first_fd < 0) {
            while (inside_.load(mo::seq_cst) != 0) {  // A7
                pause();
            }
            return false;
        }
        bool has_any = false;
        for (const atomic<std::uint32_t>& n : count_) {
            has_any = n.load(mo::seq_cst) != 0 || has_any;  // A7
        }
        return has_any;
    }

    // Requires that no handler can run.
    void clear() noexcept {
        for (std::size_t i = 0; i < handled_count; ++i) {
            count_[i].store(0, mo::relaxed);  // A9
            taken_[i].store(0, mo::relaxed);  // A9
            for (atomic<std::uint64_t>& one : sender_[i]) {
                one.store(0, mo::relaxed);  // A9
            }
        }
    }

    // Called in a forked child: the handlers of other threads do not exist there.
    void forget_handlers() noexcept { inside_.store(0, mo::relaxed); }  // A9

private:
    static std::uint64_t packed(std::uint32_t number, int sender) noexcept {
        return (std::uint64_t{number} + 1) << 32U | static_cast<std::uint32_t>(sender);
    }

    atomic<std::uint32_t> count_[handled_count];
    atomic<std::uint32_t> taken_[handled_count];  // numbers assigned to handlers, which may run on several threads at once
    atomic<std::uint64_t> sender_[handled_count][senders_kept];
    atomic<std::uint32_t> inside_{0};
    atomic<int> fds_[2] = {atomic<int>(-1), atomic<int>(-1)};
};

}  // namespace roost::inline ROOST_ABI::service::detail
