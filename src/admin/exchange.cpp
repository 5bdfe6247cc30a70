#include <roost/admin/detail/exchange.hpp>

#include <roost/admin/detail/http_loop.hpp>

#include <microhttpd.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace roost::inline ROOST_ABI::admin::detail {

namespace {

// Sent with every reply that has no field of that name. No page of a listener is for other sites, for frames or for caches.
constexpr std::array<std::pair<const char*, const char*>, 4> default_fields = {{
    {"Cache-Control", "no-store"},
    {"Content-Security-Policy", "default-src 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
}};

constexpr std::size_t stream_block = 16384;  // bytes that a read of a stream may write

class ended_response {
public:
    void operator()(MHD_Response* r) const noexcept { MHD_destroy_response(r); }
};
using response = std::unique_ptr<MHD_Response, ended_response>;

void add_field(MHD_Response* to, const char* name, const char* value) noexcept {
    static_cast<void>(MHD_add_response_header(to, name, value));  // refuses fields with line breaks
}

void add_fields(MHD_Response* to, const http_reply& from) noexcept {
    add_field(to, MHD_HTTP_HEADER_CONNECTION, "close");
    add_field(to, MHD_HTTP_HEADER_CONTENT_TYPE, from.content_type().c_str());
    for (const auto& [name, value] : from.headers()) {
        add_field(to, name.c_str(), value.c_str());
    }
    for (const auto& [name, value] : default_fields) {
        if (MHD_get_response_header(to, name) == nullptr) {
            add_field(to, name, value);
        }
    }
}

response response_of(std::string body) {
    auto held = std::make_unique<std::string>(std::move(body));
    const auto free = [](void* p) { delete static_cast<std::string*>(p); };
    response made(MHD_create_response_from_buffer_with_free_callback_cls(held->size(), held->data(), free, held.get()));
    if (made) {
        static_cast<void>(held.release());
    }
    return made;
}

}  // namespace

// What libmicrohttpd reads a stream through.
class streaming {
public:
    streaming(std::unique_ptr<body_stream> body, std::shared_ptr<stream_bell> bell) noexcept
        : body_(std::move(body)), bell_(std::move(bell)) {}

    static response start(std::unique_ptr<body_stream> body, std::shared_ptr<stream_bell> bell) {
        auto held = std::make_unique<streaming>(std::move(body), std::move(bell));
        held->body_->begin(stream_waker(held->bell_));
        const auto free = [](void* p) { delete static_cast<streaming*>(p); };
        response made(MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, stream_block, &read, held.get(), free));
        if (made) {
            static_cast<void>(held.release());
        }
        return made;
    }

private:
    static ssize_t read(void* self, std::uint64_t /*position*/, char* to, std::size_t room) noexcept {
        auto& mine = *static_cast<streaming*>(self);
        exchange* const owner = mine.bell_->owner();
        if (owner == nullptr || mine.bell_->is_over()) {
            return MHD_CONTENT_READER_END_WITH_ERROR;
        }
        try {
            const stream_piece piece = mine.body_->read(to, room);
            if (piece.is_end()) {
                return MHD_CONTENT_READER_END_OF_STREAM;
            }
            if (piece.is_later()) {
                owner->suspend();
            }
            return static_cast<ssize_t>(piece.size());
        } catch (...) {
            return MHD_CONTENT_READER_END_WITH_ERROR;
        }
    }

    std::unique_ptr<body_stream> body_;
    std::shared_ptr<stream_bell> bell_;
};

exchange::~exchange() {
    who_.set_request(nullptr);
    if (call_) {
        call_->set_owner(nullptr);
        worker_->withdraw(*call_);
    }
    if (bell_) {
        bell_->set_owner(nullptr);
    }
}

bool exchange::look(const char* method) {
    switch (step_) {
        case step::begun: return begin(method);
        case step::accepted: return dispatch();
        case step::called: return given_up_ != nullptr ? refuse(503, given_up_) : send(std::move(call_->reply()));
        case step::replied: break;
    }
    return true;
}

