#include <roost/asio/use_task.hpp>

namespace roost::inline ROOST_ABI::detail {

bool is_failure(const std::exception_ptr& error) noexcept {
    if (!error) {
        return false;
    }
    try {
        std::rethrow_exception(error);
    } catch (const boost::system::system_error& e) {
        return e.code() != boost::asio::error::operation_aborted;
    } catch (...) {
        return true;
    }
}

}  // namespace roost::inline ROOST_ABI::detail
