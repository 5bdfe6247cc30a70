#include <roost/io/detail/resolve_operation.hpp>

#include <roost/exec/detail/activity.hpp>
#include <roost/exec/detail/limited_thread.hpp>
#include <roost/io/resolve.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <new>

#include <netdb.h>
#include <sys/socket.h>

namespace roost::inline ROOST_ABI::io {

namespace {

class resolve_codes final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "roost.resolve"; }
    [[nodiscard]] std::string message(int code) const override { return ::gai_strerror(code); }
    [[nodiscard]] std::error_condition default_error_condition(int code) const noexcept override {
        return code == EAI_AGAIN ? std::make_error_condition(std::errc::resource_unavailable_try_again)
                                 : std::error_condition(code, *this);
    }
};

std::error_code code_of(int answer) noexcept {
    switch (answer) {
        case 0: return {};
        case EAI_NONAME:
        case EAI_SERVICE:
#ifdef EAI_NODATA
        case EAI_NODATA:
#endif
#ifdef EAI_ADDRFAMILY
        case EAI_ADDRFAMILY:
#endif
            return make_error_code(errc::no_address);
        case EAI_MEMORY: return std::make_error_code(std::errc::not_enough_memory);
        case EAI_SYSTEM: return {errno, std::system_category()};
        default: return {answer, resolve_category()};
    }
}

enum class service_kind : std::uint8_t { number, name, none };

// The system cuts a number to 16 bits.
service_kind kind_of(const std::string& service) noexcept {
    std::uint16_t port = 0;
    const char* const end = service.data() + service.size();
    const auto [rest, why] = std::from_chars(service.data(), end, port);
    if (why == std::errc()) {
        return rest == end ? service_kind::number : service_kind::name;
    }
    const bool is_name = why == std::errc::invalid_argument && !service.empty() && service.front() != '-' &&
                         service.front() != '+' && service.front() != ' ' && service.find('\0') == std::string::npos;
    return is_name ? service_kind::name : service_kind::none;
}

}  // namespace

const std::error_category& resolve_category() noexcept {
    static const resolve_codes instance;
    return instance;
}

namespace detail {

resolve_call::resolve_call(std::string name, std::string service) noexcept
    : blocking_work(&resolve_call::run), name_(std::move(name)), service_(std::move(service)) {}

bool resolve_call::look_up_numbers() noexcept {
    const service_kind kind = kind_of(service_);
    if (kind == service_kind::none || name_.empty() || name_.find('\0') != std::string::npos) {
        code_ = make_error_code(errc::no_address);
        return true;
    }
    if (kind == service_kind::name) {
        return false;
    }
    ask(AI_NUMERICHOST | AI_NUMERICSERV, SOCK_STREAM);
    if (code_ != errc::no_address) {
        return true;
    }
    code_.clear();
    return false;
}

void resolve_call::look_up() noexcept {
    ask(AI_ADDRCONFIG, SOCK_STREAM);
    if (code_ == errc::no_address && kind_of(service_) == service_kind::name) {
        ask(AI_ADDRCONFIG, SOCK_DGRAM);  // some services exist for datagrams only
    }
}

void resolve_call::ask(int flags, int kind) noexcept {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = kind;
    hints.ai_flags = flags;
    addrinfo* first = nullptr;
    code_ = code_of(::getaddrinfo(name_.c_str(), service_.c_str(), &hints, &first));
    if (code_) {
        return;
    }
    try {
        for (const addrinfo* a = first; a != nullptr; a = a->ai_next) {
            found_.push_back(endpoint::from(a->ai_addr, a->ai_addrlen));
        }
    } catch (const std::bad_alloc&) {
        code_ = std::make_error_code(std::errc::not_enough_memory);
    }
    ::freeaddrinfo(first);
}

bool resolve_call::submit(const std::shared_ptr<resolve_call>& call, ext::blocking_service& lane) noexcept {
    call->self_ = call;
    call->set_label(roost::detail::activity::here());
    if (lane.submit(*call)) {
        return true;
    }
    call->self_.reset();
    return false;
}

void resolve_call::withdraw(ext::blocking_service& lane) noexcept {
    if (lane.withdraw(*this)) {
        self_.reset();
    }
}

// On a thread of the lane.
void resolve_call::run(ext::work& w) noexcept {
    const std::shared_ptr<resolve_call> call = std::move(static_cast<resolve_call&>(w).self_);
    call->look_up();
    if (roost::detail::limited_thread::may_deliver_here()) {
        call->done_.close();
    }
}

bool resolve_call::look_up_until(const std::shared_ptr<resolve_call>& call, time_point deadline) {
    seam::thread helper([call] {
        call->look_up();
        call->done_.close();
    });
    const bool in_time = roost::detail::wait_in_thread(&call->done_, deadline);
    if (in_time) {
        helper.join();
    } else {
        helper.detach();
    }
    return in_time;
}

result<std::vector<endpoint>> resolve_call::answer() noexcept {
    return code_ ? result<std::vector<endpoint>>(code_, "resolve")
                 : result<std::vector<endpoint>>(std::in_place, std::move(found_));
}

resolve_source::~resolve_source() {
    if (lane_ != nullptr && !call_->done().look().is_closed()) {
        call_->withdraw(*lane_);
    }
}

bool resolve_source::enqueue(waiter& w) noexcept {
    lane_ = w.executor() ? w.executor()->blocking() : nullptr;
    if (lane_ == nullptr) {
        call_->fail(std::make_error_code(std::errc::not_supported));
        return false;
    }
    if (!resolve_call::submit(call_, *lane_)) {
        call_->fail(make_error_code(errc::closed));
        lane_ = nullptr;
        return false;
    }
    return call_->done().enqueue(w);
}

io::result<std::vector<endpoint>> resolve_source::result(claim how) noexcept {
    roost::detail::limited_thread::has_delivered_here();
    if (how == claim::expired || how == claim::cancelled) {
        return {make_error_code(how == claim::expired ? errc::timed_out : errc::cancelled), "resolve"};
    }
    return call_->answer();
}

io::result<std::vector<endpoint>> resolve_operation::blocking(time_limit deadline) && {
    if (call_->look_up_numbers()) {
        return call_->answer();
    }
    if (time_point(deadline) == no_deadline) {
        call_->look_up();
        return call_->answer();
    }
    try {
        return resolve_call::look_up_until(call_, deadline)
                   ? call_->answer()
                   : io::result<std::vector<endpoint>>(make_error_code(errc::timed_out), "resolve");
    } catch (const std::system_error& no_thread) {
        return {no_thread.code(), "resolve"};
    }
}

}  // namespace detail
}  // namespace roost::inline ROOST_ABI::io
