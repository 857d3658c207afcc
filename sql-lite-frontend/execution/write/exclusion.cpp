#include "sql-lite-frontend/execution/write/exclusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/execution/write/constraint_check.h"
#include "sql-lite-frontend/types/key_codec.h"
#include "sql-lite-frontend/types/range/range.h"
#include "sql-lite-frontend/types/range/range_operands.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/statement_invariant.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t kWorkOfExcludedEntry = 500;
/// Lock key prefix of the group of all rows, which has no key bytes. No entry is as short.
constexpr char kWholeIndex = 0;

bool overlap(TypeId type, const Value& a, const Value& b) {
  if (range_of_multirange(type) == TypeId::none) {
    const RangeView left{a};
    const RangeView right{b};
    if (left.empty() || right.empty()) return false;
    return BoundOrder{type}.overlap(left.span(), right.span());
  }
  const RangeOperand<RangeForm::multirange> left{a};
  const RangeOperand<RangeForm::multirange> right{b};
  return spans_overlap(BoundOrder{left.range_type()}, left.spans(), right.spans());
}

bool adjoin(TypeId type, const Value& a, const Value& b) {
  if (range_of_multirange(type) != TypeId::none) {
    const BoundOrder order{range_of_multirange(type)};
    const std::vector<Span> left = spans_of(a);
    const std::vector<Span> right = spans_of(b);
    if (left.empty() || right.empty()) return false;
    return order.adjacent(left.back().upper, right.front().lower) ||
           order.adjacent(right.back().upper, left.front().lower);
  }
  const RangeView left{a};
  const RangeView right{b};
  if (left.empty() || right.empty()) return false;
  const BoundOrder order{type};
  return order.adjacent(left.span().upper, right.span().lower) ||
         order.adjacent(right.span().upper, left.span().lower);
}

bool is_so(ExclusionOperator op, TypeId type, const Value& a, const Value& b) {
  switch (op) {
    case ExclusionOperator::equal:
      return compare_values(type, a, b) == 0;
    case ExclusionOperator::unequal:
      return compare_values(type, a, b) != 0;
    case ExclusionOperator::overlaps:
      return overlap(base_type(type), a, b);
    case ExclusionOperator::adjoins:
      return adjoin(base_type(type), a, b);
  }
  return false;
}

const Column& column_at(const Table& table, std::int16_t number) {
  return table.relation.columns[static_cast<std::size_t>(number - 1)];
}

}  // namespace

std::optional<ExclusionOperator> exclusion_operator(std::string_view name) noexcept {
  if (name == "=") return ExclusionOperator::equal;
  if (name == "<>" || name == "!=") return ExclusionOperator::unequal;
  if (name == "&&") return ExclusionOperator::overlaps;
  if (name == "-|-") return ExclusionOperator::adjoins;
  return std::nullopt;
}

Exclusion::Exclusion(TablePtr table, std::size_t index) : table_(std::move(table)), number_(index) {
  for (const IndexColumn& column : this->index().columns) {
    const auto op = exclusion_operator(column.excludes_by);
    STATEMENT_INVARIANT(op.has_value());
    parts_.push_back({*op, column.type});
  }
  while (equal_ < parts_.size() && parts_[equal_].op == ExclusionOperator::equal) ++equal_;
  is_ordered_ = !this->index().deferrable && equal_ + 1 == parts_.size() &&
                parts_.back().op == ExclusionOperator::overlaps &&
                range_subtype(parts_.back().type) != TypeId::none;
}

bool Exclusion::conflict(std::span<const Value> a, std::span<const Value> b) const {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!is_so(parts_[i].op, parts_[i].type, a[i], b[i])) return false;
  }
  return true;
}

bool Exclusion::is_empty_range(std::span<const Value> values) const {
  return is_ordered_ && RangeView{values.back()}.empty();
}

std::string Exclusion::group_of(std::span<const Value> values) const {
  std::string key;
  for (std::size_t i = 0; i < equal_; ++i) {
    append_key(key, table_->indexes[number_].columns[i], values[i]);
  }
  return key;
}

std::string Exclusion::key_of(std::span<const Value> values) const {
  std::string key;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    append_key(key, table_->indexes[number_].columns[i], values[i]);
  }
  return key;
}

