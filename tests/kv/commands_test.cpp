#include "commands.hpp"

#include <gtest/gtest.h>

#include "ask.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using namespace std::string_view_literals;

constexpr auto not_an_integer = "-ERR value is not an integer or out of range\r\n";
constexpr auto unknown = "-ERR unknown command, or arguments that do not fit\r\n";

class commands : public testing::Test {
protected:
    std::string ask(const std::string& line) { return user.ask(line); }

    kv::store data;
    kv_testing::client user{data};
};

TEST_F(commands, set_and_get) {
    EXPECT_EQ(ask("GET k"), "$-1\r\n");
    EXPECT_EQ(ask("SET k v"), "+OK\r\n");
    EXPECT_EQ(ask("get k"), "$1\r\nv\r\n");
    EXPECT_EQ(user.ask_words({"sEt", "\0\r\n"sv, "\r\n\0"sv}), "+OK\r\n");
    EXPECT_EQ(user.ask_words({"GET", "\0\r\n"sv}), "$3\r\n\r\n\0\r\n"s);
    EXPECT_EQ(user.ask_words({"SET", "", ""}), "+OK\r\n");
    EXPECT_EQ(user.ask_words({"GET", ""}), "$0\r\n\r\n");
}

TEST_F(commands, set_with_a_time) {
    EXPECT_EQ(ask("SET a 1 EX 2"), "+OK\r\n");
    EXPECT_EQ(ask("SET b 1 px 1999"), "+OK\r\n");
    user.now += 1999ms - 1ns;
    EXPECT_EQ(ask("MGET a b"), "*2\r\n$1\r\n1\r\n$1\r\n1\r\n");
    user.now += 1ns;
    EXPECT_EQ(ask("MGET a b"), "*2\r\n$1\r\n1\r\n$-1\r\n");
    user.now += 1ms;
    EXPECT_EQ(ask("MGET a b"), "*2\r\n$-1\r\n$-1\r\n");
}

TEST_F(commands, set_refuses_bad_times) {
    for (const auto* line : {"SET k v EX", "SET k v FOO 1", "SET k v 5", "SET k v EX 1 PX 1"}) {
        EXPECT_EQ(ask(line), unknown) << line;
    }
    for (const auto* line : {"SET k v EX abc", "SET k v PX 1.5", "SET k v EX 99999999999999999999",
                             "SET k v EX 9223372036854775807", "SET k v PX 9223372036854775807"}) {
        EXPECT_EQ(ask(line), not_an_integer) << line;
    }
    EXPECT_EQ(ask("GET k"), "$-1\r\n");
}

TEST_F(commands, time_to_live) {
    EXPECT_EQ(ask("TTL k"), ":-2\r\n");
    EXPECT_EQ(ask("SET k v"), "+OK\r\n");
    EXPECT_EQ(ask("TTL k"), ":-1\r\n");
    EXPECT_EQ(ask("EXPIRE k 100"), ":1\r\n");
    EXPECT_EQ(ask("TTL k"), ":100\r\n");
    user.now += 499ms;
    EXPECT_EQ(ask("TTL k"), ":100\r\n");  // rounded, as in Redis
    user.now += 2ms;
    EXPECT_EQ(ask("TTL k"), ":99\r\n");
    EXPECT_EQ(ask("SET k v"), "+OK\r\n");
    EXPECT_EQ(ask("TTL k"), ":-1\r\n");
}

TEST_F(commands, expire) {
    EXPECT_EQ(ask("EXPIRE k 10"), ":0\r\n");
    EXPECT_EQ(ask("SET k v"), "+OK\r\n");
    EXPECT_EQ(ask("EXPIRE k x"), not_an_integer);
    EXPECT_EQ(ask("EXPIRE k 9223372036854775807"), not_an_integer);
    EXPECT_EQ(ask("TTL k"), ":-1\r\n");
    EXPECT_EQ(ask("EXPIRE k 1"), ":1\r\n");
    user.now += 1s;
    EXPECT_EQ(ask("GET k"), "$-1\r\n");
    for (const auto* past : {"0", "-5", "-9223372036854775808"}) {
        EXPECT_EQ(ask("SET k v"), "+OK\r\n");
        EXPECT_EQ(ask("EXPIRE k "s + past), ":1\r\n");
        EXPECT_EQ(ask("GET k"), "$-1\r\n") << past;
        EXPECT_EQ(ask("TTL k"), ":-2\r\n") << past;
    }
}

