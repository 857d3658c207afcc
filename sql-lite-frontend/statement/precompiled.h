#pragma once

// Headers that most sources of these folders include anyway, precompiled: parsing them was half of
// the cost of a source. Sources do not include this header, and include all that they use as if it
// did not exist (the preset lint has none).
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

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/statement/statement_context.h"