bool Exclusion::read_entry(Bytes& key, Arena& arena, std::vector<Value>& values) const {
  values.clear();
  bool any_null = false;
  for (const KeyColumn& column : table_->indexes[number_].columns) {
    values.push_back(take_key(key, column, arena));
    any_null |= values.back().is_null();
  }
  return !any_null;
}

std::string Exclusion::row_key_of(std::string_view entry) const {
  Bytes rest = as_bytes(entry);
  for (const KeyColumn& column : table_->indexes[number_].columns) skip_key(rest, column);
  return std::string{as_text(rest)};
}

void Exclusion::require_period(const Value& period) const {
  if (!index().without_overlaps || period.is_null()) return;
  const bool is_range = range_of_multirange(base_type(parts_.back().type)) == TypeId::none;
  if (is_range ? !RangeView{period}.empty() : !spans_of(period).empty()) return;
  throw_error(sqlstate::check_violation,
              "empty WITHOUT OVERLAPS value found in column \"{}\" in relation \"{}\"",
              column_at(*table_, index().columns.back().column).name, table_->relation.name);
}

void Exclusion::lock(Transaction& transaction, std::span<const Value> values) const {
  std::string group = group_of(values);
  if (group.empty()) group.push_back(kWholeIndex);
  Tree tree = *table_->indexes[number_].tree;
  value_of(tree.lock_key(transaction, as_bytes(group)));
}

/// Waits for a transaction that is deleting the entry; returns false if it commits.
bool Exclusion::is_still_there(Transaction& transaction, const std::string& entry) const {
  const Tree tree = *table_->indexes[number_].tree;
  ValueBuffer buffer;
  auto locked = tree.get(transaction, as_bytes(entry), buffer, ReadMode::for_share);
  if (locked) return *locked;
  if (locked.error().state() != sqlstate::serialization_failure) {
    throw_storage_error(std::move(locked).error());
  }
  // The entry is newer than the snapshot, or deleted since. A constraint applies to the newest
  // versions.
  const InnerStatement latest{transaction};
  return value_of(tree.get(transaction, as_bytes(entry), buffer));
}

std::optional<std::string> Exclusion::search(Transaction& transaction,
                                             std::span<const Value> values, const ScanRange& range,
                                             Direction direction) const {
  const Tree tree = *table_->indexes[number_].tree;
  Cursor cursor = value_of(tree.scan(transaction, range, direction));
  Arena arena{1024};
  std::vector<Value> other;
  while (value_of(cursor.next())) {
    yield_point(kWorkOfExcludedEntry);
    arena.reset();
    Bytes rest = cursor.key();
    if (!read_entry(rest, arena, other)) continue;
    if (conflict(values, other)) {
      std::string entry{as_text(cursor.key())};
      if (is_still_there(transaction, entry)) return entry;
    } else if (is_ordered_) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

namespace {

/// Returns the range of all entries that begin with `group`. Its bounds refer to the two strings.
ScanRange range_of_group(const std::string& group, const std::string& end) {
  ScanRange range;
  if (group.empty()) return range;
  range.low = as_bytes(group);
  range.high = as_bytes(end);
  return range;
}

}  // namespace

std::optional<std::string> Exclusion::find(Transaction& transaction,
                                           std::span<const Value> values) const {
  if (is_empty_range(values)) return std::nullopt;
  const InnerStatement latest{transaction};
  const std::string group = group_of(values);
  const std::string end = key_successor(group);
  const ScanRange all = range_of_group(group, end);
  if (!is_ordered_) return search(transaction, values, all, Direction::forward);
  const std::string own = key_of(values);
  ScanRange before = all;
  before.high = as_bytes(own);
  if (auto found = search(transaction, values, before, Direction::backward)) return found;
  ScanRange behind = all;
  behind.low = as_bytes(own);
  return search(transaction, values, behind, Direction::forward);
}

std::optional<std::string> Exclusion::find_beside(Transaction& transaction,
                                                  std::span<const Value> values) const {
  const InnerStatement latest{transaction};
  const std::string group = group_of(values);
  const std::string end = key_successor(group);
  const std::string own = key_of(values);
  const bool meets_itself = conflict(values, values);
  const Tree tree = *table_->indexes[number_].tree;
  Cursor cursor = value_of(tree.scan(transaction, range_of_group(group, end)));
  Arena arena{1024};
  std::vector<Value> other;
  std::optional<std::string> found;
  bool is_there = false;
  while (value_of(cursor.next())) {
    yield_point(kWorkOfExcludedEntry);
    arena.reset();
    std::string entry{as_text(cursor.key())};
    if (entry.starts_with(own) && !std::exchange(is_there, true)) continue;
    Bytes rest = cursor.key();
    if (found || !read_entry(rest, arena, other)) continue;
    const bool is_like_it = entry.starts_with(own);
    if (is_like_it ? !meets_itself : !conflict(values, other)) continue;
    if (is_still_there(transaction, entry)) found = std::move(entry);
    if (found && is_there) break;
  }
  return is_there ? found : std::nullopt;
}

std::vector<Value> Exclusion::shown_values(Transaction& transaction, Arena& arena,
                                           std::string_view entry) const {
  std::vector<Value> values;
  Bytes rest = as_bytes(entry);
  read_entry(rest, arena, values);
  const auto& columns = index().columns;
  // Read from the row, because a key does not preserve the number of digits of a numeric.
  const InnerStatement latest{transaction};
  ValueBuffer buffer;
  const Tree tree = *table_->tree;
  if (!value_of(tree.get(transaction, rest, buffer))) return values;
  const RowReader reader{table_->layout, buffer.bytes()};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].column == 0) continue;
    values[i] = reader.column(static_cast<std::size_t>(columns[i].column - 1)).copy_to(arena);
  }
  return values;
}

