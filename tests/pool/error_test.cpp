#include <roost/pool/error.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

namespace {

using roost::pool_error;

TEST(pool_error, POOL_10_one_sentence_with_pool_stripe_operation_and_cause) {
    const auto cause = std::make_exception_ptr(std::runtime_error("no route"));
    const pool_error e(roost::errc::broken, "db", 3, pool_error::step::create, "", cause);
    EXPECT_STREQ(e.what(), "pool 'db', stripe 3: create: no route: broken resource");
    EXPECT_EQ(e.kind(), roost::errc::broken);
    EXPECT_EQ(e.cause(), cause);
    const pool_error f(roost::errc::closed, "db", pool_error::no_stripe, pool_error::step::acquire, "the pool is closed");
    EXPECT_STREQ(f.what(), "pool 'db': acquire: the pool is closed: closed");
    const pool_error g(roost::errc::broken, "db", 0, pool_error::step::destroy, "", std::make_exception_ptr(1));
    EXPECT_NE(std::string(g.what()).find("no std::exception"), std::string::npos);
}

TEST(pool_error, POOL_10_names_of_operations_and_states) {
    EXPECT_EQ(to_string(pool_error::step::check), "check");
    EXPECT_EQ(to_string(roost::wait_status::cancelled), "cancelled");
    EXPECT_EQ(to_string(roost::wait_status::empty), "would wait");
}

}  // namespace
