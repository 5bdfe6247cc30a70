#include <roost/asio/io_executor.hpp>

#include <roost/asio/detail/nested_reactor.hpp>

#include <cstdint>
#include <new>
#include <utility>

// id  operation                      order    pairs  carries                                              fails in
// X1  reactor_: load, store          seq_cst  X1     the reactor                                          (not weakened: it is made once)
// X2  changes: fetch_add             seq_cst  X3     that a known context may be another one              (no model: Asio's services)
// X3  is_single_threaded: load       seq_cst  X2     as X2                                                (no model: Asio's services)

namespace roost::inline ROOST_ABI {

using namespace ext;

using namespace seam;

namespace {
// After so many bodies per turn the context's other handlers run.
constexpr unsigned bodies_per_turn = 64;

// The last single-threaded context that a thread has asked for. Looking a service up takes a lock and compares names.
struct known_context {
    const void* context = nullptr;
    std::uint64_t changes = 0;

    static known_context& here() noexcept {
        struct tag;
        return thread_value<tag, known_context>::get();
    }
};
// Counts what may make a known context wrong.
atomic<std::uint64_t> changes{0};

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

io_executor& io_executor::of(detail::net::io_context& context) { return detail::net::use_service<io_executor>(context); }

io_executor::io_executor(detail::net::execution_context& context)
    : service(context), context_(static_cast<detail::net::io_context*>(&context)), timers_(*context_) {}

// Waits for a thread that posted during the destruction of the context and still runs what it posted.
io_executor::~io_executor() {
    changes.fetch_add(1, mo::seq_cst);  // X2
    if (nested_ != nullptr) {
        nested_->drop();
    }
    lock_.lock();
    while (ending_) {
        lock_.unlock();
        yield_thread();
        lock_.lock();
    }
    lock_.unlock();
}

void io_executor::set_single_threaded(bool promised) noexcept {
    single_threaded_ = promised;
    changes.fetch_add(1, mo::seq_cst);  // X2
}

bool io_executor::is_single_threaded(detail::net::execution_context& context) noexcept {
    known_context& known = known_context::here();
    const std::uint64_t now = changes.load(mo::seq_cst);  // X3
    if (known.context == &context && known.changes == now) [[likely]] {
        return true;
    }
    if (!detail::net::has_service<io_executor>(context) ||
        !detail::net::use_service<io_executor>(context).is_single_threaded()) {
        return false;
    }
    known.context = &context;
    known.changes = now;
    return true;
}

ext::reactor* io_executor::make_reactor(std::error_code& why) noexcept {
    making_.lock();
    if (nested_ == nullptr) {
        try {
            nested_ = new detail::nested_reactor(*context_);
            reactor_.store(nested_, mo::seq_cst);  // X1
        } catch (const std::bad_alloc&) {
            why = std::make_error_code(std::errc::not_enough_memory);
        } catch (const std::system_error& e) {
            why = e.code();
        }
    }
    making_.unlock();
    return reactor();
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

void io_executor::schedule() noexcept { detail::net::post(context_->get_executor(), turn(*this)); }

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
    if (nested_ != nullptr) {
        nested_->close();
    }
    lock_.lock();
    closed_ = true;
    ending_ = true;
    lock_.unlock();
    run_rest();
}

}  // namespace roost::inline ROOST_ABI
