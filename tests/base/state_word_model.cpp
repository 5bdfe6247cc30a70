// Models of the state word: every interleaving of two committers and an observer (clauses BASE-11 and BASE-12).

#include <roost/base/detail/state_word.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using roost::testing::check;

struct turn {
    std::uint32_t count = 0;
    [[nodiscard]] std::uint32_t pack() const noexcept { return count; }
    [[nodiscard]] static turn unpack(std::uint32_t word) noexcept { return {word}; }
};

roost::detail::step<turn, std::uint32_t> next(turn t) noexcept { return roost::detail::go(turn{t.count + 1}, t.count); }

// What the first committer wrote before its step is visible to the second one, in either order.
MODEL(state_word_model, hand_over) {
    roost::detail::state_word<turn> word;
    roost::seam::plain<int> cargo{0};
    const auto visit = [&] {
        const std::uint32_t before = word.transition(next);
        if (before == 0) {
            cargo.set(1);
            static_cast<void>(word.transition(next));  // 1 -> 2 publishes the cargo
        } else if (before == 2) {
            check(cargo.get() == 1, "BASE-12: the earlier committer's writes are visible");
        }
    };
    roost::seam::thread other(visit);
    visit();
    other.join();
}

MODEL(state_word_model, peek) {
    roost::detail::state_word<turn> word;
    roost::seam::plain<int> cargo{0};
    roost::seam::thread writer([&] {
        cargo.set(7);
        static_cast<void>(word.transition(next));
    });
    if (word.peek().count == 1) {
        check(cargo.get() == 7, "BASE-12: whoever sees the committed state sees what was written before it");
    }
    writer.join();
}

// A refused step hands over what the last committer wrote, because it has acquired the state it refused on.
MODEL(state_word_model, refused) {
    roost::detail::state_word<turn> word;
    roost::seam::plain<int> cargo{0};
    roost::seam::thread writer([&] {
        cargo.set(7);
        static_cast<void>(word.transition(next));
    });
    const bool late = word.transition([](turn t) noexcept {
        return t.count == 0 ? roost::detail::refuse<turn>(false) : roost::detail::refuse<turn>(true);
    });
    if (late) {
        check(cargo.get() == 7, "BASE-12: a refusal has seen what it was refused for");
    }
    writer.join();
}

// A step that had to be decided again commits on the state it was decided on.
MODEL(state_word_model, decided_again) {
    roost::detail::state_word<turn> word;
    roost::seam::thread other([&] { static_cast<void>(word.transition(next)); });
    static_cast<void>(word.transition(next));
    other.join();
    check(word.peek().count == 2, "BASE-11: each call commits exactly one step");
}

// The state comes back to what it was: a committer has seen what was done in between, although it loaded before.
MODEL(state_word_model, same_again) {
    roost::detail::state_word<turn> word;
    roost::seam::plain<int> cargo{0};
    const auto visit = [&] {
        const bool mine = word.transition([](turn t) noexcept {
            return t.count == 0 ? roost::detail::go(turn{1}, true) : roost::detail::refuse<turn>(false);
        });
        if (mine) {
            cargo.set(cargo.get() + 1);
            static_cast<void>(word.transition([](turn) noexcept { return roost::detail::go(turn{0}, true); }));
        }
    };
    roost::seam::thread other(visit);
    visit();
    other.join();
    check(cargo.get() >= 1, "BASE-12: the one before is visible to the one who follows");
}

// Refused after it had to be decided again: that, too, has seen what it was refused for.
MODEL(state_word_model, refused_again) {
    roost::detail::state_word<turn> word;
    roost::seam::plain<int> cargo{0};
    roost::seam::thread writer([&] {
        cargo.set(7);
        static_cast<void>(word.transition(next));
    });
    const bool late = word.transition([](turn t) noexcept {
        return t.count == 1 ? roost::detail::refuse<turn>(true) : roost::detail::go(turn{5}, false);
    });
    if (late) {
        check(cargo.get() == 7, "BASE-12: a refusal has seen what it was refused for");
    }
    writer.join();
}

}  // namespace
