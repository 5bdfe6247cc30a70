#pragma once

// All of Asio, in the form that the layer was built for. The tests name it `roost::detail::net`.

#include <roost/asio/detail/net.hpp>

#if defined(ROOST_ASIO_STANDALONE)
#include <asio.hpp>
#include <asio/experimental/concurrent_channel.hpp>
#else
#include <boost/asio.hpp>
#include <boost/asio/experimental/concurrent_channel.hpp>
#endif
