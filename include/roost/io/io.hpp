#pragma once

// Everything of the layer io: sockets and descriptors. It is not part of roost/roost.hpp.

#include <roost/io/buffer.hpp>
#include <roost/io/descriptor.hpp>
#include <roost/io/endpoint.hpp>
#include <roost/io/epoll_driver.hpp>
#include <roost/io/error.hpp>
#include <roost/io/pipe.hpp>
#include <roost/io/resolve.hpp>
#include <roost/io/result.hpp>
#include <roost/io/stream.hpp>
#include <roost/io/tcp_listener.hpp>
#include <roost/io/tcp_stream.hpp>
#include <roost/io/udp_socket.hpp>
#include <roost/io/unix_listener.hpp>
#include <roost/io/unix_stream.hpp>
