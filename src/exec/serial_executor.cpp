#include <roost/exec/serial_executor.hpp>

#include <roost/base/atomic.hpp>
#include <roost/exec/timer.hpp>

#include <new>
#include <string>

namespace roost::inline ROOST_ABI {

using namespace ext;

using namespace seam;

// Reference-counted: the executor holds one reference, and a pump that is posted or runs holds another. So the last body may
// destroy the executor although the pump has not returned.
//
// incoming   null              idle: no pump
//            the core itself   a pump is posted or runs, nothing is new
//            a work            a pump is posted or runs; this was posted last, and links to what was posted before it
//
//   idle --post--> w            the poster posts the pump: nothing can run before, so it may still touch the core
//   busy --post--> w            the poster's last touch
//   w --pump--> busy            takes them all
//   busy --pump--> idle         the pump's last touch but for its count
//
// id  operation                      order    why
// S1  incoming: load, CAS, exchange  seq_cst  not weakened: one uncontended step per post
// S2  owners: fetch_add, fetch_sub   seq_cst  not weakened: once per pump
// S3  runner: load, store            relaxed  (floor: a thread only asks whether it wrote its own index)
class serial_executor::core final : private work {
public:
    core(executor_ref stands_on, std::string_view name) : work(&pump), below(stands_on), name_text(name) {}

    static core* make(executor_ref stands_on, std::string_view name) {
        void* memory = allocate(sizeof(core));
        try {
            return new (memory) core(stands_on, name);
        } catch (...) {
            deallocate(memory, sizeof(core));
            throw;
        }
    }
    void release() noexcept {
        if (owners_.fetch_sub(1, mo::seq_cst) == 1) {  // S2
            this->~core();
            deallocate(this, sizeof(core));
        }
    }

    bool post_one(work& w) noexcept {
        work* last = incoming_.load(mo::seq_cst);  // S1
        do {
            w.next = last;
        } while (!incoming_.compare_exchange_weak(last, &w, mo::seq_cst, mo::seq_cst));  // S1
        return last != nullptr || start(w);
    }
    [[nodiscard]] bool runs_here() const noexcept { return runner_.load(mo::relaxed) == thread_index(); }  // S3

    const executor_ref below;
    const std::string name_text;

private:
    static constexpr std::uint32_t no_runner = ~std::uint32_t{0};
    static constexpr int in_a_row = 64;
    static constexpr duration longest = std::chrono::microseconds(500);  // after that no further body begins

    ~core() = default;

    // Called with the first work since the last pump left. Returns false, and takes w back, if the executor below is closed and
    // no other work was posted meanwhile.
    bool start(work& w) noexcept {
        owners_.fetch_add(1, mo::seq_cst);  // S2
        if (below.post(*this)) {
            return true;
        }
        work* expected = &w;
        if (incoming_.compare_exchange_strong(expected, nullptr, mo::seq_cst, mo::seq_cst)) {  // S1
            w.next = nullptr;
            owners_.fetch_sub(1, mo::seq_cst);  // S2
            return false;
        }
        detail::fall_back(below, *this, name_text);
        return true;
    }

    static void pump(work& self) noexcept { static_cast<core&>(self).run_some(); }
    void run_some() noexcept {
        runner_.store(thread_index(), mo::relaxed);  // S3
        timer_service* const clock = below->timers();
        const time_point until = clock == nullptr ? no_deadline : deadline_after(clock->now(), longest);
        for (int i = 0; i < in_a_row && (i == 0 || clock == nullptr || clock->now() < until); ++i) {
            if (ready_.is_empty() && !take_incoming()) {
                release();
                return;
            }
            ready_.pop()->run();
        }
        runner_.store(no_runner, mo::relaxed);  // S3
        if (!below->post_last(*this)) {
            detail::fall_back(below, *this, name_text);
        }
    }
    // Returns false if there was nothing; then another thread may post a new pump.
    bool take_incoming() noexcept {
        work* const busy = this;
        work* expected = busy;
        runner_.store(no_runner, mo::relaxed);  // S3
        if (incoming_.compare_exchange_strong(expected, nullptr, mo::seq_cst, mo::seq_cst)) {  // S1
            return false;
        }
        runner_.store(thread_index(), mo::relaxed);  // S3
        work* newest = incoming_.exchange(busy, mo::seq_cst);  // S1
        while (newest != nullptr && newest != busy) {
            work* const before = newest->next;
            ready_.push_front(*newest);
            newest = before;
        }
        return true;
    }

    atomic<work*> incoming_{nullptr};
    atomic<std::uint32_t> owners_{1};
    atomic<std::uint32_t> runner_{no_runner};
    work_list ready_;  // used by the pump only
};

serial_executor::serial_executor(executor_ref stands_on, std::string_view name) : core_(core::make(stands_on, name)) {}
serial_executor::~serial_executor() { core_->release(); }
bool serial_executor::post(work& w) noexcept { return core_->post_one(w); }
timer_service* serial_executor::timers() noexcept { return core_->below->timers(); }
blocking_service* serial_executor::blocking() noexcept { return core_->below->blocking(); }
bool serial_executor::is_here() const noexcept { return core_->runs_here(); }
std::string_view serial_executor::name() const noexcept { return core_->name_text; }

}  // namespace roost::inline ROOST_ABI