namespace {

std::string shown_name(const Table& table, const IndexColumn& column) {
  if (column.column == 0) return column.expression_sql;
  return quote_identifier(column_at(table, column.column).name);
}

}  // namespace

/// "(a, b)=(1, [2,3))", in the order in which the constraint was written.
std::string Exclusion::described(FunctionContext& functions, std::span<const Value> values) const {
  const auto& columns = index().columns;
  std::vector<std::size_t> order(columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return columns[i].written_place; });
  std::string names;
  std::string texts;
  for (const std::size_t i : order) {
    if (!names.empty()) names += ", ";
    if (!texts.empty()) texts += ", ";
    names += shown_name(*table_, columns[i]);
    texts += to_text(functions, columns[i].type, values[i]);
  }
  return fmt::format("({})=({})", names, texts);
}

namespace {

bool may_show(StatementServices& services, const TablePtr& table, const Index& index) {
  std::vector<std::int16_t> columns;
  bool is_plain = true;
  for (const IndexColumn& column : index.columns) {
    columns.push_back(column.column);
    is_plain &= column.column != 0;
  }
  if (!is_plain) {
    columns.clear();
    for (std::size_t i = 0; i < table->relation.columns.size(); ++i) {
      if (!table->relation.columns[i].dropped) columns.push_back(static_cast<std::int16_t>(i + 1));
    }
  }
  return services.may_read(table, columns);
}

Diagnostic violation(StatementServices& services, const Table& table, const Index& index) {
  Diagnostic diagnostic;
  diagnostic.state = kExclusionViolation;
  diagnostic.schema = services.schema_name(table.relation.schema);
  diagnostic.table = table.relation.name;
  diagnostic.constraint = index.name;
  return diagnostic;
}

}  // namespace

void Exclusion::fail(StatementServices& services, FunctionContext& functions,
                     Transaction& transaction, std::span<const Value> values,
                     std::string_view entry) const {
  Diagnostic diagnostic = violation(services, *table_, index());
  diagnostic.message =
      fmt::format("conflicting key value violates exclusion constraint \"{}\"", index().name);
  diagnostic.detail = "Key conflicts with existing key.";
  if (may_show(services, table_, index())) {
    Arena arena;
    const std::vector<Value> existing = shown_values(transaction, arena, entry);
    diagnostic.detail = fmt::format("Key {} conflicts with existing key {}.",
                                    described(functions, values), described(functions, existing));
  }
  throw_diagnostic(diagnostic);
}

