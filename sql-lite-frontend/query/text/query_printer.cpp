#include "sql-lite-frontend/query/text/query_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sql-lite-frontend/query/bound/row_order.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {

/// Scope in which a subquery of an expression is printed: a query is not one of the expression's
/// operands.
class QueryPrinter::WithinExpression {
 public:
  explicit WithinExpression(ExprPrinter& printer)
      : printer_(printer),
        indent_(printer.indent),
        depth_(std::exchange(printer.depth, 0)),
        place_(std::exchange(printer.place, {})),
        current_(std::exchange(printer.current, nullptr)) {}
  WithinExpression(const WithinExpression&) = delete;
  WithinExpression& operator=(const WithinExpression&) = delete;
  ~WithinExpression() {
    printer_.indent = indent_;
    printer_.depth = depth_;
    printer_.place = place_;
    printer_.current = current_;
  }

 private:
  ExprPrinter& printer_;
  int indent_;
  int depth_;
  ExprPrinter::Place place_;
  const Expr* current_;
};

QueryPrinter::QueryPrinter(const BindingNotes& notes, Binder& binder, QueryLayout layout)
    : notes_(notes),
      layout_(layout),
      printer_{.columns = ExprPrinter::Columns::qualified,
               .out = {},
               .context = &binder.names().context(),
               .is_pretty = layout.is_pretty,
               .breaks_lines = true,
               .texts = this},
      objects_(binder.names().context().names) {
  for (PendingSubquery& pending : binder.pending()) {
    if (!pending.life.expired()) subqueries_[pending.expr] = &pending;
  }
}

void QueryPrinter::begin_line(std::string_view word, int before, int after, int plus) {
  // Limit deep indents, so that the length of nested queries' text stays linear.
  constexpr int kFull = 40;
  constexpr int kShortened = 4;
  int& indent = printer_.indent;
  indent += before;
  std::string& out = printer_.out;
  out.erase(out.find_last_not_of(' ') + 1);
  int width = std::max(indent, 0);
  if (indent >= kFull) width = (kFull + (indent - kFull) / kShortened) % kFull;
  out += "\n" + std::string(static_cast<std::size_t>(width + plus), ' ');
  out += word;
  indent = std::max(indent + after, 0);
}

std::size_t QueryPrinter::line_length() const {
  const std::size_t end = printer_.out.rfind('\n');
  return end == std::string::npos ? printer_.out.size() : printer_.out.size() - end - 1;
}

const BindingNotes::OfQuery& QueryPrinter::note_of(const Query& query) const {
  const auto found = notes_.queries.find(&query);
  if (found == notes_.queries.end()) throw_unprintable("this query");
  return found->second;
}

void QueryPrinter::print_whole(const Query& query, std::span<const std::string> names) {
  print_query(query, {names, true});
}

void QueryPrinter::print_condition(const Expr& condition, const Table& table, Slot first_slot) {
  RangeNames ranges{notes_, around_};
  ranges.add_table(table, first_slot);
  levels_.push_back({nullptr, &ranges, false});
  around_.push_back(&ranges);
  printer_.print(condition);
  around_.pop_back();
  levels_.pop_back();
}

void QueryPrinter::print_query(const Query& query, ResultNames names) {
  check_stack();
  const WithinExpression within{printer_};
  RangeNames ranges{notes_, around_};
  for (const FromPtr& item : query.from) ranges.add(*item);
  if (query.body == Query::Body::values) ranges.add_values(query);
  levels_.push_back({&query, &ranges, !levels_.empty() || ranges.all().size() != 1});
  around_.push_back(&ranges);
  print_body(query, names);
  around_.pop_back();
  levels_.pop_back();
}

void QueryPrinter::print_body(const Query& query, ResultNames names) {
  const BindingNotes::OfQuery& note = note_of(query);
  if (note.select->with_clause != nullptr) print_with(note);
  if (query.body == Query::Body::set_operation) {
    print_set_operation(query, names);
  } else {
    printer_.indent += kIndent;
    write(" ");
    if (query.body == Query::Body::values) {
      print_values(query, names);
    } else {
      print_select(query, names);
    }
  }
  print_query_order(query);
  print_tail(query);
}

