#include "sql-lite-frontend/routines/sql_language.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sql-lite-frontend/routines/body.h"
#include "sql-lite-frontend/statement/call_place.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

/// Appends to PostgreSQL's CONTEXT: each level of calls adds a line below those of the levels
/// inside it.
void add_context(SqlError& error, std::string line) {
  std::string& where = error.fields().where;
  if (!where.empty()) where += "\n";
  where += line;
  // The position would refer to the body.
  error.fields().position = 0;
}

[[noreturn]] void refuse_result(StatementContext& session, TypeId declared, std::string detail) {
  throw sql_error(
      sqlstate::invalid_function_definition,
      "return type mismatch in function declared to return {}",
      session.names.name_of(TypeId::regtype, raw(declared)).value_or(format_type(declared)))
      .with_detail(std::move(detail));
}

/// Converts rows of the last statement to rows of the result.
class ResultFit {
 public:
  void fit(StatementContext& session, const RoutineCall& call,
           const std::shared_ptr<const Plan>& to) {
    const TypeId declared = base_type(call.result);
    auto shape = is_composite(declared) ? session.names.row_shape(declared) : nullptr;
    if (plan_ == to && shape_ == shape) return;
    plan_ = nullptr;
    columns_.clear();
    made_of_.clear();
    spreads_ = false;
    shape_ = std::move(shape);
    domain_ = is_domain(call.result) && shape_ ? call.result : TypeId::none;
    if (declared != TypeId::void_) {
      if (!to->returns_rows) refuse_no_rows(session, call.result);
      is_open_record_ = declared == TypeId::record && call.column_types.empty();
      if (!is_open_record_) find_casts(session, call, *to);
    }
    plan_ = to;
  }
  [[noreturn]] static void refuse_no_rows(StatementContext& session, TypeId declared) {
    refuse_result(
        session, declared,
        "Function's final statement must be SELECT or INSERT/UPDATE/DELETE/MERGE RETURNING.");
  }

