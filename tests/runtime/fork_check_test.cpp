#include <roost/runtime/detail/fork_check.hpp>
#include <roost/runtime/runtime.hpp>

#include "../gauntlet/sanitized.hpp"
#include "fixture.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <unistd.h>

namespace {

using namespace runtime_tests;

// Forks; the child runs `body` and exits with 0. Returns its wait status.
template <class Body>
int in_child(Body body, std::string* said) {
    int pipe_ends[2];
    EXPECT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(pipe_ends[1], STDERR_FILENO);
        ::alarm(20);  // a deadlock ends by signal
        body();
        _exit(0);
    }
    close(pipe_ends[1]);
    char buffer[4096];
    ssize_t got = 0;
    while ((got = read(pipe_ends[0], buffer, sizeof buffer)) > 0) {
        said->append(buffer, static_cast<std::size_t>(got));
    }
    close(pipe_ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

class fork_check : public ::testing::TestWithParam<unsigned> {};

TEST_P(fork_check, RUN_17_a_forked_child_that_touches_a_runtime_is_told_so) {
    runtime rt(runtime_options().workers(GetParam()).name("mill"));
    call c([] {});
    std::string said;
    int status = in_child([&] { rt.post(c); }, &said);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    EXPECT_NE(said.find("'mill': used in a forked child"), std::string::npos) << said;
    said.clear();
    status = in_child([&] { rt.shut_down(); }, &said);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << said;
    // From a worker as well.
    countdown done(1);
    call forker([&] {
        said.clear();
        status = in_child([&] { rt.post(c); }, &said);
        done.down();
    });
    rt.post(forker);
    done.wait();
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << said;
}

TEST_P(fork_check, RUN_18_a_child_may_leave_it_alone_destroy_it_or_make_its_own) {
    auto rt = std::make_unique<runtime>(runtime_options().workers(GetParam()));
    std::string said;
    EXPECT_EQ(in_child([] {}, &said), 0);
    EXPECT_EQ(in_child([&] { rt.reset(); }, &said), 0) << said;
#if !ROOST_TEST_TSAN  // it does not support threads in a forked child
    EXPECT_EQ(in_child(
                  [&] {
                      runtime own(runtime_options().workers(2));
                      countdown done(1);
                      call c([&] { done.down(); });
                      own.post(c);
                      done.wait();
                  },
                  &said),
              0)
        << said;
#endif
    countdown done(1);
    call c([&] { done.down(); });
    EXPECT_TRUE(rt->post(c)) << "the parent is unaffected";
    done.wait();
}

INSTANTIATE_TEST_SUITE_P(workers, fork_check, ::testing::Values(1U, 2U));

}  // namespace
