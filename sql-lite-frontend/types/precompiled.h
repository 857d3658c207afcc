#pragma once

// Precompiled header of this folder; see ../catalog/precompiled.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/type_codec.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/user_types.h"