void Exclusion::check_all(StatementServices& services, FunctionContext& functions,
                          Transaction& transaction) const {
  const InnerStatement latest{transaction};
  const Tree tree = *table_->indexes[number_].tree;
  Cursor cursor = value_of(tree.scan(transaction, {}, Direction::forward, ReadMode::snapshot,
                                     WaitPolicy::wait, ScanHint::large));
  Arena arena{1024};
  Arena inner{1024};
  std::vector<Value> values;
  std::vector<Value> other;
  while (value_of(cursor.next())) {
    yield_point(kWorkOfExcludedEntry);
    arena.reset();
    const std::string entry{as_text(cursor.key())};
    Bytes rest = as_bytes(entry);
    const bool has_all = read_entry(rest, arena, values);
    require_period(values.back());
    if (!has_all || is_empty_range(values)) continue;
    const std::string end = key_successor(group_of(values));
    ScanRange behind;
    behind.low = as_bytes(entry);
    behind.low_bound = ScanRange::Bound::exclusive;
    if (!end.empty()) behind.high = as_bytes(end);
    Cursor next = value_of(tree.scan(transaction, behind));
    while (value_of(next.next())) {
      yield_point(kWorkOfExcludedEntry);
      inner.reset();
      Bytes bytes = next.key();
      if (!read_entry(bytes, inner, other)) continue;
      if (conflict(values, other)) {
        std::string first = entry;
        std::string second{as_text(next.key())};
        if (row_key_of(second) < row_key_of(first)) std::swap(first, second);
        Diagnostic diagnostic = violation(services, *table_, index());
        diagnostic.message =
            fmt::format("could not create exclusion constraint \"{}\"", index().name);
        diagnostic.detail =
            fmt::format("Key {} conflicts with key {}.",
                        described(functions, shown_values(transaction, arena, first)),
                        described(functions, shown_values(transaction, arena, second)));
        throw_diagnostic(diagnostic);
      }
      if (is_ordered_) break;
    }
  }
}

Exclusions::Exclusions(const TablePtr& table) : table_(table) {
  const auto& indexes = table->relation.indexes;
  if (std::ranges::none_of(indexes, &Index::excludes)) return;
  by_index_.resize(indexes.size());
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    if (indexes[i].excludes()) by_index_[i] = std::make_unique<const Exclusion>(table, i);
  }
}

void Exclusions::note(WorkMemory& memory, std::size_t index, std::span<const Value> values) {
  notes_.add(memory, static_cast<std::int64_t>(index), values);
}

namespace {

const Constraint* constraint_of(const Table& table, const Index& index) {
  const auto& all = table.relation.constraints;
  const auto found = std::ranges::find_if(all, [&](const Constraint& constraint) {
    return constraint.kind != ConstraintKind::foreign_key && constraint.index == index.oid;
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

void Exclusions::finish(Execution& execution) {
  if (notes_.empty()) return;
  StatementServices& services = execution.services;
  RowEvents::Reader reader{notes_};
  while (reader.next()) {
    const auto number = static_cast<std::size_t>(reader.what());
    const Exclusion& exclusion = *by_index_[number];
    const auto entry = exclusion.find_beside(*execution.transaction, reader.values());
    if (!entry) continue;
    const Constraint* constraint = constraint_of(*table_, exclusion.index());
    if (constraint == nullptr || !services.is_deferred(*constraint)) {
      exclusion.fail(services, execution.functions, *execution.transaction, reader.values(),
                     *entry);
    }
    services.defer_check(
        {DeferredCheck::Kind::excludes, constraint->oid, table_->relation.oid, reader.values()});
  }
  notes_.clear();
}

void check_deferred_exclusion(StatementServices& services, NameSource& names, const TablePtr& table,
                              const DeferredCheck& check) {
  const auto& constraints = table->relation.constraints;
  const auto constraint = std::ranges::find(constraints, check.constraint, &Constraint::oid);
  if (constraint == constraints.end()) return;
  const auto& indexes = table->relation.indexes;
  const auto index = std::ranges::find(indexes, constraint->index, &Index::oid);
  if (index == indexes.end()) return;
  const Exclusion exclusion{table, static_cast<std::size_t>(index - indexes.begin())};
  Transaction& transaction = services.engine_transaction();
  const auto entry = exclusion.find_beside(transaction, check.values);
  if (!entry) return;
  Arena arena;
  FunctionContext functions{arena, names.context(), {}};
  exclusion.fail(services, functions, transaction, check.values, *entry);
}

}  // namespace swizzle::sql
