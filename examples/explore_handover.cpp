// Exploring your own lock-free code: a one-place mailbox, its model, and what a wrong memory order would do.
// Built normally this runs on real threads; built with ROOST_SEAM_MODEL every interleaving is tried.

#include <roost/base/atomic.hpp>
#include <roost/testing/explore.hpp>

#include <cstdio>

// begin mailbox
// One sender, one receiver, one letter at a time.
class mailbox {
public:
    bool try_send(int letter) {
        if (full_.load(roost::seam::mo::acquire)) {
            return false;
        }
        letter_.set(letter);
        full_.store(true, roost::seam::mo::release);
        return true;
    }
    bool try_receive(int& letter) {
        if (!full_.load(roost::seam::mo::acquire)) {
            return false;
        }
        letter = letter_.get();
        full_.store(false, roost::seam::mo::release);
        return true;
    }

private:
    roost::seam::atomic<bool> full_{false};
    roost::seam::plain<int> letter_{0};
};
// end mailbox

// begin model
void letters_arrive_in_order() {
    mailbox box;
    roost::seam::thread sender([&] {
        for (int letter = 1; letter <= 2; ++letter) {
            while (!box.try_send(letter)) {
                roost::seam::yield_thread();
            }
        }
    });
    for (int expected = 1; expected <= 2; ++expected) {
        int letter = 0;
        while (!box.try_receive(letter)) {
            roost::seam::yield_thread();
        }
        roost::testing::check(letter == expected, "letters arrive once and in order");
    }
    sender.join();
}
// end model

// begin run
int main() {
    const auto result = roost::testing::explore({.name = "mailbox"}, letters_arrive_in_order);
    std::printf("%s\n", result.report("mailbox").c_str());
    return result.ok() ? 0 : 1;
}
// end run
