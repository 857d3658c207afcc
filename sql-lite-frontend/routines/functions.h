#pragma once

#include <span>

#include "sql-lite-frontend/query/bound/expression.h"

/// Functions that describe routines and triggers.
namespace swizzle::sql {

/// pg_get_functiondef and others.
std::span<const SessionEntry> routine_functions();
/// pg_get_triggerdef and others.
std::span<const SessionEntry> trigger_functions();

}  // namespace swizzle::sql
