#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "sql-lite-frontend/routines/plpgsql/conditions.h"
#include "sql-lite-frontend/routines/plpgsql/expression.h"
#include "sql-lite-frontend/routines/plpgsql/variables.h"
#include "sql-lite-frontend/types/checked_pointers.h"

/// Syntax tree of a function. The run_….cpp files execute its steps.
namespace swizzle::sql::plpgsql {

struct Frame;

/// How a step ended.
enum class Flow : std::uint8_t { next, exit_loop, continue_loop, returned };

struct Step {
  Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  virtual ~Step() = default;

  virtual Flow run(Frame& frame) = 0;
  /// Returns the step's name in CONTEXT.
  [[nodiscard]] virtual std::string_view what() const noexcept = 0;

  int line = 0;
};
using StepPtr = CheckedUnique<Step>;
using Steps = std::vector<StepPtr>;

/// Target of an assignment: a variable, or a field of a record. Assignment to a part of these is
/// expressed in the assigned value (`Expression::set_part`), except for the targets of INTO and its
/// like.
struct Target {
  std::size_t variable = 0;
  std::string field = {};
  mutable FieldPosition position = {};
  ExpressionPtr part = {};  ///< the variable with a field of it set: `Expression::put`
};
/// Targets of INTO: several, or one record as a whole.
using Targets = std::vector<Target>;

struct BlockStep final : Step {
  struct Handler {
    std::vector<Condition> conditions;
    Steps steps;
  };
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override { return "statement block"; }
  std::string label;
  std::vector<std::size_t> declared;
  Steps steps;
  std::vector<Handler> handlers;
  std::size_t sqlstate = 0;  ///< variables of the handlers
  std::size_t sqlerrm = 0;
};
struct AssignStep final : Step {
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override { return "assignment"; }
  Target target;
  ExpressionPtr value;
};
struct IfStep final : Step {
  struct Branch {
    ExpressionPtr condition;
    Steps steps;
    int line = 0;
  };
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override { return "IF"; }
  std::vector<Branch> branches;
  Steps otherwise;
};
struct CaseStep final : Step {
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override { return "CASE"; }
  ExpressionPtr subject;     ///< null: each WHEN is a condition
  std::size_t variable = 0;  ///< variable with which the conditions compare
  std::vector<IfStep::Branch> branches;
  Steps otherwise;
  bool has_else = false;
};
struct LoopStep : Step {
  std::string label;
  Steps steps;
};
struct PlainLoopStep final : LoopStep {
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override { return "LOOP"; }
};
struct WhileStep final : LoopStep {
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override { return "WHILE"; }
  ExpressionPtr condition;
};
struct ForIntegerStep final : LoopStep {
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override { return "FOR with integer loop variable"; }
  std::size_t variable = 0;
  ExpressionPtr lower;
  ExpressionPtr upper;
  ExpressionPtr by;
  bool is_reverse = false;
};
struct ForQueryStep final : LoopStep {
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override {
    return text ? "FOR over EXECUTE statement" : "FOR over SELECT rows";
  }
  Targets targets;
  ExpressionPtr query;  ///< or the text of EXECUTE
  ExpressionPtr text;
  std::vector<ExpressionPtr> using_values;
};
struct ForCursorStep final : LoopStep {
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override { return "FOR over cursor"; }
  std::size_t cursor = 0;
  std::size_t row = 0;
  std::vector<ExpressionPtr> arguments;
};
struct ForeachStep final : LoopStep {
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override { return "FOREACH over array"; }
  Targets targets;
  int slice = 0;
  ExpressionPtr array;
};
struct ExitStep final : Step {
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override { return is_exit ? "EXIT" : "CONTINUE"; }
  bool is_exit = true;
  std::string label;
  ExpressionPtr when;
};
struct ReturnStep final : Step {
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override { return "RETURN"; }
  ExpressionPtr value;
  std::optional<std::size_t> record;  ///< the value is this whole record
};
struct ReturnNextStep final : Step {
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override { return "RETURN NEXT"; }
  ExpressionPtr value;
};
struct ReturnQueryStep final : Step {
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override { return "RETURN QUERY"; }
  ExpressionPtr query;
  ExpressionPtr text;
  std::vector<ExpressionPtr> using_values;
};
struct SqlStep final : Step {
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override {
    if (is_do) return "DO";
    return is_perform ? "PERFORM" : "SQL statement";
  }
  ExpressionPtr statement;
  bool is_perform = false;
  bool is_do = false;
  bool has_into = false;
  bool is_strict = false;
  Targets into;
};
struct ExecuteStep final : Step {
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override { return "EXECUTE"; }
  ExpressionPtr text;
  std::vector<ExpressionPtr> using_values;
  bool has_into = false;
  bool is_strict = false;
  Targets into;
};
struct CallStep final : Step {
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override { return "CALL"; }
  ExpressionPtr statement;
};
struct DiagnosticsStep final : Step {
  struct Item {
    Target target;
    std::string what;
  };
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override {
    return is_stacked ? "GET STACKED DIAGNOSTICS" : "GET DIAGNOSTICS";
  }
  bool is_stacked = false;
  std::vector<Item> items;
};
struct RaiseStep final : Step {
  struct Option {
    std::string name;
    ExpressionPtr value;
  };
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override { return "RAISE"; }
  std::string level = "exception";
  bool is_again = false;
  bool has_format = false;
  std::string format;
  std::string condition;  ///< a name
  std::string code;       ///< of SQLSTATE '…'
  std::vector<ExpressionPtr> arguments;
  std::vector<Option> options;
};
struct AssertStep final : Step {
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override { return "ASSERT"; }
  ExpressionPtr condition;
  ExpressionPtr message;
};
struct NullStep final : Step {
  Flow run(Frame& /*frame*/) override { return Flow::next; }
  std::string_view what() const noexcept override { return "NULL"; }
};
struct OpenStep final : Step {
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override { return "OPEN"; }
  std::size_t cursor = 0;
  BoundCursor::Scroll scroll = BoundCursor::Scroll::unsaid;
  ExpressionPtr query;
  ExpressionPtr text;
  std::vector<ExpressionPtr> using_values;
  std::vector<ExpressionPtr> arguments;
};
struct FetchStep final : Step {
  enum class Way : std::uint8_t { next, prior, first, last, absolute, relative, forward, backward };
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override { return is_move ? "MOVE" : "FETCH"; }
  bool is_move = false;
  Way way = Way::next;
  bool is_all = false;
  ExpressionPtr count;
  std::size_t cursor = 0;
  Targets into;
};
struct CloseStep final : Step {
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override { return "CLOSE"; }
  std::size_t cursor = 0;
};
struct TransactionStep final : Step {
  Flow run(Frame& frame) override;
  std::string_view what() const noexcept override { return is_commit ? "COMMIT" : "ROLLBACK"; }
  bool is_commit = true;
  bool chains = false;
};

/// A record field that the body names. It has its own place among the values, so that statements
/// can use it as a parameter.
struct FieldPlace {
  std::size_t record = 0;
  std::string name;
  std::size_t place = 0;
  std::size_t before = 0;  ///< number of preceding fields with the same name
  FieldPosition position = {};
};

/// A parsed function body.
struct Program {
  std::deque<Name> names;
  std::vector<Variable> variables;
  std::size_t argument_count = 0;
  std::vector<FieldPlace> fields;
  std::size_t value_count = 0;
  std::size_t record_count = 0;
  StatePlace state_count = 0;  ///< of the expressions that need no statement
  Slot slot_count = 0;
  std::vector<std::size_t> outputs;  ///< variables of OUT parameters
  /// A composite type of variables, with the fields it had when the body was parsed.
  struct RowType {
    TypeId type = TypeId::none;
    ShapePtr shape;
  };
  std::vector<RowType> row_types;
  CatalogView::Stamp checked_at;  ///< stamp of the catalog with which `row_types` were last checked
  std::size_t found = 0;
  BodyVariables::Conflict conflict = BodyVariables::Conflict::error;
  bool tells_strict_parameters = false;  ///< #print_strict_params
  std::unique_ptr<BlockStep> body;

  std::size_t place_of_field(std::size_t record, std::string_view name, std::size_t before);
};

}  // namespace swizzle::sql::plpgsql
