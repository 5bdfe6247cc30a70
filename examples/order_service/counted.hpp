#pragma once

#include <atomic>
#include <cstdint>

namespace demo {

// Counts what exists at the moment.
class counted {
public:
    explicit counted(std::atomic<std::int64_t>& n) noexcept : n_(&n) { n_->fetch_add(1, std::memory_order_relaxed); }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { n_->fetch_sub(1, std::memory_order_relaxed); }

private:
    std::atomic<std::int64_t>* n_;
};

}  // namespace demo
