// Orders N1 and N2: asio/detail/nested_reactor.hpp.

#include <roost/asio/detail/nested_reactor.hpp>

#include <roost/io/error.hpp>

#include <system_error>

namespace roost::inline ROOST_ABI::detail {

// The handler of the wait. Destroyed unrun when its context ends.
class nested_reactor::ready {
public:
    explicit ready(nested_reactor& owner) noexcept : owner_(&owner) {}

    using allocator_type = handler_allocator<>;
    [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type(owner_->memory_); }
    void operator()(const error_code&) const noexcept { owner_->handle(); }

private:
    nested_reactor* owner_;
};

nested_reactor::nested_reactor(net::io_context& context) {
    std::error_code why;
    registry_ = inner_.reactor(why);
    set_.emplace(context);
    error_code refused;
    set_->assign(inner_.native_handle(), refused);
    if (refused) {
        throw std::system_error(refused, "an io_context cannot watch an epoll set");
    }
}

void nested_reactor::retain() noexcept {
    references_.fetch_add(1, mo::seq_cst);  // N1
    lock_.lock();
    ++users_;
    if (!waits_) {
        begin_wait();
    }
    lock_.unlock();
}

void nested_reactor::release() noexcept {
    lock_.lock();
    --users_;
    if (users_ == 0 && waits_ && set_) {
        error_code ignored;
        set_->cancel(ignored);  // its handler sees that there are no users
    }
    lock_.unlock();
    drop();
}

void nested_reactor::drop() noexcept {
    if (references_.fetch_sub(1, mo::seq_cst) == 1) {  // N2
        delete this;
    }
}

std::error_code nested_reactor::watch(ext::event_source& source, int descriptor) noexcept {
    return is_closed() ? make_error_code(io::errc::closed) : registry_->watch(source, descriptor);
}

std::error_code nested_reactor::watch_reading(ext::event_source& source, int descriptor) noexcept {
    return is_closed() ? make_error_code(io::errc::closed) : registry_->watch_reading(source, descriptor);
}

void nested_reactor::forget(int descriptor) noexcept { registry_->forget(descriptor); }

// Called with the lock held: Asio calls no code of ours from inside. Asio registers the set anew for each wait, so events that
// are left over are reported again.
void nested_reactor::begin_wait() noexcept {
    if (set_) {
        waits_ = true;
        set_->async_wait(net::posix::descriptor_base::wait_read, ready(*this));
    }
}

void nested_reactor::handle() noexcept {
    inner_.poll();
    lock_.lock();
    waits_ = false;
    if (users_ != 0) {
        begin_wait();
    }
    lock_.unlock();
}

// The set's descriptor belongs to inner_.
void nested_reactor::close() noexcept {
    set_closed();
    lock_.lock();
    if (set_) {
        set_->release();
        set_.reset();
    }
    lock_.unlock();
}

}  // namespace roost::inline ROOST_ABI::detail
