#pragma once

// For tests about failures beside others, and about failures that only the sink gets.

#include <roost/base/failure_sink.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/on_exit.hpp>

#include "rig.hpp"

#include <cstddef>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace further {

using texts = std::vector<std::string>;

inline std::string text_of(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const std::exception& e) {
        return e.what();
    }
}
inline texts texts_of(const std::vector<std::exception_ptr>& errors) {
    texts all;
    for (const std::exception_ptr& e : errors) {
        all.push_back(text_of(e));
    }
    return all;
}

// Instead of the default failure sink, while it lives.
class listener {
public:
    listener() : before_(roost::set_failure_sink(hear)) { take(); }
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;
    ~listener() { roost::set_failure_sink(before_); }
    // What came since the last time.
    texts take() {
        const std::lock_guard guard(lock());
        return std::exchange(heard(), {});
    }

private:
    static std::mutex& lock() {
        static std::mutex one;
        return one;
    }
    static texts& heard() {
        static texts all;
        return all;
    }
    static void hear(std::string_view, std::string_view, roost::site, std::exception_ptr error) noexcept {
        const std::lock_guard guard(lock());
        heard().push_back(text_of(error));
    }
    roost::failure_sink before_;
};

inline roost::task<> cleanup_fails(std::string text) {
    throw std::runtime_error(text);
    co_return;
}
// Throws the first, then its cleanup throws the second.
inline roost::task<> fail_twice(std::string first, std::string second) {
    co_await roost::on_exit(cleanup_fails, std::move(second));
    throw std::runtime_error(first);
}
// Its cleanup fails, however it ends.
inline roost::task<> return_with(std::string second) { co_await roost::on_exit(cleanup_fails, std::move(second)); }
inline roost::task<> wait_with(roost::event& e, std::string second) {
    co_await roost::on_exit(cleanup_fails, std::move(second));
    co_await e.wait();
}

template <std::size_t Size>
roost::task<> scribble(roost::event& until) {
    unsigned char junk[Size];
    std::memset(junk, 0x5a, Size);
    co_await until.wait();
    EXPECT_EQ(junk[Size / 2], 0x5a);
}
// Writes over the memory of frames that have ended lately.
template <std::size_t... I>
void scribble_over(rig::stage& s, roost::event& until, std::index_sequence<I...>) {
    for (int i = 0; i < 8; ++i) {
        (s.start(scribble<16 * (I + 1)>(until)), ...);
    }
    s.run();
}
inline void scribble_over(rig::stage& s, roost::event& until) { scribble_over(s, until, std::make_index_sequence<48>()); }

}  // namespace further
