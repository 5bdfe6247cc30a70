#include <roost/base/error.hpp>

namespace roost::inline ROOST_ABI {

namespace {

// what() of an error ends with this text, so each is a label that fits behind every sentence.
class category final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "roost"; }
    [[nodiscard]] std::string message(int code) const override {
        switch (static_cast<errc>(code)) {
            case errc::timed_out: return "timed out";
            case errc::closed: return "closed";
            case errc::refused: return "refused";
            case errc::empty_set: return "empty set";
            case errc::promise_dropped: return "promise dropped";
            case errc::would_deadlock: return "deadlock";
            case errc::cancelled: return "cancelled";
            case errc::broken: return "broken resource";
            case errc::misused: return "misuse";
        }
        return "unknown roost error";
    }
    [[nodiscard]] std::error_condition default_error_condition(int code) const noexcept override {
        if (static_cast<errc>(code) == errc::timed_out) {
            return std::make_error_condition(std::errc::timed_out);
        }
        if (static_cast<errc>(code) == errc::would_deadlock) {
            return std::make_error_condition(std::errc::resource_deadlock_would_occur);
        }
        return {code, *this};
    }
};

}  // namespace

const std::error_category& ext::roost_category() noexcept {
    static const category instance;
    return instance;
}

std::error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), ext::roost_category()}; }

}  // namespace roost::inline ROOST_ABI