void QueryPrinter::print_with(const BindingNotes::OfQuery& note) {
  const ast::WithClause& with = *note.select->with_clause;
  printer_.indent += kIndent;
  write(with.recursive ? " WITH RECURSIVE " : " WITH ");
  bool is_first = true;
  for (const ast::Node* item : with.ctes) {
    const auto& syntax = ast::as<ast::CommonTableExpr>(item);
    const auto cte = std::ranges::find_if(
        note.ctes, [&](const auto& one) { return one->name == syntax.ctename; });
    if (cte == note.ctes.end()) throw_unprintable("this WITH query");
    if (!is_first) write(", ");
    is_first = false;
    print_cte(**cte, syntax);
  }
  printer_.indent -= kIndent;
  begin_line("", 0, 0, 0);
}

void QueryPrinter::print_cte(const BoundCte& cte, const ast::CommonTableExpr& syntax) {
  if (cte.write) throw_unprintable("a WITH query that writes");
  write(quote_identifier(cte.name));
  for (std::size_t i = 0; i < syntax.aliascolnames.size(); ++i) {
    write(i == 0 ? "(" : ", ");
    write(quote_identifier(cte.columns[i].name));
  }
  if (!syntax.aliascolnames.empty()) write(")");
  write(" AS ");
  if (syntax.ctematerialized == ast::CTEMaterialize::ctematerializealways) write("MATERIALIZED ");
  if (syntax.ctematerialized == ast::CTEMaterialize::ctematerializenever)
    write("NOT MATERIALIZED ");
  write("(");
  begin_line("", 0, 0, 0);
  const ResultNames own{{}, true};
  if (cte.recursive) {
    const auto& select = ast::as<ast::SelectStmt>(syntax.ctequery);
    if (select.with_clause != nullptr) throw_unprintable("WITH within WITH RECURSIVE");
    const WithinExpression within{printer_};
    print_part(*cte.query, own);
    begin_line("", 0, 0, 0);
    write(cte.union_all ? "UNION ALL " : "UNION ");
    begin_line("", 0, 0, 0);
    print_part(*cte.recursive, {});
  } else {
    print_query(*cte.query, own);
  }
  begin_line("", 0, 0, 0);
  write(")");
}

void QueryPrinter::print_select(const Query& query, ResultNames names) {
  write("SELECT");
  if (query.distinct == Query::DistinctKind::all) write(" DISTINCT");
  if (query.distinct == Query::DistinctKind::on) {
    write(" DISTINCT ON (");
    bool is_first = true;
    for (const ExprPtr& expr : query.distinct_on) {
      if (!is_first) write(", ");
      is_first = false;
      print_sort_expression(listed(query, *expr));
    }
    write(")");
  }
  print_targets(query, names);
  print_from(query);
  if (!query.where.empty()) {
    begin_line(" WHERE ", -kIndent, kIndent, 1);
    printer_.print(*query.where[0]);
  }
  print_grouping(query);
  print_named_windows(query);
}

void QueryPrinter::print_grouping(const Query& query) {
  const ast::SelectStmt& syntax = *note_of(query).select;
  if (!syntax.group_clause.empty()) {
    begin_line(" GROUP BY ", -kIndent, kIndent, 1);
    if (syntax.group_distinct) write("DISTINCT ");
    std::string_view before;
    for (const GroupingItem& item : query.grouping_items) {
      write(std::exchange(before, ", "));
      print_grouping_item(query, item, true);
    }
    if (query.grouping_items.empty()) {
      for (const GroupKey& key : query.group_keys) {
        write(std::exchange(before, ", "));
        print_sort_expression(*key.expr);
      }
    }
  }
  if (!query.having.empty()) {
    begin_line(" HAVING ", -kIndent, kIndent, 0);
    printer_.print(*query.having[0]);
  }
}

/// Writes keys in parentheses, unless there is one key and it may stand alone.
void QueryPrinter::print_grouping_item(const Query& query, const GroupingItem& item,
                                       bool may_stand_alone) {
  check_stack();
  std::string_view before;
  if (item.kind == GroupingItem::Kind::keys) {
    const bool is_enclosed = !may_stand_alone || item.keys.size() != 1;
    if (is_enclosed) write("(");
    for (const std::uint32_t key : item.keys) {
      write(std::exchange(before, ", "));
      print_sort_expression(*query.group_keys[key].expr);
    }
    if (is_enclosed) write(")");
    return;
  }
  const bool is_list = item.kind == GroupingItem::Kind::sets;
  write(is_list ? "GROUPING SETS (" : item.kind == GroupingItem::Kind::cube ? "CUBE(" : "ROLLUP(");
  for (const GroupingItem& inner : item.items) {
    write(std::exchange(before, ", "));
    print_grouping_item(query, inner, !is_list);
  }
  write(")");
}

