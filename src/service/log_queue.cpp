#include <roost/service/detail/log_queue.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

namespace roost::inline ROOST_ABI::service::detail {

using namespace ext;

class log_queue::head {
public:
    std::uint32_t size = 0;
    severity how = severity::info;
    bool is_ledger = false;
    wall_time at;
};

// Not initialised: pages that no line has used cost nothing.
log_queue::log_queue(std::size_t bytes)
    : size_(std::clamp<std::size_t>(bytes, least_bytes, std::size_t{1} << 30U)),
      ring_(std::make_unique_for_overwrite<char[]>(size_)) {}

void log_queue::write(const void* from, std::size_t n) noexcept {
    const std::size_t at = (first_ + used_) % size_;
    const std::size_t straight = std::min(n, size_ - at);
    std::memcpy(ring_.get() + at, from, straight);
    std::memcpy(ring_.get(), static_cast<const char*>(from) + straight, n - straight);
    used_ += n;
}

void log_queue::read(void* to, std::size_t n) noexcept {
    const std::size_t straight = std::min(n, size_ - first_);
    std::memcpy(to, ring_.get() + first_, straight);
    std::memcpy(static_cast<char*>(to) + straight, ring_.get(), n - straight);
    used_ -= n;
    first_ = used_ == 0 ? 0 : (first_ + n) % size_;  // back to the beginning, so that the pages behind stay unused
}

void log_queue::drop_oldest() noexcept {
    head h;
    read(&h, sizeof h);
    used_ -= h.size;
    first_ = used_ == 0 ? 0 : (first_ + h.size) % size_;
    --lines_;
    ++dropped_;
}

void log_queue::push(const log_line& line) noexcept {
    std::string_view text = line.text();
    char cut[64] = "";
    if (text.size() > longest()) {
        const std::size_t kept = longest() - sizeof cut;
        std::snprintf(cut, sizeof cut, " ... and %zu bytes more", text.size() - kept);
        text = text.substr(0, kept);
    }
    head h;
    h.size = static_cast<std::uint32_t>(text.size() + std::strlen(cut));
    h.how = line.how();
    h.is_ledger = line.is_ledger();
    h.at = line.time();
    while (sizeof h + h.size > size_ - used_) {
        drop_oldest();
    }
    write(&h, sizeof h);
    write(text.data(), text.size());
    write(cut, std::strlen(cut));
    ++lines_;
}

log_line log_queue::pop(char* buffer) noexcept {
    head h;
    read(&h, sizeof h);
    read(buffer, h.size);
    --lines_;
    return log_line(h.how, {buffer, h.size}, h.at, h.is_ledger ? log_line::kind::ledger : log_line::kind::plain);
}

std::uint64_t log_queue::take_dropped() noexcept { return std::exchange(dropped_, 0); }

}  // namespace roost::inline ROOST_ABI::service::detail
