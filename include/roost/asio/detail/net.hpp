#pragma once

// The Asio under the layer: Boost.Asio, or with ROOST_ASIO_STANDALONE the standalone one. The headers of the layer name its
// parts through `detail::net` and know nothing else of the difference. The build option ROOST_ASIO chooses the form, and
// its targets and pkg-config files define the macro, so users never do.
//
// An Asio that is too old is refused with a clearer message than its headers give. use_task needs the cancellation slots
// and composed operations of Asio 1.26, which is the Asio of Boost 1.81.

#include <roost/base/config.hpp>

#if defined(ROOST_ASIO_STANDALONE)

#if __has_include(<asio/version.hpp>)
#include <asio/version.hpp>
#endif
#if !defined(ASIO_VERSION) || ASIO_VERSION < 102600
#error \
    "Roost's Asio layer, built for standalone Asio, needs version 1.26 or newer: put the folder that holds asio.hpp on the include path (-I <folder>)."
#endif

#include <asio/any_io_executor.hpp>
#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/cancellation_type.hpp>
#include <asio/error.hpp>
#include <asio/execution_context.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/prefer.hpp>
#include <asio/query.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/system_error.hpp>
#include <asio/system_executor.hpp>

namespace roost::inline ROOST_ABI::detail {
namespace net = ::asio;
using net::error_code;
using net::system_error;
}  // namespace roost::inline ROOST_ABI::detail

#else

#include <boost/version.hpp>

#if BOOST_VERSION < 108100
#error \
    "Roost's Asio layer needs Boost 1.81 or newer: install it (on Debian 12 the package libboost1.81-dev) or put its folder before the older one (-I <folder>)."
#endif

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/system/system_error.hpp>

namespace roost::inline ROOST_ABI::detail {
namespace net = ::boost::asio;
using boost::system::error_code;
using boost::system::system_error;
}  // namespace roost::inline ROOST_ABI::detail

#endif

namespace roost::inline ROOST_ABI::detail {

// The library defines the one of its own form. Every file that includes a header of the layer refers to one, also if nothing
// is called whose parameters differ: so files of the other form do not link.
extern const char asio_layer_is_built_for_boost;
extern const char asio_layer_is_built_for_standalone;

#if defined(ROOST_ASIO_STANDALONE)
[[gnu::used]] inline const char* const asio_layer_form = &asio_layer_is_built_for_standalone;
#else
[[gnu::used]] inline const char* const asio_layer_form = &asio_layer_is_built_for_boost;
#endif

}  // namespace roost::inline ROOST_ABI::detail
