// Orders V2 and V6: runtime/detail/driver_seat.hpp.

#include <roost/runtime/detail/driver_seat.hpp>

#include <new>

namespace roost::inline ROOST_ABI::detail {

driver_seat::~driver_seat() { close(); }

driver_seat::made driver_seat::make_reactor(std::error_code& why) noexcept {
    bool is_new = false;
    lock_.lock();
    ext::driver* d = driver();
    if (d == nullptr) {
        try {
            own_ = std::make_unique<io::epoll_driver>();
            d = own_.get();
            driver_.store(d, mo::seq_cst);  // V2
            is_new = true;
        } catch (const std::system_error& e) {
            why = e.code();
        } catch (const std::bad_alloc&) {
            why = std::make_error_code(std::errc::not_enough_memory);
        }
    }
    ext::reactor* const found = d == nullptr ? nullptr : d->reactor(why);
    reactor_.store(found, mo::seq_cst);  // V6
    lock_.unlock();
    return {found, is_new};
}

void driver_seat::close() noexcept {
    if (ext::driver* d = driver()) {
        d->close();
    }
}

}  // namespace roost::inline ROOST_ABI::detail
