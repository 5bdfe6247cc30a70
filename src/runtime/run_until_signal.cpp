#include <roost/runtime/run_until_signal.hpp>

#include <signal.h>

#include <mutex>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

class signal_canceller::target final : public signal_target {
public:
    target() : signal_target(signal_numbers(SIGINT, SIGTERM).without_ignored()) {}

    void arrived(int number) noexcept override {
        signal_hub::release(*this);  // the next one has its former effect
        node_ref<node> root;
        {
            const std::lock_guard hold(lock_);
            if (number_ != 0) {
                return;
            }
            number_ = number;
            root = root_;
        }
        cancel(root, number);
    }
    void cancels(const node_ref<node>& root) noexcept {
        int number = 0;
        {
            const std::lock_guard hold(lock_);
            root_ = root;
            number = number_;
        }
        if (number != 0) {
            cancel(root, number);
        }
    }
    [[nodiscard]] int number() const noexcept {
        const std::lock_guard hold(lock_);
        return number_;
    }

private:
    static void cancel(const node_ref<node>& root, int number) noexcept {
        if (!root) {
            return;
        }
        reason why = reason::plain_kind(reason_kind::shutdown);
        try {
            why = reason(reason_kind::shutdown, signal_name_of(number), root->made_at());
        } catch (...) {}  // no memory for its name
        root->cancel(std::move(why));
    }

    mutable os_mutex lock_;
    node_ref<node> root_;
    int number_ = 0;
};

signal_canceller::signal_canceller() : target_(std::make_shared<target>()) { signal_hub::add(target_); }
signal_canceller::~signal_canceller() { signal_hub::remove(*target_); }
void signal_canceller::cancels(const node_ref<node>& root) noexcept { target_->cancels(root); }
int signal_canceller::number() const noexcept { return target_->number(); }

}  // namespace roost::inline ROOST_ABI::detail
