#include <roost/asio/io_executor.hpp>

#include <boost/asio/post.hpp>

#include <utility>

namespace roost::inline ROOST_ABI {

using namespace ext;

using namespace seam;

namespace {
// After so many bodies per turn the context's other handlers run.
constexpr unsigned bodies_per_turn = 64;
}  // namespace

// The handler that runs posted work. At most one waits in the context's queue. When it begins and there is more than it can
// run at once, it schedules the next, so that other threads of the context help.
class io_executor::turn {
public:
    explicit turn(io_executor& owner) noexcept : owner_(&owner) {}
    turn(turn&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn() {
        if (owner_ != nullptr) {  // the context is being destroyed
            owner_->lock_.lock();
            owner_->scheduled_ = false;
            owner_->lock_.unlock();
        }
    }

    using allocator_type = detail::handler_allocator<>;
    [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type(owner_->memory_); }
    void operator()() noexcept { std::exchange(owner_, nullptr)->run_some(); }

private:
    io_executor* owner_;
};

io_executor& io_executor::of(boost::asio::io_context& context) { return boost::asio::use_service<io_executor>(context); }

io_executor::io_executor(boost::asio::execution_context& context)
    : service(context), context_(static_cast<boost::asio::io_context*>(&context)), timers_(*context_) {}

// Waits for a thread that posted during the destruction of the context and still runs what it posted.
io_executor::~io_executor() {
    lock_.lock();
    while (ending_) {
        lock_.unlock();
        yield_thread();
        lock_.lock();
    }
    lock_.unlock();
}

bool io_executor::is_here() const noexcept { return context_->get_executor().running_in_this_thread(); }

bool io_executor::post(work& w) noexcept {
    lock_.lock();
    queue_.push(w);
    const bool ends = closed_ && !ending_;
    ending_ = ending_ || ends;
    if (!scheduled_ && !closed_) {
        scheduled_ = true;
        // Under the lock: no item is taken without it, so the context cannot end before this thread has left it. Asio calls
        // no code of ours from inside.
        schedule();
    }
    lock_.unlock();
    if (ends) {
        run_rest();
    }
    return true;
}

void io_executor::schedule() noexcept { boost::asio::post(context_->get_executor(), turn(*this)); }

void io_executor::run_some() noexcept {
    lock_.lock();
    scheduled_ = false;
    for (unsigned left = bodies_per_turn; left != 0; --left) {
        work* next = queue_.pop();
        if (next == nullptr) {
            break;
        }
        const bool schedules = !queue_.is_empty() && !scheduled_ && !closed_ && (left == 1 || !single_threaded_);
        scheduled_ = scheduled_ || schedules;
        lock_.unlock();
        if (schedules) {
            schedule();
        }
        next->run();
        lock_.lock();
    }
    const bool schedules = !queue_.is_empty() && !scheduled_ && !closed_;
    scheduled_ = scheduled_ || schedules;
    lock_.unlock();
    if (schedules) {
        schedule();
    }
}

// Nothing else runs in a context that is being destroyed. Bodies that unwind because their operations are dropped may still
// post; that work runs here, one item after the other, on the destroying thread.
void io_executor::run_rest() noexcept {
    lock_.lock();
    while (work* next = queue_.pop()) {
        lock_.unlock();
        next->run();
        lock_.lock();
    }
    ending_ = false;
    lock_.unlock();
}

void io_executor::shutdown() noexcept {
    timers_.close();
    lock_.lock();
    closed_ = true;
    ending_ = true;
    lock_.unlock();
    run_rest();
}

}  // namespace roost::inline ROOST_ABI
