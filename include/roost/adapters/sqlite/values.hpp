#pragma once

// Arguments, results and errors of SQLite statements. Needs no header of SQLite.

#include <roost/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace roost::inline ROOST_ABI::sqlite {

// SQLite's five storage classes. Two values are equal if class and content are equal.
using blob = std::vector<std::byte>;
using value = std::variant<std::monostate, std::int64_t, double, std::string, blob>;

// Converts integers, bool, floating point, text, blob and nullptr. Throws std::out_of_range for an unsigned integer of 2^63
// or more.
template <class T>
[[nodiscard]] value to_value(T&& from) {
    using bare = std::remove_cvref_t<T>;
    if constexpr (std::is_same_v<bare, value>) {
        return std::forward<T>(from);
    } else if constexpr (std::is_same_v<bare, std::nullptr_t> || std::is_same_v<bare, std::monostate>) {
        return value();
    } else if constexpr (std::is_integral_v<bare>) {
        if (std::is_unsigned_v<bare> && static_cast<std::uint64_t>(from) > static_cast<std::uint64_t>(INT64_MAX)) {
            throw std::out_of_range("sqlite: an unsigned argument is larger than SQLite's integers");
        }
        return value(std::in_place_type<std::int64_t>, static_cast<std::int64_t>(from));
    } else if constexpr (std::is_floating_point_v<bare>) {
        return value(std::in_place_type<double>, static_cast<double>(from));
    } else if constexpr (std::is_same_v<bare, blob>) {
        return value(std::in_place_type<blob>, std::forward<T>(from));
    } else {
        return value(std::in_place_type<std::string>, std::forward<T>(from));
    }
}

// The complete result of a statement.
class rows {
public:
    rows() noexcept = default;

    [[nodiscard]] std::size_t size() const noexcept { return width() == 0 ? 0 : cells_.size() / width(); }
    [[nodiscard]] bool empty() const noexcept { return cells_.empty(); }
    [[nodiscard]] std::size_t width() const noexcept { return columns_.size(); }
    [[nodiscard]] const std::vector<std::string>& columns() const noexcept { return columns_; }
    [[nodiscard]] const value& at(std::size_t row, std::size_t column) const {
        if (row >= size() || column >= width()) {
            throw std::out_of_range("sqlite: there is no such row or column");
        }
        return cells_[row * width() + column];
    }
    // Returns the value of class T. Throws std::bad_variant_access if it has another class.
    template <class T>
    [[nodiscard]] const T& get(std::size_t row, std::size_t column) const {
        return std::get<T>(at(row, column));
    }
    // changes() returns how many rows the statement changed. last_insert_id() returns the row id of its connection's last
    // insert.
    [[nodiscard]] std::int64_t changes() const noexcept { return changes_; }
    [[nodiscard]] std::int64_t last_insert_id() const noexcept { return last_insert_id_; }

private:
    friend class connection;
    std::vector<std::string> columns_;
    std::vector<value> cells_;
    std::int64_t changes_ = 0;
    std::int64_t last_insert_id_ = 0;
};

// SQLite's extended result code and message, with the failed step: "sqlite: step: UNIQUE constraint failed: job.id (2067)".
class error : public std::runtime_error {
public:
    error(int extended_code, std::string_view doing, std::string_view message);
    [[nodiscard]] int extended_code() const noexcept { return code_; }
    [[nodiscard]] int code() const noexcept { return code_ & 0xff; }
    [[nodiscard]] bool is_interrupt() const noexcept;  // the statement was cancelled
    [[nodiscard]] bool is_busy() const noexcept;  // another connection held the lock for longer than busy_timeout
    [[nodiscard]] bool is_constraint() const noexcept;  // the data violates a constraint
    // Returns true if the connection must be discarded: the file cannot be read, is no database, or is damaged.
    [[nodiscard]] bool breaks_connection() const noexcept;

private:
    int code_;
};

}  // namespace roost::inline ROOST_ABI::sqlite
