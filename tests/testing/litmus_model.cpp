#include "litmus.hpp"

#include <gtest/gtest.h>

// What the memory model of the explorer allows, pattern by pattern. Names as in the literature: SB store buffering,
// MP message passing, LB load buffering, Co* coherence of one location.

using namespace roost;
using namespace roost::seam;
using litmus::all_but;
using litmus::expect;
using litmus::run_together;
using litmus::show;
using order = std::memory_order;

namespace {

std::string store_buffering(order store, order load) {
    atomic<int> x{0}, y{0};
    int a = 0, b = 0;
    run_together(
        [&] {
            x.store(1, store);
            a = y.load(load);
        },
        [&] {
            y.store(1, store);
            b = x.load(load);
        });
    return show(a, b);
}

std::string message_passing(order store, order load) {
    atomic<int> data{0}, flag{0};
    int a = 0, b = 0;
    run_together(
        [&] {
            data.store(1, mo::relaxed);
            flag.store(1, store);
        },
        [&] {
            a = flag.load(load);
            b = data.load(mo::relaxed);
        });
    return show(a, b);
}

std::string independent_reads(order store, order load) {
    atomic<int> x{0}, y{0};
    int a = 0, b = 0, c = 0, d = 0;
    run_together([&] { x.store(1, store); }, [&] { y.store(1, store); },
                 [&] {
                     a = x.load(load);
                     b = y.load(load);
                 },
                 [&] {
                     c = y.load(load);
                     d = x.load(load);
                 });
    return show(a, b, c, d);
}

}  // namespace

TEST(litmus, EXPL_10_SB_relaxed) {
    expect(all_but(2), [] { return store_buffering(mo::relaxed, mo::relaxed); });
}
TEST(litmus, EXPL_10_SB_release_acquire) {
    expect(all_but(2), [] { return store_buffering(mo::release, mo::acquire); });
}
TEST(litmus, EXPL_10_SB_seq_cst) {
    expect(all_but(2, {"00"}), [] { return store_buffering(mo::seq_cst, mo::seq_cst); });
}
TEST(litmus, EXPL_10_SB_in_sequentially_consistent_mode) {
    expect(all_but(2, {"00"}), [] { return store_buffering(mo::seq_cst, mo::seq_cst); }, roost::testing::memory::sc);
}
TEST(litmus, EXPL_10_SB_one_side_seq_cst) {
    expect(all_but(2), [] {
        atomic<int> x{0}, y{0};
        int a = 0, b = 0;
        run_together(
            [&] {
                x.store(1, mo::seq_cst);
                a = y.load(mo::seq_cst);
            },
            [&] {
                y.store(1, mo::relaxed);
                b = x.load(mo::relaxed);
            });
        return show(a, b);
    });
}
TEST(litmus, EXPL_10_SB_with_acq_rel_exchange_is_still_weak) {
    expect(all_but(2), [] {
        atomic<int> x{0}, y{0};
        int a = 0, b = 0;
        run_together(
            [&] {
                x.exchange(1, mo::acq_rel);
                a = y.load(mo::acquire);
            },
            [&] {
                y.exchange(1, mo::acq_rel);
                b = x.load(mo::acquire);
            });
        return show(a, b);
    });
}
TEST(litmus, EXPL_10_SB_with_seq_cst_exchange) {
    expect(all_but(2, {"00"}), [] {
        atomic<int> x{0}, y{0};
        int a = 0, b = 0;
        run_together(
            [&] {
                x.exchange(1, mo::seq_cst);
                a = y.load(mo::seq_cst);
            },
            [&] {
                y.exchange(1, mo::seq_cst);
                b = x.load(mo::seq_cst);
            });
        return show(a, b);
    });
}
TEST(litmus, EXPL_11_SB_light_and_heavy_barrier) {
    expect(all_but(2, {"00"}), [] {
        atomic<int> x{0}, y{0};
        int a = 0, b = 0;
        run_together(
            [&] {
                x.store(1, mo::relaxed);
                light_barrier();
                a = y.load(mo::relaxed);
            },
            [&] {
                y.store(1, mo::relaxed);
                heavy_barrier();
                b = x.load(mo::relaxed);
            });
        return show(a, b);
    });
}
TEST(litmus, EXPL_11_SB_two_light_barriers_order_nothing) {
    expect(all_but(2), [] {
        atomic<int> x{0}, y{0};
        int a = 0, b = 0;
        run_together(
            [&] {
                x.store(1, mo::relaxed);
                light_barrier();
                a = y.load(mo::relaxed);
            },
            [&] {
                y.store(1, mo::relaxed);
                light_barrier();
                b = x.load(mo::relaxed);
            });
        return show(a, b);
    });
}
TEST(litmus, EXPL_11_MP_heavy_barrier_on_the_reader) {
    expect({"00", "01", "11"}, [] {
        atomic<int> data{0}, flag{0};
        int a = 0, b = 0;
        run_together(
            [&] {
                data.store(1, mo::relaxed);
                light_barrier();
                flag.store(1, mo::relaxed);
            },
            [&] {
                a = flag.load(mo::relaxed);
                heavy_barrier();
                b = data.load(mo::relaxed);
            });
        return show(a, b);
    });
}
TEST(litmus, EXPL_10_three_thread_SB_relaxed_and_seq_cst) {
    for (const bool sc : {false, true}) {
        const order o = sc ? mo::seq_cst : mo::relaxed;
        expect(sc ? all_but(3, {"000"}) : all_but(3), [o] {
            atomic<int> x{0}, y{0}, z{0};
            int a = 0, b = 0, c = 0;
            run_together(
                [&] {
                    x.store(1, o);
                    a = y.load(o);
                },
                [&] {
                    y.store(1, o);
                    b = z.load(o);
                },
                [&] {
                    z.store(1, o);
                    c = x.load(o);
                });
            return show(a, b, c);
        });
    }
}

