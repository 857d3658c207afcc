#include <algorithm>
#include <array>

#include "base/checksum.h"
#include "sql-lite-frontend/query/bind/boolean_expressions.h"
#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/query/bound/expression_copy.h"
#include "sql-lite-frontend/query/bound/row_identity.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

/// ctid, xmin, xmax, cmin and cmax, and the ways from a ctid to its row.
namespace swizzle::sql {
namespace {

/// The columns of the key by which a table's rows are ordered; none if the item does not show it.
std::vector<ScopeColumn> shown_key(const ScopeItem& item) {
  std::vector<ScopeColumn> key;
  if (item.row_id_slot) {
    ScopeColumn& id = key.emplace_back();
    id.name = "ctid";
    id.type = TypeId::xid8;
    id.slot = *item.row_id_slot;
    id.origin = {kNoOid, 0, item.alias, "ctid"};
    return key;
  }
  const Relation& relation = item.table->relation;
  const Index* const primary = item.table->primary_key();
  if (primary == nullptr || !primary->orders_rows()) return key;
  for (const IndexColumn& part : primary->columns) {
    // Under a nondeterministic collation equal keys may have different texts, so none of them
    // identifies the row.
    const TypeId type = part.key_type();
    if (is_collated(type) && is_nondeterministic(collation_of_type(type))) return {};
    const auto found = std::ranges::find_if(item.columns, [&](const ScopeColumn& column) {
      return column.origin.column == part.column && column.origin.table == relation.oid;
    });
    if (found == item.columns.end()) return {};
    key.push_back(*found);
  }
  return key;
}

/// The columns of the item's relation, whatever a view knows of them.
const std::vector<ScopeColumn>& all_columns_of(const ScopeItem& item) {
  return item.whole_row.empty() ? item.columns : item.whole_row;
}

/// Returns the definition of a column; null for one that is not the relation's.
const Column* definition_of(const ScopeItem& item, const ScopeColumn& column) {
  const auto number = static_cast<std::size_t>(column.origin.column);
  const auto& columns = item.table->relation.columns;
  if (column.origin.table != item.table->relation.oid) return nullptr;
  return number == 0 || number > columns.size() ? nullptr : &columns[number - 1];
}

/// Returns one column of the key of the row with that number.
ExprPtr key_column_of(ExprPtr number, const SessionFunctionExpr& identity, std::size_t position,
                      const Function& function) {
  const Expr& column = *identity.operands()[position + 1];
  std::vector<ExprPtr> operands;
  operands.push_back(std::move(number));
  operands.push_back(copy_expression(*identity.operands()[0]));
  operands.push_back(std::make_unique<ConstantExpr>(
      TypeId::int4, kNoTypmod, Value::from_int(static_cast<std::int64_t>(position))));
  auto call = std::make_unique<SessionFunctionExpr>(function, std::move(operands));
  call->set_type(column.type(), kNoTypmod);
  return call;
}

/// Returns the operands if it is a comparison of two tids; empty for anything else.
std::span<ExprPtr> compared_tids(Expr& condition, std::string_view& op) {
  auto* const call = dynamic_cast<FunctionExpr*>(&condition);
  if (call == nullptr || call->op() == nullptr || call->operands().size() != 2) return {};
  if (call->op()->left != TypeId::tid || call->op()->right != TypeId::tid) return {};
  op = call->op()->name;
  return call->mutable_operands();
}

/// True if the value is the same for every row of the table that `identity` is of.
bool is_independent(Expr& value, SessionFunctionExpr& identity) {
  std::vector<Slot> own;
  add_slots_read(identity, own);
  std::vector<Slot> read;
  add_slots_read(value, read);
  const bool reads_own = std::ranges::any_of(
      read, [&](Slot slot) { return std::ranges::find(own, slot) != own.end(); });
  return !reads_own && !is_volatile(value);
}

}  // namespace

SessionFunctionExpr* ExpressionBinder::as_row_identity(Expr* expr) {
  auto* call = dynamic_cast<SessionFunctionExpr*>(expr);
  return call != nullptr && &call->function() == &names_.row_identity_functions().number ? call
                                                                                         : nullptr;
}

ExprPtr ExpressionBinder::found_by_key(SessionFunctionExpr& identity, ExprPtr number,
                                       const Function& function, std::int32_t location) {
  const std::size_t columns = identity.operands().size() - 1;
  std::vector<ExprPtr> conditions;
  for (std::size_t i = 0; i < columns; ++i) {
    ExprPtr own = i + 1 < columns ? copy_expression(*number) : std::move(number);
    ExprPtr key = key_column_of(std::move(own), identity, i, function);
    walk(*key, [&](Expr&) { repeated_.count(1); });
    ExprPtr column = std::move(identity.mutable_operands()[i + 1]);
    conditions.push_back(call_operator("=", std::move(column), std::move(key), location));
  }
  return boolean(BooleanExpr::Kind::conjunction, std::move(conditions));
}

ExprPtr ExpressionBinder::found_by_keys(std::vector<ExprPtr>& operands, std::int32_t location) {
  check_stack();
  SessionFunctionExpr* const identity = as_row_identity(operands[0].get());
  if (identity == nullptr || identity->operands().size() != 2) return nullptr;
  if (operands[1]->type() != TypeId::tid_array || !is_independent(*operands[1], *identity)) {
    return nullptr;
  }
  ExprPtr& column = identity->mutable_operands()[1];
  const TypeId array = array_type(column->type());
  if (array == TypeId::none) return nullptr;
  std::vector<ExprPtr> arguments;
  arguments.push_back(std::move(operands[1]));
  arguments.push_back(copy_expression(*identity->operands()[0]));
  auto keys = std::make_unique<SessionFunctionExpr>(names_.row_identity_functions().keys,
                                                    std::move(arguments));
  keys->set_type(array, kNoTypmod);
  const ResolvedOperator equal = resolve_operator("=", column->type(), column->type(), 0);
  std::vector<ExprPtr> compared;
  compared.push_back(std::move(column));
  compared.push_back(std::move(keys));
  const DerivedCollation collation = merge_collations(names_, compared[0], compared[1]);
  return array_comparison(ArrayComparisonExpr::Kind::any, *equal.op, std::move(compared), collation,
                          location);
}

void ExpressionBinder::join_by_keys(ExprPtr& condition) {
  std::string_view op;
  const std::span<ExprPtr> sides = compared_tids(*condition, op);
  if (sides.empty() || op != "=") return;
  SessionFunctionExpr* const left = as_row_identity(sides[0].get());
  SessionFunctionExpr* const right = as_row_identity(sides[1].get());
  if (left == nullptr || right == nullptr) return;
  const auto table_of = [](const SessionFunctionExpr& identity) {
    return dynamic_cast<const ConstantExpr&>(*identity.operands()[0]).value().as_oid();
  };
  if (table_of(*left) != table_of(*right)) return;
  std::vector<ExprPtr> conditions;
  for (std::size_t i = 1; i < left->operands().size(); ++i) {
    conditions.push_back(call_operator("=", std::move(left->mutable_operands()[i]),
                                       std::move(right->mutable_operands()[i]), -1));
  }
  condition = boolean(BooleanExpr::Kind::conjunction, std::move(conditions));
}

/// The ctids of hidden row ids have the order of the ids.
bool ExpressionBinder::find_range_by_key(ExprPtr& condition) {
  std::string_view op;
  const std::span<ExprPtr> sides = compared_tids(*condition, op);
  if (sides.empty() || (op != "<" && op != "<=" && op != ">" && op != ">=")) return false;
  const bool is_left = as_row_identity(sides[0].get()) != nullptr;
  SessionFunctionExpr* const identity = as_row_identity(sides[is_left ? 0 : 1].get());
  ExprPtr& value = sides[is_left ? 1 : 0];
  if (identity == nullptr || as_row_identity(value.get()) != nullptr) return false;
  ExprPtr& id = identity->mutable_operands()[1];
  if (id->type() != TypeId::xid8 || !is_independent(*value, *identity)) return false;
  const bool is_below = (op[0] == '<') == is_left;
  // A row is below (at or above) a bound if its id is below (at or above) the first one that is
  // not.
  const bool takes_equal = op.size() == 2;
  const RowIdentityFunctions& functions = names_.row_identity_functions();
  const Function& bound =
      is_below == takes_equal ? functions.first_id_after : functions.first_id_from;
  std::vector<ExprPtr> arguments;
  arguments.push_back(std::move(value));
  ExprPtr first = std::make_unique<SessionFunctionExpr>(bound, std::move(arguments));
  condition = call_operator(is_below ? "<" : ">=", std::move(id), std::move(first), -1);
  return true;
}

void ExpressionBinder::find_by_key(ExprPtr& condition) {
  join_by_keys(condition);
  if (find_range_by_key(condition)) return;
  std::string_view op;
  const std::span<ExprPtr> sides = compared_tids(*condition, op);
  if (sides.empty() || op != "=") return;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    SessionFunctionExpr* const identity = as_row_identity(sides[side].get());
    ExprPtr& number = sides[1 - side];
    if (identity == nullptr || !is_independent(*number, *identity)) continue;
    if (identity->operands().size() > 2 && !copy_expression(*number)) continue;
    condition = found_by_key(*identity, std::move(number), names_.row_identity_functions().key, -1);
    return;
  }
}

