// Histories of broadcast, watch and channel, as in linearizable_model. Who subscribes or observes is used by one at a time: each
// call has one of its own, or the one that the same thread has finished with.

#include <roost/sync/broadcast.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/watch.hpp>

#include "linearizable_histories.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace {

using namespace testing_support;
using roost::testing::check;

constexpr int nothing = -2;
constexpr int is_closed = -3;

// --- broadcast ---------------------------------------------------------------------------------------------------------------
struct stream {
    std::vector<int> sent;
    std::size_t seen[places] = {};
    bool closed = false;
};
constexpr std::size_t kept = 2;

int answer_of(roost::broadcast_item<int>& item) {
    if (item) {
        return *item * 10 + static_cast<int>(item.missed());
    }
    return item.status() == roost::wait_status::closed ? is_closed : nothing;
}

void broadcast_histories() {
    enum { send, close, receive_now, receive, receive_and_cancel, kinds, left };
    roost::broadcast<int> b(kept, "b");
    std::deque<roost::broadcast<int>::subscriber> subscribers;
    for (int i = 0; i < places; ++i) {
        subscribers.emplace_back(b);
    }
    waits<roost::broadcast<int>::subscriber::operation> waiting;
    try_histories(
        kinds,
        [&](history& h, int me, std::uint32_t what) {
            const int who = waiting.place_of(me);  // the thread's first place again, until it waits with it
            auto& mine = subscribers[static_cast<std::size_t>(who)];
            switch (what) {
                case send: h.record(send, me + 1, [&] { return b.send(me + 1); }); return;
                case close: h.record(close, [&] { b.close(); }); return;
                case receive_now:
                    h.record(receive_now, who, [&] {
                        auto item = mine.try_receive();
                        return answer_of(item);
                    });
                    return;
                default:
                    waiting.begin(
                        h, me, receive, what == receive_and_cancel, [&] { return mine.receive(); },
                        [](auto& item) { return answer_of(item); }, who);
            }
        },
        [&] {
            waiting.leave_all(left);
            check(b.waiters_now() == 0, "none is left");
        },
        stream(),
        [](stream& s, const recorded_call& c) {
            switch (c.what) {
                case send:
                    if (c.answer != 0) {
                        s.sent.push_back(c.argument);
                    }
                    return (c.answer != 0) != s.closed;
                case close: s.closed = true; return true;
                case left: return s.seen[c.argument] == s.sent.size() && !s.closed;
                default: {
                    std::size_t& seen = s.seen[c.argument];
                    if (c.answer == cancelled) {
                        return c.what == receive;
                    }
                    if (c.answer == is_closed || c.answer == nothing) {
                        const bool right = s.closed ? c.answer == is_closed : c.answer == nothing && c.what == receive_now;
                        return seen == s.sent.size() && right;
                    }
                    if (seen == s.sent.size()) {
                        return false;
                    }
                    const std::size_t oldest = s.sent.size() < kept ? 0 : s.sent.size() - kept;
                    const std::size_t from = seen < oldest ? oldest : seen;
                    const bool right = c.answer == s.sent[from] * 10 + static_cast<int>(from - seen);
                    seen = from + 1;
                    return right;
                }
            }
        });
}
TEST(linearizable_streams_model, broadcast) { both_searches(broadcast_histories); }

// --- watch -------------------------------------------------------------------------------------------------------------------
struct watched {
    int value = 0;
    int version = 0;
    int seen[places] = {};
    bool closed = false;
};

void watch_histories() {
    enum { set, close, get, look, changed, changed_and_cancel, kinds, left };
    roost::watch<int> w(0, "w");
    std::deque<roost::watch<int>::observer> observers;
    for (int i = 0; i < places; ++i) {
        observers.emplace_back(w);
    }
    waits<roost::watch<int>::observer::operation> waiting;
    try_histories(
        kinds,
        [&](history& h, int me, std::uint32_t what) {
            const int who = waiting.place_of(me);
            auto& mine = observers[static_cast<std::size_t>(who)];
            switch (what) {
                case set: h.record(set, me + 1, [&] { w.set(me + 1); }); return;
                case close: h.record(close, [&] { w.close(); }); return;
                case get: h.record(get, who, [&] { return mine.get(); }); return;
                case look: h.record(look, who, [&] { return mine.has_changed(); }); return;
                default:
                    waiting.begin(
                        h, me, changed, what == changed_and_cancel, [&] { return mine.changed(); },
                        [](bool is_new) { return is_new ? 1 : 0; }, who);
            }
        },
        [&] {
            waiting.leave_all(left);
            check(w.waiters_now() == 0, "none is left");
        },
        watched(),
        [](watched& s, const recorded_call& c) {
            switch (c.what) {
                case set:
                    s.value = c.argument;
                    ++s.version;
                    return true;
                case close: s.closed = true; return true;
                case get: s.seen[c.argument] = s.version; return c.answer == s.value;
                case left: return s.version == s.seen[c.argument] && !s.closed;
                case look: return c.answer == static_cast<int>(s.version != s.seen[c.argument]);
                default:
                    return c.answer == cancelled ||
                           (c.answer == 1 ? s.version != s.seen[c.argument] : s.closed && s.version == s.seen[c.argument]);
            }
        });
}
TEST(linearizable_streams_model, watch) { both_searches(watch_histories); }

