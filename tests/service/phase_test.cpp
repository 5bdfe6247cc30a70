#include <roost/service/phase.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace roost::service {
namespace {

static_assert(exit_code::clean == 0 && exit_code::work_cancelled == 124 && exit_code::broken_invariant == 70);
static_assert(exit_code::signal_base == 128);
static_assert(phase::running < phase::lame_duck && phase::lame_duck < phase::stop_intake &&
              phase::stop_intake < phase::drain && phase::drain < phase::cancel && phase::cancel < phase::abort &&
              phase::abort < phase::release && phase::release < phase::exit && phase::exit < phase::forced);

TEST(phase, SVC_20_every_phase_has_a_name_of_its_own) {
    std::set<std::string> names;
    for (unsigned i = 0; i < phase_count; ++i) {
        names.insert(std::string(to_string(static_cast<phase>(i))));
    }
    EXPECT_EQ(names.size(), phase_count);
    EXPECT_EQ(names.count("unknown"), 0U);
}

TEST(phase, SVC_103_every_exit_code_has_a_name) {
    EXPECT_EQ(exit_code::clean, 0);
    EXPECT_EQ(exit_code::main_failed, 1);
    EXPECT_EQ(exit_code::bad_options, 2);
    EXPECT_EQ(exit_code::component_failed, 3);
    EXPECT_EQ(exit_code::broken_invariant, 70);
    EXPECT_EQ(exit_code::work_cancelled, 124);
    EXPECT_EQ(exit_code::signal_base, 128);
}

}  // namespace
}  // namespace roost::service