/// Returns values of which one is not NULL if the row exists; none if it always exists.
std::vector<ExprPtr> ExpressionBinder::row_presence(const ScopeItem& item, const ColumnUse& use) {
  std::vector<ExprPtr> values;
  for (const ScopeColumn& column : all_columns_of(item)) {
    const Column* const definition = definition_of(item, column);
    if (definition == nullptr || definition->is_virtual || !definition->never_null()) continue;
    values.push_back(use(column));
    return values;
  }
  if (item.row_id_slot) {
    values.push_back(use(shown_key(item)[0]));
    return values;
  }
  if (!item.may_be_absent && !item.is_version) return values;
  for (const ScopeColumn& column : all_columns_of(item)) {
    const Column* const definition = definition_of(item, column);
    if (definition != nullptr && !definition->is_virtual) values.push_back(use(column));
  }
  return values;
}

namespace {

std::vector<ExprPtr> counted(std::vector<ExprPtr> presence) {
  std::vector<ExprPtr> operands;
  operands.push_back(std::make_unique<ConstantExpr>(
      TypeId::int4, kNoTypmod, Value::from_int(static_cast<std::int64_t>(presence.size()))));
  for (ExprPtr& value : presence) operands.push_back(std::move(value));
  return operands;
}

}  // namespace

