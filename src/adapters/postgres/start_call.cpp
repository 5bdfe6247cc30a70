#include "start_call.hpp"

#include <roost/adapters/postgres/values.hpp>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

namespace roost::inline ROOST_ABI::postgres::detail {

namespace {

// The values of a conninfo, or libpq's defaults.
class settings {
public:
    explicit settings(PQconninfoOption* adopted) noexcept : all_(adopted) {}
    settings(const settings&) = delete;
    settings& operator=(const settings&) = delete;
    ~settings() { PQconninfoFree(all_); }
    // Returns null if the keyword is not set.
    [[nodiscard]] const char* find(std::string_view keyword) const noexcept {
        for (const PQconninfoOption* o = all_; o != nullptr && o->keyword != nullptr; ++o) {
            if (o->keyword == keyword) {
                return o->val == nullptr || *o->val == '\0' ? nullptr : o->val;
            }
        }
        return nullptr;
    }
    [[nodiscard]] const PQconninfoOption* first() const noexcept { return all_; }

private:
    PQconninfoOption* all_;
};

std::vector<std::string> split(const char* list) {
    std::vector<std::string> parts(1);
    for (; *list != '\0'; ++list) {
        if (*list == ',') {
            parts.emplace_back();
        } else {
            parts.back().push_back(*list);
        }
    }
    return parts;
}

bool is_name(const std::string& host) noexcept {
    std::array<char, sizeof(in6_addr)> ignored{};
    return !host.empty() && host.front() != '/' && host.front() != '@' &&
           ::inet_pton(AF_INET, host.c_str(), ignored.data()) != 1 &&
           ::inet_pton(AF_INET6, host.c_str(), ignored.data()) != 1;
}

// Blocks without a limit: the resolver decides.
std::vector<std::string> resolve(const std::string& host, std::string& failure) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    std::vector<std::string> addresses;
    if (const int code = ::getaddrinfo(host.c_str(), nullptr, &wanted, &found); code != 0) {
        failure += "the name '" + host + "' cannot be resolved: " + ::gai_strerror(code) + "; ";
        return addresses;
    }
    for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
        std::array<char, NI_MAXHOST> text{};
        if (::getnameinfo(a->ai_addr, a->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0) {
            addresses.emplace_back(text.data());
        }
    }
    ::freeaddrinfo(found);
    return addresses;
}

// Returns the description of the call, for errors. Parses the text only; does not resolve.
std::string name_of(const std::string& conninfo) {
    const settings given(PQconninfoParse(conninfo.c_str(), nullptr));
    const char* const host = given.find("host");
    std::string names;
    if (host != nullptr && given.find("hostaddr") == nullptr) {
        for (const std::string& one : split(host)) {
            if (is_name(one)) {
                names.append(names.empty() ? "" : ", ").append("'").append(one).append("'");
            }
        }
    }
    return names.empty() ? "starting a connection" : "resolving the name " + names;
}

// Hosts with their addresses, one entry per address, in libpq's three lists.
class host_lists {
public:
    void add(const std::string& host, const std::string& address, const std::string& port) {
        const char* const comma = count_++ == 0 ? "" : ",";
        hosts.append(comma).append(host);
        addresses.append(comma).append(address);
        ports.append(comma).append(port);
    }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    std::string hosts;
    std::string addresses;
    std::string ports;

private:
    std::size_t count_ = 0;
};

}  // namespace

start_call::start_call(std::string conninfo) : limited_call(name_of(conninfo)), conninfo_(std::move(conninfo)) {
    if (const std::size_t nul = conninfo_.find('\0'); nul != std::string::npos) {
        throw error("08001", "the connection string has a NUL at byte " + std::to_string(nul), true);
    }
}

start_call::~start_call() { PQfinish(conn_); }

PGconn* start_call::take() {
    if (conn_ == nullptr) {
        if (failure_.empty()) {
            throw std::bad_alloc();
        }
        throw error("08001", failure_, true);
    }
    return std::exchange(conn_, nullptr);
}

void start_call::run() noexcept {
    try {
        start();
    } catch (...) {
        failure_.clear();  // without memory
    }
}

void start_call::start() {
    char* why = nullptr;
    const settings given(PQconninfoParse(conninfo_.c_str(), &why));
    if (given.first() == nullptr) {
        const std::unique_ptr<char, decltype(&PQfreemem)> words(why, &PQfreemem);
        failure_ = why == nullptr ? "" : why;
        return;
    }
    const settings usual(PQconndefaults());
    const char* host = given.find("host");
    const char* address = given.find("hostaddr");
    if (host == nullptr && address == nullptr) {
        host = usual.find("host");
        address = usual.find("hostaddr");
    }
    const char* const port = given.find("port") != nullptr ? given.find("port") : usual.find("port");
    const std::vector<std::string> hosts = split(host == nullptr ? "" : host);
    const std::vector<std::string> ports = split(port == nullptr ? "" : port);
    bool has_names = false;
    for (const std::string& h : hosts) {
        has_names = has_names || is_name(h);
    }
    const bool counts_match = ports.size() == 1 || ports.size() == hosts.size();
    if (!has_names || address != nullptr || given.find("service") != nullptr || !counts_match) {
        conn_ = PQconnectStart(conninfo_.c_str());
        return;
    }
    host_lists all;
    std::string unresolved;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const std::string& p = ports.size() == 1 ? ports.front() : ports[i];
        if (!is_name(hosts[i])) {
            all.add(hosts[i], "", p);
            continue;
        }
        for (const std::string& a : resolve(hosts[i], unresolved)) {
            all.add(hosts[i], a, p);
        }
    }
    if (all.empty()) {
        failure_ = std::move(unresolved);
        return;
    }
    std::vector<const char*> keywords;
    std::vector<const char*> values;
    const auto set = [&](const char* keyword, const char* value) {
        keywords.push_back(keyword);
        values.push_back(value);
    };
    for (const PQconninfoOption* o = given.first(); o->keyword != nullptr; ++o) {
        const std::string_view keyword = o->keyword;
        if (o->val != nullptr && keyword != "host" && keyword != "hostaddr" && keyword != "port") {
            set(o->keyword, o->val);
        }
    }
    set("host", all.hosts.c_str());
    set("hostaddr", all.addresses.c_str());
    set("port", all.ports.c_str());
    set(nullptr, nullptr);
    conn_ = PQconnectStartParams(keywords.data(), values.data(), 0);
}

}  // namespace roost::inline ROOST_ABI::postgres::detail
