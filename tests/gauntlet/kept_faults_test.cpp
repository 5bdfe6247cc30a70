// Long because it is one table, with an object for each row.
// Scenario 13, objects that live on: one object per row is used over and over, each time with another allocation or call of user
// code that fails. After every fault it is as it was before, and the same use works.

#include <roost/base/failure_sink.hpp>
#include <roost/flow/coalescer.hpp>
#include <roost/pool/pool.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/shutdown/shutdown.hpp>
#include <roost/sync/broadcast.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/condition.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/sync/once.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/sync/shared_mutex.hpp>
#include <roost/sync/watch.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/this_task.hpp>
#include <roost/tree/callback.hpp>
#include <roost/tree/external_resource.hpp>
#include <roost/tree/stop_token.hpp>
#include <roost/tree/visit.hpp>

#include "../task/rig.hpp"
#include "failing_calls.hpp"
#include "failing_memory.hpp"
#include "quiet.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <iterator>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

namespace {

using namespace roost;
using namespace roost::observe;
using namespace roost::ext;
using gauntlet::allocations_left;
using gauntlet::calls_left;
using gauntlet::calm;
using gauntlet::outstanding;
using gauntlet::user;

const std::string long_name(100, 'n');

// Used again and again. A use leaves it as it was, whether it failed or not.
class kept {
public:
    kept() = default;
    kept(const kept&) = delete;
    kept& operator=(const kept&) = delete;
    virtual ~kept() = default;
    virtual void use() = 0;  // throws what failed
    virtual std::string state() = 0;
};

template <class... N>
std::string numbers(N... n) {
    return ((std::to_string(n) + ' ') + ...);
}

// A scope for jobs that may fail, and an executor that the using thread runs.
class kept_jobs : public kept {
public:
    ~kept_jobs() override {
        root.request_close();
        where.run();
    }

protected:
    // Plays it to its end and throws what it failed with.
    void play(task<> t) {
        const job j = root.launch(std::string(long_name), std::move(t));
        finish(j);
    }
    void finish(const job& j) {
        where.run();
        EXPECT_TRUE(j.is_finished());
        if (j.error()) {
            std::rethrow_exception(j.error());
        }
    }
    rig::manual where;
    owned_scope root{where, scope_options("kept").report_failures()};
};
task<int> leaf(int v) {
    user();
    co_await yield();
    user();
    co_return v;
}

class kept_root final : public kept_jobs {
public:
    void use() override {
        play(in_scope());
        root.async("a", leaf(1)).keep();
        where.run();
    }
    std::string state() override { return numbers(detail::task_access::core_of(root).units(), root.is_closed()); }

private:
    static task<> children(scope& s) {
        auto a = s.async(std::string(long_name), leaf(1));
        s.launch("b", leaf(2));
        static_cast<void>(co_await std::move(a));
    }
    static task<> in_scope() { co_await with_scope(children); }
};

// A child that fails takes its siblings down, so that is not tried here; one that can't be made is nothing that happened.
class kept_owned final : public kept_jobs {
public:
    ~kept_owned() override {
        const calm unharmed;
        play(close());
    }
    void use() override {
        user();
        const job stays = scope_.launch("stays", waits(never_));
        where.run();
        std::exception_ptr failed;
        try {
            const job j = scope_.launch(std::string(long_name), nothing());
            where.run();
            EXPECT_EQ(j.state(), job_state::completed);
            static_cast<void>(scope_.to_string());
            user();
        } catch (...) {
            failed = std::current_exception();
        }
        where.run();
        EXPECT_EQ(stays.state(), job_state::active) << "a child that could not be made has cancelled another";
        stays.cancel();
        where.run();
        if (failed) {
            std::rethrow_exception(failed);
        }
    }
    std::string state() override { return scope_.to_string(); }

private:
    static task<> nothing() { co_return; }
    static task<> waits(event& e) { co_await e.wait(); }
    task<> close() { co_await scope_.close(); }
    event never_;
    owned_scope scope_{where, "owned"};
};

class kept_pool final : public kept {
public:
    void use() override {
        auto a = pool_.acquire_blocking();
        if (!a) {
            std::rethrow_exception(a.error());
        }
        pooled<int> b = pool_.try_acquire_or_create().value();
        static_cast<void>(pool_.holders());
        EXPECT_FALSE(pool_.try_acquire());
        user();
        b.discard();
        a.handle().give_back();
        static_cast<void>(pool_.try_with([](int&) { user(); }));  // none is idle when the check has just cost it
    }
    std::string state() override {
        const pool_stats s = pool_.stats();
        return numbers(s.out, s.busy, s.waiting, s.idle + s.free, s.capacity);
    }

private:
    static pool_options options() {
        pool_options o(2, "kept");
        o.on_error = [](const pool_error&) {};
        return o;
    }
    pool<int> pool_{options(),
                    [] {
                        user();
                        return 1;
                    },
                    [](int&) { user(); },
                    [](int&) {
                        user();
                        return true;
                    }};
};

class kept_channel final : public kept_jobs {
public:
    void use() override {
        int sent = 0;
        std::exception_ptr failed;
        try {
            for (; sent < 17; ++sent) {
                user();
                EXPECT_TRUE(box_.try_send(long_name + std::to_string(sent)));
            }
        } catch (...) {
            failed = std::current_exception();
        }
        {
            const calm unharmed;
            for (int i = 0; i < sent; ++i) {
                auto got = box_.try_receive();
                EXPECT_TRUE(got && *got == long_name + std::to_string(i)) << "what was sent is there, in order";
            }
        }
        if (failed) {
            std::rethrow_exception(failed);
        }
        play(exchange());
    }
    std::string state() override {
        return numbers(box_.size(), box_.waiters_now(), meeting_.waiters_now(), detail::task_access::core_of(root).units());
    }

private:
    static task<> gives(channel<std::string>& to) { static_cast<void>(co_await to.send(long_name)); }
    static task<> both(scope& s, channel<std::string>& at) {
        s.launch("gives", gives(at));
        auto got = co_await at.receive();
        EXPECT_EQ(*got, long_name);
        user();
    }
    task<> exchange() { co_await with_scope(both, std::ref(meeting_)); }
    channel<std::string> box_{channel<std::string>::unbounded, "kept"};
    channel<std::string> meeting_{0, "kept"};
};

class kept_broadcast final : public kept {
public:
    void use() override {
        user();
        std::string value = long_name + std::to_string(next_);
        EXPECT_TRUE(news_.send(std::move(value)));
        ++next_;
        try {
            receive();
        } catch (...) {
            const calm unharmed;  // a copy that failed has consumed nothing
            receive();
            throw;
        }
    }
    std::string state() override {
        const auto none = mine_.try_receive();
        return numbers(static_cast<int>(none.status()), news_.waiters_now());
    }

private:
    void receive() {
        auto got = mine_.try_receive();
        EXPECT_TRUE(got);
        EXPECT_EQ(got.missed(), 0U);
        const calm unharmed;
        EXPECT_EQ(*got, long_name + std::to_string(next_ - 1));
    }
    broadcast<std::string> news_{2, "kept"};
    broadcast<std::string>::subscriber mine_{news_};
    long next_ = 0;
};

class kept_watch final : public kept {
public:
    void use() override {
        const std::uint64_t before = watch_.version();
        std::exception_ptr failed;
        try {
            watch_.set(long_name + 'x');
            EXPECT_TRUE(mine_.changed_blocking());
            static_cast<void>(mine_.get());
            watch_.modify([](std::string& text) {
                user();
                text.append(200, 'y');
            });
            static_cast<void>(watch_.get());
        } catch (...) {
            failed = std::current_exception();
        }
        const calm unharmed;
        const std::string now = watch_.get();
        EXPECT_EQ(watch_.version() - before, now == long_name ? 0U : now == long_name + 'x' ? 1U : 2U) << "a change counts";
        watch_.set(long_name);
        EXPECT_EQ(mine_.get(), long_name);
        if (failed) {
            std::rethrow_exception(failed);
        }
    }
    std::string state() override { return watch_.get() + numbers(mine_.has_changed(), watch_.waiters_now()); }

private:
    watch<std::string> watch_{long_name, "kept"};
    watch<std::string>::observer mine_{watch_};
};

class kept_shutdown final : public kept {
public:
    void use() override {
        const shutdown child = node_.child(std::string(long_name));
        auto busy = child.guarded(std::string(long_name));
        event never;
        auto wait = child.interrupt(never.wait());
        const callback told(child.observe(), level::stop, where_, [] {});
        const auto op = external_resource::open(child.tree_node(), std::string(long_name), [] {});
        std::stop_source outside;
        const stop_token_link link(outside.get_token(), child.tree_node());
        EXPECT_GE(node_.guard_count(), 1U);
        static_cast<void>(node_.report().to_string());
        user();
    }
    std::string state() override {
        return numbers(node_.guard_count(), node_.state() == shutdown_state::running) + tree_to_string(node_.tree_node());
    }

private:
    roost::testing::manual_executor where_;
    shutdown node_{"kept"};
};

// Whatever is held when something fails is given back.
class kept_locks final : public kept_jobs {
public:
    void use() override {
        const job a = root.launch("a", holds());
        job b;
        std::exception_ptr failed;
        try {
            b = root.launch(std::string(long_name), holds());
        } catch (...) {
            failed = std::current_exception();
        }
        where.run();
        if (!failed) {
            failed = a.error() ? a.error() : b.error();
        }
        if (failed) {
            std::rethrow_exception(failed);
        }
    }
    std::string state() override {
        return numbers(permits_.available(), permits_.waiters_now(), lock_.is_locked(), lock_.waiters_now(),
                       table_.readers_now(), table_.is_locked(), first_.waiters_now(),
                       detail::task_access::core_of(root).units());
    }

private:
    task<> holds() {
        auto permit = co_await permits_.acquire();
        static_cast<void>(co_await leaf(1));
        auto held = co_await lock_.lock();
        static_cast<void>(co_await leaf(2));
        auto reading = co_await table_.lock_shared();
        static_cast<void>(co_await leaf(3));
        auto turn = co_await first_.enter();
        static_cast<void>(co_await leaf(4));
        user();
    }
    semaphore permits_{1, "kept"};
    mutex lock_{"kept"};
    shared_mutex table_{"kept"};
    once first_{"kept"};
};

class kept_coalescer final : public kept_jobs {
public:
    void use() override { play(asks()); }
    std::string state() override { return numbers(same_.size(), detail::task_access::core_of(root).units()); }

private:
    task<> asks() { static_cast<void>(co_await same_.coalesce(1, leaf)); }
    coalescer<int, int> same_{root};
};

class kept_runtime final : public kept {
public:
    void use() override {
        static_cast<void>(block_on(rt_, leaf(1)));
        user();
    }
    std::string state() override { return rt_.get_executor().name().data(); }

private:
    runtime rt_{runtime_options().workers(1)};
};

struct row {
    const char* name;
    std::unique_ptr<kept> (*make)();
};
template <class T>
std::unique_ptr<kept> make() {
    return std::make_unique<T>();
}
const row table[] = {
    {"root scope", make<kept_root>},   {"owned scope", make<kept_owned>},   {"pool", make<kept_pool>},
    {"channel", make<kept_channel>},   {"broadcast", make<kept_broadcast>}, {"watch", make<kept_watch>},
    {"shutdown", make<kept_shutdown>}, {"locks", make<kept_locks>},         {"coalescer", make<kept_coalescer>},
    {"runtime", make<kept_runtime>},
};

// True: it went through with nothing left to fail.
bool attempt(const char* name, kept& object, long n, bool memory) {
    const std::string before = object.state();
    bool threw = false;
    (memory ? allocations_left : calls_left) = n;
    try {
        object.use();
    } catch (...) {
        threw = true;
    }
    const bool untouched = (memory ? allocations_left : calls_left) >= 0;
    allocations_left = -1;
    calls_left = -1;
    EXPECT_FALSE(threw && untouched) << name << ": failed without a fault";
    EXPECT_EQ(object.state(), before) << name << ": another one after failure " << n;
    if (!untouched) {
        try {
            object.use();
        } catch (...) {
            ADD_FAILURE() << name << ": does not work after failure " << n;
        }
        EXPECT_EQ(object.state(), before) << name << ": another one, used after failure " << n;
    }
    return untouched;
}

TEST(gauntlet_faults, GAUNTLET_13_an_object_lives_on_after_every_fault) {
    const gauntlet::quiet q("scenario 13");
    const auto before = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    long faults = 0;
    for (const row& r : table) {
        for (const bool counts : {false, true}) {  // what is made once per process is made in the first pass
            const long had = outstanding.load();
            std::thread([&] {
                const std::unique_ptr<kept> object = r.make();
                for (const bool memory : {true, false}) {
                    bool over = false;
                    long n = 0;
                    for (; n < 500 && !over; ++n) {
                        std::thread([&] { over = attempt(r.name, *object, n, memory); }).join();
                    }
                    EXPECT_TRUE(over) << r.name;
                    faults += counts ? n - 1 : 0;
                }
            }).join();
            if (counts) {
                EXPECT_EQ(outstanding.load(), had) << r.name << " leaks";
            }
        }
    }
    set_failure_sink(before);
    q.say("%zu objects, %ld faults, each as before and in use after every one", std::size(table), faults);
}

}  // namespace
