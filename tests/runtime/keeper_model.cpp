#include <roost/runtime/detail/keeper.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using namespace roost;

MODEL(keeper, RUN_74_stop_or_sleep) {
    detail::keeper k({.name = "keeper"});
    k.start();
    k.stop();
}

}  // namespace
