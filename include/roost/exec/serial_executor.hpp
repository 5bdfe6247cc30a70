#pragma once

// A strand: an executor that runs one work item at a time, in the order of posting. It uses the threads of another executor,
// its target. Bodies on a strand need no lock against each other.
//
//   serial_executor account(rt, "account 7");
//   co_await on(account, deposit(10));               bodies run one at a time; each await lets the next one run
//   owned_scope work(account, "account 7");          every child of this scope runs on it
//
// post() is lock-free and allocates nothing. The strand yields after 64 bodies in a row, or half a millisecond by the
// target's clock. Then it is posted again, behind the work that is queued on the target. Destroy: when nothing will be
// posted any more. A body that runs on the strand may destroy it. The target must outlive the strand and what runs on it.

#include <roost/exec/executor.hpp>

namespace roost::inline ROOST_ABI {

class serial_executor final : public executor {
public:
    explicit serial_executor(executor_ref stands_on, std::string_view name = "serial executor");
    ~serial_executor();

    bool post(ext::work& w) noexcept override;
    ext::timer_service* timers() noexcept override;
    ext::blocking_service* blocking() noexcept override;
    [[nodiscard]] bool is_here() const noexcept override;
    [[nodiscard]] std::string_view name() const noexcept override;

private:
    class core;
    core* core_;
};

}  // namespace roost::inline ROOST_ABI
