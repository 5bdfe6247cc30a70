#include <roost/service/detail/log_writer.hpp>

#include <cstdio>
#include <mutex>

namespace roost::inline ROOST_ABI::service::detail {

using namespace seam;

namespace {

const log_writer*& this_writer() noexcept {
    struct tag;
    return thread_value<tag, const log_writer*>::get();
}

void say_dropped(log_sink sink, void* context, std::uint64_t count) noexcept {
    char text[96];
    const int size = std::snprintf(text, sizeof text, "roost: %llu log line%s dropped: the log sink does not keep up",
                                   static_cast<unsigned long long>(count), count == 1 ? "" : "s");
    sink(log_line(severity::warning, {text, static_cast<std::size_t>(size)}), context);
}

}  // namespace

log_writer::log_writer(log_sink sink, void* context, std::size_t bytes)
    : sink_(sink),
      context_(context),
      queue_(sink == nullptr ? 0 : bytes),
      line_(std::make_unique_for_overwrite<char[]>(queue_.longest())) {
    if (sink != nullptr) {
        thread_ = thread([this] { run(); });
    }
}

log_writer::~log_writer() { finish(); }

void log_writer::write(const log_line& line) noexcept {
    if (sink_ == nullptr) {
        return;
    }
    const std::lock_guard hold(lock_);
    if (!ending_) {
        queue_.push(line);
        ++pushed_;
        news_.notify_one();
    }
}

// The line that the sink has is older than those in the queue, also if lines between them were dropped.
bool log_writer::is_written(std::uint64_t number) const noexcept {
    return (in_hand_ ? number_in_hand_ : pushed_ - queue_.lines()) >= number;
}

bool log_writer::flush(time_point deadline) noexcept {
    if (this_writer() == this) {
        return false;
    }
    const std::lock_guard hold(lock_);
    const std::uint64_t all = pushed_;
    bool in_time = true;
    while (!is_written(all) && in_time) {
        in_time = written_.wait_until(lock_, deadline);
    }
    written_.notify_one();  // another thread may wait as well
    return is_written(all);
}

void log_writer::finish() noexcept {
    if (thread_.joinable()) {
        {
            const std::lock_guard hold(lock_);
            ending_ = true;
            news_.notify_one();
        }
        thread_.join();
    }
}

void log_writer::run() noexcept {
    this_writer() = this;
    lock_.lock();
    for (;;) {
        while (queue_.lines() == 0 && !ending_) {
            news_.wait(lock_);
        }
        if (queue_.lines() == 0) {
            lock_.unlock();
            return;
        }
        number_in_hand_ = pushed_ - queue_.lines();
        in_hand_ = true;
        const log_line line = queue_.pop(line_.get());
        const std::uint64_t dropped = queue_.take_dropped();
        lock_.unlock();
        if (dropped != 0) {
            say_dropped(sink_, context_, dropped);
        }
        sink_(line, context_);
        lock_.lock();
        in_hand_ = false;
        written_.notify_one();
    }
}

}  // namespace roost::inline ROOST_ABI::service::detail