void QueryPrinter::print_rows(const Query& query) {
  write("VALUES ");
  bool is_first = true;
  for (const auto& row : query.rows) {
    if (!is_first) write(", ");
    is_first = false;
    write("(");
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) write(",");
      printer_.print(*row[i]);
    }
    write(")");
  }
}

void QueryPrinter::print_values(const Query& query, ResultNames names) {
  bool is_simple = true;
  for (std::size_t i = 0; i < query.targets.size(); ++i) {
    const std::string& name = names.given.empty() ? query.targets[i].name : names.given[i];
    is_simple &= name == fmt::format("column{}", i + 1);
  }
  if (is_simple) return print_rows(query);
  const RangeName& range = this->names().all()[0];
  write("SELECT ");
  for (std::size_t i = 0; i < range.columns.size(); ++i) {
    if (i > 0) {
      write(",");
      begin_line("", -kIndent, kIndent, kIndentOfItem);
    }
    if (levels_.back().qualifies) write(quote_identifier(range.name) + ".");
    write(range.columns[i].name);
    if (names.given[i] != range.columns[i].name) write(" AS " + quote_identifier(names.given[i]));
  }
  begin_line(" FROM ", -kIndent, kIndent, 2);
  write("(");
  print_rows(query);
  write(") " + quote_identifier(range.name));
}

bool QueryPrinter::is_leaf(const Query& part) const {
  const ast::SelectStmt& syntax = *note_of(part).select;
  return part.body != Query::Body::set_operation || !syntax.sort_clause.empty() ||
         syntax.limit_count != nullptr || syntax.limit_offset != nullptr ||
         !syntax.locking_clause.empty() || syntax.with_clause != nullptr;
}

void QueryPrinter::print_part(const Query& part, ResultNames names) {
  check_stack();
  if (!is_leaf(part)) return print_set_operation(part, names);
  const ast::SelectStmt& syntax = *note_of(part).select;
  const bool is_enclosed = syntax.with_clause != nullptr || !syntax.sort_clause.empty() ||
                           !syntax.locking_clause.empty() || syntax.limit_count != nullptr ||
                           syntax.limit_offset != nullptr;
  if (is_enclosed) write("(");
  print_query(part, names);
  if (is_enclosed) write(")");
}

void QueryPrinter::print_set_operation(const Query& query, ResultNames names) {
  const Query& left = *query.left;
  const Query& right = *query.right;
  const bool encloses_left =
      !is_leaf(left) && (left.set_kind != query.set_kind || left.set_all != query.set_all);
  int deeper = 0;
  if (encloses_left) {
    deeper = kIndent;
    write("(");
    begin_line("", deeper, 0, 0);
  }
  print_part(left, names);
  begin_line(encloses_left ? ") " : "", -deeper, 0, 0);
  switch (query.set_kind) {
    case Query::SetKind::union_:
      write("UNION ");
      break;
    case Query::SetKind::intersect:
      write("INTERSECT ");
      break;
    case Query::SetKind::except:
      write("EXCEPT ");
      break;
  }
  if (query.set_all) write("ALL ");
  const bool encloses_right = !is_leaf(right);
  deeper = encloses_right ? kIndent : 0;
  if (encloses_right) write("(");
  begin_line("", deeper, 0, 0);
  print_part(right, {names.given, false});
  printer_.indent -= deeper;
  if (encloses_right) begin_line(")", 0, 0, 0);
}

void QueryPrinter::print_target(const OutputTarget& target, const std::string& name,
                                bool is_visible) {
  const auto* const slot = dynamic_cast<const SlotExpr*>(target.expr.get());
  if (slot != nullptr && is_column(*slot)) {
    printer_.print(*slot);
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
      const auto found = level->names->find(*slot);
      if (!found) continue;
      if (*found->column != name) write(" AS " + quote_identifier(name));
      return;
    }
  }
  const auto* const row = dynamic_cast<const RowExpr*>(target.expr.get());
  printer_.print(*target.expr);
  if (row != nullptr && row->is_whole_row) {
    const auto type =
        objects_ == nullptr ? std::nullopt : objects_->name_of(TypeId::regtype, raw(row->type()));
    write("::" + type.value_or(cast_target(row->type(), kNoTypmod)));
  }
  if (is_visible || name != "?column?") write(" AS " + quote_identifier(name));
}

