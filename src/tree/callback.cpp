#include <roost/base/failure_sink.hpp>
#include <roost/exec/detail/activity.hpp>
#include <roost/tree/callback.hpp>

#include <climits>

// A callback that runs on an executor.
//
// 1. Why it is not simpler. Between posting and running, the executor holds a pointer into the block that cannot be taken back.
//    A registration that is removed meanwhile leaves the block to the executor: two holders, and the last one frees it.
//
// 3. States   waiting    the level has not been reached
//             posted     in an executor's queue
//             running    fn runs on thread runner_
//             done       fn ran, or never will
//             + awaited: remove() is blocked until done
//
// 5. Field access   listed_, observed_, on_: add() and remove(); on_ also level_reached, which remove() waits for
//                   observed_ is constant after add(): run_posted reads it when fn has thrown
//                   runner_: written before `running`, read after it
//
// 7. Ordering table
// id  operation                     order            pairs  carries                             fails in
// B1  level_reached: store posted   relaxed          -      the executor's queue orders it      (floor)
// B2  run_posted: CAS running       release/relaxed  B3     out: runner_                         callback_model: remove_vs_run
// B3  remove: CAS done, awaited     relaxed/acquire  B2 B4  in: runner_, what fn did            callback_model: remove_vs_run
// B4  run_posted: exchange done     release          B3     out: what fn did                    callback_model: remove_vs_run
// B5  drop: fetch_sub               acq_rel          B5     accesses end before the block goes  callback_model: remove_vs_run
// B6  level_reached: fetch_add      relaxed          -      the registration holds one          (floor)
// B6 survives fetch_add as load and store: remove() waits for level_reached, so no other thread counts meanwhile

namespace roost::inline ROOST_ABI::detail {

namespace {
constexpr std::uint32_t waiting = 0;
constexpr std::uint32_t posted = 1;
constexpr std::uint32_t running = 2;
constexpr std::uint32_t done = 3;
constexpr std::uint32_t awaited = 4;
}  // namespace

namespace {

// The runtime's watcher names a callback that keeps its worker, as it names such a body. Models leave it out: it would be
// part of every search.
#if defined(ROOST_SEAM_MODEL)
class busy_in_callback {
public:
    explicit busy_in_callback(const node*) noexcept {}
};
#else
class busy_in_callback {
public:
    explicit busy_in_callback(const node* of) noexcept
        : label_("a callback", of == nullptr ? site() : of->made_at()), running_(label_) {}

private:
    activity_label label_;
    running_as running_;
};
#endif

}  // namespace

void report_thrown(const char* what, const node* at) noexcept {
    report_failure(what, at == nullptr ? std::string_view() : at->name(), at == nullptr ? site() : at->made_at(),
                   std::current_exception());
}

posted_callback::listed_part::listed_part(level at, posted_callback& block) noexcept
    : callback_member(at, &level_reached), owner(block) {}
posted_callback::work_part::work_part(posted_callback& block) noexcept : work(&run_posted), owner(block) {}
posted_callback::posted_callback(call_function call, destroy_function destroy) noexcept
    : call_(call), destroy_(destroy), work_(*this) {}

void posted_callback::add(token observed, level at, executor_ref on) {
    if (!on) {
        panic("callback", {}, site(),
              "it needs an executor to run on; use inline_callback to run it on the stack of the caller that raises the "
              "level");
    }
    on_ = on;
    node* target = tree_access::target_of(observed);
    observed_ = std::move(observed);
    if (target != nullptr) {
        listed_ = std::make_unique<listed_part>(at, *this);
        listed_->add(*target);
    }
}

void posted_callback::level_reached(callback_member& m) noexcept {
    posted_callback& self = static_cast<listed_part&>(m).owner;
    self.holders_.fetch_add(1, mo::relaxed);  // B6
    self.state_.store(posted, mo::relaxed);  // B1
    post_or_fall_back(self.on_, self.work_, "callback");
}

void posted_callback::run_posted(work& w) noexcept {
    posted_callback& self = static_cast<work_part&>(w).owner;
    std::uint32_t seen = posted;
    self.runner_.set(thread_index());
    if (self.state_.compare_exchange_strong(seen, running, mo::release, mo::relaxed)) {  // B2
        try {
            const busy_in_callback watched(tree_access::target_of(self.observed_));
            self.call_(self);
        } catch (...) {
            report_thrown("a callback of", tree_access::target_of(self.observed_));
        }
        const atomic<std::uint32_t>* address = &self.state_;
        if ((self.state_.exchange(done, mo::release) & awaited) != 0) {  // B4
            wake_on(address, INT_MAX);
        }
    }
    self.drop();
}

void posted_callback::remove() noexcept {
    if (listed_) {
        listed_->remove();  // afterwards it is waiting for ever, or posted or further
    }
    std::uint32_t seen = waiting;
    while (seen != done && !state_.compare_exchange_weak(seen, done, mo::relaxed, mo::acquire)) {  // B3
        if ((seen & ~awaited) == running) {
            if (runner_.get() == thread_index()) {
                break;
            }
            if (seen == running &&
                !state_.compare_exchange_strong(seen, running | awaited, mo::relaxed, mo::acquire)) {  // B3
                continue;
            }
            wait_on(state_, running | awaited);
            seen = waiting;
        }
    }
    drop();
}

void posted_callback::drop() noexcept {
    if (holders_.fetch_sub(1, mo::acq_rel) == 1) {  // B5
        destroy_(*this);
    }
}

}  // namespace roost::inline ROOST_ABI::detail
