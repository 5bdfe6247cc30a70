#pragma once

// Requests, replies and handlers of an http_listener. Only GET and HEAD without a body reach a handler.
//
//   admin::http_reply tree(const admin::http_request& from) {
//       return {200, "text/plain; charset=utf-8", h.tree()};
//   }

#include <roost/admin/body_stream.hpp>
#include <roost/base/config.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roost::inline ROOST_ABI::admin {

// What a handler receives. A plain value.
class http_request {
public:
    using field = std::pair<std::string, std::string>;

    http_request() = default;
    // `query` is the text behind the '?' of the target.
    explicit http_request(std::string path, std::string query = {}, std::vector<field> headers = {}, bool is_head = false)
        : path_(std::move(path)), query_(std::move(query)), headers_(std::move(headers)), is_head_(is_head) {}

    // Returns the path as it was sent, not decoded.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    // Returns the text behind the '?', not decoded.
    [[nodiscard]] const std::string& query() const noexcept { return query_; }
    // Returns the value of the first parameter of that name in the query, decoded. Returns an empty optional if there is none,
    // or if its encoding is not valid. Throws std::bad_alloc.
    [[nodiscard]] std::optional<std::string> parameter(std::string_view name) const;
    // Returns the value of the first header field of that name, without regard to case. Returns an empty text if there is
    // none.
    [[nodiscard]] std::string_view header(std::string_view name) const noexcept;
    // Returns true for HEAD: the reply's body is not sent.
    [[nodiscard]] bool is_head() const noexcept { return is_head_; }

private:
    std::string path_;
    std::string query_;
    std::vector<field> headers_;
    bool is_head_ = false;
};

// What a handler returns.
class http_reply {
public:
    // Makes an empty 500.
    http_reply() noexcept = default;
    // Makes a reply with a status from 200 to 599. Another status is sent as 500.
    http_reply(unsigned status, std::string content_type, std::string body)
        : status_(status), type_(std::move(content_type)), body_(std::move(body)) {}
    // Makes a 200 with a body of unknown length.
    http_reply(std::string content_type, std::unique_ptr<body_stream> body) noexcept
        : status_(200), type_(std::move(content_type)), stream_(std::move(body)) {}
    // Returns a reply with plain text.
    [[nodiscard]] static http_reply text(unsigned status, std::string body) {
        return {status, "text/plain; charset=utf-8", std::move(body)};
    }

    // Adds a header field, or replaces one that the listener sends by default. A field with a line break or a control
    // character is not sent. Throws std::bad_alloc.
    http_reply& header(std::string name, std::string value) & {
        headers_.emplace_back(std::move(name), std::move(value));
        return *this;
    }
    http_reply&& header(std::string name, std::string value) && {
        return std::move(header(std::move(name), std::move(value)));
    }

    [[nodiscard]] unsigned status() const noexcept { return status_; }
    // Returns the content type. An empty content type is not sent.
    [[nodiscard]] const std::string& content_type() const noexcept { return type_; }
    [[nodiscard]] const std::string& body() const noexcept { return body_; }
    [[nodiscard]] const std::vector<http_request::field>& headers() const noexcept { return headers_; }
    // Called by the listener, once.
    [[nodiscard]] std::string take_body() noexcept { return std::move(body_); }
    [[nodiscard]] std::unique_ptr<body_stream> take_stream() noexcept { return std::move(stream_); }
    [[nodiscard]] bool has_stream() const noexcept { return stream_ != nullptr; }

private:
    unsigned status_ = 500;
    std::string type_;
    std::string body_;
    std::unique_ptr<body_stream> stream_;
    std::vector<http_request::field> headers_;
};

// Returns the reply to a request. If it throws, the client receives a 500; the text of the error is not sent.
using http_handler = std::function<http_reply(const http_request&)>;

// Returns the text with the special characters of HTML replaced. Throws std::bad_alloc.
[[nodiscard]] std::string escape_html(std::string_view text);

}  // namespace roost::inline ROOST_ABI::admin
