#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "lock/modes.h"

namespace swizzle::lock {

/// An object that the layers above name and define: a table, a view. Its locks order statements and
/// changes of definitions; a relation consists of trees, which have locks of their own.
enum class RelationId : std::uint32_t {};
constexpr std::uint32_t raw(RelationId id) noexcept {
  return std::to_underlying(id);
}

/// PostgreSQL's eight locks on a relation, weakest first, with its numbers.
enum class RelationMode : std::uint8_t {
  access_share = 1,
  row_share,
  row_exclusive,
  share_update_exclusive,
  share,
  share_row_exclusive,
  exclusive,
  access_exclusive,
};
inline constexpr std::size_t kRelationModes = 8;

/// A lock on a relation is two locks, with the modes of tables: one on its definition and content,
/// and one that only a few modes take, for the conflicts that the five modes cannot express
/// (FOR UPDATE against EXCLUSIVE, and SHARE UPDATE EXCLUSIVE against itself). PostgreSQL's table of
/// conflicts follows; so statements that read and write need intents alone.
struct RelationParts {
  TableMode content;
  TableMode rows;
};

constexpr RelationParts parts_of(RelationMode mode) noexcept {
  using enum TableMode;
  constexpr std::array<RelationParts, kRelationModes> parts{{
      {intent_shared, none},
      {intent_shared, intent_shared},
      {intent_exclusive, none},
      {intent_exclusive, shared_intent_exclusive},
      {shared, none},
      {shared_intent_exclusive, none},
      {shared_intent_exclusive, exclusive},
      {exclusive, none},
  }};
  return parts[std::to_underlying(mode) - std::size_t{1}];
}

constexpr bool compatible(RelationMode a, RelationMode b) noexcept {
  return compatible(parts_of(a).content, parts_of(b).content) &&
         compatible(parts_of(a).rows, parts_of(b).rows);
}

/// The name that pg_locks shows.
constexpr std::string_view name(RelationMode mode) noexcept {
  constexpr std::array<std::string_view, kRelationModes> names{
      "AccessShareLock", "RowShareLock",          "RowExclusiveLock", "ShareUpdateExclusiveLock",
      "ShareLock",       "ShareRowExclusiveLock", "ExclusiveLock",    "AccessExclusiveLock"};
  return names[std::to_underlying(mode) - std::size_t{1}];
}

/// The mode that a lock on the content stands for: the weakest that takes it.
constexpr RelationMode relation_mode_of_content(TableMode content) noexcept {
  switch (content) {
    case TableMode::none:
    case TableMode::intent_shared:
      return RelationMode::access_share;
    case TableMode::intent_exclusive:
      return RelationMode::row_exclusive;
    case TableMode::shared:
      return RelationMode::share;
    case TableMode::shared_intent_exclusive:
      return RelationMode::share_row_exclusive;
    case TableMode::exclusive:
      break;
  }
  return RelationMode::access_exclusive;
}
constexpr RelationMode relation_mode_of_rows(TableMode rows) noexcept {
  switch (rows) {
    case TableMode::none:
    case TableMode::intent_shared:
      return RelationMode::row_share;
    case TableMode::intent_exclusive:
    case TableMode::shared:
    case TableMode::shared_intent_exclusive:
      return RelationMode::share_update_exclusive;
    case TableMode::exclusive:
      break;
  }
  return RelationMode::exclusive;
}

}  // namespace swizzle::lock
