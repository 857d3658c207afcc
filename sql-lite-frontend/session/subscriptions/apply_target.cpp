#include "sql-lite-frontend/session/subscriptions/apply_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sql-lite-frontend/execution/publish/published_table.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Returns the local columns of the replica identity, or else of the primary key.
std::vector<std::size_t> identity_of(const Relation& relation) {
  const Index* index = identity_index(relation);
  for (const Index& one : relation.indexes)
    if (index == nullptr && one.primary && !one.deferrable) index = &one;
  std::vector<std::size_t> columns;
  if (index == nullptr) return columns;
  for (const IndexColumn& column : index->columns)
    columns.push_back(static_cast<std::size_t>(column.column - 1));
  return columns;
}

TablePtr find_table(const Session::State& session, const PublishedRelation& published) {
  const SchemaPtr schema = session.catalog.schema(published.schema);
  return schema ? session.catalog.table(schema->oid, published.name) : nullptr;
}

std::string joined(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names)
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", name);
  return list;
}

}  // namespace

ApplyTarget::ApplyTarget(Session::State& session, PublishedRelation published)
    : published_(std::move(published)),
      table_(find_table(session, published_)),
      name_(published_.schema + "." + published_.name),
      quoted_name_(quote_identifier(published_.schema) + "." + quote_identifier(published_.name)) {
  if (!table_ || (table_->relation.kind != RelationKind::table &&
                  table_->relation.kind != RelationKind::partitioned)) {
    throw_error(sqlstate::object_not_in_prerequisite_state,
                "logical replication target relation \"{}\" does not exist", name_);
  }
  map_columns();
  choose_search();
}

bool ApplyTarget::is_current(const Session::State& session) const {
  return find_table(session, published_) == table_;
}

void ApplyTarget::map_columns() {
  const std::vector<Column>& columns = table_->relation.columns;
  std::vector<std::string> missing;
  std::vector<std::string> generated;
  for (const PublishedRelation::Column& one : published_.columns) {
    const auto found = std::ranges::find_if(
        columns, [&](const Column& local) { return !local.dropped && local.name == one.name; });
    if (found == columns.end()) {
      missing.push_back(one.name);
      continue;
    }
    if (found->generated) generated.push_back(one.name);
    if (found->identity == 'a') fixed_.push_back(locals_.size());
    locals_.push_back(static_cast<std::size_t>(found - columns.begin()));
  }
  if (!missing.empty()) {
    throw_error(sqlstate::object_not_in_prerequisite_state,
                "logical replication target relation \"{}\" is missing replicated column{}: {}",
                name_, missing.size() == 1 ? "" : "s", joined(missing));
  }
  if (!generated.empty()) {
    throw_error(sqlstate::object_not_in_prerequisite_state,
                "logical replication target relation \"{}\" has incompatible generated column{}: "
                "{}",
                name_, generated.size() == 1 ? "" : "s", joined(generated));
  }
}

/// By the local replica identity or primary key, if the publisher sends it with every change; else
/// by all columns, if it sends these.
void ApplyTarget::choose_search() {
  Search by_key{.columns = {}, .is_key = true};
  const std::vector<std::size_t> identity = identity_of(table_->relation);
  for (const std::size_t local : identity) {
    const auto found = std::ranges::find(locals_, local);
    const auto at = static_cast<std::size_t>(found - locals_.begin());
    const bool is_sent = found != locals_.end() &&
                         (published_.identity == 'f' || published_.columns[at].in_identity);
    if (!is_sent) return;
    by_key.columns.push_back(at);
  }
  if (!identity.empty()) {
    search_ = std::move(by_key);
  } else if (published_.identity == 'f') {
    Search by_all;
    for (std::size_t i = 0; i < locals_.size(); ++i) by_all.columns.push_back(i);
    search_ = std::move(by_all);
  }
}

const ApplyTarget::Search& ApplyTarget::search() const {
  if (search_ && !search_->is_key && table_->relation.is_partitioned()) {
    throw_error(sqlstate::feature_not_supported,
                "replicating changes of rows without a key into partitioned table \"{}\" is not "
                "supported",
                name_);
  }
  if (search_) return *search_;
  if (identity_of(table_->relation).empty()) {
    throw_error(sqlstate::object_not_in_prerequisite_state,
                "logical replication target relation \"{}\" has neither REPLICA IDENTITY index "
                "nor PRIMARY KEY and published relation does not have REPLICA IDENTITY FULL",
                name_);
  }
  throw_error(sqlstate::object_not_in_prerequisite_state,
              "publisher did not send replica identity column expected by the logical replication "
              "target relation \"{}\"",
              name_);
}

const Column& ApplyTarget::column(std::size_t published) const {
  return table_->relation.columns[locals_[published]];
}

/// Returns the name as it means the table's own rows, without those of its heirs.
std::string ApplyTarget::name_of_rows() const {
  return (table_->relation.children.empty() ? "" : "ONLY ") + quoted_name_;
}

std::string ApplyTarget::quoted(std::size_t published) const {
  return quote_identifier(column(published).name);
}

void ApplyTarget::add_parameter(ApplyStatement& statement, std::size_t published) const {
  statement.types.push_back(static_cast<std::uint32_t>(raw(column(published).type)));
  statement.text += fmt::format("${}", statement.types.size());
}