  /// Converts the columns into `row`, which has the right size.
  void convert(Execution& execution, std::vector<Value>& row) const {
    const Plan& plan = *plan_;
    if (is_open_record_) {
      const Value& first = execution.slots[plan.outputs[0]];
      if (plan.types.size() == 1 && is_row(plan.types[0])) return row.assign(1, first);
      std::vector<Value> fields;
      for (const Slot slot : plan.outputs) fields.push_back(execution.slots[slot]);
      row.assign(1, make_record(execution.row_arena, plan.types, fields));
      return;
    }
    if (spreads_) {
      spread(execution, execution.slots[plan.outputs[0]], row);
    } else {
      row.resize(columns_.size());
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        row[i] =
            as_column(execution, columns_[i].cast, columns_[i], execution.slots[plan.outputs[i]]);
      }
    }
    if (!made_of_.empty()) {
      const bool is_null = spreads_ && execution.slots[plan.outputs[0]].is_null();
      row.assign(1, is_null ? Value::null() : make_record(execution.row_arena, made_of_, row));
    }
    if (domain_ != TypeId::none) {
      row[0] = enter_domain(execution.functions, domain_, row[0], Coercion::assignment);
    }
  }

 private:
  struct Column {
    TypeId type = TypeId::none;
    std::int32_t typmod = kNoTypmod;
    Cast cast{};
  };

  static bool is_row(TypeId type) { return sql::shape_of(base_type(type)) == Shape::record; }

  static Value as_column(Execution& execution, const Cast& cast, const Column& column,
                         Value value) {
    if (cast.method != CastMethod::relabel) value = cast_value(execution.functions, cast, value);
    if (is_domain(column.type) && cast.source != column.type) {
      value = enter_domain(execution.functions, column.type, value, Coercion::assignment);
    }
    if (value.is_null() || !needs_length_coercion(column.type, column.typmod)) return value;
    return coerce_length(execution.functions, column.type, column.typmod, value,
                         Coercion::assignment);
  }

  /// Splits a row that the statement returns as a single value.
  void spread(Execution& execution, const Value& whole, std::vector<Value>& row) const {
    row.assign(columns_.size(), Value::null());
    if (whole.is_null()) return;
    const RecordView view{whole};
    const auto refuse = [](std::string detail) {
      throw SqlError{sqlstate::datatype_mismatch,
                     "function return row and query-specified return row do not match"}
          .with_detail(std::move(detail));
    };
    if (view.size() != columns_.size()) {
      refuse(fmt::format("Returned row contains {} attribute{}, but query expects {}.", view.size(),
                         view.size() == 1 ? "" : "s", columns_.size()));
    }
    for (std::size_t i = 0; i < view.size(); ++i) {
      const Column& column = columns_[i];
      const auto cast = made_of_.empty() && view.type(i) != column.type
                            ? std::nullopt
                            : find_cast(view.type(i), column.type, CastContext::assignment);
      if (!cast) {
        refuse(fmt::format("Returned type {} at ordinal position {}, but query expects {}.",
                           format_type(view.type(i)), i + 1, format_type(column.type)));
      }
      row[i] = as_column(execution, *cast, column, view.field(i));
    }
  }

  void find_casts(StatementContext& session, const RoutineCall& call, const Plan& plan) {
    const bool has_columns = !call.column_types.empty();
    const TypeId result = base_type(call.result);
    const bool is_the_row = plan.types.size() == 1 && base_type(plan.types[0]) == result;
    const bool is_made = shape_ && !is_the_row && !has_columns;
    if (is_made) made_of_ = shape_->types;
    if (has_columns) {
      for (std::size_t i = 0; i < call.column_types.size(); ++i) {
        columns_.push_back({call.column_types[i], call.column_typmod(i)});
      }
    } else if (is_made) {
      for (std::size_t i = 0; i < made_of_.size(); ++i) {
        columns_.push_back({made_of_[i], shape_->typmods[i]});
      }
    } else {
      columns_.push_back({shape_ ? result : call.result});
    }
    if (!has_columns && !is_made && plan.types.size() != 1) {
      refuse_result(session, call.result, "Final statement must return exactly one column.");
    }
    spreads_ = (has_columns || is_made) && plan.types.size() == 1 && is_row(plan.types[0]) &&
               !(columns_.size() == 1 && is_row(columns_[0].type));
    if (spreads_) return;
    for (std::size_t i = 0; i < plan.types.size(); ++i) {
      if (i == columns_.size()) {
        refuse_result(session, call.result, "Final statement returns too many columns.");
      }
      const TypeId actual = plan.types[i];
      const auto cast = find_cast(actual, columns_[i].type, CastContext::assignment);
      if (!cast && !has_columns && !is_made) {
        refuse_result(session, call.result,
                      fmt::format("Actual return type is {}.", format_type(actual)));
      }
      if (!cast) {
        refuse_result(session, call.result,
                      fmt::format("Final statement returns {} instead of {} at column {}.",
                                  format_type(actual),
                                  format_type(columns_[i].type, columns_[i].typmod), i + 1));
      }
      columns_[i].cast = *cast;
    }
    if (plan.types.size() < columns_.size()) {
      refuse_result(session, call.result, "Final statement returns too few columns.");
    }
  }

  std::shared_ptr<const Plan> plan_;
  std::vector<Column> columns_;
  std::shared_ptr<const RowShape> shape_;  ///< shape of a returned composite type
  std::vector<TypeId>
      made_of_;  ///< fields of a composite type's row; empty: the row is not assembled
  TypeId domain_ = TypeId::none;  ///< domain over a composite type
  bool is_open_record_ = false;
  bool spreads_ = false;  ///< the statement's only column is the whole row
};

class PartPlace final : public CallPlace {
 public:
  PartPlace(const Routine& routine, std::size_t number) : routine_(routine), number_(number) {}
  [[nodiscard]] std::string call_line() const override {
    return fmt::format("SQL function \"{}\" statement {}", routine_.name, number_);
  }

