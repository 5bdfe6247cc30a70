// A descriptor whose owner, a client library, closes it without a word.

#include <roost/base/atomic.hpp>
#include <roost/io/descriptor.hpp>
#include <roost/runtime/loop.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/task.hpp>

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <unistd.h>

namespace {

using namespace roost;

class socket_pair {
public:
    socket_pair() { static_cast<void>(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_)); }
    ~socket_pair() {
        ::close(ends_[0]);
        ::close(ends_[1]);
    }
    socket_pair(const socket_pair&) = delete;
    socket_pair& operator=(const socket_pair&) = delete;
    [[nodiscard]] int mine() const { return ends_[0]; }
    void answer() const { EXPECT_EQ(::write(ends_[1], "x", 1), 1); }
    // The number of this end becomes another file's.
    void replace_by(const socket_pair& other) const { EXPECT_EQ(::dup2(other.mine(), ends_[0]), ends_[0]); }

private:
    int ends_[2] = {-1, -1};
};

task<> wait_readable(io::descriptor* on, std::error_code* code) {
    const io::result<> how = co_await on->readable();
    *code = how.code();
}

class borrowed_descriptor : public testing::Test {
protected:
    ~borrowed_descriptor() override {
        root_.request_close();
        static_cast<void>(loop_.poll());
        loop_.close();
        loop_.run();
    }
    job wait(io::descriptor& on) {
        job j = root_.launch("wait", wait_readable(&on, &code_));
        static_cast<void>(loop_.poll());
        return j;
    }
    bool ends(const job& j) {
        for (const time_point limit = now() + std::chrono::seconds(20); !j.is_finished() && now() < limit;) {
            static_cast<void>(loop_.poll());
        }
        return j.is_finished();
    }

    loop loop_;
    owned_scope root_{loop_, "root"};
    std::error_code code_;
};

TEST_F(borrowed_descriptor, IO_89_close_after_owner_leaves_the_next_file_of_the_number_alone) {
    const socket_pair first;
    const socket_pair second;
    io::descriptor stale = io::descriptor::borrow(first.mine());
    const job before = wait(stale);
    first.answer();
    ASSERT_TRUE(ends(before)) << "its socket is registered";
    first.replace_by(second);
    io::descriptor fresh = io::descriptor::borrow(first.mine());
    const job after = wait(fresh);
    ASSERT_FALSE(after.is_finished());
    stale.close_after_owner();
    EXPECT_FALSE(stale.is_open());
    second.answer();
    const bool came = ends(after);
    EXPECT_TRUE(came) << "the events of the second file went with the first";
    if (!came) {
        after.cancel();
    }
    EXPECT_FALSE(code_) << code_.message();
}

TEST_F(borrowed_descriptor, IO_89_close_after_owner_wakes_waits_like_close) {
    const socket_pair pair;
    io::descriptor d = io::descriptor::borrow(pair.mine());
    const job waits = wait(d);
    ASSERT_FALSE(waits.is_finished());
    d.close_after_owner();
    ASSERT_TRUE(ends(waits));
    EXPECT_EQ(code_, io::make_error_code(io::errc::closed));
    d.close_after_owner();  // does nothing
}

}  // namespace
