#include <roost/io/stream.hpp>

namespace roost::inline ROOST_ABI::io {

result<> stream::shutdown_write() noexcept {
    detail::pollable* const on = state_.get();
    if (on == nullptr || !on->enter()) {
        return {make_error_code(errc::closed), "shutdown_write"};
    }
    const int why = on->end_writing();
    on->leave();
    return why == 0 ? result<>(std::in_place) : result<>(std::error_code(why, std::system_category()), "shutdown_write");
}

void stream::set_limit(detail::direction d, duration longest) {
    if (state_) {
        state_.get()->set_limit(d, longest);
    }
}

}  // namespace roost::inline ROOST_ABI::io
