#include <roost/task/race.hpp>

#include <roost/task/failure_sink.hpp>

namespace roost::inline ROOST_ABI {

namespace {

std::string describe_all(const std::vector<std::exception_ptr>& errors) {
    std::string text = "every alternative failed:";
    for (const std::exception_ptr& e : errors) {
        text.append(" [").append(describe(e)).append("]");
    }
    return text;
}

}  // namespace

all_failed::all_failed(std::vector<std::exception_ptr> errors)
    : std::runtime_error(describe_all(errors)),
      errors_(std::make_shared<const std::vector<std::exception_ptr>>(std::move(errors))) {}

void detail::throw_empty_race() { throw error(errc::empty_set, "a race over nothing has no winner"); }

}  // namespace roost::inline ROOST_ABI
