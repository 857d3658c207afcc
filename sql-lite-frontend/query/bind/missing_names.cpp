#include "sql-lite-frontend/query/bind/missing_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Only names within this distance are suggested.
constexpr std::size_t kFarthest = 3;

/// Returns the number of letters to insert, delete or replace.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

struct Guess {
  const ScopeItem* item;
  std::string_view column;
};

/// The columns nearest to a name: one or two. If more are equally near, none is suggested.
class Nearest {
 public:
  void consider(const ScopeItem& item, std::string_view actual, std::string_view wanted,
                std::size_t penalty) {
    const std::size_t apart = distance(actual, wanted);
    if (apart > wanted.size() / 2 || apart + penalty > best_) return;
    if (apart + penalty < best_) {
      best_ = apart + penalty;
      guesses_.clear();
    }
    if (guesses_.size() == 2) {
      guesses_.clear();
    } else {
      guesses_.push_back({&item, actual});
    }
  }
  [[nodiscard]] std::string hint() const {
    if (guesses_.empty()) return {};
    std::string text = "Perhaps you meant to reference the column " + quoted(guesses_[0]);
    if (guesses_.size() == 2) text += " or the column " + quoted(guesses_[1]);
    return text + ".";
  }

 private:
  static std::string quoted(const Guess& guess) {
    return fmt::format("\"{}.{}\"", guess.item->alias, guess.column);
  }

  std::size_t best_ = kFarthest + 1;
  std::vector<Guess> guesses_;
};

/// True if the item is one that the place could read if it were marked LATERAL. `at`: the scope
/// that has the item.
bool needs_lateral(const Scope& scope, const Scope& at, const ScopeItem& item) {
  return !item.reachable && item.lateral_allowed &&
         (&at != &scope || scope.clause == Clause::from_function);
}

/// Adds to the error where the column is, or which one may have been meant.
SqlError with_column_hint(SqlError error, const Scope& scope, std::string_view table,
                          std::string_view column) {
  Nearest nearest;
  for (const Scope* at = &scope; at != nullptr; at = at->parent) {
    for (const ScopeItem& item : at->items) {
      if (item.is_join) continue;
      const std::size_t penalty = table.empty() ? 0 : distance(table, item.alias);
      if (penalty > kFarthest) continue;
      for (const ScopeColumn& candidate : item.columns) {
        if (candidate.name == column && penalty == 0) {
          static_cast<void>(std::move(error).with_detail(fmt::format(
              "There is a column named \"{}\" in table \"{}\", but it cannot be referenced from "
              "this part of the query.",
              column, item.alias)));
          if (!needs_lateral(scope, *at, item)) return error;
          return std::move(error).with_hint(
              "To reference that column, you must mark this subquery with LATERAL.");
        }
        nearest.consider(item, candidate.name, column, penalty);
      }
    }
  }
  std::string hint = nearest.hint();
  if (!hint.empty()) static_cast<void>(std::move(error).with_hint(std::move(hint)));
  return error;
}

}  // namespace

void throw_missing_table(const Scope& scope, std::string_view schema, std::string_view table,
                         std::int32_t location) {
  for (const Scope* at = &scope; at != nullptr; at = at->parent) {
    for (const ScopeItem& item : at->items) {
      const bool renamed = item.table && item.alias != table && item.table->relation.name == table;
      if (item.is_join || (!renamed && (item.alias != table || !schema.empty()))) continue;
      SqlError error = sql_error(sqlstate::undefined_table,
                                 "invalid reference to FROM-clause entry for table \"{}\"", table)
                           .at_position(location + 1);
      if (renamed && item.reachable) {
        throw std::move(error).with_hint(
            fmt::format("Perhaps you meant to reference the table alias \"{}\".", item.alias));
      }
      static_cast<void>(std::move(error).with_detail(
          fmt::format("There is an entry for table \"{}\", but it cannot be referenced from this "
                      "part of the query.",
                      table)));
      if (!needs_lateral(scope, *at, item)) throw error;
      throw std::move(error).with_hint(
          "To reference that table, you must mark this subquery with LATERAL.");
    }
  }
  throw sql_error(sqlstate::undefined_table, "missing FROM-clause entry for table \"{}\"", table)
      .at_position(location + 1);
}

void throw_missing_column(const Scope& scope, std::string_view table, std::string_view column,
                          std::int32_t location) {
  SqlError error =
      table.empty()
          ? sql_error(sqlstate::undefined_column, "column \"{}\" does not exist", column)
          : sql_error(sqlstate::undefined_column, "column {}.{} does not exist", table, column);
  throw with_column_hint(std::move(error).at_position(location + 1), scope, table, column);
}

void require_lateral(const ScopeItem& item, std::int32_t location) {
  if (item.lateral_allowed) return;
  throw sql_error(SqlState{"42P10"}, "invalid reference to FROM-clause entry for table \"{}\"",
                  item.alias)
      .with_detail("The combining JOIN type must be INNER or LEFT for a LATERAL reference.")
      .at_position(location + 1);
}

}  // namespace swizzle::sql
