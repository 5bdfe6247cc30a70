#include <roost/adapters/postgres/values.hpp>

#include <libpq-fe.h>

namespace roost::inline ROOST_ABI::postgres {

namespace {

std::string sentence(std::string_view state, std::string_view message) {
    while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) {
        message.remove_suffix(1);
    }
    std::string text = "postgres: ";
    text.append(message);
    if (!state.empty()) {
        text.append(" (").append(state).append(")");
    }
    return text;
}

}  // namespace

error::error(std::string_view state, std::string_view message, bool connection_is_lost)
    : std::runtime_error(sentence(state, message)), state_(state), lost_(connection_is_lost) {}

void rows::clear::operator()(::pg_result* r) const noexcept { PQclear(r); }

std::size_t rows::size() const noexcept { return result_ ? static_cast<std::size_t>(PQntuples(result_.get())) : 0; }
std::size_t rows::width() const noexcept { return result_ ? static_cast<std::size_t>(PQnfields(result_.get())) : 0; }

void rows::require(std::size_t row, std::size_t column) const {
    if (row >= size() || column >= width()) {
        throw std::out_of_range("postgres: there is no such row or column");
    }
}
std::string_view rows::column(std::size_t index) const {
    if (index >= width()) {
        throw std::out_of_range("postgres: there is no such column");
    }
    return PQfname(result_.get(), static_cast<int>(index));
}
std::int64_t rows::changes() const noexcept {
    if (!result_) {
        return 0;
    }
    const std::string_view count = PQcmdTuples(result_.get());
    std::int64_t value = 0;
    std::from_chars(count.data(), count.data() + count.size(), value);
    return value;
}
std::string_view rows::command() const noexcept { return result_ ? PQcmdStatus(result_.get()) : ""; }
bool rows::is_null(std::size_t row, std::size_t column) const {
    require(row, column);
    return PQgetisnull(result_.get(), static_cast<int>(row), static_cast<int>(column)) != 0;
}
std::string_view rows::text(std::size_t row, std::size_t column) const {
    require(row, column);
    const int r = static_cast<int>(row);
    const int c = static_cast<int>(column);
    return {PQgetvalue(result_.get(), r, c), static_cast<std::size_t>(PQgetlength(result_.get(), r, c))};
}

}  // namespace roost::inline ROOST_ABI::postgres
