#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/query/text/query_text.h"
#include "sql-lite-frontend/statement/names/definitions.h"
#include "sql-lite-frontend/statement/names/or_stored_text.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/user_types.h"

/// A view's query as it could be written now. Its text is kept as it was parsed, with the meanings
/// of its names at that time; tables may have been renamed, moved or widened since, and the
/// reader's search path is another.
namespace swizzle::sql {
namespace {

/// Returns the end of the identifier at `at`, in text that the parser's library has printed.
std::size_t end_of_identifier(std::string_view text, std::size_t at) {
  if (at < text.size() && text[at] == '"') {
    for (++at; at < text.size(); ++at) {
      if (text[at] != '"') continue;
      if (at + 1 == text.size() || text[at + 1] != '"') return at + 1;
      ++at;
    }
    return at;
  }
  const auto is_part = [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_' || letter == '$' || letter >= 0x80;
  };
  while (at < text.size() && is_part(static_cast<unsigned char>(text[at]))) ++at;
  return at;
}

std::size_t end_of_name(std::string_view text, std::size_t at) {
  at = end_of_identifier(text, at);
  while (at < text.size() && text[at] == '.') at = end_of_identifier(text, at + 1);
  return at;
}

/// True if the columns still have their names, though there may be more or fewer now.
bool has_same_names(const Table& table, const ViewName& known) {
  return std::ranges::all_of(known.columns, [&](const ViewColumn& was) {
    const Column& now = table.relation.columns[static_cast<std::size_t>(was.number) - 1];
    return now.dropped || now.name == was.name;
  });
}

bool has_same_columns(const Table& table, const ViewName& known) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < table.relation.columns.size(); ++i) {
    const Column& column = table.relation.columns[i];
    if (column.dropped) continue;
    if (next == known.columns.size()) return false;
    const ViewColumn& was = known.columns[next++];
    if (was.name != column.name || static_cast<std::size_t>(was.number) != i + 1) return false;
  }
  return next == known.columns.size();
}

/// Collects the text's names without a dot: columns, and whole rows; and a star, if there is one.
void collect_lone_names(const ast::Node& node, std::set<std::string_view>& names) {
  check_stack();
  if (const auto* column = ast::try_as<ast::ColumnRef>(&node); column != nullptr) {
    const auto* const name = ast::try_as<ast::String>(column->fields.back());
    if (name == nullptr) names.insert("*");
    if (name != nullptr && column->fields.size() == 1) names.insert(name->sval);
  }
  ast::for_each_child(node, [&](const ast::Node& child) { collect_lone_names(child, names); });
}

/// Returns the text in FROM for a relation that the view's text names. `rows`: names that may stand
/// for whole rows, whose type only the relation itself gives them.
std::string present_name(StatementContext& session, const ViewName& known,
                         const ast::RangeVar& range, const std::set<std::string_view>& rows) {
  const TablePtr table = session.names.table(known.relation);
  if (!table) return quote_identifier(known.name);
  std::string text = session.names.name_of(TypeId::regclass, known.relation)
                         .value_or(quote_identifier(table->relation.name));
  const std::string_view called = range.alias != nullptr ? range.alias->aliasname : known.name;
  const bool shows_row =
      rows.contains(called) && !rows.contains("*") && has_same_names(*table, known);
  const bool is_same = table->computed != nullptr || shows_row || has_same_columns(*table, known);
  if (!is_same) {
    std::string columns;
    for (const ViewColumn& was : known.columns) {
      if (!columns.empty()) columns += ", ";
      const Column& now = table->relation.columns[static_cast<std::size_t>(was.number) - 1];
      columns += quote_identifier(now.name);
      if (now.name != was.name) columns += " AS " + quote_identifier(was.name);
    }
    text = fmt::format("(SELECT {} FROM {})", columns, text);
  }
  const bool keeps_name = is_same && table->relation.name == known.name;
  if (range.alias == nullptr && !keeps_name) text += " " + quote_identifier(known.name);
  return text;
}

struct Replacement {
  std::size_t begin;
  std::size_t end;
  std::string text;
};

/// As the operators and functions are called now that the text names so; nothing where those have
/// several names.
std::optional<std::string> present_routine(StatementContext& session, const Relation& view,
                                           std::string_view schema, std::string_view name,
                                           bool is_operator) {
  const std::string record = is_operator ? operator_record(name) : std::string{name};
  std::optional<std::string> present;
  for (const ViewRoutine& known : view.view_routines) {
    if (known.schema != schema || known.name != record) continue;
    std::optional<std::string> now = is_operator ? session.names.operator_name(known.routine)
                                                 : session.names.routine_name(known.routine);
    if (!now || (present && *present != *now)) return std::nullopt;
    present = std::move(now);
  }
  return present;
}

