#include <roost/admin/detail/client_table.hpp>

#include <algorithm>

namespace roost::inline ROOST_ABI::admin::detail {

void client_table::remove(const client& c) noexcept {
    std::erase_if(clients_, [&](const std::unique_ptr<client>& other) { return other.get() == &c; });
}

std::size_t client_table::live() const noexcept {
    const auto is_live = [](const std::unique_ptr<client>& c) { return c->phase() != client_phase::dropped; };
    return static_cast<std::size_t>(std::count_if(clients_.begin(), clients_.end(), is_live));
}

time_point client_table::next_deadline() const noexcept {
    time_point next = no_deadline;
    for (const std::unique_ptr<client>& c : clients_) {
        next = std::min(next, c->deadline());
    }
    return next;
}

client* client_table::overdue(time_point now) const noexcept {
    for (const std::unique_ptr<client>& c : clients_) {
        if (c->deadline() <= now) {
            return c.get();
        }
    }
    return nullptr;
}

template <class Is>
client* client_table::oldest(Is is) const noexcept {
    const auto found =
        std::find_if(clients_.begin(), clients_.end(), [&](const std::unique_ptr<client>& c) { return is(*c); });
    return found == clients_.end() ? nullptr : found->get();
}

client* client_table::to_drop(time_point now) const noexcept {
    if (client* const silent =
            oldest([&](const client& c) { return c.phase() == client_phase::reading && c.since() + patience <= now; })) {
        return silent;
    }
    client* const passing = oldest([](const client& c) { return c.phase() < client_phase::streaming; });
    return passing != nullptr ? passing : oldest([](const client& c) { return c.phase() == client_phase::streaming; });
}

}  // namespace roost::inline ROOST_ABI::admin::detail
