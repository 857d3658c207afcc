#include "sql-lite-frontend/definitions/tables/column_hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sql-lite-frontend/definitions/tables/relation_options.h"
#include "sql-lite-frontend/statement/names/definitions.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {
namespace {

/// Returns the target; nothing for DEFAULT and -1.
std::optional<std::int16_t> target_of(StatementContext& session, const ast::AlterTableCmd& action,
                                      ResultSink& sink) {
  constexpr std::int32_t kMostTarget = 10'000;
  if (action.def == nullptr) return std::nullopt;
  const std::int32_t target = ast::as<ast::Integer>(action.def).ival;
  if (target == -1) return std::nullopt;
  if (target < 0) {
    throw_error(sqlstate::invalid_parameter_value, "statistics target {} is too low", target);
  }
  if (target > kMostTarget) {
    session.notice(sink, Severity::warning, sqlstate::invalid_parameter_value,
                   fmt::format("lowering statistics target to {}", kMostTarget));
  }
  return static_cast<std::int16_t>(std::min(target, kMostTarget));
}

/// Returns the options as pg_attribute.attoptions shows them: "n_distinct=-0.5".
std::vector<std::string> attribute_options(ast::NodeList named) {
  std::vector<std::string> list;
  for (const ast::Node* node : named) {
    const auto& option = ast::as<ast::DefElem>(node);
    if (option.defname != "n_distinct" && option.defname != "n_distinct_inherited") {
      throw_error(sqlstate::invalid_parameter_value, "unrecognized parameter \"{}\"",
                  std::string_view{option.defname});
    }
    std::string value = storage_option_text(option);
    double number = 0;
    try {
      number = parse_float8(value);
    } catch (const SqlError&) {
      throw_error(sqlstate::invalid_parameter_value,
                  "invalid value for floating point option \"{}\": {}",
                  std::string_view{option.defname}, value);
    }
    if (!(number >= -1)) {
      throw sql_error(sqlstate::invalid_parameter_value, "value {} out of bounds for option \"{}\"",
                      value, std::string_view{option.defname})
          .with_detail(fmt::format("Valid values are between \"{:f}\" and \"{:f}\".", -1.0,
                                   std::numeric_limits<double>::max()));
    }
    list.push_back(std::string{option.defname} + "=" + value);
  }
  return list;
}

}  // namespace

char storage_letter(std::string_view word, TypeId type) {
  struct Storage {
    std::string_view name;
    char letter;
  };
  constexpr Storage kAll[] = {
      {"plain", 'p'}, {"external", 'e'}, {"extended", 'x'}, {"main", 'm'}, {"default", 0}};
  const auto lowered = [&] {
    std::string low{word};
    for (char& c : low) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
    }
    return low;
  }();
  const auto* const found = std::ranges::find(kAll, lowered, &Storage::name);
  if (found == std::end(kAll)) {
    throw_error(sqlstate::invalid_parameter_value, "invalid storage type \"{}\"", word);
  }
  const Type* known = find_type(type);
  const char own = known != nullptr ? known->storage : 'p';
  if (own == 'p' && found->letter != 0 && found->letter != 'p') {
    throw_error(sqlstate::feature_not_supported, "column data type {} can only have storage PLAIN",
                format_type(type));
  }
  return found->letter == own ? '\0' : found->letter;
}

void set_column_hint(StatementContext& session, const ast::AlterTableCmd& action, Column& column,
                     ResultSink& sink) {
  using Action = ast::AlterTableType;
  switch (action.subtype) {
    case Action::setstatistics:
      if (column.is_virtual) {
        throw_error(sqlstate::feature_not_supported,
                    "cannot alter statistics on virtual generated column \"{}\"", column.name);
      }
      column.statistics_target = target_of(session, action, sink);
      return;
    case Action::setstorage:
      column.storage = storage_letter(ast::string_of(action.def), column.type);
      return;
    case Action::setoptions:
      return set_options(column.options, attribute_options(ast::as<ast::List>(action.def).items));
    case Action::resetoptions:
      return reset_options(column.options, ast::as<ast::List>(action.def).items);
    default:
      return;
  }
}

namespace {

/// Returns the place, from 1, of the column that the action names or numbers.
std::size_t index_column(StatementContext& session, const ast::AlterTableCmd& action,
                         const Table& table, const Index& index) {
  if (action.name.empty()) {
    const auto number = static_cast<std::size_t>(action.num);
    if (action.num > 0 && number <= index.columns.size() + index.included.size()) return number;
    throw_error(sqlstate::undefined_column, "column number {} of relation \"{}\" does not exist",
                action.num, index.name);
  }
  const auto name_of = [&](std::int16_t column) {
    return table.relation.columns[static_cast<std::size_t>(column) - 1].name;
  };
  std::size_t number = 0;
  for (const IndexColumn& column : index.columns) {
    ++number;
    const std::string name = column.column != 0
                                 ? name_of(column.column)
                                 : name_of_expression(session, table, column.expression_sql);
    if (name == action.name) return number;
  }
  for (const std::int16_t column : index.included) {
    ++number;
    if (name_of(column) == action.name) return number;
  }
  throw_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist",
              action.name, index.name);
}

}  // namespace

void set_index_statistics(StatementContext& session, const ast::AlterTableCmd& action,
                          const Table& table, Index& index, ResultSink& sink) {
  const auto refuse = [&](std::string_view kind, std::int16_t column) {
    return sql_error(sqlstate::feature_not_supported,
                     "cannot alter statistics on {} column \"{}\" of index \"{}\"", kind,
                     table.relation.columns[static_cast<std::size_t>(column) - 1].name, index.name);
  };
  const std::size_t number = index_column(session, action, table, index);
  const std::size_t keys = index.columns.size();
  if (number > keys) throw refuse("included", index.included[number - keys - 1]);
  IndexColumn& column = index.columns[number - 1];
  if (column.column != 0) {
    throw refuse("non-expression", column.column)
        .with_hint("Alter statistics on table column instead.");
  }
  column.statistics_target = target_of(session, action, sink);
}

}  // namespace swizzle::sql
