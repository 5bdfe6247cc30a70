// Sequences of everything one can do to a pool; whatever happens, places and resources add up and the order is kept.

#include <roost/pool/pool.hpp>

#include "../sync/coroutines.hpp"
#include "fuzz_input.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

namespace {

using namespace testing_support;

struct counts {
    long made = 0;
    long destroyed = 0;
    int failures = 0;
};
struct thing {
    int id = 0;
};

class client {
public:
    explicit client(roost::pool<thing>& from) : op_(from.acquire("client")) { coroutine_ = run(*this); }
    client(const client&) = delete;
    client& operator=(const client&) = delete;
    [[nodiscard]] bool is_done() const { return got_.has_value(); }
    [[nodiscard]] bool holds() const { return got_ && static_cast<bool>(*got_); }
    bool cancel() { return op_.try_cancel(); }
    void give_back() { got_->handle().give_back(); }
    void discard() { got_->handle().discard(); }

private:
    class by_reference {
    public:
        explicit by_reference(roost::pool<thing>::operation& o) noexcept : op_(&o) {}
        bool await_ready() { return op_->await_ready(); }
        bool await_suspend(std::coroutine_handle<sync_testing::owned::promise_type> h) noexcept {
            return op_->await_suspend(h);
        }
        roost::acquired<thing> await_resume() { return op_->await_resume(); }

    private:
        roost::pool<thing>::operation* op_;
    };
    static sync_testing::owned run(client& self) { self.got_.emplace(co_await by_reference(self.op_)); }

    roost::pool<thing>::operation op_;
    std::optional<roost::acquired<thing>> got_;
    sync_testing::owned coroutine_;
};

void look(const roost::pool<thing>& p, const counts& c, const std::vector<std::unique_ptr<client>>& all) {
    const roost::pool_stats s = p.stats();
    require(s.free + s.idle + s.out + s.busy == s.capacity + s.over, "every place is somewhere");
    require(static_cast<long>(s.idle + s.out) == c.made - c.destroyed, "every resource is idle or out");
    std::uint32_t waiting = 0;
    bool somebody_waits = false;
    for (const auto& one : all) {
        waiting += one->is_done() ? 0U : 1U;
        somebody_waits = somebody_waits || !one->is_done();
    }
    require(s.waiting >= waiting, "whoever is not done waits");
    require(!somebody_waits || s.idle == 0, "nobody waits beside something idle");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz_input in(data, size);
    counts c;
    {
        roost::pool_options o(static_cast<std::uint32_t>(1 + in.below(4)), "fuzzed");
        o.stripes = static_cast<std::uint32_t>(1 + in.below(2));
        o.room = 6;
        o.on_error = [](const roost::pool_error&) {};
        roost::pool<thing> p(
            o,
            [&] {
                if (c.failures > 0) {
                    --c.failures;
                    throw std::runtime_error("refused");
                }
                ++c.made;
                return thing{static_cast<int>(c.made)};
            },
            [&](thing&) { ++c.destroyed; });
        std::vector<std::unique_ptr<client>> all;
        while (!in.is_over() && all.size() < 64) {
            const std::uint8_t what = in.byte();
            const std::size_t who = in.below(all.size());
            client* one = all.empty() ? nullptr : all[who].get();
            switch (what % 9) {
                case 0:
                case 1: all.push_back(std::make_unique<client>(p)); break;
                case 2:
                    if (one != nullptr && one->holds()) {
                        one->give_back();
                    }
                    break;
                case 3:
                    if (one != nullptr && one->holds()) {
                        one->discard();
                    }
                    break;
                case 4:
                    if (one != nullptr && !one->is_done()) {
                        require(one->cancel(), "who waits can be cancelled");
                        all.erase(all.begin() + static_cast<std::ptrdiff_t>(who));
                    }
                    break;
                case 5: c.failures = static_cast<int>(in.below(3)); break;
                case 6: static_cast<void>(p.try_acquire_or_create()); break;
                case 7: p.resize(static_cast<std::uint32_t>(1 + in.below(6))); break;
                default: p.clear_idle();
            }
            look(p, c, all);
        }
        while (!all.empty()) {
            all.pop_back();
        }
        static_cast<void>(p.close_blocking(roost::now()));
    }
    require(c.made == c.destroyed, "every resource is destroyed once");
    return 0;
}
