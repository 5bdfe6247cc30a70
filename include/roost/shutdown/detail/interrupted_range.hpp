#pragma once

#include <roost/shutdown/detail/shutdown_node.hpp>

#include <iterator>
#include <ranges>

namespace roost::inline ROOST_ABI::detail {

template <class S>
class interrupted_sentinel {
public:
    interrupted_sentinel() = default;
    explicit interrupted_sentinel(S end) : end_(std::move(end)) {}
    [[nodiscard]] const S& base() const noexcept { return end_; }

private:
    S end_{};
};

// Forwards to the inner iterator, and equals the end as soon as stop is visible. Valid while its interrupt lives.
template <class I>
class interrupted_iterator {
public:
    using value_type = std::iter_value_t<I>;
    using difference_type = std::iter_difference_t<I>;
    using iterator_concept =
        std::conditional_t<std::forward_iterator<I>, std::forward_iterator_tag, std::input_iterator_tag>;

    interrupted_iterator() = default;
    interrupted_iterator(I at, const shutdown_node& watched) : at_(std::move(at)), node_(&watched) {}

    decltype(auto) operator*() const { return *at_; }
    interrupted_iterator& operator++() {
        ++at_;
        return *this;
    }
    auto operator++(int) {
        if constexpr (std::forward_iterator<I>) {
            interrupted_iterator before = *this;
            ++at_;
            return before;
        } else {
            ++at_;
        }
    }
    friend bool operator==(const interrupted_iterator& a, const interrupted_iterator& b)
        requires std::equality_comparable<I>
    {
        return a.at_ == b.at_;
    }
    template <class S>
        requires std::sentinel_for<S, I>
    friend bool operator==(const interrupted_iterator& a, const interrupted_sentinel<S>& end) {
        return a.node_->is_terminal() || a.at_ == end.base();
    }

private:
    I at_{};
    const shutdown_node* node_ = nullptr;
};

class interrupted_begin_call {
public:
    template <class R>
    auto operator()(R& range, const shutdown_node& watched) const {
        return interrupted_iterator<std::ranges::iterator_t<R>>(std::ranges::begin(range), watched);
    }
};
inline constexpr interrupted_begin_call interrupted_begin;
class interrupted_end_call {
public:
    template <class R>
    auto operator()(R& range) const {
        return interrupted_sentinel<std::ranges::sentinel_t<R>>(std::ranges::end(range));
    }
};
inline constexpr interrupted_end_call interrupted_end;

}  // namespace roost::inline ROOST_ABI::detail
