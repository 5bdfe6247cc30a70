#include "deep_ignores.hpp"

#include <cstddef>
#include <mutex>
#include <new>

namespace roost::inline ROOST_ABI::detail {

namespace {

struct entry {
    const node* of;
    std::size_t count;
    entry* next;
};
struct bucket {
    small_mutex lock;
    entry* first = nullptr;
};
constinit bucket buckets[64];

bucket& bucket_of(const node& of) noexcept {
    constexpr unsigned low_bits = 4;  // the same in all nodes
    return buckets[(reinterpret_cast<std::uintptr_t>(&of) >> low_bits) * 0x9e3779b97f4a7c15ULL >> 58U];
}
entry** link_of(bucket& b, const node& of) noexcept {
    entry** at = &b.first;
    while (*at != nullptr && (*at)->of != &of) {
        at = &(*at)->next;
    }
    return at;
}

}  // namespace

bool deep_ignores::add(const node& of) noexcept {
    bucket& b = bucket_of(of);
    const std::lock_guard guard(b.lock);
    entry*& found = *link_of(b, of);
    if (found == nullptr) {
        found = new (std::nothrow) entry{&of, 0, nullptr};
    }
    if (found != nullptr) {
        ++found->count;
    }
    return found != nullptr;
}

bool deep_ignores::remove(const node& of) noexcept {
    bucket& b = bucket_of(of);
    const std::lock_guard guard(b.lock);
    entry** at = link_of(b, of);
    entry* const found = *at;
    if (found == nullptr) {
        return false;
    }
    if (--found->count == 0) {
        *at = found->next;
        delete found;
    }
    return true;
}

}  // namespace roost::inline ROOST_ABI::detail