/// A column's place in the digest is its name's, so that partitions with other orders of columns,
/// and a table that has got another column, give the same.
ExprPtr ExpressionBinder::row_stamp(const ScopeItem& item, const ColumnUse& use) {
  std::vector<ExprPtr> operands = counted(row_presence(item, use));
  for (const ScopeColumn& column : all_columns_of(item)) {
    const Column* const definition = definition_of(item, column);
    if (definition == nullptr || definition->is_virtual) continue;
    const std::uint64_t place = checksum(as_bytes(definition->name), 0);
    operands.push_back(std::make_unique<ConstantExpr>(
        TypeId::int8, kNoTypmod, Value::from_int(static_cast<std::int64_t>(place))));
    operands.push_back(use(column));
  }
  return std::make_unique<SessionFunctionExpr>(names_.row_identity_functions().stamp,
                                               std::move(operands));
}

ExprPtr ExpressionBinder::row_identity(const ScopeItem& item, const ColumnUse& use) {
  const std::vector<ScopeColumn> key = shown_key(item);
  if (key.empty()) return nullptr;
  std::vector<ExprPtr> operands;
  operands.push_back(std::make_unique<ConstantExpr>(TypeId::oid, kNoTypmod,
                                                    Value::from_oid(item.table->relation.oid)));
  for (const ScopeColumn& column : key) operands.push_back(use(column));
  return std::make_unique<SessionFunctionExpr>(names_.row_identity_functions().number,
                                               std::move(operands));
}

ExprPtr ExpressionBinder::system_column(std::string_view name, const ScopeItem& item, Scope& scope,
                                        const ColumnUse& use) {
  const RowIdentityFunctions& functions = names_.row_identity_functions();
  if (item.table->relation.kind == RelationKind::computed) {
    // Rows of system relations are computed: they have always existed, and have no place.
    if (name == "ctid") return nullptr;
    constexpr std::uint32_t kFrozen = 2;
    const bool is_command = name == "cmin" || name == "cmax";
    return std::make_unique<ConstantExpr>(is_command ? TypeId::cid : TypeId::xid, kNoTypmod,
                                          Value::from_oid(name == "xmin" ? kFrozen : 0));
  }
  ExprPtr expr;
  if (name == "ctid") {
    expr = row_identity(item, use);
  } else if (name == "xmin") {
    expr = row_stamp(item, use);
  } else {
    const Function& function = name == "cmin"   ? functions.no_command
                               : name == "cmax" ? functions.no_last_command
                               : item.is_ended  ? functions.ender
                                                : functions.no_changer;
    expr = std::make_unique<SessionFunctionExpr>(function, counted(row_presence(item, use)));
  }
  if (expr && scope.clause != Clause::policy) note_system_column(item);
  return expr;
}

}  // namespace swizzle::sql