void QueryPrinter::print_targets(const Query& query, ResultNames names) {
  bool was_broken = false;
  std::string_view before = " ";
  for (std::size_t i = 0; i < query.targets.size(); ++i) {
    const OutputTarget& target = query.targets[i];
    write(std::exchange(before, ", "));
    std::string text = std::exchange(printer_.out, {});
    print_target(target, names.given.empty() ? target.name : names.given[i], names.are_visible);
    text.swap(printer_.out);
    const bool breaks_itself = text.starts_with('\n');
    if (breaks_itself) printer_.out.erase(printer_.out.find_last_not_of(' ') + 1);
    if (layout_.wrap_column >= 0 && i > 0 && !breaks_itself) {
      const bool is_too_long =
          line_length() + text.size() > static_cast<std::size_t>(layout_.wrap_column);
      if (is_too_long || was_broken) begin_line("", -kIndent, kIndent, kIndentOfItem);
    }
    was_broken = text.find('\n', breaks_itself ? 1 : 0) != std::string::npos;
    write(text);
  }
}

const Expr& QueryPrinter::listed(const Query& query, const Expr& expr) {
  const auto* const slot = dynamic_cast<const SlotExpr*>(&expr);
  if (slot == nullptr) return expr;
  for (const OutputTarget& target : query.targets) {
    if (target.slot == slot->slot() && target.expr) return *target.expr;
  }
  return expr;
}

bool QueryPrinter::looks_like_call(const Expr& expr) const {
  if (const auto* call = dynamic_cast<const FunctionExpr*>(&expr))
    return call->op() == nullptr &&
           (call->spelling() == Spelling::call || !call->operands().empty());
  if (const auto* routine = dynamic_cast<const RoutineExpr*>(&expr)) return !routine->written().op;
  if (const auto* cast = dynamic_cast<const CastExpr*>(&expr))
    return cast->spelling() == Spelling::call && cast->cast().method == CastMethod::function;
  if (const auto* slot = dynamic_cast<const SlotExpr*>(&expr)) {
    if (is_column(*slot)) return false;
    const Query* const query = levels_.back().query;
    if (query == nullptr) return true;
    for (const GroupKey& key : query->group_keys) {
      if (key.slot == slot->slot()) return looks_like_call(*key.expr);
    }
    return std::ranges::find(query->grouping_calls, slot->slot(), &GroupingCall::slot) ==
           query->grouping_calls.end();
  }
  if (const auto* output = dynamic_cast<const JsonOutputExpr*>(&expr))
    return looks_like_call(*output->operands()[0]);
  if (dynamic_cast<const JsonConstructorExpr*>(&expr) != nullptr) return true;
  const bool is_session = dynamic_cast<const SessionFunctionExpr*>(&expr) != nullptr;
  return (is_session && expr.spelling() == Spelling::call) ||
         dynamic_cast<const LengthExpr*>(&expr) != nullptr;
}

void QueryPrinter::print_sort_expression(const Expr& expr) {
  if (const auto* constant = dynamic_cast<const ConstantExpr*>(&expr)) {
    const std::size_t before = printer_.out.size();
    printer_.print(*constant);
    // A bare number would be a column position.
    if (std::string_view{printer_.out}.substr(before).find("::") == std::string_view::npos)
      write("::" + cast_target(constant->type(), constant->typmod()));
    return;
  }
  const auto* const slot = dynamic_cast<const SlotExpr*>(&expr);
  const bool is_plain = slot != nullptr && is_column(*slot);
  const bool is_enclosed = !is_plain && (layout_.is_pretty || looks_like_call(expr));
  if (is_enclosed) write("(");
  // Show implicit casts: the sort order depends on them.
  ++printer_.depth;
  printer_.print_at(expr, {});
  --printer_.depth;
  if (is_enclosed) write(")");
}

