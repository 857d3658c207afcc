#include <fmt/format.h>

#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/execution/write/statement_triggers.h"
#include "sql-lite-frontend/execution/write/write_operator.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/types/sql_error.h"

/// Checks of a single written row, and those made after the statement has written all rows.
namespace swizzle::sql {

/// Throws 42501 unless policies let the row be written.
void WriteOperator::check_policies(Execution& execution, std::span<const WriteCheck> checks) {
  for (const WriteCheck& check : checks) {
    if (holds(*check.expr, execution)) continue;
    using Kind = WriteCheck::Kind;
    const bool is_old =
        check.kind == Kind::policy_of_existing || check.kind == Kind::policy_of_target;
    throw_error(sqlstate::insufficient_privilege,
                "{} row violates row-level security policy{}{} for table \"{}\"",
                check.kind == Kind::policy_of_target ? "target" : "new",
                check.name.empty() ? std::string{} : fmt::format(" \"{}\"", check.name),
                is_old ? " (USING expression)" : "", asked_->table->relation.name);
  }
}

void WriteOperator::check_row(Execution& execution, std::span<const Value> row) {
  writer_.check_not_null(execution, row);
  check_each(execution, write_->checks.constraints, row);
  if (!write_->partitions.bounds.empty()) check_bounds(execution, row);
}

/// Checks the partition constraint of a partition that the statement names itself.
void WriteOperator::check_bounds(Execution& execution, std::span<const Value> row) {
  for (const PartitionedWrite::WithinBound& bound : write_->partitions.bounds) {
    std::vector<Value> key;
    for (const ExprPtr& part : bound.key) key.push_back(part->eval(execution));
    if (bound.map->find(key) == bound.place) continue;
    const Relation& relation = write_->table->relation;
    SqlError error =
        sql_error(sqlstate::check_violation,
                  "new row for relation \"{}\" violates partition constraint", relation.name)
            .with_detail(failing_row(execution, *write_, row));
    error.fields().schema = execution.services.schema_name(relation.schema);
    error.fields().table = relation.name;
    throw error;
  }
}

void WriteOperator::check_each(Execution& execution, std::span<const WriteCheck> checks,
                               std::span<const Value> row) {
  for (const WriteCheck& check : checks) {
    const Value value = check.expr->eval(execution);
    const bool is_of_view = check.kind == WriteCheck::Kind::view;
    // A CHECK constraint passes if it is unknown; a view's check option does not.
    if (value.is_null() ? !is_of_view : value.as_bool()) continue;
    if (is_of_view) {
      throw sql_error(SqlState{"44000"}, "new row violates check option for view \"{}\"",
                      check.name)
          .with_detail(failing_row(execution, *write_, row));
    }
    const Relation& relation = write_->table->relation;
    SqlError error = sql_error(sqlstate::check_violation,
                               "new row for relation \"{}\" violates check constraint \"{}\"",
                               relation.name, check.name)
                         .with_detail(failing_row(execution, *write_, row));
    error.fields().schema = execution.services.schema_name(relation.schema);
    error.fields().table = relation.name;
    error.fields().constraint = check.name;
    throw error;
  }
}

void WriteOperator::begin_checks(ReferenceQueue& queue) {
  if (triggers_) triggers_->begin_checks(queue);
}

void WriteOperator::check(Execution& execution) {
  is_unchecked_ = false;
  deferrable_keys_.finish(execution);
  writer_.check_exclusions(execution);
  foreign_keys_.finish(execution);
  if (triggers_) triggers_->finish(execution);
}

void WriteOperator::check_later(Execution& execution, ReferenceQueue& queue) {
  is_unchecked_ = false;
  deferrable_keys_.finish(execution);
  writer_.check_exclusions(execution);
  foreign_keys_.finish_later(execution, queue);
  if (triggers_) triggers_->finish_later(execution, queue);
}

void check_written(Execution& execution) {
  if (execution.unchecked.empty()) return;
  ReferenceQueue& queue = execution.services.reference_queue();
  if (queue.is_running()) {
    for (WriteOperator* const write : execution.unchecked) write->check_later(execution, queue);
  } else {
    ReferenceQueue::Run run{queue};
    for (WriteOperator* const write : execution.unchecked) write->begin_checks(queue);
    for (WriteOperator* const write : execution.unchecked) write->check(execution);
    run.finish(execution);
  }
  execution.unchecked.clear();
}

}  // namespace swizzle::sql
