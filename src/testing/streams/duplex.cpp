#include <roost/testing/duplex.hpp>

#include <roost/base/atomic.hpp>
#include <roost/exec/detail/bell.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include <unistd.h>

// Both ends and both wires lie in one block, under one lock. Readiness is set, and timers are disarmed, without it.

namespace roost::inline ROOST_ABI::testkit {

namespace {

using io::detail::direction;
using io::detail::moved;
using seam::small_mutex;
using hold = std::lock_guard<small_mutex>;

}  // namespace

class duplex_block;

// The bytes of one direction, under the lock of the block.
class one_way final : private ext::timer {
public:
    one_way(const wire& how, duplex_block& in) : timer(&one_way::fired), how_(how), in_(&in) { ended_ = how.end_ == 0; }

    [[nodiscard]] bool is_reset_by_count() const noexcept { return sent_ >= how_.reset_; }
    [[nodiscard]] std::size_t readable() const noexcept;
    [[nodiscard]] bool is_empty() const noexcept { return data_.empty(); }
    [[nodiscard]] bool is_at_end() const noexcept {
        return ended_ && data_.empty() && (clock() == nullptr || end_due_ <= now());
    }
    [[nodiscard]] bool is_ended() const noexcept { return ended_; }
    [[nodiscard]] bool is_without_reader() const noexcept { return no_reader_; }
    [[nodiscard]] std::size_t room() const noexcept { return how_.capacity_ - std::min(how_.capacity_, data_.size()); }

    std::size_t read(const iovec* to, int count) noexcept;
    // Throws std::bad_alloc; then nothing was written.
    std::size_t write(const iovec* from, int count);
    void end() noexcept;
    void lose_reader() noexcept;
    // Returns the clock at which a timer may be armed, for disarm().
    [[nodiscard]] ext::timer_service* stop_timer() noexcept;
    void disarm(ext::timer_service& at) noexcept { static_cast<void>(at.disarm(*this)); }

private:
    class piece {
    public:
        piece(std::size_t bytes, time_point due) noexcept : bytes_(bytes), due_(due) {}
        [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
        [[nodiscard]] time_point due() const noexcept { return due_; }
        void take(std::size_t n) noexcept { bytes_ -= n; }

    private:
        std::size_t bytes_;
        time_point due_;
    };

    [[nodiscard]] ext::timer_service* clock() const noexcept { return how_.delay_ > duration(0) ? how_.clock_ : nullptr; }
    [[nodiscard]] time_point now() const noexcept { return clock()->now(); }
    [[nodiscard]] time_point due() const noexcept {
        return clock() == nullptr ? time_point::min() : ext::deadline_after(now(), how_.delay_);
    }
    void arm_for_next() noexcept;
    static void fired(ext::timer& self) noexcept;

    wire how_;
    duplex_block* in_;
    std::deque<char> data_;
    std::deque<piece> pieces_;  // of data_; only with a delay
    std::size_t sent_ = 0;
    bool ended_ = false;
    bool no_reader_ = false;
    bool armed_ = false;
    time_point end_due_ = time_point::min();
};

class end_state final : public io::detail::pollable {
public:
    end_state(duplex_block& in, one_way& from, one_way& to, const char* name) noexcept
        : pollable(true), in_(&in), from_(&from), to_(&to), name_(name) {}
    ~end_state() = default;

    [[nodiscard]] std::error_code attach(executor_ref, io::detail::direction) noexcept override { return {}; }
    [[nodiscard]] moved read(const iovec* to, int count) noexcept override;
    [[nodiscard]] moved write(const iovec* from, int count) noexcept override;
    [[nodiscard]] moved send_file(int file, std::uint64_t offset, std::size_t count) noexcept override;
    [[nodiscard]] int end_writing() noexcept override;
    [[nodiscard]] bool block(direction d, time_point deadline) noexcept override;
    [[nodiscard]] const char* name() const noexcept override { return name_; }