namespace {

std::string_view order_words(const SortKey& key) {
  if (key.direction == SortDirection::ascending)
    return key.nulls == NullsOrder::first ? " NULLS FIRST" : "";
  return key.nulls == NullsOrder::first ? " DESC" : " DESC NULLS LAST";
}

}  // namespace

void QueryPrinter::print_order(std::span<const SortKey> order, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) write(", ");
    print_sort_expression(*order[i].expr);
    write(order_words(order[i]));
  }
}

void QueryPrinter::print_query_order(const Query& query) {
  std::vector<std::string> seen;
  for (const SortKey& key : query.order) {
    std::string around = std::exchange(printer_.out, {});
    if (query.body == Query::Body::set_operation) {
      const auto* const slot = dynamic_cast<const SlotExpr*>(key.expr.get());
      const auto target = std::ranges::find_if(query.targets, [&](const OutputTarget& one) {
        return slot != nullptr && one.slot == slot->slot();
      });
      if (target == query.targets.end()) throw_unprintable("this ORDER BY");
      write(fmt::format("{}", target - query.targets.begin() + 1));
    } else {
      print_sort_expression(listed(query, *key.expr));
    }
    std::string text = std::exchange(printer_.out, std::move(around));
    if (std::ranges::find(seen, text) != seen.end()) continue;
    if (seen.empty()) {
      begin_line(" ORDER BY ", -kIndent, kIndent, 1);
    } else {
      write(", ");
    }
    write(text);
    write(order_words(key));
    seen.push_back(std::move(text));
  }
}

void QueryPrinter::print_tail(const Query& query) {
  if (query.offset) {
    begin_line(" OFFSET ", -kIndent, kIndent, 0);
    printer_.print(*query.offset);
  }
  if (query.limit) {
    begin_line(query.with_ties ? " FETCH FIRST " : " LIMIT ", -kIndent, kIndent, 0);
    const Expr* limit = query.limit.get();
    if (const auto* cast = dynamic_cast<const CastExpr*>(limit); cast != nullptr)
      limit = &cast->operand();
    const auto* const constant = dynamic_cast<const ConstantExpr*>(limit);
    const bool is_none = constant != nullptr && constant->value().is_null();
    if (is_none) {
      write("ALL");
    } else if (query.with_ties) {
      write("(");
      printer_.print(*query.limit);
      write(") ROWS WITH TIES");
    } else {
      printer_.print(*query.limit);
    }
  }
  print_locks(query);
}

void QueryPrinter::print_locks(const Query& query) {
  std::vector<std::string> locked;
  for (const ast::Node* node : note_of(query).select->locking_clause) {
    const auto& clause = ast::as<ast::LockingClause>(node);
    std::string_view words = " FOR UPDATE";
    if (clause.strength == ast::LockClauseStrength::forkeyshare) words = " FOR KEY SHARE";
    if (clause.strength == ast::LockClauseStrength::forshare) words = " FOR SHARE";
    if (clause.strength == ast::LockClauseStrength::fornokeyupdate) words = " FOR NO KEY UPDATE";
    for (const RangeName& range : names().all()) {
      const auto* const relation = ast::try_as<ast::RangeVar>(range.syntax);
      const auto is_meant = [&](const ast::Node* name) {
        const std::string_view wanted = ast::as<ast::RangeVar>(name).relname;
        return wanted == range.name || (relation != nullptr && wanted == relation->relname);
      };
      if (!range.is_lockable || std::ranges::find(locked, range.name) != locked.end()) continue;
      if (!clause.locked_rels.empty() && std::ranges::none_of(clause.locked_rels, is_meant))
        continue;
      locked.push_back(range.name);
      begin_line(words, -kIndent, kIndent, 0);
      write(" OF " + quote_identifier(range.name));
      if (clause.wait_policy == ast::LockWaitPolicy::lockwaiterror) write(" NOWAIT");
      if (clause.wait_policy == ast::LockWaitPolicy::lockwaitskip) write(" SKIP LOCKED");
    }
  }
}

bool QueryPrinter::is_column(const SlotExpr& slot) const {
  // A subquery may compute a column of an enclosing query, in the same slot.
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
    if (level->names->find(slot)) return true;
    if (is_computed(*level, slot)) return false;
  }
  return false;
}

