// A user's program: needs the headers, the compiled parts of two layers, and threads.

#include <roost/base/error.hpp>
#include <roost/base/outcome.hpp>
#include <roost/exec/executor.hpp>

#include <cstdio>
#include <exception>
#include <utility>

namespace {

class hello final : public roost::ext::work {
public:
    hello() noexcept : work(&say) {}
    [[nodiscard]] int runs() const noexcept { return runs_; }

private:
    static void say(work& self) noexcept { ++static_cast<hello&>(self).runs_; }
    int runs_ = 0;
};

}  // namespace

int main() {
    roost::ext::inline_executor here;
    hello work;
    roost::ext::post_or_fall_back(here, work, "hello");

    roost::outcome<int> late = std::make_exception_ptr(roost::timed_out("hello was late"));
    try {
        std::move(late).value_or_throw();
    } catch (const roost::error& e) {
        std::printf("%s\n", e.what());
        return work.runs() == 1 && e.kind() == roost::errc::timed_out ? 0 : 1;
    }
    return 1;
}
