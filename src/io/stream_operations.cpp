#include <roost/io/detail/stream_operations.hpp>

#include <algorithm>
#include <cerrno>

namespace roost::inline ROOST_ABI::io::detail {

// A call that took less than it could has emptied the kernel's buffer. So the next call would block, unless the peer has sent
// everything: then it returns the end.
bool read_operation::attempt(operation& self, readiness::snapshot seen) noexcept {
    auto& mine = static_cast<read_operation&>(self);
    for (;;) {
        const mutable_buffer rest = mine.to_.after(mine.count());
        if (rest.size() == 0) {
            return true;
        }
        const iovec to{rest.data(), rest.size()};
        const moved got = mine.on().read(&to, 1);
        if (!got.is_done()) {
            return !got.would_block() && mine.fail(got.why());
        }
        if (got.count() == 0) {
            const bool is_end = mine.amount_ == read_amount::some && !mine.is_closed();
            return is_end || mine.fail(make_error_code(errc::end_of_stream));
        }
        mine.set_count(mine.count() + got.count());
        const bool is_short = got.count() < rest.size() && !seen.is_ended();
        if (is_short) {
            mine.clear_ready(seen);
        }
        if (mine.amount_ == read_amount::some) {
            return true;
        }
        if (is_short) {
            return false;
        }
    }
}

bool read_until_operation::is_found() noexcept {
    const std::size_t at = data_->find(delimiter_, searched_);
    if (at != std::string::npos) {
        found_ = at + delimiter_.size();
        return true;
    }
    const std::size_t overlap = delimiter_.empty() ? 0 : delimiter_.size() - 1;
    searched_ = data_->size() > overlap ? data_->size() - overlap : 0;
    return false;
}

bool read_until_operation::needs_no_call() noexcept {
    if (is_found() && found_ <= limit_) {
        return true;
    }
    const bool is_full = found_ > limit_ || data_->size() >= limit_;
    found_ = 0;
    return is_full && fail(make_error_code(errc::too_long));
}

bool read_until_operation::attempt(operation& self, readiness::snapshot seen) noexcept {
    auto& mine = static_cast<read_until_operation&>(self);
    bool would_block = false;
    while (!mine.needs_no_call()) {
        if (would_block) {
            return false;
        }
        if (mine.read_more(seen, would_block)) {
            return true;
        }
    }
    return true;
}

// Returns true if the operation ends with an error.
bool read_until_operation::read_more(readiness::snapshot seen, bool& would_block) noexcept {
    constexpr std::size_t step = 4096;
    const std::size_t before = data_->size();
    const std::size_t room = std::min(step, limit_ - before);
    try {
        data_->resize(before + room);
    } catch (...) {
        return fail(ENOMEM);
    }
    const iovec to{data_->data() + before, room};
    const moved got = on().read(&to, 1);
    data_->resize(before + (got.is_done() ? got.count() : 0));
    if (!got.is_done()) {
        would_block = got.would_block();
        return !would_block && fail(got.why());
    }
    if (got.count() == 0) {
        return fail(make_error_code(errc::end_of_stream));
    }
    set_count(count() + got.count());
    if (got.count() < room && !seen.is_ended()) {
        clear_ready(seen);
        would_block = true;
    }
    return false;
}

result<std::size_t> read_until_operation::result_of() const noexcept {
    return has_failed() ? result<std::size_t>(code(), what(), count()) : result<std::size_t>(std::in_place, found_);
}

bool write_operation::attempt(operation& self, readiness::snapshot) noexcept {
    auto& mine = static_cast<write_operation&>(self);
    while (mine.count() < mine.from_.size()) {
        const iovec from{const_cast<char*>(mine.from_.data()) + mine.count(), mine.from_.size() - mine.count()};
        const moved sent = mine.on().write(&from, 1);
        if (!sent.is_done()) {
            return !sent.would_block() && mine.fail(sent.why());
        }
        mine.set_count(mine.count() + sent.count());
        if (mine.amount_ == write_amount::some) {
            return true;
        }
    }
    return true;
}

bool gather::attempt_with(iovec* parts, int count, readiness::snapshot) noexcept {
    for (;;) {
        while (first_ < count && parts[first_].iov_len == 0) {
            ++first_;
        }
        if (first_ == count) {
            return true;
        }
        const moved sent = on().write(parts + first_, count - first_);
        if (!sent.is_done()) {
            return !sent.would_block() && fail(sent.why());
        }
        set_count(this->count() + sent.count());
        for (std::size_t left = sent.count(); left > 0;) {
            const std::size_t part = std::min(left, parts[first_].iov_len);
            parts[first_].iov_base = static_cast<char*>(parts[first_].iov_base) + part;
            parts[first_].iov_len -= part;
            left -= part;
            first_ += parts[first_].iov_len == 0 ? 1 : 0;
        }
    }
}

bool send_file_operation::attempt(operation& self, readiness::snapshot) noexcept {
    auto& mine = static_cast<send_file_operation&>(self);
    while (mine.count() < mine.total_) {
        const moved sent = mine.on().send_file(mine.file_, mine.offset_ + mine.count(), mine.total_ - mine.count());
        if (!sent.is_done()) {
            return !sent.would_block() && mine.fail(sent.why());
        }
        if (sent.count() == 0) {
            return mine.fail(make_error_code(errc::end_of_stream));  // the file is shorter
        }
        mine.set_count(mine.count() + sent.count());
    }
    return true;
}

}  // namespace roost::inline ROOST_ABI::io::detail
