#pragma once

// Precompiled header: headers that most sources of these folders include, because reading them was
// half of a source's cost. Sources do not include it and name what they use, since the preset lint
// has no precompiled headers.
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

#include "sql-lite-frontend/catalog/catalog.h"
