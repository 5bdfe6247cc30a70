#include <roost/asio/detail/pooled_signal.hpp>

#include <roost/base/atomic.hpp>

#include <array>
#include <cstddef>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

namespace {

constexpr unsigned most_kept = ROOST_ASAN ? 0 : 256;

// Stays in the slot between two operations, so that the slot keeps its memory. As large as the handlers of Asio's own
// operations. An emission that comes too late finds it.
class placeholder {
public:
    void operator()(net::cancellation_type) const noexcept {}

    std::array<std::byte, 48> room;
};

}  // namespace

struct pooled_signal::entry {
    net::cancellation_signal signal;
    entry* next = nullptr;
};

// `room` is 0 before the first signal is kept, and after the thread has cleaned up: trivial, so that it can be read then.
struct pooled_signal::kept {
    entry* top;
    unsigned room;
    bool is_cleaned;

    static kept& here() noexcept {
        struct tag;
        return seam::thread_value<tag, kept>::get();
    }
};

class pooled_signal::cleaner {
public:
    cleaner() noexcept { kept::here().room = most_kept; }
    ~cleaner() {
        kept& mine = kept::here();
        mine.room = 0;
        mine.is_cleaned = true;
        while (entry* e = mine.top) {
            mine.top = e->next;
            delete e;
        }
    }
    static void install() noexcept {
        struct tag;
        static_cast<void>(seam::thread_value<tag, cleaner>::get());
    }
};

void pooled_signal::open() {
    kept& mine = kept::here();
    if (mine.top == nullptr) {
        entry_ = new entry;
        return;
    }
    entry_ = std::exchange(mine.top, mine.top->next);
    ++mine.room;
}

net::cancellation_slot pooled_signal::slot() const noexcept { return entry_->signal.slot(); }
void pooled_signal::emit(net::cancellation_type how) const { entry_->signal.emit(how); }

void pooled_signal::give_back() noexcept {
    kept& mine = kept::here();
    if (mine.room == 0 && !mine.is_cleaned) {
        cleaner::install();
    }
    bool keeps = mine.room != 0;
    try {
        if (keeps) {
            entry_->signal.slot().emplace<placeholder>();
        }
    } catch (...) {
        keeps = false;  // no memory: a larger one than the operation's was needed
    }
    if (keeps) {
        entry_->next = std::exchange(mine.top, entry_);
        --mine.room;
    } else {
        delete entry_;
    }
}

}  // namespace roost::inline ROOST_ABI::detail