void collect_call(StatementContext& session, const Relation& view, const ast::FuncCall& call,
                  std::vector<Replacement>& replacements) {
  if (call.location < 0 || view.view_routines.empty()) return;
  const std::string_view schema =
      call.funcname.size() > 1 ? ast::string_of(call.funcname[call.funcname.size() - 2]) : "";
  auto now = present_routine(session, view, schema, ast::string_of(call.funcname.back()), false);
  if (!now) return;
  const auto begin = static_cast<std::size_t>(call.location);
  replacements.push_back({begin, end_of_name(view.view_sql, begin), std::move(*now)});
}

/// Qualifies an operator with its schema, for every reader.
void collect_operator(StatementContext& session, const Relation& view, const ast::A_Expr& expr,
                      std::vector<Replacement>& replacements) {
  if (expr.location < 0 || expr.name.size() != 1 || view.view_routines.empty()) return;
  const std::string_view name = ast::string_of(expr.name.back());
  const auto begin = static_cast<std::size_t>(expr.location);
  if (!std::string_view{view.view_sql}.substr(begin).starts_with(name)) return;
  auto now = present_routine(session, view, {}, name, true);
  if (now) replacements.push_back({begin, begin + name.size(), std::move(*now)});
}

/// Qualifies a user-defined type with its schema if the reader would not find it.
void collect_type(StatementContext& session, const Relation& view, const ast::TypeName& type,
                  std::vector<Replacement>& replacements) {
  if (type.location < 0 || type.names.empty()) return;
  const std::string_view name = ast::string_of(type.names.back());
  const std::string_view schema =
      type.names.size() > 1 ? ast::string_of(type.names[type.names.size() - 2]) : "";
  const auto known = std::ranges::find_if(view.view_types, [&](const ViewType& one) {
    return one.type >= kCollations && one.name == name && one.schema == schema;
  });
  if (known == view.view_types.end()) return;
  const auto begin = static_cast<std::size_t>(type.location);
  const auto now = session.names.user_type_name(without_array(TypeId{known->type}));
  if (now) replacements.push_back({begin, end_of_name(view.view_sql, begin), *now});
}

void collect(StatementContext& session, const Relation& view, const ast::Node& node,
             const std::set<std::string_view>& lone_names, std::vector<Replacement>& replacements) {
  check_stack();
  if (const auto* range = ast::try_as<ast::RangeVar>(&node)) {
    const auto known = std::ranges::find_if(view.view_names, [&](const ViewName& name) {
      return name.name == range->relname && name.schema == range->schemaname;
    });
    // Otherwise a WITH query's.
    if (known != view.view_names.end() && range->location >= 0) {
      const auto begin = static_cast<std::size_t>(range->location);
      replacements.push_back({begin, end_of_name(view.view_sql, begin),
                              present_name(session, *known, *range, lone_names)});
    }
  }
  if (const auto* call = ast::try_as<ast::FuncCall>(&node)) {
    collect_call(session, view, *call, replacements);
  }
  if (const auto* type = ast::try_as<ast::TypeName>(&node)) {
    collect_type(session, view, *type, replacements);
  }
  if (const auto* expr = ast::try_as<ast::A_Expr>(&node)) {
    collect_operator(session, view, *expr, replacements);
  }
  ast::for_each_child(node, [&](const ast::Node& child) {
    collect(session, view, child, lone_names, replacements);
  });
}

}  // namespace

namespace {

/// Returns the position after the string constant that begins at `at`; if none begins there, `at`.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  if (at >= text.size() || text[at] != '\'') return at;
  std::size_t end = at + 1;
  while (end < text.size()) {
    if (text[end++] != '\'') continue;
    if (end == text.size() || text[end] != '\'') return end;
    ++end;
  }
  return at;
}

/// Which constants name objects, only binding tells.
void collect_constants(StatementContext& session, const Relation& view,
                       std::vector<Replacement>& replacements) {
  const bool names_any = std::ranges::any_of(view.view_routines, [](const ViewRoutine& known) {
    return constant_of_record(known.name) != TypeId::none;
  });
  const TablePtr table = names_any ? session.names.table(view.oid) : nullptr;
  if (!table) return;
  Arena arena;
  Binder binder{session.names, arena};
  binder.read_view(*table);
  const std::string_view text = view.view_sql;
  for (const Binder::ConstantPlace& place : binder.constant_places()) {
    const auto begin = static_cast<std::size_t>(std::max(place.location, 0));
    const std::size_t end = end_of_string(text, begin);
    const auto now = session.names.name_of(place.type, place.object);
    if (end == begin || !now) continue;
    std::string shown = quote_literal(*now);
    if (!text.substr(end).starts_with("::")) shown += "::" + format_type(place.type);
    replacements.push_back({begin, end, std::move(shown)});
  }
}

}  // namespace