    // A call is worth trying again. Called without the lock.
    void notify(direction d, bool is_ended) noexcept {
        at(d).set(is_ended);
        bell_of(d).ring();
    }

private:
    void interrupt() noexcept override;
    void shut() noexcept override;
    void released() noexcept override;
    [[nodiscard]] end_state& peer() const noexcept;
    [[nodiscard]] roost::detail::bell& bell_of(direction d) noexcept { return d == direction::in ? in_bell_ : out_bell_; }

    duplex_block* in_;
    one_way* from_;
    one_way* to_;
    const char* name_;
    roost::detail::bell in_bell_;  // for a thread that blocks
    roost::detail::bell out_bell_;
};

class duplex_block {
public:
    duplex_block(const wire& from_client, const wire& from_server)
        : there(from_client, *this),
          back(from_server, *this),
          client(*this, back, there, "duplex client"),
          server(*this, there, back, "duplex server") {
        is_reset = there.is_reset_by_count() || back.is_reset_by_count();
    }
    [[nodiscard]] end_state& reader_of(const one_way& w) noexcept { return &w == &there ? server : client; }
    void forget_one() noexcept {
        lock.lock();
        const bool was_last = --ends == 0;
        lock.unlock();
        if (was_last) {
            delete this;
        }
    }

    small_mutex lock;
    one_way there;
    one_way back;
    end_state client;
    end_state server;
    bool is_reset = false;
    int ends = 2;
};

// --- one direction ------------------------------------------------------------------------------------------------------------

std::size_t one_way::readable() const noexcept {
    if (clock() == nullptr) {
        return data_.size();
    }
    std::size_t bytes = 0;
    const time_point at = now();
    for (const piece& p : pieces_) {
        if (p.due() > at) {
            break;
        }
        bytes += p.bytes();
    }
    return bytes;
}

std::size_t one_way::read(const iovec* to, int count) noexcept {
    const std::size_t there = std::min(readable(), how_.read_);
    std::size_t done = 0;
    for (int i = 0; i < count && done < there; ++i) {
        const std::size_t n = std::min(to[i].iov_len, there - done);
        std::copy_n(data_.begin(), n, static_cast<char*>(to[i].iov_base));
        data_.erase(data_.begin(), data_.begin() + static_cast<std::ptrdiff_t>(n));
        done += n;
    }
    for (std::size_t left = done; left > 0 && !pieces_.empty();) {
        const std::size_t n = std::min(left, pieces_.front().bytes());
        pieces_.front().take(n);
        left -= n;
        if (pieces_.front().bytes() == 0) {
            pieces_.pop_front();
        }
    }
    return done;
}

std::size_t one_way::write(const iovec* from, int count) {
    const std::size_t most = std::min({room(), how_.write_, how_.end_ - sent_, how_.reset_ - sent_});
    const std::size_t before = data_.size();
    try {
        for (int i = 0; i < count; ++i) {
            const char* const bytes = static_cast<const char*>(from[i].iov_base);
            data_.insert(data_.end(), bytes, bytes + std::min(from[i].iov_len, most - (data_.size() - before)));
        }
        if (clock() != nullptr && data_.size() != before) {
            pieces_.emplace_back(data_.size() - before, due());
        }
    } catch (...) {
        data_.resize(before);
        throw;
    }
    const std::size_t done = data_.size() - before;
    sent_ += done;
    if (sent_ >= how_.end_) {
        end();
    }
    arm_for_next();
    return done;
}

void one_way::end() noexcept {
    if (!ended_) {
        ended_ = true;
        end_due_ = due();
        arm_for_next();
    }
}

void one_way::lose_reader() noexcept {
    no_reader_ = true;
    data_.clear();
    pieces_.clear();
}

// Arms the timer for the first byte, or the end, that has not arrived yet.
void one_way::arm_for_next() noexcept {
    if (clock() == nullptr || armed_ || no_reader_) {
        return;
    }
    const time_point at = now();
    time_point at_next = ended_ && end_due_ > at ? end_due_ : no_deadline;
    for (const piece& p : pieces_) {
        if (p.due() > at) {
            at_next = std::min(at_next, p.due());
            break;
        }
    }
    if (at_next != no_deadline) {
        set_deadline(at_next);
        armed_ = clock()->arm(*this);
    }
}

void one_way::fired(ext::timer& self) noexcept {
    auto& mine = static_cast<one_way&>(self);
    duplex_block& in = *mine.in_;
    {
        const hold held(in.lock);
        mine.armed_ = false;
        mine.arm_for_next();
    }
    in.reader_of(mine).notify(direction::in, false);
}

ext::timer_service* one_way::stop_timer() noexcept {
    lose_reader();
    return clock();
}

// --- one end --------------------------------------------------------------------------------------------------------------------

end_state& end_state::peer() const noexcept { return this == &in_->client ? in_->server : in_->client; }

// A short read that left something is an event: the reader may take it for the sign that nothing is left.
moved end_state::read(const iovec* to, int count) noexcept {
    std::size_t done = 0;
    bool has_more = false;
    {
        const hold held(in_->lock);
        done = from_->read(to, count);
        has_more = from_->readable() != 0 || (from_->is_empty() && (from_->is_at_end() || in_->is_reset));
        if (done == 0) {
            return from_->is_empty() && in_->is_reset ? moved(-1, ECONNRESET)
                   : from_->is_at_end()               ? moved(0, 0)
                                                      : moved(-1, EAGAIN);
        }
    }
    if (has_more) {
        at(direction::in).set(false);
    }
    peer().notify(direction::out, false);
    return {static_cast<std::ptrdiff_t>(done), 0};
}

moved end_state::write(const iovec* from, int count) noexcept {
    std::size_t done = 0;
    bool is_reset = false;
    {
        const hold held(in_->lock);
        if (in_->is_reset) {
            return {-1, ECONNRESET};
        }
        if (to_->is_ended() || to_->is_without_reader()) {
            return {-1, EPIPE};
        }
        if (to_->room() == 0) {
            return {-1, EAGAIN};
        }
        try {
            done = to_->write(from, count);
        } catch (const std::bad_alloc&) {
            return {-1, ENOMEM};
        }
        is_reset = in_->is_reset = to_->is_reset_by_count();
    }
    peer().notify(direction::in, is_reset);
    if (is_reset) {
        peer().notify(direction::out, true);
        notify(direction::in, true);
    }
    return {static_cast<std::ptrdiff_t>(done), 0};
}

moved end_state::send_file(int file, std::uint64_t offset, std::size_t count) noexcept {
    std::array<char, 4096> data;
    const ssize_t n = ::pread(file, data.data(), std::min(count, data.size()), static_cast<off_t>(offset));
    if (n <= 0) {
        return {n, errno};
    }
    const iovec from{data.data(), static_cast<std::size_t>(n)};
    return write(&from, 1);
}

int end_state::end_writing() noexcept {
    {
        const hold held(in_->lock);
        to_->end();
    }
    peer().notify(direction::in, true);
    return 0;
}

bool end_state::block(direction d, time_point deadline) noexcept {
    roost::detail::bell& rings = bell_of(d);
    const std::uint32_t heard = rings.listen();
    {
        const hold held(in_->lock);
        const bool can = d == direction::in
                             ? from_->readable() != 0 || from_->is_at_end() || (in_->is_reset && from_->is_empty())
                             : to_->room() != 0 || to_->is_ended() || to_->is_without_reader() || in_->is_reset;
        if (can || is_closed()) {
            return true;
        }
    }
    if (deadline != time_point::min()) {
        rings.sleep(heard, deadline);
    }
    return false;
}

void end_state::interrupt() noexcept {
    in_bell_.ring();
    out_bell_.ring();
}

void end_state::shut() noexcept {
    end_limits();
    ext::timer_service* clock = nullptr;
    {
        const hold held(in_->lock);
        to_->end();
        clock = from_->stop_timer();
    }
    if (clock != nullptr) {
        from_->disarm(*clock);
    }
    peer().notify(direction::in, true);
    peer().notify(direction::out, true);
}

void end_state::released() noexcept {
    drop_limits();
    in_->forget_one();
}

duplex_pair duplex(const wire& from_client, const wire& from_server) {
    auto* const block = new duplex_block(from_client, from_server);
    return {duplex_end(io::detail::pollable_owner(&block->client)), duplex_end(io::detail::pollable_owner(&block->server))};
}

}  // namespace roost::inline ROOST_ABI::testkit
