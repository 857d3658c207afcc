#pragma once

#include <functional>
#include <optional>

#include "sql-lite-frontend/routines/plpgsql/frame.h"
#include "sql-lite-frontend/statement/transactions/inner_transactions.h"

namespace swizzle::sql::plpgsql {

/// Returns the shape of a plan's rows.
ShapePtr shape_of(const Plan& plan);

/// Execution of one statement with a plan, inside the statement that has called the function. A
/// statement that is read in portions keeps its snapshot, because the function runs other
/// statements in between.
class StatementRun {
 public:
  using Reads = InnerStatements::Reads;
  /// Runs a fragment with the frame's values as its parameters.
  StatementRun(Frame& frame, Expression& fragment, const StatementPtr& statement,
               Reads reads = Reads::at_once);
  /// Runs the statement of a dynamic text (EXECUTE).
  StatementRun(Frame& frame, const StatementPtr& statement, std::string context,
               std::span<const Value> parameters, Reads reads = Reads::at_once);
  StatementRun(const StatementRun&) = delete;
  StatementRun& operator=(const StatementRun&) = delete;
  ~StatementRun();

  /// Reads the next row; its values are valid until the next call.
  bool next();
  [[nodiscard]] Value value(std::size_t column) const {
    return portal_->run->execution.slots[plan().outputs[column]];
  }
  [[nodiscard]] std::string context() const {
    return fragment_ != nullptr ? fragment_->context() : context_;
  }
  [[nodiscard]] const Plan& plan() const noexcept { return portal_->plan(); }
  [[nodiscard]] ShapePtr shape() const { return shape_of(plan()); }
  [[nodiscard]] bool writes() const noexcept { return plan().write != nullptr; }
  /// Returns the number of rows written or read.
  [[nodiscard]] std::uint64_t count() const noexcept;
  std::span<const Value> row();
  void finish();

 private:
  /// Materializes the rows of a loop when its body ends the transaction.
  class Pin final : public PinnedRows {
   public:
    explicit Pin(StatementRun& run) : PinnedRows(run.frame_.session.transaction), run_(run) {}
    void hold() override { run_.hold(); }

   private:
    StatementRun& run_;
  };

  class Place final : public CallPlace {
   public:
    explicit Place(const StatementRun& run) : run_(run) {}
    [[nodiscard]] std::string call_line() const override { return run_.context(); }

   private:
    const StatementRun& run_;
  };

  void start();
  void hold();
  template <class Body>
  auto with_context(const Body& body);

  Frame& frame_;
  PortalPtr portal_;
  Expression* fragment_ = nullptr;
  std::string context_;
  Reads reads_;
  std::optional<InnerStatement> own_;
  std::optional<RowScope> scope_;
  std::vector<Value> row_;
  std::uint64_t rows_ = 0;
  bool is_open_ = false;
  bool is_exhausted_ = false;
  std::optional<Pin> pin_;
  /// Rows that were left when the transaction ended; null before that.
  std::unique_ptr<RowStore> held_;
  std::size_t held_at_ = 0;
};

/// Call place while a statement without a plan runs.
class StatementPlace final : public CallPlace {
 public:
  explicit StatementPlace(const std::string& context) : context_(context) {}
  [[nodiscard]] std::string call_line() const override { return context_; }

 private:
  const std::string& context_;
};

/// Runs a statement that has no plan: DDL, SET, … Returns the number of rows that it has copied or
/// stored.
std::int64_t run_without_plan(Frame& frame, const StatementPtr& statement,
                              const std::string& context);

/// EXPLAIN and SHOW: statements without a plan that return rows, all of which are stored before the
/// first is read.
[[nodiscard]] bool returns_rows_without_plan(const ast::Node* node) noexcept;
class UtilityRun {
 public:
  /// If `parameters` is null, the frame's values are used.
  UtilityRun(Frame& frame, const StatementPtr& statement, std::string context,
             const std::vector<Value>* parameters = nullptr);

  bool next();
  std::span<const Value> row() const { return rows_[at_ - 1]; }
  [[nodiscard]] const std::string& context() const { return context_; }
  [[nodiscard]] const ShapePtr& shape() const { return shape_; }
  [[nodiscard]] bool writes() const noexcept { return false; }
  [[nodiscard]] std::uint64_t count() const noexcept { return rows_.size(); }
  void finish() {}

 private:
  std::string context_;
  ShapePtr shape_;
  Arena arena_;
  std::vector<std::vector<Value>> rows_;
  std::size_t at_ = 0;
};

/// Statements parsed from a dynamic text, with the values of their parameters.
struct DynamicStatement {
  DynamicStatement(Frame& frame, Expression& text, std::span<const ExpressionPtr> using_values);

  std::vector<StatementPtr> statements;  ///< none of a text of comments and semicolons
  std::string text;
  std::vector<TypeId> types;
  std::vector<Value> values;
  Arena arena{256};

  [[nodiscard]] std::string context() const { return "SQL statement \"" + text + "\""; }
  /// Returns the query of a loop or a cursor. Throws if there are several statements, or if it
  /// returns no rows.
  [[nodiscard]] const StatementPtr& query(std::string_view what) const;
};

}  // namespace swizzle::sql::plpgsql
