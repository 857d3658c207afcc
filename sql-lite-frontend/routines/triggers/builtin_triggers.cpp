#include "sql-lite-frontend/routines/triggers/builtin_triggers.h"

#include <algorithm>

#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/fulltext/text_analysis.h"
#include "sql-lite-frontend/types/same_image.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr Oid kByName = 3752;

std::size_t column_of(const Table& table, const std::string& name, const char* what) {
  const auto position = table.column_position(name);
  if (!position) {
    throw_error(sqlstate::undefined_column, "{}column \"{}\" does not exist", what, name);
  }
  return *position;
}

/// The trigger's arguments.
struct Asked {
  std::size_t vector;
  TextConfigPtr config;
  std::vector<std::size_t> texts;
};

TextConfigPtr config_named(SessionNames& names, const std::string& name) {
  if (name.find('.') == std::string::npos) {
    throw_error(SqlState{"42602"}, "text search configuration name \"{}\" must be schema-qualified",
                name);
  }
  const auto found = names.find(builtin_id::regconfig, name);
  if (!found) throw_no_text_search("configuration", name);
  return names.text_config(*found);
}

TextConfigPtr config_in(SessionNames& names, const Table& table, const std::string& name,
                        const FiredRows& rows) {
  const std::size_t position = column_of(table, name, "configuration ");
  if (table.column_types[position] != builtin_id::regconfig) {
    throw_error(sqlstate::datatype_mismatch, "column \"{}\" is not of regconfig type", name);
  }
  const Value config = rows.new_row[position];
  if (config.is_null()) {
    throw_error(SqlState{"22004"}, "configuration column \"{}\" must not be null", name);
  }
  TextConfigPtr found = names.text_config(config.as_oid());
  if (found == nullptr) {
    throw_error(SqlState{"XX000"}, "cache lookup failed for text search configuration {}",
                config.as_oid());
  }
  return found;
}

Asked read_arguments(SessionNames& names, const Trigger& trigger, const Table& table,
                     const FiredRows& rows) {
  if (trigger.arguments.size() < 3) {
    throw SqlError{SqlState{"XX000"},
                   "tsvector_update_trigger: arguments must be tsvector_field, ts_config, "
                   "text_field1, ...)"};
  }
  Asked asked{.vector = column_of(table, trigger.arguments[0], "tsvector "),
              .config = nullptr,
              .texts = {}};
  if (table.column_types[asked.vector] != builtin_id::tsvector) {
    throw_error(sqlstate::datatype_mismatch, "column \"{}\" is not of tsvector type",
                trigger.arguments[0]);
  }
  asked.config = trigger.function == kByName ? config_named(names, trigger.arguments[1])
                                             : config_in(names, table, trigger.arguments[1], rows);
  for (std::size_t i = 2; i < trigger.arguments.size(); ++i) {
    const std::size_t position = column_of(table, trigger.arguments[i], "");
    const TypeId type = table.column_types[position];
    if (type != TypeId::text && type != TypeId::varchar && type != TypeId::bpchar) {
      throw_error(sqlstate::datatype_mismatch, "column \"{}\" is not of a character type",
                  trigger.arguments[i]);
    }
    asked.texts.push_back(position);
  }
  return asked;
}

bool same(const Value& left, const Value& right) {
  if (left.is_null() || right.is_null()) return left.is_null() == right.is_null();
  return left.as_text() == right.as_text();
}

/// Keeps a column's words those of other columns.
std::optional<std::span<const Value>> update_text_vector(Execution& execution,
                                                         const Trigger& trigger,
                                                         const TablePtr& table, TriggerEvent event,
                                                         const FiredRows& rows) {
  const auto refuse = [](const char* what) {
    throw_error(SqlState{"XX000"}, "tsvector_update_trigger: must be fired {}", what);
  };
  if (!trigger.for_each_row) refuse("for row");
  if (trigger.time != TriggerTime::before) refuse("BEFORE event");
  if (event != TriggerEvent::insert && event != TriggerEvent::update) {
    refuse("for INSERT or UPDATE");
  }
  const Asked asked = read_arguments(context_of(execution).names, trigger, *table, rows);
  const bool changes =
      event == TriggerEvent::insert || std::ranges::any_of(asked.texts, [&](std::size_t position) {
        return !same(rows.old_row[position], rows.new_row[position]);
      });
  Arena& arena = execution.row_arena;
  const std::size_t columns = rows.new_row.size();
  Value* const row = arena.allocate_array<Value>(columns);
  std::ranges::copy(rows.new_row, row);
  if (changes) {
    WordsMet words = words_met(arena);
    TextAnalysis analysis{*asked.config};
    for (const std::size_t position : asked.texts) {
      if (rows.new_row[position].is_null()) continue;
      analysis.read(rows.new_row[position].as_text(), [&](std::string_view word, auto place) {
        const auto at = static_cast<unsigned>(std::min<std::uint64_t>(place, kLastPlace));
        words.push_back({arena.copy(word), WordPlace{at, 0}});
      });
    }
    row[asked.vector] = make_text_vector(arena, std::move(words));
  }
  return std::span<const Value>{row, columns};
}

/// Skips an UPDATE that leaves the row unchanged byte for byte.
std::optional<std::span<const Value>> suppress_redundant_update(Execution& /*execution*/,
                                                                const Trigger& trigger,
                                                                const TablePtr& /*table*/,
                                                                TriggerEvent event,
                                                                const FiredRows& rows) {
  const auto refuse = [](const char* what) {
    throw_error(SqlState{"39P01"}, "suppress_redundant_updates_trigger: must be called {}", what);
  };
  if (event != TriggerEvent::update) refuse("on update");
  if (trigger.time != TriggerTime::before) refuse("before update");
  if (!trigger.for_each_row) refuse("for each row");
  if (std::ranges::equal(rows.old_row, rows.new_row, has_same_image)) return std::nullopt;
  return rows.new_row;
}

constexpr BuiltinTriggerFunction kBuiltin[] = {
    {1291, "suppress_redundant_updates_trigger", suppress_redundant_update},
    {kByName, "tsvector_update_trigger", update_text_vector},
    {3753, "tsvector_update_trigger_column", update_text_vector},
};

}  // namespace

const BuiltinTriggerFunction* find_builtin_trigger_function(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kBuiltin, name, &BuiltinTriggerFunction::name);
  return found == std::end(kBuiltin) ? nullptr : found;
}

const BuiltinTriggerFunction* find_builtin_trigger_function(Oid oid) noexcept {
  const auto* const found = std::ranges::find(kBuiltin, oid, &BuiltinTriggerFunction::oid);
  return found == std::end(kBuiltin) ? nullptr : found;
}

}  // namespace swizzle::sql
