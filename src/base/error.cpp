#include <roost/base/error.hpp>

namespace roost::inline ROOST_ABI {

namespace {

class category final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "roost"; }
    [[nodiscard]] std::string message(int code) const override {
        switch (static_cast<errc>(code)) {
            case errc::timed_out: return "timed out";
            case errc::closed: return "closed";
            case errc::refused: return "refused: no new work while stopping";
            case errc::empty_set: return "nothing to choose from";
            case errc::promise_dropped: return "promise dropped without a result";
            case errc::would_deadlock: return "would wait for itself";
            case errc::cancelled: return "cancelled";
            case errc::broken: return "resource is broken";
            case errc::misused: return "used wrongly";
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
