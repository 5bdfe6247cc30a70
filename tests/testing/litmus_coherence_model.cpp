#include "litmus.hpp"

#include <gtest/gtest.h>

// Release sequences and the coherence of one location.

using namespace roost;
using namespace roost::ext;
using namespace roost::seam;
using litmus::all_but;
using litmus::expect;
using litmus::run_together;
using litmus::show;

// --- release sequences ---------------------------------------------------------------------------------------------------

TEST(litmus, EXPL_12_read_modify_write_continues_a_release_sequence) {
    expect({"00", "01", "10", "11", "51", "61"}, [] {
        atomic<int> data{0}, flag{0};
        int a = 0, b = 0;
        run_together(
            [&] {
                data.store(1, mo::relaxed);
                flag.store(5, mo::release);
            },
            [&] { flag.fetch_add(1, mo::relaxed); },
            [&] {
                a = flag.load(mo::acquire);
                b = data.load(mo::relaxed);
            });
        return show(a, b);
    });
}
TEST(litmus, EXPL_12_another_threads_store_ends_a_release_sequence) {
    expect({"00", "01", "51", "60", "61"}, [] {
        atomic<int> data{0}, flag{0};
        int a = 0, b = 0;
        run_together(
            [&] {
                data.store(1, mo::relaxed);
                flag.store(5, mo::release);
            },
            [&] { flag.store(6, mo::relaxed); },
            [&] {
                a = flag.load(mo::acquire);
                b = data.load(mo::relaxed);
            });
        return show(a, b);
    });
}
TEST(litmus, EXPL_12_own_relaxed_store_ends_a_release_sequence) {
    expect({"00", "01", "11", "20", "21"}, [] {
        atomic<int> data{0}, flag{0};
        int a = 0, b = 0;
        run_together(
            [&] {
                data.store(1, mo::relaxed);
                flag.store(1, mo::release);
                flag.store(2, mo::relaxed);
            },
            [&] {
                a = flag.load(mo::acquire);
                b = data.load(mo::relaxed);
            });
        return show(a, b);
    });
}

// --- coherence -------------------------------------------------------------------------------------------------------------

TEST(litmus, EXPL_13_CoRR) {
    expect({"00", "01", "11"}, [] {
        atomic<int> x{0};
        int a = 0, b = 0;
        run_together([&] { x.store(1, mo::relaxed); },
                     [&] {
                         a = x.load(mo::relaxed);
                         b = x.load(mo::relaxed);
                     });
        return show(a, b);
    });
}
TEST(litmus, EXPL_13_CoRR_two_writers) {
    expect({"00", "01", "02", "11", "12", "21", "22"}, [] {
        atomic<int> x{0};
        int a = 0, b = 0;
        run_together([&] { x.store(1, mo::relaxed); }, [&] { x.store(2, mo::relaxed); },
                     [&] {
                         a = x.load(mo::relaxed);
                         b = x.load(mo::relaxed);
                     });
        return show(a, b);
    });
}
TEST(litmus, EXPL_13_two_readers_agree_on_the_order_of_two_writers) {
    const litmus::outcomes one{"00", "01", "02", "11", "12", "21", "22"};
    litmus::outcomes both;
    for (const std::string& a : one) {
        for (const std::string& b : one) {
            both.insert(a + b);
        }
    }
    both.erase("1221");
    both.erase("2112");
    expect(both, [] {
        atomic<int> x{0};
        int a = 0, b = 0, c = 0, d = 0;
        run_together([&] { x.store(1, mo::relaxed); }, [&] { x.store(2, mo::relaxed); },
                     [&] {
                         a = x.load(mo::relaxed);
                         b = x.load(mo::relaxed);
                     },
                     [&] {
                         c = x.load(mo::relaxed);
                         d = x.load(mo::relaxed);
                     });
        return show(a, b, c, d);
    });
}
TEST(litmus, EXPL_13_CoRR_across_happens_before) {
    expect(all_but(3, {"110"}), [] {
        atomic<int> x{0}, f{0};
        int a = 0, b = 0, c = 0;
        run_together([&] { x.store(1, mo::relaxed); },
                     [&] {
                         a = x.load(mo::relaxed);
                         f.store(1, mo::release);
                     },
                     [&] {
                         b = f.load(mo::acquire);
                         c = x.load(mo::relaxed);
                     });
        return show(a, b, c);
    });
}
TEST(litmus, EXPL_13_CoWR) {
    expect({"1", "2"}, [] {
        atomic<int> x{0};
        int a = 0;
        run_together(
            [&] {
                x.store(1, mo::relaxed);
                a = x.load(mo::relaxed);
            },
            [&] { x.store(2, mo::relaxed); });
        return show(a);
    });
}
TEST(litmus, EXPL_13_CoRW) {
    expect({"01", "02", "21"}, [] {
        atomic<int> x{0};
        int a = 0;
        run_together(
            [&] {
                a = x.load(mo::relaxed);
                x.store(1, mo::relaxed);
            },
            [&] { x.store(2, mo::relaxed); });
        return show(a, x.load(mo::relaxed));
    });
}
TEST(litmus, EXPL_13_CoWW_after_join) {
    expect({"2"}, [] {
        atomic<int> x{0};
        run_together([&] {
            x.store(1, mo::relaxed);
            x.store(2, mo::relaxed);
        });
        return show(x.load(mo::relaxed));
    });
}
TEST(litmus, EXPL_13_compare_exchange_has_one_winner) {
    expect({"01", "10"}, [] {
        atomic<int> x{0};
        int won[2] = {0, 0};
        const auto claim = [&](int who) {
            int expected = 0;
            won[who] = x.compare_exchange_strong(expected, 1, mo::relaxed, mo::relaxed) ? 1 : 0;
        };
        run_together([&] { claim(0); }, [&] { claim(1); });
        return show(won[0], won[1]);
    });
}