void QueryPrinter::print_slot(ExprPrinter& printer, const SlotExpr& slot) {
  check_stack();
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
    const auto found = level->names->find(slot);
    if (!found) {
      if (print_computed(printer, *level, slot)) return;
      continue;
    }
    if (found->range != nullptr && levels_.back().qualifies)
      printer.out += quote_identifier(found->range->name) + ".";
    printer.out += quote_identifier(*found->column);
    return;
  }
  throw_unprintable("a part of this expression");
}

void QueryPrinter::print_beside(ExprPrinter& printer, const SlotExpr& column,
                                std::string_view name) {
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
    const RangeName* const range = level->names->relation_of(column);
    if (range == nullptr) continue;
    if (levels_.back().qualifies) printer.out += quote_identifier(range->name) + ".";
    printer.out += name;
    return;
  }
  throw_unprintable("a system column");
}

void QueryPrinter::print_row(ExprPrinter& printer, const SlotExpr& column) {
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
    const auto found = level->names->find(column);
    if (!found || found->range == nullptr) continue;
    printer.out += quote_identifier(found->range->name) + ".*";
    return;
  }
  throw_unprintable("a whole row");
}

namespace {

/// Collects the left operands of a row comparison with a subquery's columns. Returns the operator's
/// name.
std::string left_operands(const Expr& comparison, ObjectNames* names,
                          std::vector<const Expr*>& left) {
  check_stack();
  if (const auto* call = dynamic_cast<const FunctionExpr*>(&comparison);
      call != nullptr && call->op() != nullptr) {
    left.push_back(call->operands()[0].get());
    return std::string{call->op()->name};
  }
  if (const auto* routine = dynamic_cast<const RoutineExpr*>(&comparison);
      routine != nullptr && routine->written().op) {
    left.push_back(routine->operands()[0].get());
    const OperatorPtr& op = routine->written().op;
    return names == nullptr ? op->name : names->operator_name(op->oid).value_or(op->name);
  }
  if (const auto* all = dynamic_cast<const BooleanExpr*>(&comparison)) {
    std::string op;
    for (const ExprPtr& operand : all->operands()) {
      std::string one = left_operands(*operand, names, left);
      if (op.empty()) op = std::move(one);
    }
    return op;
  }
  const auto* const order = dynamic_cast<const RowOrderExpr*>(&comparison);
  if (order == nullptr) throw_unprintable("this comparison with a subquery");
  for (std::size_t i = 0; i < order->operands().size(); i += 2)
    left.push_back(order->operands()[i].get());
  return order->op_name();
}

}  // namespace

void QueryPrinter::print_subquery(ExprPrinter& printer, const SubqueryExpr& subquery) {
  check_stack();
  const auto pending = subqueries_.find(&subquery);
  if (pending == subqueries_.end() || !pending->second->query) throw_unprintable("this subquery");
  using Kind = SubqueryExpr::Kind;
  const Kind kind = subquery.kind();
  const bool is_array = kind == Kind::array || kind == Kind::arrays;
  printer.out += is_array ? "ARRAY(" : "(";
  bool is_enclosed = true;
  if (kind == Kind::exists) {
    printer.out += "EXISTS ";
  } else if (kind == Kind::scalar || is_array) {
    is_enclosed = false;
  } else {
    std::vector<const Expr*> left;
    const std::string op = left_operands(*pending->second->expr->comparison(), objects_, left);
    if (left.size() > 1) printer.out += "(";
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (i > 0) printer.out += ", ";
      printer.print(*left[i]);
    }
    if (left.size() > 1) printer.out += ")";
    if (kind == Kind::any) {
      printer.out += op == "=" ? " IN " : " " + op + " ANY ";
    } else {
      printer.out += " " + op + (kind == Kind::all ? " ALL " : " ");
    }
  }
  if (is_enclosed) printer.out += "(";
  print_query(*pending->second->query, {});
  printer.out += is_enclosed ? "))" : ")";
}

std::string query_text(const Query& query, const BindingNotes& notes, Binder& binder,
                       std::vector<std::string> names, QueryLayout layout) {
  QueryPrinter printer{notes, binder, layout};
  printer.print_whole(query, names);
  return printer.take();
}

std::string condition_text(const Expr& condition, const Table& table, Slot first_slot,
                           const BindingNotes& notes, Binder& binder, QueryLayout layout) {
  QueryPrinter printer{notes, binder, layout};
  printer.print_condition(condition, table, first_slot);
  return printer.take();
}

}  // namespace swizzle::sql
