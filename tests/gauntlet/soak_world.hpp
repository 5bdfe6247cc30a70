#pragma once

// The world of the soak: what the jobs of an episode share, a ledger of what they did to it, and what a sequential program that
// had done the same would have left behind.

#include <roost/pool/pool.hpp>
#include <roost/shutdown/shutdown.hpp>
#include <roost/sync/auto_reset_event.hpp>
#include <roost/sync/barrier.hpp>
#include <roost/sync/broadcast.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/condition.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/latch.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/sync/once.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/sync/shared_mutex.hpp>
#include <roost/sync/watch.hpp>

#include "quiet.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace soak {

struct planted : std::runtime_error {
    planted() : std::runtime_error("planted") {}
};

// Collects the rules that were broken; from any thread.
class judge {
public:
    void must(bool holds, const char* rule) {
        if (!holds) {
            const std::lock_guard held(lock_);
            broken_ += broken_.empty() ? rule : std::string("; ") + rule;
        }
    }
    [[nodiscard]] std::string verdict() {
        const std::lock_guard held(lock_);
        return broken_;
    }

private:
    std::mutex lock_;
    std::string broken_;
};

// How many are in a place at once; left on whatever way out there is.
class visitor {
public:
    explicit visitor(std::atomic<long>& place) : place_(&place), now_(place.fetch_add(1) + 1) {}
    visitor(const visitor&) = delete;
    visitor& operator=(const visitor&) = delete;
    ~visitor() { place_->fetch_sub(1); }
    [[nodiscard]] long now() const { return now_; }

private:
    std::atomic<long>* place_;
    long now_;
};

// A value on its way through the channel: who sent it, and as the how manieth.
struct letter {
    long from;
    long number;
    // What letters weigh adds up to the same on both ends only if they are the same letters.
    [[nodiscard]] std::uint64_t weight() const {
        return (static_cast<std::uint64_t>(from) * 1000 + static_cast<std::uint64_t>(number) + 1) * 0x9e37'79b9'7f4a'7c15U;
    }
};
class letter_box {
public:
    void add(const letter& l) {
        count_.fetch_add(1);
        weight_.fetch_add(l.weight());
    }
    [[nodiscard]] long count() const { return count_.load(); }
    [[nodiscard]] std::uint64_t weight() const { return weight_.load(); }

private:
    std::atomic<long> count_{0};
    std::atomic<std::uint64_t> weight_{0};
};

// A part of the world that can be stopped alone.
struct department {
    explicit department(const roost::shutdown& above) : node(above.child("department")) {}
    roost::shutdown node;
    std::atomic<long> busy{0};
    std::atomic<bool> completed{false};
};

// How the body of a job ended, as it saw it itself.
enum class ending : std::uint8_t { unwound, returned, threw };

struct world {
    static constexpr long departments = 3;
    static constexpr long meeting_size = 3;

    explicit world(std::uint32_t jobs)
        : attendance(jobs, "attendance"), things(roost::pool_options(3, "things"), [this] {
              if (creations.fetch_add(1) % 7 == 3) {
                  creations_failed.fetch_add(1);
                  throw planted();
              }
              return gauntlet::counted(resources);
          }) {}

    judge rules;
    gauntlet::census frames;
    gauntlet::census resources;

    roost::semaphore permits{2, "permits"};
    std::atomic<long> permitted{0};
    std::atomic<long> permits_used{0};

    roost::mutex lock{"lock"};
    long under_the_lock = 0;
    std::atomic<long> locked_adds{0};

    roost::shared_mutex table{"table"};
    long left_page = 0;
    long right_page = 0;
    std::atomic<long> writes{0};
    std::atomic<long> reads{0};

    roost::mutex store{"store"};
    roost::condition not_empty{"not empty"};
    long stock = 0;  // and what follows: under the lock of the store
    long put = 0;
    long taken = 0;
    bool store_closed = false;

    roost::channel<letter> letters{4, "letters"};
    std::atomic<long> senders{0};
    letter_box sent;
    letter_box received;
    std::atomic<long> handed_back{0};

    roost::event gate{"gate"};
    roost::auto_reset_event tick{"tick"};
    std::atomic<long> ticks_set{0};
    std::atomic<long> ticks_taken{0};

    roost::latch attendance;
    std::atomic<long> present{0};

    roost::barrier meeting{meeting_size, "meeting"};
    std::atomic<long> arrivals{0};
    std::atomic<long> phases{0};  // their sum

    roost::once firsts[2];
    std::atomic<long> at_it[2]{};
    std::atomic<long> first_done[2]{};

    std::mutex press;  // news and headlines come out in order
    roost::broadcast<long> news{4, "news"};
    roost::watch<long> headline{0, "headline"};
    long printed = 0;
    std::atomic<long> news_read{0};

    std::atomic<long> creations{0};
    std::atomic<long> creations_failed{0};
    std::atomic<long> things_used{0};
    std::atomic<long> things_refused{0};
    roost::pool<gauntlet::counted> things;

    roost::shutdown node{"world"};
    department parts[departments]{department(node), department(node), department(node)};
    std::atomic<long> turned_away{0};
    std::atomic<long> interrupted{0};
    std::atomic<long> completions{0};

    std::atomic<long> restarts{0};
    std::atomic<long> counted_up{0};  // by generators
    bool one_thread = false;

    void print() {
        const std::lock_guard in_order(press);
        if (news.send(printed + 1)) {
            ++printed;
            headline.set(printed);
        }
    }
    void set_tick() {
        ticks_set.fetch_add(1);
        tick.set();
    }

