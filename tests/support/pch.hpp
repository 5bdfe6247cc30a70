// What every test includes, compiled once. Nothing of Roost belongs here: a test has to include
// what it uses, and the model and native builds of a header must not meet.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>
