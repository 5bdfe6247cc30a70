#pragma once

// The part of connecting that may block: reading libpq's files and resolving names.
//
// libpq resolves a name when it needs it, which for the second host of a list is on the caller's thread. So all names are
// resolved here, and libpq gets the addresses beside them. Only names in a service file are left to libpq.

#include "waits.hpp"

#include <libpq-fe.h>

namespace roost::inline ROOST_ABI::postgres::detail {

using namespace seam;

class start_call final : public limited_call {
public:
    explicit start_call(std::string conninfo);
    ~start_call() override;

    // Called after the call has returned. Returns libpq's object, which is connecting or bad. Throws postgres::error
    // without one.
    [[nodiscard]] PGconn* take();

private:
    void run() noexcept override;
    void start();

    std::string conninfo_;
    PGconn* conn_ = nullptr;
    std::string failure_;
};

}  // namespace roost::inline ROOST_ABI::postgres::detail
