#include <roost/runtime/detail/injector.hpp>
#include <roost/runtime/detail/work_stack.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

namespace rt = roost::testing;
using namespace roost;
using namespace roost::ext;
using namespace roost::seam;

struct item : work {
    item() : work(+[](work&) noexcept {}) {}
    plain<int> content{0};
    plain<int> taken{0};
};

bool push(detail::work_stack& s, item& i) {
    i.content.set(1);
    return s.push(i) != detail::work_stack::pushed::refused;
}

int take(work* chain) {
    int count = 0;
    while (chain != nullptr) {
        auto* i = static_cast<item*>(chain);
        chain = chain->next;
        rt::check(i->content.get() == 1, "the taker of an item sees what its poster wrote");
        i->taken.set(i->taken.get() + 1);
        ++count;
    }
    return count;
}

MODEL_COMPLETE(work_stack, RUN_12_item_visible) {
    detail::work_stack s;
    item a;
    item b;
    int by_other = 0;
    thread poster([&] { rt::check(push(s, a), "open"); });
    thread taker([&] { by_other = take(s.take()); });
    rt::check(push(s, b), "open");
    poster.join();
    taker.join();
    rt::check(by_other + take(s.take()) == 2, "nothing is lost");
    rt::check(a.taken.get() == 1 && b.taken.get() == 1, "everything is taken once");
}

// An item taken and pushed again while another push holds its address as the expected head.
MODEL_COMPLETE(work_stack, RUN_12_same_head_again) {
    detail::work_stack s;
    item a;
    item b;
    rt::check(push(s, a), "open");
    thread poster([&] { rt::check(push(s, b), "open"); });
    int count = take(s.take());
    for (item* i : {&a, &b}) {
        if (i->taken.get() == 1 && i == &a) {
            rt::check(push(s, a), "open");
            ++count;
        }
    }
    poster.join();
    const int rest = take(s.take());
    rt::check(count + rest == 4 || count + rest == 3, "each push is taken once");
    rt::check(b.taken.get() == 1, "nothing is lost");
}

bool push_anyhow(detail::work_stack& s, item& i) {
    i.content.set(1);
    return s.push_further(i) || s.push(i) != detail::work_stack::pushed::refused;
}

MODEL_COMPLETE(work_stack, RUN_152_further_item_visible) {
    detail::work_stack s;
    item a;
    item b;
    item c;
    int by_other = 0;
    rt::check(push(s, a), "open");
    thread poster([&] { rt::check(push_anyhow(s, b), "open"); });
    thread taker([&] { by_other = take(s.take()); });
    rt::check(push_anyhow(s, c), "open");
    poster.join();
    taker.join();
    rt::check(by_other + take(s.take()) == 3, "nothing is lost");
    rt::check(a.taken.get() == 1 && b.taken.get() == 1 && c.taken.get() == 1, "everything is taken once");
}

MODEL_COMPLETE(work_stack, RUN_150_a_second_close_sees_the_first) {
    detail::work_stack s;
    plain<int> before{0};
    thread closer([&] {
        before.set(1);
        static_cast<void>(s.close());
    });
    if (!s.close()) {
        rt::check(before.get() == 1, "what the first closer did before");
    }
    closer.join();
}

MODEL_COMPLETE(work_stack, RUN_13_close_or_push) {
    detail::work_stack s;
    item a;
    bool accepted = false;
    plain<int> closed_by{0};
    thread poster([&] { accepted = push(s, a); });
    closed_by.set(1);
    rt::check(s.close(), "the first close");
    const int first = take(s.take());
    poster.join();
    rt::check(!s.close(), "closed already");
    rt::check(s.is_empty(), "nothing arrives after close() and take()");
    rt::check(first == (accepted ? 1 : 0), "accepted and taken, or refused");
}

MODEL_COMPLETE(injector, RUN_12_first_in_first_out_and_nothing_lost) {
    detail::injector outside;
    item items[3];
    for (item& i : items) {
        i.content.set(1);
    }
    rt::check(outside.push(items[0]) && outside.push(items[1]), "open");
    int order_broken = 0;
    atomic<int> got{0};
    const auto fetch = [&] {
        work* batch[2];
        const std::size_t count = outside.fetch(2, batch);
        for (std::size_t n = 0; n < count; ++n) {
            rt::check(static_cast<item*>(batch[n])->content.get() == 1, "the taker of an item sees what its poster wrote");
        }
        if (count == 2 && batch[0] > batch[1]) {
            order_broken = 1;
        }
        got.fetch_add(static_cast<int>(count), mo::relaxed);
    };
    thread worker(fetch);
    rt::check(outside.push(items[2]), "open");
    worker.join();
    fetch();
    fetch();
    rt::check(got.load(mo::relaxed) == 3, "nothing is lost");
    rt::check(order_broken == 0, "first in, first out");
}

}  // namespace
