#include <roost/testing/manual_executor.hpp>

#include <mutex>

namespace roost::inline ROOST_ABI::testkit {

using namespace ext;

using namespace seam;

namespace {

using hold = std::lock_guard<small_mutex>;

const manual_executor*& running_here() noexcept {
    struct tag;
    return thread_value<tag, const manual_executor*>::get();
}

}  // namespace

manual_executor::~manual_executor() {
    if (pending_ != 0) {
        roost::detail::panic("manual executor", name_, site(),
                             "it was destroyed with work that was never run; call run_all() before");
    }
}

bool manual_executor::post(work& w) noexcept {
    const hold held(lock_);
    if (closed_) {
        return false;
    }
    queue_.push(w);
    ++pending_;
    bell_.ring();  // under the lock: as soon as the work can be taken, it may end the executor
    return true;
}

bool manual_executor::is_here() const noexcept { return running_here() == this; }

work* manual_executor::pop() noexcept {
    const hold held(lock_);
    work* w = queue_.pop();
    pending_ -= w == nullptr ? 0 : 1;
    return w;
}

bool manual_executor::run_one() noexcept {
    work* w = pop();
    if (w == nullptr) {
        return false;
    }
    const manual_executor* outer = running_here();
    running_here() = this;
    w->run();
    running_here() = outer;
    return true;
}

std::size_t manual_executor::run_all() noexcept {
    std::size_t ran = 0;
    while (run_one()) {
        ++ran;
    }
    return ran;
}

void manual_executor::close() noexcept {
    const hold held(lock_);
    closed_ = true;
}

std::size_t manual_executor::pending() const noexcept {
    const hold held(lock_);
    return pending_;
}

}  // namespace roost::inline ROOST_ABI::testkit
