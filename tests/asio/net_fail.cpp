// An Asio that is too old is refused by a sentence, from every header of the layer (ASIO-20).

#ifdef FAIL_1
#define BOOST_VERSION_HPP
#define BOOST_VERSION 107400
// expect: Roost's Asio layer needs Boost 1.81 or newer: install it
#include <roost/asio/use_task.hpp>
#elif defined(FAIL_2)
#define BOOST_VERSION_HPP
#define BOOST_VERSION 107400
// expect: Roost's Asio layer needs Boost 1.81 or newer: install it
#include <roost/asio/async_run.hpp>
#elif defined(FAIL_3)
#define BOOST_VERSION_HPP
#define BOOST_VERSION 108000
// expect: Roost's Asio layer needs Boost 1.81 or newer: install it
#include <roost/asio/io_executor.hpp>
#elif defined(FAIL_4)
#define ROOST_ASIO_STANDALONE
#define ASIO_VERSION_HPP
#define ASIO_VERSION 102400
// expect: built for standalone Asio, needs version 1.26 or newer: put the folder
#include <roost/asio/use_task.hpp>
#else
#include <roost/asio/detail/net.hpp>
void ASIO_20_an_older_asio_is_refused();
#endif
