#pragma once

// An open descriptor. Its memory comes from a cache that is never given back: an event that the kernel has reported already may
// arrive after the descriptor was closed, and then wakes the next user of the memory once too often.
//
// id  operation                 order    pairs  carries                                              fails in
// F1  attach: load, compared    seq_cst  F2     that events are reported                             (no model: the kernel's set)
// F2  attach, let go: store     seq_cst  F1     as F1                                                (no model: the kernel's set)

#include <roost/exec/driver.hpp>
#include <roost/io/detail/pollable.hpp>

#include <cstddef>

namespace roost::inline ROOST_ABI::io::detail {

enum class fd_kind : std::uint8_t { socket, file };

class fd_state final : public pollable, public ext::event_source {
public:
    static constexpr std::size_t name_size = 64;

    // Takes ownership of a descriptor that does not block, or borrows it. `is_ready`: the first call is worth trying at once.
    // Throws std::bad_alloc; then the descriptor stays the caller's.
    [[nodiscard]] static fd_state* make(int fd, fd_kind kind, bool owns = true, bool is_ready = true);

    [[nodiscard]] int native_handle() const noexcept override { return fd_; }
    // The part of name() behind "fd 12", for example the address of the peer.
    void set_label(const char* text) noexcept;
    // Called when the owner of a borrowed descriptor has closed it. No later system call uses the number.
    void forget_number() noexcept;

    [[nodiscard]] std::error_code attach(executor_ref where, direction d) noexcept override;
    [[nodiscard]] moved read(const iovec* to, int count) noexcept override;
    [[nodiscard]] moved write(const iovec* from, int count) noexcept override;
    [[nodiscard]] moved send_file(int file, std::uint64_t offset, std::size_t count) noexcept override;
    [[nodiscard]] int end_writing() noexcept override;
    [[nodiscard]] bool block(direction d, time_point deadline) noexcept override;
    [[nodiscard]] const char* name() const noexcept override { return name_; }

private:
    friend class fd_cache;
    fd_state() noexcept;
    ~fd_state() = default;
    void interrupt() noexcept override;
    void shut() noexcept override;
    void released() noexcept override;
    [[nodiscard]] std::error_code attach_anew(executor_ref where, ext::reactor* wanted, direction d) noexcept;
    [[nodiscard]] std::error_code register_at(ext::reactor& wanted, direction d) noexcept;
    void set_reactor(ext::reactor* reads, ext::reactor* writes) noexcept;
    void let_go() noexcept;
    static void happened(ext::event_source& self, ext::io_events what) noexcept;

    int fd_ = -1;
    fd_kind kind_ = fd_kind::file;
    bool owns_ = true;
    bool is_gone_ = false;  // under lock_; the number may belong to another file
    // Changed under lock_: where it is registered, with a reference. writer_ is null until the first wait to write.
    seam::atomic<ext::reactor*> reactor_{nullptr};
    seam::atomic<ext::reactor*> writer_{nullptr};
    seam::small_mutex lock_;
    fd_state* next_free_ = nullptr;
    char name_[name_size] = "";
};

}  // namespace roost::inline ROOST_ABI::io::detail
