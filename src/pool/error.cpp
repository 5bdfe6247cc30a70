#include <roost/base/failure_sink.hpp>
#include <roost/base/format_duration.hpp>
#include <roost/pool/error.hpp>
#include <roost/pool/options.hpp>
#include <roost/pool/pooled.hpp>

#include <utility>

namespace roost::inline ROOST_ABI {

using namespace observe;

std::string_view to_string(pool_error::step operation) noexcept {
    switch (operation) {
        case pool_error::step::acquire: return "acquire";
        case pool_error::step::create: return "create";
        case pool_error::step::check: return "check";
        case pool_error::step::destroy: return "destroy";
        case pool_error::step::close: return "close";
    }
    return "?";
}

namespace {

std::string sentence(std::string_view pool, int stripe, pool_error::step operation, std::string_view what,
                     const std::exception_ptr& cause) {
    std::string text = "pool '" + std::string(pool) + "'";
    if (stripe != pool_error::no_stripe) {
        text += ", stripe " + std::to_string(stripe);
    }
    text += ": " + std::string(to_string(operation)) + ": " + std::string(what);
    if (cause) {
        try {
            std::rethrow_exception(cause);
        } catch (const std::exception& e) {
            text += std::string(what.empty() ? "" : ": ") + e.what();
        } catch (...) {
            text += std::string(what.empty() ? "" : ": ") + "an exception that is no std::exception";
        }
    }
    return text;
}

}  // namespace

pool_error::pool_error(errc code, std::string_view pool, int stripe, pool_error::step operation, std::string_view what,
                       std::exception_ptr cause)
    : error(code, sentence(pool, stripe, operation, what, cause)),
      pool_(pool),
      stripe_(stripe),
      operation_(operation),
      cause_(std::move(cause)) {}

std::string pool_holder::to_string() const {
    std::string text = holder_.empty() ? "holder" : std::string(holder_);
    text += " (" + where_.to_string();
    if (age_ != duration::zero()) {
        text += ", " + format_duration(age_);
    }
    return text + ")";
}

namespace detail {

void panic_empty_handle() noexcept {
    panic("pooled", "", site(),
          "this handle holds no resource: it was moved from, given back or discarded; use the "
          "handle that it was moved to, or acquire() again");
}

void panic_moved_pool() noexcept {
    panic("pool", "", site(), "this pool was moved from, so it holds nothing; use the pool that it was moved to");
}

void panic_nothing_acquired(wait_status why, const std::exception_ptr& error) noexcept {
    panic_no_value(why, "acquired", error ? describe(error) : std::string());
}

}  // namespace detail

}  // namespace roost::inline ROOST_ABI
