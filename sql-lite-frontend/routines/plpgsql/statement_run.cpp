#include "sql-lite-frontend/routines/plpgsql/statement_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/routines/plpgsql/context.h"
#include "sql-lite-frontend/silent_sink.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql::plpgsql {
namespace {

/// Passes notices on and drops the rest.
class NoticesOnly final : public SilentSink {
 public:
  explicit NoticesOnly(ResultSink* to) : to_(to) {}
  /// Returns the number of rows that COPY or CREATE TABLE AS has reported.
  [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
  void command_complete(std::string_view tag) override {
    for (const std::string_view word : {"COPY ", "SELECT "}) {
      if (!tag.starts_with(word)) continue;
      std::from_chars(tag.data() + word.size(), tag.data() + tag.size(), rows_);
    }
  }
  void notice(const Diagnostic& diagnostic) override {
    if (to_ != nullptr) to_->notice(diagnostic);
  }
  void parameter_status(std::string_view name, std::string_view value) override {
    if (to_ != nullptr) to_->parameter_status(name, value);
  }

 private:
  ResultSink* to_;
  std::int64_t rows_ = 0;
};

/// True if the statement writes; the rows that it counts are then those written.
bool writes_rows(const Statement& statement) {
  const auto* select = ast::try_as<ast::SelectStmt>(statement.node);
  if (select == nullptr) return true;
  if (select->with_clause == nullptr) return false;
  return std::ranges::any_of(select->with_clause->ctes, [](const ast::Node* node) {
    return !ast::is<ast::SelectStmt>(ast::as<ast::CommonTableExpr>(node).ctequery);
  });
}

}  // namespace

ShapePtr shape_of(const Plan& plan) {
  auto shape = std::make_shared<Shape>();
  for (const OutputTarget& column : plan.columns) {
    shape->fields.push_back({column.name, column.type, column.typmod});
  }
  return shape;
}

template <class Body>
auto StatementRun::with_context(const Body& body) {
  const Place place{*this};
  const AtPlace at{frame_.session, place};
  try {
    return body();
  } catch (SqlError& error) {
    add_sql_context(error, fragment_ != nullptr ? fragment_->context() : context_);
    throw;
  }
}

StatementRun::StatementRun(Frame& frame, Expression& fragment, const StatementPtr& statement,
                           Reads reads)
    : frame_(frame),
      portal_(frame.session.inner.make_empty_portal()),
      fragment_(&fragment),
      reads_(reads) {
  frame.make_room();
  portal_->statement = statement;
  portal_->parameters.assign(frame.values.begin(), frame.values.end());
  if (reads == Reads::in_parts) {
    // Copy the parameters: the variables may be assigned to while the statement is read.
    for (const std::size_t place : fragment.names().used()) {
      portal_->parameters[place] = portal_->parameters[place].copy_to(portal_->arena);
    }
    for (std::size_t i = 0; i < frame.program.argument_count; ++i) {
      portal_->parameters[i] = portal_->parameters[i].copy_to(portal_->arena);
    }
  }
  start();
}

StatementRun::StatementRun(Frame& frame, const StatementPtr& statement, std::string context,
                           std::span<const Value> parameters, Reads reads)
    : frame_(frame),
      portal_(frame.session.inner.make_empty_portal()),
      context_(std::move(context)),
      reads_(reads) {
  portal_->statement = statement;
  for (const Value& value : parameters) {
    portal_->parameters.push_back(value.copy_to(portal_->arena));
  }
  start();
}

void StatementRun::start() {
  with_context([this] {
    StatementContext& session = frame_.session;
    session.inner.prepare_inner(*portal_, frame_.is_volatile);
    session.transaction.begin_inner_statement();
    // A statement of a volatile function is a command of its own: it sees the changes before it.
    if (frame_.is_volatile) own_.emplace(*session.transaction, ReadView::Sees::durable);
    PlanRun& run = session.inner.open_inner(*portal_, reads_);
    is_open_ = true;
    scope_.emplace(run.execution);
    if (reads_ != Reads::in_parts) return;
    own_.reset();
    if (session.transaction.may_end) pin_.emplace(*this);
  });
}

void StatementRun::hold() {
  if (held_) return;
  if (writes_rows(*portal_->statement)) {
    throw SqlError{sqlstate::object_not_in_prerequisite_state,
                   "cannot perform transaction commands inside a cursor loop that is not "
                   "read-only"};
  }
  PlanRun& run = *portal_->run;
  held_ = std::make_unique<RowStore>(RowStore::Overflow::to_file);
  held_->set_slots(plan().outputs);
  while (!is_exhausted_) {
    scope_->rewind();
    const HeldView::Reading reading{portal_->view};
    is_exhausted_ = !run.root->next(run.execution);
    if (!is_exhausted_) held_->keep(run.execution);
  }
  run.root->close();
  portal_->view.reset();
  portal_->state = Portal::State::finished;
}

StatementRun::~StatementRun() {
  if (!is_open_) return;
  scope_.reset();
  if (portal_->state == Portal::State::running) portal_->run->end();
  portal_->view.reset();
  portal_->state = Portal::State::failed;
}

bool StatementRun::next() {
  if (held_) {
    if (held_at_ == held_->size()) return false;
    scope_->rewind();
    held_->restore(portal_->run->execution, held_at_++);
    ++rows_;
    return true;
  }
  if (is_exhausted_) return false;
  scope_->rewind();
  PlanRun& run = *portal_->run;
  if (reads_ == Reads::in_parts) {
    const HeldView::Reading reading{portal_->view};
    is_exhausted_ = !run.root->next(run.execution);
  } else {
    is_exhausted_ = !with_context([&] { return run.root->next(run.execution); });
  }
  if (!is_exhausted_) ++rows_;
  return !is_exhausted_;
}

std::uint64_t StatementRun::count() const noexcept {
  return portal_->run->write != nullptr ? portal_->run->write->written() : rows_;
}

std::span<const Value> StatementRun::row() {
  row_.clear();
  for (const Slot slot : plan().outputs) row_.push_back(portal_->run->execution.slots[slot]);
  return row_;
}

void StatementRun::finish() {
  pin_.reset();
  // A statement that writes is completed even if the caller needs no more of its rows.
  while (portal_->run->write != nullptr && next()) {
  }
  scope_.reset();
  is_open_ = false;
  if (held_) portal_->run->execution.release_kept();
  frame_.session.inner.finish(*portal_);
  own_.reset();
  frame_.session.inner.recycle(std::move(portal_));
}

namespace {

/// Scope in which statements that cannot run in a block are refused.
class InBlock {
 public:
  explicit InBlock(StatementContext& state) : state_(state), before_(state.transaction.in_script) {
    state_.transaction.in_script = true;
  }
  InBlock(const InBlock&) = delete;
  InBlock& operator=(const InBlock&) = delete;
  ~InBlock() { state_.transaction.in_script = before_; }

