// Member functions of channel_core; included by channel_core.hpp only.

namespace roost::inline ROOST_ABI::detail {

// Called under the lock. Hands the value to the first receiver; null if there is none.
template <class T>
wait_list::picked channel_core<T>::give_to_receiver(T& value, waiter* active) noexcept {
    const wait_list::picked found = receivers_.pick(active);
    if (auto* first = static_cast<receiving_node<T>*>(found.who())) {
        receivers_.take(*first, claim::delivered);  // mutate
        first->slot->emplace(std::move(value));
    }
    return found;
}

// Called under the lock. Completes the first sender: its value goes into `slot`, or into the buffer if that is null.
template <class T>
wait_list::picked channel_core<T>::admit_sender(std::optional<T>* slot, waiter* active) noexcept {
    const wait_list::picked found = senders_.pick(active);
    if (auto* first = static_cast<sending_node<T>*>(found.who())) {
        senders_.take(*first, claim::delivered);  // mutate
        if (slot != nullptr) {
            slot->emplace(std::move(*first->value));
        } else {
            buffer_.push_back(std::move(*first->value));
        }
    }
    return found;
}

template <class T>
wait_status channel_core<T>::send(T& value, sending_node<T>* w) {
    receivers_.lock();
    if (is_closed_) {  // recheck
        receivers_.unlock();
        return wait_status::closed;
    }
    const wait_list::picked receiver = give_to_receiver(value, w);
    if (receiver.who() != nullptr) {
        unlock_and_deliver(receiver.who());
        return wait_status::done;
    }
    if (limit_ == channel_unbounded && !has_slots(1)) {
        const std::size_t wanted = slots_wanted();
        receivers_.unlock();
        make_room(wanted);
        return send(value, w);
    }
    wait_status how = wait_status::would_wait;
    if (receiver.is_lost()) {
        how = wait_status::would_wait;
    } else if (buffer_.size() < limit_) {
        if (may_act(w)) {
            buffer_.push_back(std::move(value));
            how = wait_status::done;
        }
    } else if (w != nullptr) {
        senders_.push_back(*w);
    }
    receivers_.unlock();
    return how;
}

template <class T>
wait_status channel_core<T>::receive(std::optional<T>& slot, receiving_node<T>* w) {
    receivers_.lock();
    waiter* sender = nullptr;
    wait_status how = wait_status::would_wait;
    if (buffer_.size() > 0) {
        if (may_act(w)) {
            slot.emplace(buffer_.pop_front());
            sender = buffer_.size() < limit_ ? admit_sender(nullptr, nullptr).who() : nullptr;
            how = wait_status::done;
        }
    } else {
        const wait_list::picked found = admit_sender(&slot, w);
        sender = found.who();
        if (sender != nullptr) {
            how = wait_status::done;
        } else if (is_closed_) {  // recheck
            how = wait_status::closed;
        } else if (w != nullptr && !found.is_lost()) {
            if (!w->is_thread()) {  // a thread always runs
                if (!has_slots(1)) {
                    const std::size_t wanted = slots_wanted();
                    receivers_.unlock();
                    make_room(wanted);
                    return receive(slot, w);
                }
                lend_slot(*w);
            }
            receivers_.push_back(*w);
        }
    }
    unlock_and_deliver(sender);
    return how;
}

// Allocates and frees outside the lock. Another thread may have made room meanwhile.
template <class T>
void channel_core<T>::make_room(std::size_t wanted) {
    ring<T> larger(wanted);
    receivers_.lock();
    if (buffer_.capacity() < wanted) {
        buffer_.move_into(larger);
    }
    receivers_.unlock();
}

template <class T>
void channel_core<T>::hand_on(T& value) noexcept {
    receivers_.lock();
    waiter* receiver = give_to_receiver(value, nullptr).who();
    if (receiver == nullptr) {
        buffer_.push_front(std::move(value));  // I4: there is a slot, perhaps beyond the limit
    }
    unlock_and_deliver(receiver);
}

template <class T>
bool channel_core<T>::close() noexcept {
    const char* what = name_;
    receivers_.lock();
    const bool was_open = !std::exchange(is_closed_, true);
    wake_chain receivers = receivers_.take_all();
    wake_chain senders = senders_.take_all();
    receivers_.unlock();
    receivers.deliver(what);
    senders.deliver(what);
    return was_open;
}

template <class T>
wait_status channel_core<T>::send_in_thread(T& value, time_point deadline) {
    basic_thread_waiter<parker, sending_node<T>> self(&value);
    const wait_status how = send(value, &self);
    if (how != wait_status::would_wait) {
        return how;
    }
    return status_of(self.block_for_claim(deadline, [&]() noexcept { return cancel_send(self, claim::expired); }));
}

template <class T>
wait_status channel_core<T>::receive_in_thread(std::optional<T>& slot, time_point deadline) noexcept {
    basic_thread_waiter<parker, receiving_node<T>> self(&slot);
    const wait_status how = receive(slot, &self);
    if (how != wait_status::would_wait) {
        return how;
    }
    return status_of(self.block_for_claim(deadline, [&]() noexcept { return cancel_receive(self, claim::expired); }));
}

}  // namespace roost::inline ROOST_ABI::detail
