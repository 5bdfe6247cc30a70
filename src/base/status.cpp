#include <roost/base/error.hpp>
#include <roost/base/status.hpp>

#include <string>

namespace roost::inline ROOST_ABI {

std::string_view to_string(wait_status status) noexcept {
    switch (status) {
        case wait_status::done: return "done";
        case wait_status::would_wait: return "would wait";
        case wait_status::closed: return "closed";
        case wait_status::expired: return "expired";
        case wait_status::cancelled: return "cancelled";
        case wait_status::stopped: return "stopped";
        case wait_status::failed: return "failed";
    }
    return "?";
}

namespace detail {

namespace {

std::string sentence(wait_status how, std::string_view what) {
    return std::string(what) + ": " + std::string(to_string(how));
}

}  // namespace

std::exception_ptr error_of(wait_status how, std::string_view what) noexcept {
    try {
        switch (how) {
            case wait_status::done:
            case wait_status::cancelled: return nullptr;
            case wait_status::expired: return std::make_exception_ptr(timed_out(std::string(what)));
            case wait_status::closed: return std::make_exception_ptr(error(errc::closed, std::string(what)));
            case wait_status::would_wait:
            case wait_status::stopped: return std::make_exception_ptr(error(errc::refused, sentence(how, what)));
            case wait_status::failed: return std::make_exception_ptr(error(errc::broken, sentence(how, what)));
        }
    } catch (...) {
        return std::current_exception();  // no memory for the sentence
    }
    return nullptr;
}

void throw_no_value(wait_status how, std::string_view what, const std::exception_ptr& failed) {
    if (failed) {
        std::rethrow_exception(failed);
    }
    throw error(how == wait_status::cancelled ? errc::cancelled : errc::refused,
                sentence(how, what) + ", so there is no value; check status() first");
}

void panic_no_value(wait_status how, std::string_view what, std::string_view detail) noexcept {
    std::string rule = "it holds no value (" + std::string(to_string(how)) + ")";
    if (!detail.empty()) {
        rule.append(": ").append(detail);
    }
    panic(what, "", site(), rule + "; write `if (x)` before `*x` and `x->`, or call value(), which throws");
}

}  // namespace detail

}  // namespace roost::inline ROOST_ABI