 private:
  StatementContext& state_;
  bool before_;
};

void run_utility_within(Frame& frame, Statement& statement, std::span<const Value> parameters,
                        const std::string& context, ResultSink& sink) {
  StatementContext& session = frame.session;
  const ast::Node* node = statement.node;
  const StatementPlace place{context};
  const AtPlace at{session, place};
  if (const auto* copy = ast::try_as<ast::CopyStmt>(node);
      copy && copy->filename.data() == nullptr) {
    throw SqlError{sqlstate::feature_not_supported, "cannot COPY to/from client in PL/pgSQL"};
  }
  try {
    if (!frame.is_volatile && !returns_rows_without_plan(node)) {
      throw_error(sqlstate::feature_not_supported, "{} is not allowed in a non-volatile function",
                  statement_name(node));
    }
    const InBlock in_block{session};
    std::optional<InnerStatement> own;
    // A transaction control statement may replace the transaction by another.
    if (frame.is_volatile && !ast::is<ast::VariableSetStmt>(node)) {
      own.emplace(*session.transaction, ReadView::Sees::durable);
    }
    session.inner.run_utility(node, statement, parameters, sink);
  } catch (SqlError& error) {
    add_sql_context(error, context);
    throw;
  }
  frame.follow_transaction();
}

/// Collects the rows that a statement sends.
class RowsOfUtility final : public SilentSink {
 public:
  RowsOfUtility(Frame& frame, Arena& arena, std::vector<std::vector<Value>>& rows)
      : frame_(frame), arena_(arena), rows_(rows), shape_(std::make_shared<Shape>()) {}
  [[nodiscard]] ShapePtr shape() const { return shape_; }

  void row_description(std::span<const OutputColumn> columns) override {
    for (const OutputColumn& column : columns) {
      shape_->fields.push_back(
          {std::string{column.name}, TypeId{column.type_oid}, column.type_modifier});
    }
  }
  void data_row(const OutputRow& row) override {
    std::vector<Value> values;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::optional<std::string> text = row.text(i);
      values.push_back(
          text ? input_text(frame_.execution.functions, shape_->fields[i].type, kNoTypmod, *text)
                     .copy_to(arena_)
               : Value::null());
    }
    rows_.push_back(std::move(values));
  }
  void notice(const Diagnostic& diagnostic) override {
    if (ResultSink* const to = frame_.session.sink_for_notices) to->notice(diagnostic);
  }

