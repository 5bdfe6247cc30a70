// Which failures to retry, what an operator reads about the rest, and the exit code of the program.

#include <roost/roost.hpp>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

using namespace roost;
using namespace std::chrono_literals;

namespace {

class busy : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

int queries = 0;

task<std::string> query(int id) {
    co_await sleep_for(1ms);
    if (id < 0) {
        throw std::invalid_argument("there is no user " + std::to_string(id));
    }
    if (++queries < 3) {
        throw busy("too many connections");
    }
    co_return "user " + std::to_string(id);
}

// begin retry
// Trying again helps a busy server. It does not help a wrong id.
bool is_worth_it(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const busy&) {
        return true;
    } catch (...) {
        return false;
    }
}

task<std::string> load_user(int id) {
    co_return co_await with_note("loading user " + std::to_string(id),
                                 retry_if(is_worth_it, backoff(1ms).jitter(0.5), 4, query, id));
}
// end retry

task<> load_both(scope& s, std::vector<job>& jobs) {
    jobs.push_back(s.launch("good", load_user(7)));
    jobs.push_back(s.launch("bad", load_user(-1)));
    co_return;
}

task<std::string> load_all() {
    std::vector<job> jobs;
    try {
        co_await with_scope(scope_options("users").keep_going(), load_both, std::ref(jobs));
    } catch (const std::invalid_argument& e) {
        std::printf("%s\n", e.what());  // the error keeps its type
    }
    co_return jobs[0].notes().empty() && !jobs[1].notes().empty() ? jobs[1].notes().front() : "";
}

// begin outcome
int exit_code(const outcome<std::string>& ended) {
    if (ended.has_error()) {
        std::fprintf(stderr, "failed: %s\n", describe(ended.error()).c_str());
        return 1;
    }
    if (ended.is_cancelled()) {  // value() would end the program
        std::fprintf(stderr, "cancelled: %s\n", ended.why().to_string().c_str());
        return ended.why().kind() == reason_kind::shutdown ? 0 : 2;
    }
    std::printf("%s\n", ended.value().c_str());
    return 0;
}

int run_it(runtime& rt) { return exit_code(block_on_outcome(rt, load_user(-2))); }
// end outcome

}  // namespace

int main() {
    runtime rt;
    const std::string note = block_on(rt, load_all());
    std::printf("%s\n", note.c_str());
    const bool right = queries == 3 && note.find("loading user -1") != std::string::npos;
    return right && run_it(rt) == 1 && exit_code(block_on_outcome(rt, load_user(8))) == 0 ? 0 : 1;
}