std::string with_present_names(StatementContext& session, const Relation& view) {
  Arena arena;
  std::vector<Replacement> replacements;
  collect_constants(session, view, replacements);
  for (const ast::RawStmt* statement : parse_script(arena, view.view_sql)) {
    std::set<std::string_view> lone_names;
    collect_lone_names(*statement, lone_names);
    collect(session, view, *statement, lone_names, replacements);
  }
  std::ranges::sort(replacements, {}, &Replacement::begin);
  std::string text;
  std::size_t copied = 0;
  for (const Replacement& replacement : replacements) {
    if (replacement.begin < copied) continue;
    text.append(view.view_sql, copied, replacement.begin - copied);
    text += replacement.text;
    copied = replacement.end;
  }
  return text.append(view.view_sql, copied);
}

namespace {

/// Returns the query's own names of its columns, without the view's names for them.
std::vector<std::string> names_of_query(StatementContext& session, const Table& view) {
  Arena arena;
  Binder binder{session.names, arena};
  const auto query = binder.bind_view_query(view);
  std::vector<std::string> names;
  for (const auto& target : query->targets) names.push_back(target.name);
  return names;
}

/// Throws SqlError where the view's text or its names cannot be read any more.
std::string present_definition(StatementContext& session, const Table& view) {
  const std::string query = with_present_names(session, view.relation);
  std::vector<std::string> names;
  for (const Column& column : view.relation.columns) names.push_back(column.name);
  if (names_of_query(session, view) == names) return " " + query + ";";
  std::string columns;
  std::string aliases;
  for (const std::string& name : names) {
    if (!columns.empty()) {
      columns += ", ";
      aliases += ", ";
    }
    columns += "named." + quote_identifier(name);
    aliases += quote_identifier(name);
  }
  return fmt::format(" SELECT {} FROM ({}) named({});", columns, query, aliases);
}

}  // namespace

namespace {

/// True if the text names tableoid, which no printed text has.
bool names_table_of_row(const ast::Node& node) {
  check_stack();
  if (const auto* column = ast::try_as<ast::ColumnRef>(&node); column != nullptr) {
    const auto* const name = ast::try_as<ast::String>(column->fields.back());
    if (name != nullptr && name->sval == "tableoid") return true;
  }
  bool found = false;
  ast::for_each_child(node,
                      [&](const ast::Node& child) { found = found || names_table_of_row(child); });
  return found;
}

/// Binds a printed text as it stands. Throws SqlError unless it has the view's columns.
void require_same_columns(StatementContext& session, const Table& view, const std::string& text) {
  Arena parse_arena;
  Arena arena;
  Binder binder{session.names, arena};
  const auto statements = parse_script(parse_arena, text);
  std::unique_ptr<Query> query;
  try {
    query = binder.bind_select(ast::as<ast::SelectStmt>(statements[0]->stmt), nullptr);
  } catch (const SqlError& error) {
    // The reader may see the text without rights to the objects in it.
    if (error.state() == sqlstate::insufficient_privilege) return;
    throw;
  }
  const auto is_same = [](const OutputTarget& target, const Column& column) {
    return target.name == column.name &&
           without_collation(target.type) == without_collation(column.type);
  };
  if (!std::ranges::equal(query->targets, view.relation.columns, is_same))
    throw SqlError{sqlstate::feature_not_supported, "this view cannot be shown"};
}

/// Throws SqlError unless the text has the operators of users that the view names. One over a
/// built-in function is bound as a call of that function.
void require_operators(StatementContext& session, const Relation& view, std::string_view text) {
  for (const ViewRoutine& known : view.view_routines) {
    const auto name = session.names.operator_name(known.routine);
    if (!name || text.find(*name) != std::string_view::npos) continue;
    throw SqlError{sqlstate::feature_not_supported, "an operator of this view cannot be shown"};
  }
}

std::string printed_definition(StatementContext& session, const Table& view, QueryLayout layout) {
  Arena parse_arena;
  Arena arena;
  const auto statements = parse_script(parse_arena, view.relation.view_sql);
  const auto& select = ast::as<ast::SelectStmt>(statements[0]->stmt);
  if (names_table_of_row(select))
    throw SqlError{sqlstate::feature_not_supported, "a system column cannot be shown"};
  Binder binder{session.names, arena};
  BindingNotes notes;
  binder.note_bindings(notes);
  const auto query = binder.read_view(view, select);
  std::vector<std::string> names;
  for (const Column& column : view.relation.columns) names.push_back(column.name);
  if (names.size() != query->targets.size())
    throw SqlError{sqlstate::feature_not_supported, "this view cannot be shown"};
  std::string text = query_text(*query, notes, binder, std::move(names), layout);
  require_operators(session, view.relation, text);
  require_same_columns(session, view, text);
  return text + ";";
}

}  // namespace

std::string definition_of_view(StatementContext& session, const Table& view, Layout layout,
                               int wrap_column) {
  const QueryLayout lines{layout == Layout::pretty, wrap_column};
  std::string printed =
      or_stored_text({}, [&] { return printed_definition(session, view, lines); });
  if (!printed.empty()) return printed;
  return or_stored_text(" " + view.relation.view_sql + ";",
                        [&] { return present_definition(session, view); });
}

}  // namespace swizzle::sql