 private:
  Frame& frame_;
  Arena& arena_;
  std::vector<std::vector<Value>>& rows_;
  std::shared_ptr<Shape> shape_;
};

}  // namespace

std::int64_t run_without_plan(Frame& frame, const StatementPtr& statement,
                              const std::string& context) {
  const ast::Node* node = statement->node;
  if (node == nullptr) return 0;
  if (ast::is<ast::TransactionStmt>(node)) {
    throw SqlError{sqlstate::feature_not_supported, "unsupported transaction command in PL/pgSQL"};
  }
  NoticesOnly sink{frame.session.sink_for_notices};
  run_utility_within(frame, *statement, {}, context, sink);
  return sink.rows();
}

bool returns_rows_without_plan(const ast::Node* node) noexcept {
  return ast::is<ast::ExplainStmt>(node) || ast::is<ast::VariableShowStmt>(node);
}

UtilityRun::UtilityRun(Frame& frame, const StatementPtr& statement, std::string context,
                       const std::vector<Value>* parameters)
    : context_(std::move(context)) {
  arena_.count_in(frame.execution.memory);
  Statement own{*statement};
  const RowScope scope{frame.execution};
  RowsOfUtility kept{frame, arena_, rows_};
  try {
    // Allocates places for record fields that this statement is the first to name.
    frame.session.inner.analyze(own);
  } catch (SqlError& error) {
    add_sql_context(error, context_);
    throw;
  }
  frame.make_room();
  const std::vector<Value> given = parameters != nullptr ? *parameters : frame.values;
  run_utility_within(frame, own, given, context_, kept);
  shape_ = kept.shape();
}

bool UtilityRun::next() {
  if (at_ == rows_.size()) return false;
  ++at_;
  return true;
}

namespace {

void refuse_in_text(const StatementPtr& statement) {
  const ast::Node* const node = statement->node;
  if (const auto* create = ast::try_as<ast::CreateTableAsStmt>(node);
      create != nullptr && create->is_select_into) {
    throw SqlError{sqlstate::feature_not_supported, "EXECUTE of SELECT ... INTO is not implemented"}
        .with_hint(
            "You might want to use EXECUTE ... INTO or EXECUTE CREATE TABLE ... AS "
            "instead.");
  }
  if (ast::is<ast::TransactionStmt>(node)) {
    throw SqlError{sqlstate::feature_not_supported,
                   "EXECUTE of transaction commands is not implemented"};
  }
}

}  // namespace

DynamicStatement::DynamicStatement(Frame& frame, Expression& expression,
                                   std::span<const ExpressionPtr> using_values) {
  std::optional<std::string> given = frame.text_of(expression);
  if (!given) {
    throw SqlError{sqlstate::null_value_not_allowed, "query string argument of EXECUTE is null"};
  }
  text = std::move(*given);
  for (const ExpressionPtr& each : using_values) {
    const RowScope scope{frame.execution};
    values.push_back(each->evaluate(frame).copy_to(arena));
    // A parameter has no collation of its own.
    types.push_back(without_collation(each->type()));
  }
  try {
    std::vector<std::string> parts{text};
    if (text.find(';') != std::string::npos) {
      parts.clear();
      Arena tree;
      for (const ast::RawStmt* raw : parse_script(tree, text)) {
        parts.emplace_back(statement_text(text, *raw));
      }
    }
    for (const std::string& part : parts) {
      StatementPtr statement = frame.session.inner.parse(part);
      if (statement->node == nullptr) continue;
      statement->declared_types = types;
      statement->takes_parameters = !types.empty();
      statements.push_back(std::move(statement));
    }
  } catch (SqlError& error) {
    add_sql_context(error, context());
    throw;
  }
  std::ranges::for_each(statements, refuse_in_text);
}

const StatementPtr& DynamicStatement::query(std::string_view what) const {
  if (statements.size() != 1) {
    throw_error(SqlState{"42P11"}, "cannot open multi-query plan as cursor");
  }
  const StatementPtr& only = statements[0];
  if (!is_plannable(only->node) && !returns_rows_without_plan(only->node)) {
    throw_error(SqlState{"42P11"}, "cannot open {} query as {}", statement_name(only->node), what);
  }
  return only;
}

}  // namespace swizzle::sql::plpgsql
