#pragma once

#include <roost/shutdown/concepts.hpp>

#include <cstddef>

namespace roost::inline ROOST_ABI::detail {

// The members of a stream that `guarded` and `interrupt` forward unchanged: they await nothing that stop could end.
template <class Self, class T>
class unawaited_calls {
public:
    decltype(auto) consume(std::size_t n)
        requires ext::buffered_reader<T>
    {
        return inner().consume(n);
    }
    decltype(auto) flush()
        requires requires(T& t) { t.flush(); }
    {
        return inner().flush();
    }
    decltype(auto) close()
        requires requires(T& t) { t.close(); }
    {
        return inner().close();
    }

private:
    friend Self;
    unawaited_calls() noexcept = default;

    [[nodiscard]] T& inner() noexcept { return *static_cast<Self&>(*this); }
};

}  // namespace roost::inline ROOST_ABI::detail
