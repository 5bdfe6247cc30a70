// Histories of broadcast, watch and the waiting sends of a channel, as in linearizable_model. Who subscribes or observes is
// used by one at a time: each call has one of its own, or the one that the same thread has finished with.

#include <roost/sync/broadcast.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/watch.hpp>

#include "linearizable_histories.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace {

using roost::testing::check;
using testing_support::both_searches;
using testing_support::calls_each;
using testing_support::cancelled;
using testing_support::history;
using testing_support::leave_all;
using testing_support::recorded_call;
using testing_support::threads;
using testing_support::try_histories;
using testing_support::waits;

constexpr int nothing = -2;
constexpr int is_closed = -3;
constexpr std::size_t places = std::size_t{threads} * calls_each;

// The thread's first place again, until it waits with it.
template <class Waiting>
std::size_t place_of(int me, const Waiting& waiting) {
    return std::size_t{calls_each} * static_cast<std::size_t>(me) + waiting[me].size();
}

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
    for (std::size_t i = 0; i < places; ++i) {
        subscribers.emplace_back(b);
    }
    waits<roost::broadcast<int>::subscriber::operation> waiting[threads];
    try_histories(
        kinds,
        [&](history& h, int me, std::uint32_t what) {
            const std::size_t who = place_of(me, waiting);
            if (what >= receive) {
                auto& one = waiting[me].emplace_back(
                    h, receive, subscribers[who].receive(), [](auto& item) { return answer_of(item); },
                    static_cast<int>(who));
                if (what == receive_and_cancel) {
                    one.cancel();
                }
                return;
            }
            const int argument = what == send ? me + 1 : static_cast<int>(who);
            const std::size_t place = h.begin(static_cast<int>(what), argument);
            int answer = 0;
            if (what == send) {
                answer = b.send(argument);
            } else if (what == close) {
                b.close();
            } else {
                auto item = subscribers[who].try_receive();
                answer = answer_of(item);
            }
            h.end(place, answer);
        },
        [&] {
            leave_all(waiting, left);
            check(b.waiters_now() == 0, "nobody is left");
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
    for (std::size_t i = 0; i < places; ++i) {
        observers.emplace_back(w);
    }
    waits<roost::watch<int>::observer::operation> waiting[threads];
    try_histories(
        kinds,
        [&](history& h, int me, std::uint32_t what) {
            const std::size_t who = place_of(me, waiting);
            if (what >= changed) {
                auto& one = waiting[me].emplace_back(
                    h, changed, observers[who].changed(), [](bool is_new) { return is_new ? 1 : 0; }, static_cast<int>(who));
                if (what == changed_and_cancel) {
                    one.cancel();
                }
                return;
            }
            const int argument = what == set ? me + 1 : static_cast<int>(who);
            const std::size_t place = h.begin(static_cast<int>(what), argument);
            int answer = 0;
            switch (what) {
                case set: w.set(argument); break;
                case close: w.close(); break;
                case get: answer = observers[who].get(); break;
                default: answer = observers[who].has_changed(); break;
            }
            h.end(place, answer);
        },
        [&] {
            leave_all(waiting, left);
            check(w.waiters_now() == 0, "nobody is left");
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

// --- channel: sends that wait --------------------------------------------------------------------------------------------------
// A value that goes from hand to hand is in the channel for a moment, so a rendezvous has the specification of one place.
struct channel_spec {
    std::deque<int> values;
    bool closed = false;
    bool has_senders = false;  // in the end
};

void sending_histories(std::size_t capacity) {
    enum { close, receive_now, receive, receive_and_cancel, send, send_and_cancel, kinds, sender_left, receiver_left };
    roost::channel<int> c(capacity, "c");
    waits<roost::channel<int>::receive_operation> receiving[threads];
    waits<roost::channel<int>::send_operation> sending[threads];
    try_histories(
        kinds,
        [&](history& h, int me, std::uint32_t what) {
            if (what >= send) {
                const int value = me * 10 + static_cast<int>(sending[me].size()) + 1;
                auto& one =
                    sending[me].emplace_back(h, send, c.send(value), [](auto& how) { return how ? 1 : is_closed; }, value);
                if (what == send_and_cancel) {
                    one.cancel();
                }
                return;
            }
            if (what >= receive) {
                auto& one =
                    receiving[me].emplace_back(h, receive, c.receive(), [](auto& got) { return got ? *got : is_closed; });
                if (what == receive_and_cancel) {
                    one.cancel();
                }
                return;
            }
            const std::size_t place = h.begin(static_cast<int>(what));
            int answer = 0;
            if (what == close) {
                answer = c.close();
            } else {
                auto got = c.try_receive();
                answer = got ? *got : nothing;
            }
            h.end(place, answer);
        },
        [&] {
            leave_all(sending, sender_left);
            leave_all(receiving, receiver_left);
        },
        channel_spec(),
        [capacity](channel_spec& s, const recorded_call& call) {
            const auto take_first = [&] {
                const bool right = !s.values.empty() && s.values.front() == call.answer;
                if (right) {
                    s.values.pop_front();
                }
                return right;
            };
            if (call.answer == cancelled) {
                return call.what == send || call.what == receive;
            }
            switch (call.what) {
                case close: {
                    const bool first = !s.closed;
                    s.closed = true;
                    return call.answer == static_cast<int>(first);
                }
                case sender_left: s.has_senders = true; return !s.closed && s.values.size() == capacity;
                case receiver_left: return !s.closed && s.values.empty() && !s.has_senders;
                case receive_now: return call.answer == nothing ? s.values.empty() : take_first();
                case receive: return call.answer == is_closed ? s.closed && s.values.empty() : take_first();
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
