#pragma once

#include <roost/base/reason.hpp>

// Made before the first search: what is made once per program must not be part of one execution only.
inline const roost::reason made_before_any_model = roost::reason::plain_kind(roost::reason_kind::shutdown);
