#include <roost/exec/resume.hpp>

#include <gtest/gtest.h>

namespace {

template <class Promise>
struct coroutine {
    using promise_type = Promise;
    std::coroutine_handle<Promise> handle;
};

template <class Self>
struct promise_base {
    coroutine<Self> get_return_object() { return {std::coroutine_handle<Self>::from_promise(static_cast<Self&>(*this))}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
};

struct foreign_promise : promise_base<foreign_promise> {};

struct knowing_promise : promise_base<knowing_promise> {
    [[nodiscard]] roost::executor_ref get_executor() const noexcept { return where; }
    void resume_from_wait() noexcept {
        ++resumed_specially;
        std::coroutine_handle<knowing_promise>::from_promise(*this).resume();
    }
    roost::executor_ref where;
    int resumed_specially = 0;
};

template <class Promise>
coroutine<Promise> set_flag(bool* flag) {
    *flag = true;
    co_return;
}

TEST(resume, BASE_25_a_foreign_coroutine_has_no_executor_and_is_simply_resumed) {
    bool ran = false;
    auto c = set_flag<foreign_promise>(&ran);
    EXPECT_FALSE(roost::ext::executor_of(c.handle));
    roost::ext::resume_function_of<foreign_promise>()(c.handle.address());
    EXPECT_TRUE(ran);
    c.handle.destroy();
}

TEST(resume, BASE_25_a_promise_says_where_and_how) {
    bool ran = false;
    roost::ext::inline_executor here;
    auto c = set_flag<knowing_promise>(&ran);
    c.handle.promise().where = here;
    EXPECT_EQ(roost::ext::executor_of(c.handle), roost::executor_ref(here));
    roost::ext::resume_function_of<knowing_promise>()(c.handle.address());
    EXPECT_TRUE(ran);
    EXPECT_EQ(c.handle.promise().resumed_specially, 1);
    c.handle.destroy();
}

}  // namespace