bool exchange::begin(std::string_view method) {
    const MHD_ConnectionInfo* const size = MHD_get_connection_info(connection_, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    is_head_ = method == "HEAD";
    if (size != nullptr && size->header_size > loop_.limits_.header()) {
        return refuse(431, "the header is too large");
    }
    if (!is_head_ && method != "GET") {
        return send(http_reply::text(405, "there is only GET and HEAD here\n").header("Allow", "GET, HEAD"));
    }
    if (has_body()) {
        return refuse(413, "a request has no body here");
    }
    if (loop_.routes_.find(target_.substr(0, target_.find('?'))) == nullptr) {
        return refuse(404, "there is no such page");
    }
    step_ = step::accepted;
    return true;
}

bool exchange::has_body() const noexcept {
    const char* const length = MHD_lookup_connection_value(connection_, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return MHD_lookup_connection_value(connection_, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING) != nullptr ||
           (length != nullptr && std::string_view(length) != "0");
}

http_request exchange::request() const {
    std::vector<http_request::field> fields;
    const auto add = [](void* to, MHD_ValueKind, const char* name, const char* value) {
        try {
            static_cast<std::vector<http_request::field>*>(to)->emplace_back(name, value == nullptr ? "" : value);
            return MHD_YES;
        } catch (...) {
            return MHD_NO;  // the rest of the header is left out
        }
    };
    MHD_get_connection_values(connection_, MHD_HEADER_KIND, add, &fields);
    const std::size_t mark = target_.find('?');
    std::string query = mark == std::string::npos ? std::string() : target_.substr(mark + 1);
    return http_request(target_.substr(0, mark), std::move(query), std::move(fields), is_head_);
}

bool exchange::dispatch() {
    const http_routes::route& route = *loop_.routes_.find(target_.substr(0, target_.find('?')));
    auto call = std::make_shared<http_call>(request());
    if (route.how == http_routes::runs::at_once) {
        call->run(route.handler);
        return send(std::move(call->reply()));
    }
    worker_ = loop_.worker_of(route);
    worker_->submit(call);
    call_ = std::move(call);
    call_->set_owner(this);
    step_ = step::called;
    suspend();
    who_.enter(client_phase::handling, deadline_after(now(), loop_.limits_.handle_within()));
    return true;
}

bool exchange::refuse(unsigned status, const char* why) { return send(http_reply::text(status, std::string(why) + "\n")); }

bool exchange::send(http_reply reply) {
    const bool is_stream = reply.has_stream() && !is_head_;
    response made;
    if (is_stream) {
        bell_ = std::make_shared<stream_bell>(loop_.inbox_);
        bell_->set_owner(this);
        made = streaming::start(reply.take_stream(), bell_);
    } else {
        made = response_of(reply.take_body());
    }
    if (!made) {
        return false;
    }
    add_fields(made.get(), reply);
    step_ = step::replied;
    const time_point limit = is_stream ? no_deadline : deadline_after(now(), loop_.limits_.send_within());
    if (who_.phase() != client_phase::dropped) {
        who_.enter(is_stream ? client_phase::streaming : client_phase::sending, limit);
    }
    const unsigned status = reply.status() >= 200 && reply.status() < 600 ? reply.status() : 500;
    return MHD_queue_response(connection_, status, made.get()) == MHD_YES;
}

void exchange::suspend() noexcept {
    MHD_suspend_connection(connection_);
    suspended_ = true;
}

void exchange::resume() noexcept {
    if (suspended_) {
        suspended_ = false;
        MHD_resume_connection(connection_);
    }
}

void exchange::wake() noexcept { resume(); }

void exchange::give_up(const char* why) noexcept {
    given_up_ = why;
    if (call_) {
        call_->set_owner(nullptr);
        worker_->withdraw(*call_);
    }
    resume();
}

void exchange::end_stream() noexcept {
    if (bell_) {
        bell_->set_over();
    }
    resume();
}

}  // namespace roost::inline ROOST_ABI::admin::detail

namespace roost::inline ROOST_ABI::admin {

void stream_waker::ring() const noexcept {
    if (bell_) {
        bell_->to().post(bell_);
    }
}

}  // namespace roost::inline ROOST_ABI::admin
