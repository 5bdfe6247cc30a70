#include <roost/io/result.hpp>

#include <roost/base/assert.hpp>
#include <roost/base/site.hpp>

#include <string>

namespace roost::inline ROOST_ABI::io {

namespace {

class category final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "roost.io"; }
    [[nodiscard]] std::string message(int code) const override {
        switch (static_cast<errc>(code)) {
            case errc::end_of_stream: return "the peer has sent all it had, and that is less than was asked for";
            case errc::too_long: return "the delimiter did not come within the limit";
            case errc::timed_out: return "timed out";
            case errc::closed: return "the descriptor is closed";
            case errc::cancelled: return "cancelled after a part was transferred";
            case errc::no_address: return "not an address";
        }
        return "unknown io error";
    }
    [[nodiscard]] std::error_condition default_error_condition(int code) const noexcept override {
        switch (static_cast<errc>(code)) {
            case errc::timed_out: return std::make_error_condition(std::errc::timed_out);
            case errc::cancelled: return std::make_error_condition(std::errc::operation_canceled);
            case errc::closed: return std::make_error_condition(std::errc::bad_file_descriptor);
            default: return {code, *this};
        }
    }
};

}  // namespace

const std::error_category& io_category() noexcept {
    static const category instance;
    return instance;
}

std::error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), io_category()}; }

void detail::throw_error(std::error_code code, const char* what, std::size_t transferred) {
    throw io::error(code, what, transferred);
}

std::exception_ptr detail::error_of(std::error_code code, const char* what, std::size_t transferred) noexcept {
    try {
        return std::make_exception_ptr(io::error(code, what, transferred));
    } catch (...) {  // no memory for the text
        return std::current_exception();
    }
}

wait_status detail::status_of(std::error_code code) noexcept {
    if (!code) {
        return wait_status::done;
    }
    if (code == errc::timed_out) {
        return wait_status::expired;
    }
    if (code == errc::cancelled) {
        return wait_status::cancelled;
    }
    return code == errc::closed || code == errc::end_of_stream ? wait_status::closed : wait_status::failed;
}

void detail::panic_no_value(std::error_code code, const char* what) noexcept {
    std::string rule;
    try {
        rule = "the result has no value: " + code.message() + "; check it before, or call value()";
    } catch (...) {}
    roost::detail::panic(what, "", site(), rule.empty() ? "the result has no value" : rule);
}

}  // namespace roost::inline ROOST_ABI::io
