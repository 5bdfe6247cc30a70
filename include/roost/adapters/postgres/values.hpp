#pragma once

// Arguments, results and errors of PostgreSQL statements. Needs no header of libpq. Values are transferred as text.

#include <roost/base/config.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

struct pg_result;

namespace roost::inline ROOST_ABI::postgres {

// An empty parameter is null.
using parameter = std::optional<std::string>;

template <class T>
[[nodiscard]] parameter to_parameter(T&& from) {
    using bare = std::remove_cvref_t<T>;
    if constexpr (std::is_same_v<bare, std::nullptr_t> || std::is_same_v<bare, std::nullopt_t>) {
        return std::nullopt;
    } else if constexpr (std::is_same_v<bare, bool>) {
        return parameter(from ? "t" : "f");
    } else if constexpr (std::is_arithmetic_v<bare>) {
        char text[64];
        const auto end = std::to_chars(text, text + sizeof text, from);
        return parameter(std::in_place, text, end.ptr);
    } else if constexpr (std::is_same_v<bare, parameter>) {
        return std::forward<T>(from);
    } else {
        return parameter(std::in_place, std::forward<T>(from));
    }
}

// The complete result of a statement.
class rows {
public:
    rows() noexcept = default;
    explicit rows(::pg_result* adopted) noexcept : result_(adopted) {}  // for the adapter

    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] std::size_t width() const noexcept;
    [[nodiscard]] std::string_view column(std::size_t index) const;
    // Returns how many rows the statement changed.
    [[nodiscard]] std::int64_t changes() const noexcept;
    // Returns the server's command tag: "INSERT 0 1", "COMMIT". Valid as long as this object.
    [[nodiscard]] std::string_view command() const noexcept;

    [[nodiscard]] bool is_null(std::size_t row, std::size_t column) const;
    // Returns the server's text; empty for null. Valid as long as this object.
    [[nodiscard]] std::string_view text(std::size_t row, std::size_t column) const;
    // Returns the text as a number, a bool or a string. Throws std::invalid_argument if it is not a number that fits T.
    template <class T>
    [[nodiscard]] T get(std::size_t row, std::size_t column) const {
        const std::string_view from = text(row, column);
        if constexpr (std::is_same_v<T, std::string>) {
            return std::string(from);
        } else if constexpr (std::is_same_v<T, bool>) {
            return from == "t";
        } else {
            T value{};
            const auto end = std::from_chars(from.data(), from.data() + from.size(), value);
            if (end.ec != std::errc() || end.ptr != from.data() + from.size()) {
                throw std::invalid_argument("postgres: '" + std::string(from) + "' is not a number that fits");
            }
            return value;
        }
    }

private:
    struct clear {
        void operator()(::pg_result* r) const noexcept;
    };
    void require(std::size_t row, std::size_t column) const;
    std::unique_ptr<::pg_result, clear> result_;
};

// The server's SQLSTATE and message. If the connection itself failed: libpq's message, without a state.
class error : public std::runtime_error {
public:
    error(std::string_view state, std::string_view message, bool connection_is_lost);
    [[nodiscard]] const std::string& state() const noexcept { return state_; }
    [[nodiscard]] bool is_cancelled() const noexcept { return state_ == "57014"; }
    [[nodiscard]] bool is_constraint() const noexcept { return state_.starts_with("23"); }
    // Returns true if retrying the whole transaction may help: serialization failure, deadlock.
    [[nodiscard]] bool is_transient() const noexcept { return state_ == "40001" || state_ == "40P01"; }
    // Returns true if the connection is lost: closed by the server or the network, or abandoned.
    [[nodiscard]] bool breaks_connection() const noexcept { return lost_; }

private:
    std::string state_;
    bool lost_;
};

}  // namespace roost::inline ROOST_ABI::postgres
