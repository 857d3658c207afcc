#pragma once

#include <array>
#include <string_view>

#include "sql-lite-frontend/execute/window.h"

/// The functions that are window functions and nothing else.
namespace swizzle::sql {

struct WindowName {
  std::string_view name;
  WindowFunctionKind kind;
  TypeId result;  ///< none: the type of the first argument
  std::size_t minimum;
  std::size_t maximum;
};

inline constexpr std::array kWindowNames = std::to_array<WindowName>({
    {"row_number", WindowFunctionKind::row_number, TypeId::int8, 0, 0},
    {"rank", WindowFunctionKind::rank, TypeId::int8, 0, 0},
    {"dense_rank", WindowFunctionKind::dense_rank, TypeId::int8, 0, 0},
    {"percent_rank", WindowFunctionKind::percent_rank, TypeId::float8, 0, 0},
    {"cume_dist", WindowFunctionKind::cume_dist, TypeId::float8, 0, 0},
    {"ntile", WindowFunctionKind::ntile, TypeId::int4, 1, 1},
    {"lag", WindowFunctionKind::lag, TypeId::none, 1, 3},
    {"lead", WindowFunctionKind::lead, TypeId::none, 1, 3},
    {"first_value", WindowFunctionKind::first_value, TypeId::none, 1, 1},
    {"last_value", WindowFunctionKind::last_value, TypeId::none, 1, 1},
    {"nth_value", WindowFunctionKind::nth_value, TypeId::none, 2, 2},
});

inline const WindowName* find_window_function(std::string_view name, std::size_t arguments) {
  for (const WindowName& function : kWindowNames) {
    if (function.name == name && arguments >= function.minimum && arguments <= function.maximum) {
      return &function;
    }
  }
  return nullptr;
}

}  // namespace swizzle::sql