// --- channel -----------------------------------------------------------------------------------------------------------------
struct queue {
    std::deque<int> values;
    bool closed = false;
    bool has_senders = false;  // in the end
    bool close(int answer) { return answer == static_cast<int>(!std::exchange(closed, true)); }
    bool take_first(int answer) {
        const bool right = !values.empty() && values.front() == answer;
        if (right) {
            values.pop_front();
        }
        return right;
    }
};
template <class Received>
int answer_of(Received&& got, int otherwise) {
    return got ? *got : otherwise;
}

void channel_histories() {
    enum { send, receive_now, close, receive, receive_and_cancel, kinds, left };
    roost::channel<int> c(1, "c");
    waits<roost::channel<int>::receive_operation> waiting;
    try_histories(
        kinds,
        [&](history& h, int me, std::uint32_t what) {
            const int value = me * 10 + 5;
            switch (what) {
                case send: h.record(send, value, [&] { return static_cast<bool>(c.try_send(value)); }); return;
                case receive_now: h.record(receive_now, [&] { return answer_of(c.try_receive(), nothing); }); return;
                case close: h.record(close, [&] { return c.close(); }); return;
                default:
                    waiting.begin(
                        h, me, receive, what == receive_and_cancel, [&] { return c.receive(); },
                        [](auto& got) { return answer_of(got, is_closed); });
            }
        },
        [&] { waiting.leave_all(left); }, queue(),
        [](queue& s, const recorded_call& call) {
            switch (call.what) {
                case send:
                    if (call.answer != 0) {
                        s.values.push_back(call.argument);
                        return !s.closed;
                    }
                    return s.closed || !s.values.empty();
                case receive_now: return call.answer == nothing ? s.values.empty() : s.take_first(call.answer);
                case close: return s.close(call.answer);
                case left: return s.values.empty() && !s.closed;
                default:
                    return call.answer == cancelled ||
                           (call.answer == is_closed ? s.closed && s.values.empty() : s.take_first(call.answer));
            }
        });
}
TEST(linearizable_streams_model, channel) { both_searches(channel_histories); }

// Sends that wait. A value that goes from hand to hand is in the channel for a moment, so a rendezvous has the specification of
// one place.
void sending_histories(std::size_t capacity) {
    enum { close, receive_now, receive, receive_and_cancel, send, send_and_cancel, kinds, sender_left, receiver_left };
    roost::channel<int> c(capacity, "c");
    waits<roost::channel<int>::receive_operation> receiving;
    waits<roost::channel<int>::send_operation> sending;
    try_histories(
        kinds,
        [&](history& h, int me, std::uint32_t what) {
            const int value = me * 10 + static_cast<int>(sending.begun(me)) + 1;
            switch (what) {
                case close: h.record(close, [&] { return c.close(); }); return;
                case receive_now: h.record(receive_now, [&] { return answer_of(c.try_receive(), nothing); }); return;
                case receive:
                case receive_and_cancel:
                    receiving.begin(
                        h, me, receive, what == receive_and_cancel, [&] { return c.receive(); },
                        [](auto& got) { return answer_of(got, is_closed); });
                    return;
                default:
                    sending.begin(
                        h, me, send, what == send_and_cancel, [&] { return c.send(value); },
                        [](auto& how) { return how ? 1 : is_closed; }, value);
            }
        },
        [&] {
            sending.leave_all(sender_left);
            receiving.leave_all(receiver_left);
        },
        queue(),
        [capacity](queue& s, const recorded_call& call) {
            if (call.answer == cancelled) {
                return call.what == send || call.what == receive;
            }
            switch (call.what) {
                case close: return s.close(call.answer);
                case sender_left: s.has_senders = true; return !s.closed && s.values.size() == capacity;
                case receiver_left: return !s.closed && s.values.empty() && !s.has_senders;
                case receive_now: return call.answer == nothing ? s.values.empty() : s.take_first(call.answer);
                case receive: return call.answer == is_closed ? s.closed && s.values.empty() : s.take_first(call.answer);
                default:
                    if (call.answer == is_closed) {
                        return s.closed;
                    }
                    s.values.push_back(call.argument);
                    return !s.closed && s.values.size() == 1;
            }
        });
}
TEST(linearizable_streams_model, channel_that_is_full) {
    both_searches([] { sending_histories(1); });
}
TEST(linearizable_streams_model, channel_from_hand_to_hand) {
    both_searches([] { sending_histories(0); });
}

}  // namespace
