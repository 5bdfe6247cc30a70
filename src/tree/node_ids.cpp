#include <roost/tree/detail/node_ids.hpp>

#include <roost/base/atomic.hpp>

#include <array>
#include <mutex>
#include <new>
#include <unordered_map>

namespace roost::inline ROOST_ABI::detail {

using namespace seam;

namespace {

#if defined(ROOST_SEAM_MODEL)
constexpr std::size_t stripe_count = 1;
#else
constexpr std::size_t stripe_count = 64;
#endif

struct stripe {
    small_mutex lock;
    std::uint64_t last = 0;
    std::unordered_map<const node*, std::uint64_t> by_node;
    std::unordered_map<std::uint64_t, node*> by_id;
};

// Never destroyed: nodes may outlive the static objects.
std::array<stripe, stripe_count>& stripes() noexcept {
    alignas(std::array<stripe, stripe_count>) static unsigned char place[sizeof(std::array<stripe, stripe_count>)];
    static auto* all = ::new (static_cast<void*>(place)) std::array<stripe, stripe_count>();
    return *all;
}

std::size_t stripe_of(const node& n) noexcept { return (reinterpret_cast<std::uintptr_t>(&n) >> 6U) % stripe_count; }

}  // namespace

std::uint64_t node_ids::of(node& n) noexcept {
    const std::size_t at = stripe_of(n);
    stripe& mine = stripes()[at];
    const std::lock_guard held(mine.lock);
    try {
        const auto [place, is_new] = mine.by_node.try_emplace(&n, 0);
        if (!is_new) {
            return place->second;
        }
        try {
            const std::uint64_t id = (mine.last + 1) * stripe_count + at;
            mine.by_id.emplace(id, &n);
            ++mine.last;
            place->second = id;
            n.set_identified();
            return id;
        } catch (const std::bad_alloc&) {
            mine.by_node.erase(place);
        }
    } catch (const std::bad_alloc&) {  // no number this time
    }
    return 0;
}

node_ref<> node_ids::find(std::uint64_t id) noexcept {
    stripe& mine = stripes()[id % stripe_count];
    const std::lock_guard held(mine.lock);
    const auto found = mine.by_id.find(id);
    return found == mine.by_id.end() ? node_ref<>() : node_ref<>::try_share(*found->second);
}

void node_ids::forget(const node& n) noexcept {
    stripe& mine = stripes()[stripe_of(n)];
    const std::lock_guard held(mine.lock);
    const auto found = mine.by_node.find(&n);
    if (found != mine.by_node.end()) {
        mine.by_id.erase(found->second);
        mine.by_node.erase(found);
    }
}

std::size_t node_ids::size() noexcept {
    std::size_t sum = 0;
    for (stripe& s : stripes()) {
        const std::lock_guard held(s.lock);
        sum += s.by_node.size();
    }
    return sum;
}

}  // namespace roost::inline ROOST_ABI::detail
