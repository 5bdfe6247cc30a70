// An older Boost is refused by a sentence, from every header of the layer (ASIO-20).

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
#else
#include <roost/asio/detail/boost_version.hpp>
void ASIO_20_an_older_boost_is_refused();
#endif
