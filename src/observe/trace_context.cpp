#include <roost/observe/trace_context.hpp>

#include <roost/base/atomic.hpp>
#include <roost/task/detail/job/value_region.hpp>

#include <algorithm>

namespace roost::inline ROOST_ABI::observe {

namespace {

constexpr std::string_view digits = "0123456789abcdef";
constexpr std::string_view shape = "00-00000000000000000000000000000000-0000000000000000-00";

bool is_hex(std::string_view text) noexcept { return text.find_first_not_of(digits) == std::string_view::npos; }
bool is_zero(std::string_view text) noexcept { return text.find_first_not_of('0') == std::string_view::npos; }

// Snapshots show it.
[[maybe_unused]] const bool is_shown =
    (detail::value_region::show(
         &current_trace, [](const void* value) noexcept { return static_cast<const trace_context*>(value)->traceparent(); }),
     true);

}  // namespace

std::optional<trace_context> trace_context::parse(std::string_view traceparent) noexcept {
    static_assert(shape.size() == text_size);
    if (traceparent.size() < text_size) {
        return std::nullopt;
    }
    const std::string_view version = traceparent.substr(0, 2);
    const std::string_view trace = traceparent.substr(3, 32);
    const std::string_view span = traceparent.substr(36, 16);
    const std::string_view flags = traceparent.substr(53, 2);
    const bool has_separators = traceparent[2] == '-' && traceparent[35] == '-' && traceparent[52] == '-';
    const bool is_whole = traceparent.size() == text_size || (version != "00" && traceparent[text_size] == '-');
    if (!has_separators || !is_whole || !is_hex(version) || version == "ff" || !is_hex(trace) || is_zero(trace) ||
        !is_hex(span) || is_zero(span) || !is_hex(flags)) {
        return std::nullopt;
    }
    trace_context made;
    std::ranges::copy(shape, made.text_.begin());
    std::ranges::copy(trace, made.text_.begin() + 3);
    std::ranges::copy(span, made.text_.begin() + 36);
    made.text_.back() = digits.find(flags[1]) % 2 == 1 ? '1' : '0';  // the other flags have no meaning in version 00
    return made;
}

void trace_context::draw(std::size_t begin, std::size_t count) noexcept {
    do {
        for (std::size_t i = 0; i < count; i += 16) {
            std::uint64_t chance = seam::random_u64();
            for (std::size_t digit = 0; digit < 16; ++digit, chance >>= 4U) {
                text_[begin + i + digit] = digits[chance & 15U];
            }
        }
    } while (is_zero(traceparent().substr(begin, count)));
}

trace_context trace_context::fresh() noexcept {
    trace_context made;
    std::ranges::copy(shape, made.text_.begin());
    made.draw(3, 32);
    made.draw(36, 16);
    made.text_.back() = '1';
    return made;
}

trace_context trace_context::child() const noexcept {
    trace_context made = *this;
    made.draw(36, 16);
    return made;
}

}  // namespace roost::inline ROOST_ABI::observe