TEST(litmus, EXPL_10_MP_relaxed) {
    expect(all_but(2), [] { return message_passing(mo::relaxed, mo::relaxed); });
}
TEST(litmus, EXPL_10_MP_release_acquire) {
    expect({"00", "01", "11"}, [] { return message_passing(mo::release, mo::acquire); });
}
TEST(litmus, EXPL_10_MP_release_relaxed) {
    expect(all_but(2), [] { return message_passing(mo::release, mo::relaxed); });
}
TEST(litmus, EXPL_10_MP_relaxed_acquire) {
    expect(all_but(2), [] { return message_passing(mo::relaxed, mo::acquire); });
}
TEST(litmus, EXPL_10_MP_seq_cst) {
    expect({"00", "01", "11"}, [] { return message_passing(mo::seq_cst, mo::seq_cst); });
}
TEST(litmus, EXPL_10_MP_failed_compare_exchange_acquires) {
    expect({"00", "01", "11"}, [] {
        atomic<int> data{0}, flag{0};
        int b = 0, seen = 7;
        run_together(
            [&] {
                data.store(1, mo::relaxed);
                flag.store(1, mo::release);
            },
            [&] {
                flag.compare_exchange_strong(seen, 8, mo::acquire, mo::acquire);
                b = data.load(mo::relaxed);
            });
        return show(seen, b);
    });
}

// --- more threads and locations --------------------------------------------------------------------------------------------

