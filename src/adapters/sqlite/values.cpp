#include <roost/adapters/sqlite/values.hpp>

#include <sqlite3.h>

namespace roost::inline ROOST_ABI::sqlite {

namespace {

std::string sentence(int code, std::string_view doing, std::string_view message) {
    std::string text = "sqlite: ";
    text.append(doing).append(": ").append(message).append(" (").append(std::to_string(code)).append(")");
    return text;
}

}  // namespace

error::error(int extended_code, std::string_view doing, std::string_view message)
    : std::runtime_error(sentence(extended_code, doing, message)), code_(extended_code) {}

bool error::is_interrupt() const noexcept { return code() == SQLITE_INTERRUPT; }
bool error::is_busy() const noexcept { return code() == SQLITE_BUSY || code() == SQLITE_LOCKED; }
bool error::is_constraint() const noexcept { return code() == SQLITE_CONSTRAINT; }
bool error::breaks_connection() const noexcept {
    switch (code()) {
        case SQLITE_IOERR:
        case SQLITE_CORRUPT:
        case SQLITE_CANTOPEN:
        case SQLITE_NOTADB:
        case SQLITE_MISUSE:
        case SQLITE_NOMEM: return true;
        default: return false;
    }
}

}  // namespace roost::inline ROOST_ABI::sqlite