ApplyStatement ApplyTarget::insert() const {
  ApplyStatement statement;
  if (locals_.empty()) {
    statement.text = fmt::format("INSERT INTO {} DEFAULT VALUES", quoted_name_);
    return statement;
  }
  std::string names;
  bool has_identity = false;
  for (std::size_t i = 0; i < locals_.size(); ++i) {
    names += (i == 0 ? "" : ", ") + quoted(i);
    has_identity = has_identity || column(i).identity == 'a';
  }
  statement.text = fmt::format("INSERT INTO {} ({}){} VALUES (", quoted_name_, names,
                               has_identity ? " OVERRIDING SYSTEM VALUE" : "");
  for (std::size_t i = 0; i < locals_.size(); ++i) {
    if (i > 0) statement.text += ", ";
    add_parameter(statement, i);
    statement.of_new.push_back(i);
  }
  statement.text += ')';
  return statement;
}

bool ApplyTarget::is_of_key(std::size_t published) const {
  return search_ && search_->is_key &&
         std::ranges::find(search_->columns, published) != search_->columns.end();
}

std::vector<std::size_t> ApplyTarget::sent_columns(const PublishedRow& row, KeyChange key) const {
  std::vector<std::size_t> columns;
  std::vector<std::size_t> of_key;
  for (std::size_t i = 0; i < locals_.size(); ++i) {
    if (row[i].kind == PublishedValue::Kind::unchanged || column(i).identity == 'a') continue;
    (key == KeyChange::none && is_of_key(i) ? of_key : columns).push_back(i);
  }
  // Something has to be set, so that triggers fire.
  return columns.empty() ? of_key : columns;
}

void ApplyTarget::set_columns(ApplyStatement& statement,
                              const std::vector<std::size_t>& columns) const {
  statement.text = fmt::format("UPDATE {} SET ", name_of_rows());
  for (const std::size_t i : columns) {
    if (!statement.of_new.empty()) statement.text += ", ";
    statement.text += quoted(i) + " = ";
    add_parameter(statement, i);
    statement.of_new.push_back(i);
  }
}

void ApplyTarget::add_condition(ApplyStatement& statement, std::size_t published) const {
  statement.text += std::exchange(statement.has_condition, true) ? " AND " : " WHERE ";
  statement.text += quoted(published) + " = ";
  add_parameter(statement, published);
}

void ApplyTarget::add_key_condition(ApplyStatement& statement) const {
  for (const std::size_t i : search().columns) {
    add_condition(statement, i);
    statement.of_old.push_back(i);
  }
}

ApplyStatement ApplyTarget::update(const PublishedRow& row, KeyChange key) const {
  const std::vector<std::size_t> columns = sent_columns(row, key);
  // Only an identity column is sent, and that cannot be set.
  if (columns.empty()) return find();
  ApplyStatement statement;
  set_columns(statement, columns);
  for (const std::size_t i : fixed_) {
    if (key == KeyChange::none && is_of_key(i)) continue;
    add_condition(statement, i);
    statement.of_new.push_back(i);
  }
  add_key_condition(statement);
  return statement;
}

void ApplyTarget::refuse_fixed() const {
  throw_error(sqlstate::feature_not_supported,
              "replicating an update of the identity column \"{}\" of relation \"{}\", which is "
              "GENERATED ALWAYS, is not supported",
              column(fixed_.front()).name, name_);
}

void ApplyTarget::require_same_fixed(const PublishedRow& old_row, const PublishedRow& row) const {
  for (const std::size_t i : fixed_)
    if (old_row[i].text != row[i].text) refuse_fixed();
}

ApplyStatement ApplyTarget::find() const {
  ApplyStatement statement;
  statement.text = fmt::format("SELECT FROM {}", name_of_rows());
  add_key_condition(statement);
  return statement;
}

ApplyStatement ApplyTarget::remove() const {
  ApplyStatement statement;
  statement.text = fmt::format("DELETE FROM {}", name_of_rows());
  add_key_condition(statement);
  return statement;
}

ApplyStatement ApplyTarget::declare_cursor(const PublishedRow& old_row) const {
  ApplyStatement statement;
  statement.text =
      fmt::format("DECLARE {} NO SCROLL CURSOR FOR SELECT FROM {}", kCursor, name_of_rows());
  bool is_first = true;
  for (const std::size_t i : search().columns) {
    statement.text += std::exchange(is_first, false) ? " WHERE " : " AND ";
    statement.text += quoted(i);
    if (old_row[i].kind == PublishedValue::Kind::null) {
      statement.text += " IS NULL";
      continue;
    }
    statement.text += " = ";
    add_parameter(statement, i);
    statement.of_old.push_back(i);
  }
  statement.text += " FOR UPDATE";
  return statement;
}

ApplyStatement ApplyTarget::update_at_cursor(const PublishedRow& row) const {
  ApplyStatement statement;
  set_columns(statement, sent_columns(row, KeyChange::possible));
  statement.text += fmt::format(" WHERE CURRENT OF {}", kCursor);
  return statement;
}

ApplyStatement ApplyTarget::remove_at_cursor() const {
  ApplyStatement statement;
  statement.text = fmt::format("DELETE FROM {} WHERE CURRENT OF {}", name_of_rows(), kCursor);
  return statement;
}

std::string ApplyTarget::shown(const PublishedRow& row,
                               std::span<const std::size_t> columns) const {
  constexpr std::size_t kShown = 64;
  std::string text = "(";
  for (const std::size_t i : columns) {
    if (text.size() > 1) text += ", ";
    text += row[i].kind == PublishedValue::Kind::text ? row[i].text.substr(0, kShown) : "null";
  }
  return text + ')';
}

std::string ApplyTarget::shown_search(const PublishedRow& row) const {
  const Search& by = search();
  if (!by.is_key) return "replica identity full " + shown(row, by.columns);
  std::string names;
  for (const std::size_t i : by.columns) names += (names.empty() ? "" : ", ") + column(i).name;
  return fmt::format("replica identity ({})={}", names, shown(row, by.columns));
}

}  // namespace swizzle::sql