TEST_F(commands, counters) {
    EXPECT_EQ(ask("INCR n"), ":1\r\n");
    EXPECT_EQ(ask("INCR n"), ":2\r\n");
    EXPECT_EQ(ask("GET n"), "$1\r\n2\r\n");
    EXPECT_EQ(ask("SET n -1"), "+OK\r\n");
    EXPECT_EQ(ask("INCR n"), ":0\r\n");
}

TEST_F(commands, counters_keep_their_time) {
    EXPECT_EQ(ask("SET n 1 EX 10"), "+OK\r\n");
    EXPECT_EQ(ask("INCR n"), ":2\r\n");
    EXPECT_EQ(ask("TTL n"), ":10\r\n");
    user.now += 10s;
    EXPECT_EQ(ask("INCR n"), ":1\r\n");
    EXPECT_EQ(ask("TTL n"), ":-1\r\n");
}

TEST_F(commands, counters_refuse_what_is_no_integer_and_overflow) {
    for (const auto wrong : {""sv, "abc"sv, " 1"sv, "1 "sv, "007"sv, "1.5"sv, "9223372036854775808"sv}) {
        EXPECT_EQ(user.ask_words({"SET", "n", wrong}), "+OK\r\n");
        EXPECT_EQ(ask("INCR n"), not_an_integer) << wrong;
    }
    EXPECT_EQ(ask("SET n 9223372036854775807"), "+OK\r\n");
    EXPECT_EQ(ask("INCR n"), not_an_integer);
    EXPECT_EQ(ask("GET n"), "$19\r\n9223372036854775807\r\n");
}

TEST_F(commands, several_keys) {
    ask("SET a 1");
    ask("SET b 2");
    EXPECT_EQ(ask("MGET a b c a"), "*4\r\n$1\r\n1\r\n$1\r\n2\r\n$-1\r\n$1\r\n1\r\n");
    EXPECT_EQ(ask("DEL a a c"), ":1\r\n");
    EXPECT_EQ(ask("MGET a b"), "*2\r\n$-1\r\n$1\r\n2\r\n");
}

TEST_F(commands, del_does_not_count_what_has_expired) {
    ask("SET a 1 EX 1");
    user.now += 1s;
    EXPECT_EQ(ask("DEL a"), ":0\r\n");
}

TEST_F(commands, what_clients_ask_when_they_connect) {
    EXPECT_EQ(ask("PING"), "+PONG\r\n");
    EXPECT_EQ(ask("COMMAND DOCS"), "*0\r\n");
    EXPECT_EQ(ask("CONFIG GET save"), "*0\r\n");
}

TEST_F(commands, info_counts_keys) {
    ask("SET a 1");
    ask("SET b 2");
    const std::string reply = ask("INFO");
    EXPECT_NE(reply.find("\r\ndb0:keys=2\r\n"), std::string::npos) << reply;
    EXPECT_EQ(ask("INFO keyspace"), reply);
}

TEST_F(commands, the_number_of_arguments_is_checked) {
    for (const auto* line : {"get", "get a b", "set a", "incr", "incr a b", "mget", "del", "expire a", "expire a 1 2", "ttl",
                             "ttl a b", "ping a", "config", "config get"}) {
        EXPECT_EQ(ask(line), unknown) << line;
    }
}

TEST_F(commands, what_is_no_command_is_refused) {
    EXPECT_EQ(ask("FOO"), unknown);
    EXPECT_EQ(user.ask_words({"", "x"}), unknown);
    EXPECT_EQ(user.ask_words({"GET\0"sv, "x"}), unknown);
    EXPECT_EQ(user.ask_words({"A\r\n+OK", "b\nc"}), unknown);
    EXPECT_EQ(user.ask_words({std::string_view("get get get get"), "x"}), unknown);
}

}  // namespace