 private:
  const Routine& routine_;
  std::size_t number_;
};

/// The statements of one routine for one kind of call.
class SqlCode final : public RoutineCode {
 public:
  explicit SqlCode(const RoutineCall& call) : call_(call), routine_(*call.callable->routine) {
    for (std::size_t i = 0; i < routine_.parameters.size(); ++i) {
      const RoutineParameter& parameter = routine_.parameters[i];
      const bool is_given = parameter.is_input() || routine_.kind == RoutineKind::procedure;
      if (is_given) is_input_.push_back(parameter.is_input());
    }
  }

  void run(StatementContext& session, std::span<const Value> arguments,
           const TakeRow& take) override {
    if (!is_started_ || returns_composite()) {
      try {
        start(session);
      } catch (SqlError& error) {
        add_context(error, fmt::format("SQL function \"{}\" statement 1", routine_.name));
        throw;
      }
    }
    std::vector<Value> inputs;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (is_input_[i]) inputs.push_back(arguments[i]);
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const PartPlace place{routine_, i + 1};
      const AtPlace at{session, place};
      try {
        run_part(session, i, inputs, take);
      } catch (SqlError& error) {
        add_context(error, place.call_line());
        throw;
      }
    }
  }

  /// True while all statements' plans are current; otherwise the body is read again, since no
  /// caller relies on its columns.
  bool is_current(StatementContext& session) override {
    return std::ranges::all_of(parts_, [&](const Part& part) {
      return !part.statement->plan || session.inner.is_current(part.statement->plan);
    });
  }

  /// Checks the body for CREATE FUNCTION: positions of errors are in the body.
  void check(StatementContext& session) {
    read_body(session);
    if (parts_.empty() && call_.result != TypeId::void_) {
      ResultFit::refuse_no_rows(session, call_.result);
    }
    if (call_.result != TypeId::void_ && !parts_.empty() &&
        !is_plannable(parts_.back().statement->node)) {
      ResultFit::refuse_no_rows(session, call_.result);
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      try {
        require_possible(*part.statement);
        static_cast<void>(session.inner.plan_for(*part.statement));
      } catch (SqlError& error) {
        if (error.fields().position > 0) {
          error.fields().position += static_cast<int>(part.offset);
        }
        throw;
      }
      if (i + 1 == parts_.size()) fit_.fit(session, call_, part.statement->plan->plan);
    }
  }

 private:
  struct Part {
    StatementPtr statement;
    std::size_t offset = 0;  ///< position of its text in the body
  };

  void read_body(StatementContext& session) {
    if (is_read_) return;
    auto names = std::make_shared<BodyNames>(body_names(call_.callable->routine));
    std::vector<TypeId> types = call_.parameter_types();
    std::size_t at = 0;
    std::erase_if(types, [&](TypeId) { return !is_input_[at++]; });
    parts_.clear();
    for (BodyPart& text : body_parts(routine_)) {
      Part part{session.inner.parse(text.text), text.offset};
      part.statement->declared_types = types;
      part.statement->body = names;
      parts_.push_back(std::move(part));
    }
    is_read_ = true;
  }

  /// Plans all statements before the first one runs.
  void start(StatementContext& session) {
    if (is_started_) {
      // The type's attributes may have changed.
      if (!parts_.empty()) fit_.fit(session, call_, parts_.back().statement->plan->plan);
      return;
    }
    read_body(session);
    for (const Part& part : parts_) {
      require_possible(*part.statement);
      part.statement->plan = session.inner.plan_for(*part.statement);
      require_allowed(*part.statement, *part.statement->plan->plan, may_write());
      require_runnable(*part.statement->plan->plan);
    }
    if (!parts_.empty()) fit_.fit(session, call_, parts_.back().statement->plan->plan);
    is_started_ = true;
  }

  /// Throws 0A000 for a statement that has no plan.
  static void require_possible(const Statement& statement) {
    if (is_plannable(statement.node)) return;
    throw_error(sqlstate::feature_not_supported, "{} is not {} in an SQL function",
                statement.node == nullptr ? "an empty statement" : statement_name(statement.node),
                ast::is<ast::TransactionStmt>(statement.node) ? "allowed" : "supported");
  }

  [[nodiscard]] bool returns_composite() const noexcept {
    return is_composite(base_type(call_.result));
  }
  [[nodiscard]] bool may_write() const noexcept { return routine_.volatility == 'v'; }

  void run_part(StatementContext& session, std::size_t index, std::span<const Value> inputs,
                const TakeRow& take) {
    const StatementPtr statement = parts_[index].statement;
    const bool is_last = index + 1 == parts_.size();
    PortalPtr portal = session.inner.make_empty_portal();
    portal->statement = statement;
    portal->parameters.assign(inputs.begin(), inputs.end());
    session.inner.prepare_inner(*portal, may_write());
    if (is_last) fit_.fit(session, call_, portal->use->plan);
    const ResultFit fit = is_last ? fit_ : ResultFit{};
    session.transaction.begin_inner_statement();
    // A statement of a volatile routine is a command of its own: it sees the changes before it.
    // Others have the view of the calling statement.
    std::optional<InnerStatement> own;
    if (routine_.volatility == 'v') own.emplace(*session.transaction, ReadView::Sees::durable);
    PlanRun& run = session.inner.open_inner(*portal, InnerStatements::Reads::at_once);
    Execution& execution = run.execution;
    try {
      RowScope scope{execution};
      std::vector<Value> row;
      bool wants_more = true;
      // A statement that writes is completed even if the caller needs no more of its rows.
      while ((wants_more || run.write != nullptr) && run.root->next(execution)) {
        if (is_last && wants_more && call_.result != TypeId::void_) {
          fit.convert(execution, row);
          wants_more = take(row);
        }
        scope.rewind();
      }
    } catch (...) {
      if (portal->run) run.end();
      portal->state = Portal::State::failed;
      throw;
    }
    session.inner.finish(*portal);
    session.inner.recycle(std::move(portal));
  }

  RoutineCall call_;
  const Routine& routine_;
  std::vector<bool> is_input_;  ///< true: an argument of the call; false: an OUT parameter
  std::vector<Part> parts_;
  bool is_read_ = false;
  bool is_started_ = false;
  ResultFit fit_;
};