TEST(litmus, EXPL_10_IRIW_release_acquire) {
    expect(all_but(4), [] { return independent_reads(mo::release, mo::acquire); });
}
TEST(litmus, EXPL_10_IRIW_seq_cst) {
    expect(all_but(4, {"1010"}), [] { return independent_reads(mo::seq_cst, mo::seq_cst); });
}
TEST(litmus, EXPL_10_WRC) {
    for (const bool ordered : {false, true}) {
        const order release = ordered ? mo::release : mo::relaxed;
        const order acquire = ordered ? mo::acquire : mo::relaxed;
        expect(ordered ? all_but(3, {"110"}) : all_but(3), [=] {
            atomic<int> x{0}, y{0};
            int a = 0, b = 0, c = 0;
            run_together([&] { x.store(1, release); },
                         [&] {
                             a = x.load(acquire);
                             y.store(1, release);
                         },
                         [&] {
                             b = y.load(acquire);
                             c = x.load(mo::relaxed);
                         });
            return show(a, b, c);
        });
    }
}
TEST(litmus, EXPL_10_ISA2) {
    expect(all_but(3, {"110"}), [] {
        atomic<int> x{0}, y{0}, z{0};
        int a = 0, b = 0, c = 0;
        run_together(
            [&] {
                x.store(1, mo::relaxed);
                y.store(1, mo::release);
            },
            [&] {
                a = y.load(mo::acquire);
                z.store(1, mo::release);
            },
            [&] {
                b = z.load(mo::acquire);
                c = x.load(mo::relaxed);
            });
        return show(a, b, c);
    });
}
TEST(litmus, EXPL_10_R) {
    for (const bool sc : {false, true}) {
        const litmus::outcomes expected = sc ? litmus::outcomes{"10", "11", "21"} : litmus::outcomes{"10", "11", "20", "21"};
        expect(expected, [sc] {
            atomic<int> x{0}, y{0};
            int a = 0;
            run_together(
                [&] {
                    x.store(1, sc ? mo::seq_cst : mo::release);
                    y.store(1, sc ? mo::seq_cst : mo::release);
                },
                [&] {
                    y.store(2, sc ? mo::seq_cst : mo::release);
                    a = x.load(sc ? mo::seq_cst : mo::acquire);
                });
            return show(y.load(mo::seq_cst), a);
        });
    }
}
TEST(litmus, EXPL_10_S) {
    expect({"01", "02", "11"}, [] {
        atomic<int> x{0}, y{0};
        int a = 0;
        run_together(
            [&] {
                x.store(2, mo::relaxed);
                y.store(1, mo::release);
            },
            [&] {
                a = y.load(mo::acquire);
                x.store(1, mo::relaxed);
            });
        return show(a, x.load(mo::relaxed));
    });
}
TEST(litmus, EXPL_10_LB_release_acquire) {
    expect(all_but(2, {"11"}), [] {
        atomic<int> x{0}, y{0};
        int a = 0, b = 0;
        run_together(
            [&] {
                a = x.load(mo::acquire);
                y.store(1, mo::release);
            },
            [&] {
                b = y.load(mo::acquire);
                x.store(1, mo::release);
            });
        return show(a, b);
    });
}

// --- limits: what C++ allows and the explorer does not produce (docs/verification.md) --------------------------------------

#if defined(ROOST_SEAM_MODEL)
TEST(litmus, EXPL_14_LB_relaxed_is_not_modelled) {
    expect(all_but(2, {"11"}), [] {
        atomic<int> x{0}, y{0};
        int a = 0, b = 0;
        run_together(
            [&] {
                a = x.load(mo::relaxed);
                y.store(1, mo::relaxed);
            },
            [&] {
                b = y.load(mo::relaxed);
                x.store(1, mo::relaxed);
            });
        return show(a, b);
    });
}
TEST(litmus, EXPL_14_2_2W_modification_order_is_execution_order) {
    expect({"12", "21", "22"}, [] {
        atomic<int> x{0}, y{0};
        run_together(
            [&] {
                x.store(1, mo::relaxed);
                y.store(2, mo::relaxed);
            },
            [&] {
                y.store(1, mo::relaxed);
                x.store(2, mo::relaxed);
            });
        return show(x.load(mo::relaxed), y.load(mo::relaxed));
    });
}
TEST(litmus, EXPL_14_read_modify_writes_read_the_newest_store) {
    expect(all_but(2, {"00"}), [] {
        atomic<int> x{0}, y{0};
        int a = 0, b = 0;
        run_together(
            [&] {
                x.store(1, mo::relaxed);
                a = y.fetch_add(0, mo::relaxed);
            },
            [&] {
                y.store(1, mo::relaxed);
                b = x.fetch_add(0, mo::relaxed);
            });
        return show(a, b);
    });
}
#endif
