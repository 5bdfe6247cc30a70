#include <roost/asio/asio_driver.hpp>

#include <roost/asio/detail/driven_context.hpp>

namespace roost::inline ROOST_ABI::ext {

asio_driver::asio_driver(site made_at)
    : own_(std::make_unique<detail::net::io_context>(1)), driven_(&detail::driven_context::of(*own_, made_at)) {}
asio_driver::asio_driver(detail::net::io_context& given, site made_at)
    : driven_(&detail::driven_context::of(given, made_at)) {}
asio_driver::~asio_driver() { driven_->close(); }

detail::net::io_context& asio_driver::context() const noexcept { return driven_->context(); }

bool asio_driver::poll() noexcept { return driven_->poll(); }
void asio_driver::park(time_point deadline) noexcept { driven_->park(deadline); }
void asio_driver::wake() noexcept { driven_->wake(); }
ext::reactor* asio_driver::reactor(std::error_code& why) noexcept { return driven_->reactor(why); }
void asio_driver::close() noexcept { driven_->close(); }

}  // namespace roost::inline ROOST_ABI::ext