class SqlLanguage final : public RoutineLanguage {
 public:
  void check(StatementContext& session, const CallablePtr& callable) const override {
    const auto& types = callable->arguments;
    // Polymorphic types are known only in a call.
    if (std::ranges::any_of(types, is_polymorphic)) {
      static_cast<void>(body_parts(*callable->routine));
      return;
    }
    const Routine& routine = *callable->routine;
    const bool answers = routine.kind == RoutineKind::procedure && !callable->has_columns();
    SqlCode{{callable, types, answers ? TypeId::void_ : routine.result, callable->column_types}}
        .check(session);
  }
  RoutineCodePtr prepare(StatementContext& /*session*/, const RoutineCall& call) const override {
    return std::make_shared<SqlCode>(call);
  }

  TriggerCodePtr prepare_trigger(StatementContext& /*session*/, const CallablePtr& /*callable*/,
                                 const TablePtr& /*table*/) const override {
    throw_error(sqlstate::invalid_function_definition, "SQL functions cannot return type trigger");
  }
  EventTriggerCodePtr prepare_event_trigger(StatementContext& /*session*/,
                                            const CallablePtr& /*callable*/) const override {
    throw_error(sqlstate::invalid_function_definition,
                "SQL functions cannot return type event_trigger");
  }
};

}  // namespace

const RoutineLanguage& sql_language() {
  static const SqlLanguage kLanguage;
  return kLanguage;
}

}  // namespace swizzle::sql
