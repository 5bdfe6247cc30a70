#pragma once

// A cancellation_signal that keeps the memory of its slot's handler for the next operation: each thread keeps a few. Asio
// would allocate it for each operation, because bodies begin their operations outside run().

#include <roost/asio/detail/net.hpp>

namespace roost::inline ROOST_ABI::detail {

class pooled_signal {
public:
    pooled_signal() noexcept = default;
    ~pooled_signal() {
        if (entry_ != nullptr) {
            give_back();
        }
    }
    pooled_signal(const pooled_signal&) = delete;
    pooled_signal& operator=(const pooled_signal&) = delete;

    // Called once, before the others. Throws std::bad_alloc.
    void open();
    [[nodiscard]] net::cancellation_slot slot() const noexcept;
    void emit(net::cancellation_type how) const;

private:
    struct entry;
    struct kept;
    class cleaner;

    void give_back() noexcept;

    entry* entry_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI::detail