    // When nothing can run and no timer is armed: nobody waits for what is there. Only where one thread runs everything.
    void judge_standstill() {
        rules.must(permits.available() == 2 && permits.waiters_now() == 0, "a permit is there, and somebody waits for it");
        rules.must(!lock.is_locked() && lock.waiters_now() == 0, "somebody waits for a mutex that is free");
        rules.must(table.readers_now() == 0 && !table.is_locked() && table.waiters_now() == 0,
                   "somebody waits for a shared mutex that is free");
        rules.must(!store.is_locked() && store.waiters_now() == 0, "somebody waits for the store, which is free");
        rules.must(stock == 0 || not_empty.waiters_now() == 0, "a notification was lost");
        rules.must(letters.size() == 0 || letters.receivers_now() == 0, "a letter is there, and somebody waits for one");
        rules.must(letters.size() == 4 || letters.senders_now() == 0, "a place is free, and somebody waits for one");
        rules.must(firsts[0].waiters_now() + firsts[1].waiters_now() == 0,
                   "nobody is at it, and somebody waits for his turn");
        const roost::pool_stats now = things.stats();
        rules.must(now.out == 0 && now.waiting == 0, "a thing is there, and somebody waits for it");
    }

    // What a sequential program would have left.
    void settle() {
        EXPECT_EQ(rules.verdict(), "");
        EXPECT_EQ(frames.alive(), 0);
        EXPECT_EQ(permits.available(), 2U);
        EXPECT_EQ(permitted.load(), 0);
        EXPECT_FALSE(lock.is_locked());
        EXPECT_EQ(under_the_lock, locked_adds.load());
        EXPECT_EQ(table.readers_now(), 0U);
        EXPECT_FALSE(table.is_locked());
        EXPECT_EQ(left_page, writes.load());
        EXPECT_EQ(right_page, writes.load());
        EXPECT_FALSE(store.is_locked());
        EXPECT_EQ(stock, put - taken);
        EXPECT_EQ(permits.waiters_now() + lock.waiters_now() + table.waiters_now() + store.waiters_now(), 0U);
        EXPECT_EQ(not_empty.waiters_now() + gate.waiters_now() + tick.waiters_now() + letters.waiters_now(), 0U);
        EXPECT_EQ(attendance.waiters_now() + meeting.waiters_now() + news.waiters_now() + headline.waiters_now(), 0U);
        settle_letters();
        settle_meetings();
        EXPECT_EQ(headline.get(), printed);
        EXPECT_EQ(headline.version(), static_cast<std::uint64_t>(printed) + 1) << "one for each, and the first";
        EXPECT_EQ(node.guard_count(), 0U);
        EXPECT_TRUE(node.state() == roost::shutdown_state::complete);
        EXPECT_EQ(completions.load(), departments) << "each department is told once that it has ended";
        settle_things();
    }

    // For comparing an episode with its repetition.
    [[nodiscard]] std::string summary() const {
        std::string text;
        for (const long n : {permits_used.load(),
                             locked_adds.load(),
                             writes.load(),
                             reads.load(),
                             put,
                             taken,
                             sent.count(),
                             received.count(),
                             handed_back.load(),
                             ticks_set.load(),
                             ticks_taken.load(),
                             arrivals.load(),
                             phases.load(),
                             printed,
                             news_read.load(),
                             creations.load(),
                             things_used.load(),
                             things_refused.load(),
                             turned_away.load(),
                             interrupted.load(),
                             restarts.load(),
                             counted_up.load(),
                             frames.made()}) {
            text += std::to_string(n) + ' ';
        }
        return text + std::to_string(received.weight());
    }

private:
    void settle_letters() {
        letter_box left;
        while (auto l = letters.try_receive()) {
            left.add(*l);
        }
        // A receiver that was cancelled with a letter in its hand has passed it on: none is lost, none is doubled.
        EXPECT_EQ(received.count() + left.count(), sent.count());
        EXPECT_EQ(received.weight() + left.weight(), sent.weight());
        // Signals that nobody has taken do not add up, but one of them is there.
        const long kept = tick.try_wait() ? 1 : 0;
        EXPECT_LE(ticks_taken.load() + kept, ticks_set.load());
        EXPECT_EQ(ticks_taken.load() + kept == 0, ticks_set.load() == 0);
    }
    void settle_meetings() {
        EXPECT_TRUE(attendance.is_open()) << attendance.count() << " are missing";
        const long n = arrivals.load();
        const long over = n / meeting_size;
        // The first three arrivals say 0, the next three 1, and so on.
        EXPECT_EQ(phases.load(), meeting_size * over * (over - 1) / 2 + n % meeting_size * over);
        EXPECT_FALSE(meeting.try_wait(static_cast<roost::barrier::phase>(over)));
        EXPECT_TRUE(over == 0 || meeting.try_wait(static_cast<roost::barrier::phase>(over - 1)));
        for (int i = 0; i < 2; ++i) {
            EXPECT_EQ(at_it[i].load(), 0);
            EXPECT_EQ(first_done[i].load(), firsts[i].is_done() ? 1 : 0);
            EXPECT_EQ(firsts[i].waiters_now(), 0U);
        }
    }
    void settle_things() {
        const roost::pool_stats now = things.stats();
        EXPECT_EQ(now.out + now.busy + now.waiting, 0U);
        EXPECT_EQ(now.idle + now.free, now.capacity);
        EXPECT_EQ(now.created + now.create_failures, static_cast<std::uint64_t>(creations.load()));
        EXPECT_EQ(now.create_failures, static_cast<std::uint64_t>(creations_failed.load()));
        EXPECT_EQ(now.created - now.destroyed, now.idle);
        EXPECT_EQ(resources.alive(), static_cast<long>(now.idle));
        EXPECT_TRUE(things.close_blocking());
        EXPECT_EQ(resources.alive(), 0);
    }
};

}  // namespace soak
