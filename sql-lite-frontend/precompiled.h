#pragma once

// What most sources of this folder read anyway, compiled once for all of them: reading it was half
// of what a source cost. Nobody includes this: a source names what it uses as if there were no such
// header (the preset lint has none).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "sql-lite-frontend/bind/binder.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/write/write_operator.h"
