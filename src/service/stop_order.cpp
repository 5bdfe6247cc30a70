#include <roost/service/detail/stop_order.hpp>

#include <algorithm>

namespace roost::inline ROOST_ABI::service::detail {

std::vector<std::vector<std::size_t>> stop_order(const std::vector<stop_place>& places) {
    std::vector<std::vector<std::size_t>> groups;
    std::vector<std::size_t> ranked;
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i].rank() && !places[i].is_main()) {
            ranked.push_back(i);
        }
    }
    std::sort(ranked.begin(), ranked.end(), [&](std::size_t a, std::size_t b) {
        return *places[a].rank() != *places[b].rank() ? *places[a].rank() > *places[b].rank() : a < b;
    });
    for (const std::size_t i : ranked) {
        if (groups.empty() || *places[groups.back().front()].rank() != *places[i].rank()) {
            groups.emplace_back();
        }
        groups.back().push_back(i);
    }
    for (std::size_t i = places.size(); i-- > 0;) {
        if (!places[i].rank() && !places[i].is_main()) {
            groups.push_back({i});
        }
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i].is_main()) {
            groups.push_back({i});
        }
    }
    return groups;
}

}  // namespace roost::inline ROOST_ABI::service::detail
