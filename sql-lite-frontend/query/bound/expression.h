#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/checked_pointers.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/statement_invariant.h"
#include "sql-lite-frontend/types/type_id.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {

class Expr;
class SlotExpr;
class SubqueryExpr;
struct ExprPrinter;
using ExprPtr = CheckedUnique<Expr>;

/// Texts for the parts of an expression that only the query around it can print.
class QueryTexts {
 public:
  QueryTexts() = default;
  QueryTexts(const QueryTexts&) = delete;
  QueryTexts& operator=(const QueryTexts&) = delete;
  virtual ~QueryTexts() = default;
  /// Writes what fills the slot: a column, a call of an aggregate, another expression.
  virtual void print_slot(ExprPrinter& printer, const SlotExpr& slot) = 0;
  [[nodiscard]] virtual bool is_column(const SlotExpr& slot) const = 0;
  /// Writes the whole row of the relation that has the column.
  virtual void print_row(ExprPrinter& printer, const SlotExpr& column) = 0;
  /// Writes the system column `name` of the relation that has the column.
  virtual void print_beside(ExprPrinter& printer, const SlotExpr& column,
                            std::string_view name) = 0;
  virtual void print_subquery(ExprPrinter& printer, const SubqueryExpr& subquery) = 0;
};

/// Writes an expression as SQL: for stored defaults and checks, for EXPLAIN, and to see whether
/// two expressions are the same.
struct ExprPrinter {
  enum class Columns : std::uint8_t { names, qualified, slots };
  Columns columns = Columns::names;
  std::string out;
  /// Session for the names of constants of reg* types; without, they are written as numbers, which
  /// stay right when the object is renamed.
  SessionContext* context = nullptr;
  /// Depth of the expression. Operands of functions and operators show casts that are not in the
  /// text, the whole expression does not, as in pg_get_expr.
  int depth = 0;
  /// Writes parentheses only where PostgreSQL's pretty form has them.
  bool is_pretty = false;
  /// The text is to be kept: types that users made are written as numbers, too.
  bool is_kept = false;
  /// The relation whose columns go without its name, though others have theirs.
  std::string_view own_relation = {};
  /// CASE on lines of its own: pg_get_expr's layout, though not EXPLAIN's.
  bool breaks_lines = false;
  int indent = 0;
  /// Null outside of a query's text: a slot is then shown by its own name.
  QueryTexts* texts = nullptr;
  /// Place of an expression within the one around it.
  struct Place {
    const Expr* parent = nullptr;  ///< null for the whole
    bool is_operand = false;       ///< the pretty form may need parentheses around it
    bool hides_casts = false;      ///< a cast that is not in the text is not shown
  };
  Place place = {};
  const Expr* current = nullptr;  ///< expression that is being printed

  void print(const Expr& expr);
  /// Prints an operand of an operator or of a construct without parentheses of its own.
  void print_operand(const Expr& expr) { print_at(expr, {current, true, false}); }
  /// As print_operand(), without an outermost cast that is not in the text.
  void print_plain_operand(const Expr& expr) { print_at(expr, {current, true, true}); }
  /// Prints the expression in the place of the one that is being printed.
  void print_instead(const Expr& expr);
  /// False if the expression needs parentheses before a subscript.
  [[nodiscard]] bool is_column(const Expr& expr) const;
  /// "(" unless the form is pretty; returns what closes it.
  std::string_view open_operator();
  void print_at(const Expr& expr, Place where);
};

/// Calls that have a syntax of their own (AT TIME ZONE, EXTRACT, CURRENT_DATE …) are shown as they
/// were written.
enum class Spelling : std::uint8_t { call, keywords };

/// A bound expression: types resolved, columns turned into slots, ready to run. Immutable once
/// bound, since all runs of its plan share it (its state in a run is the execution's), except that
/// the binder may give an untyped literal or parameter its type.
class Expr {
 public:
  explicit Expr(TypeId type, std::int32_t typmod = kNoTypmod) : type_(type), typmod_(typmod) {}
  Expr(const Expr&) = delete;
  Expr& operator=(const Expr&) = delete;
  virtual ~Expr() = default;

  /// The value's bytes live until the row is done (or longer). Throws SqlError.
  Value eval(Execution& execution) const {
    check_stack();
    return evaluate(execution);
  }
  virtual void print(ExprPrinter& printer) const = 0;
  /// Calls `visit` with every direct operand; it may replace it.
  virtual void for_each_operand(const std::function<void(ExprPtr&)>& visit) = 0;

  [[nodiscard]] TypeId type() const noexcept { return type_; }
  [[nodiscard]] std::int32_t typmod() const noexcept { return typmod_; }
  [[nodiscard]] std::int32_t location() const noexcept { return location_; }
  void set_location(std::int32_t location) noexcept { location_ = location; }
  [[nodiscard]] Spelling spelling() const noexcept { return spelling_; }
  void set_spelling(Spelling spelling) noexcept { spelling_ = spelling; }
  void set_type(TypeId type, std::int32_t typmod = kNoTypmod) noexcept {
    type_ = type;
    typmod_ = typmod;
  }
  /// True if its type's collation was given with COLLATE, here or below.
  [[nodiscard]] bool has_explicit_collation() const noexcept { return explicit_collation_; }
  /// Gives the type, if it has one, that collation. Pre: not a domain's.
  void set_collation(Oid collation, bool is_explicit) noexcept {
    type_ = with_collation(type_, collation);
    explicit_collation_ = is_explicit;
  }
  void forget_collation() noexcept {
    type_ = without_collation(type_);
    explicit_collation_ = false;
  }

 private:
  virtual Value evaluate(Execution& execution) const = 0;

  TypeId type_;
  std::int32_t typmod_;
  std::int32_t location_ = -1;
  Spelling spelling_ = Spelling::call;
  bool explicit_collation_ = false;
};

/// Bytes of the value live in the plan.
class ConstantExpr final : public Expr {
 public:
  ConstantExpr(TypeId type, std::int32_t typmod, Value value) : Expr(type, typmod), value_(value) {}
  Value evaluate(Execution&) const override { return value_; }
  void print(ExprPrinter& printer) const override;
  void for_each_operand(const std::function<void(ExprPtr&)>&) override {}
  [[nodiscard]] const Value& value() const noexcept { return value_; }
  /// Writes the value alone: the type is written behind it.
  void print_untyped(ExprPrinter& printer) const;
  /// Sets the name to show for an object's number where no session can look it up, as in EXPLAIN.
  void set_shown(std::string name) {
    shown_ = std::make_shared<const std::string>(std::move(name));
  }
  void show_as(const ConstantExpr& other) { shown_ = other.shown_; }

 private:
  Value value_;
  std::shared_ptr<const std::string> shown_;
};

class ParameterExpr final : public Expr {
 public:
  ParameterExpr(TypeId type, std::size_t index) : Expr(type), index_(index) {}
  Value evaluate(Execution& execution) const override {
    STATEMENT_INVARIANT(index_ < execution.parameters.size());
    return execution.parameters[index_];
  }
  void print(ExprPrinter& printer) const override;
  void for_each_operand(const std::function<void(ExprPtr&)>&) override {}
  [[nodiscard]] std::size_t index() const noexcept { return index_; }

 private:
  std::size_t index_;
};

/// A column of a table in FROM, or anything else that an operator leaves in a slot.
class SlotExpr final : public Expr {
 public:
  /// Origin of a column, for RowDescription and for error messages.
  struct Origin {
    /// Number in place of a column's: VALUE, in a domain's CHECK.
    static constexpr std::int16_t kDomainValue = -1;
    Oid table = kNoOid;
    std::int16_t column = 0;
    std::string qualifier;
    std::string name;
  };
  SlotExpr(TypeId type, std::int32_t typmod, Slot slot, Origin origin)
      : Expr(type, typmod), slot_(slot), origin_(std::move(origin)) {}
  Value evaluate(Execution& execution) const override { return execution.slots[slot_]; }
  void print(ExprPrinter& printer) const override;
  void for_each_operand(const std::function<void(ExprPtr&)>&) override {}
  [[nodiscard]] Slot slot() const noexcept { return slot_; }
  [[nodiscard]] const Origin& origin() const noexcept { return origin_; }
  void rename(std::string name) { origin_.name = std::move(name); }

 private:
  Slot slot_;
  Origin origin_;
};

/// Operands and what most nodes with operands share.
class OperandsExpr : public Expr {
 public:
  OperandsExpr(TypeId type, std::int32_t typmod, std::vector<ExprPtr> operands)
      : Expr(type, typmod), operands_(std::move(operands)) {}
  void for_each_operand(const std::function<void(ExprPtr&)>& visit) override {
    for (ExprPtr& operand : operands_) visit(operand);
  }
  [[nodiscard]] std::span<const ExprPtr> operands() const noexcept { return operands_; }
  [[nodiscard]] std::vector<ExprPtr>& mutable_operands() noexcept { return operands_; }

 protected:
  std::vector<ExprPtr> operands_;  // NOLINT: read by every derived eval()
};

/// A virtual generated column: computed where it is read, and shown by its name.
class VirtualColumnExpr final : public OperandsExpr {
 public:
  VirtualColumnExpr(std::unique_ptr<SlotExpr> column, ExprPtr value);
  Value evaluate(Execution& execution) const override { return operands_[0]->eval(execution); }
  void print(ExprPrinter& printer) const override;
  /// The slot is the column's among those of its row, and holds nothing.
  [[nodiscard]] const SlotExpr& column() const noexcept { return *column_; }

 private:
  std::unique_ptr<SlotExpr> column_;
};

/// A call of a built-in function; `op` is set when it was written as an operator.
class FunctionExpr final : public OperandsExpr {
 public:
  FunctionExpr(const Function& function, const Operator* op, TypeId result,
               std::vector<ExprPtr> operands);
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
  [[nodiscard]] const Function& function() const noexcept { return function_; }
  [[nodiscard]] const Operator* op() const noexcept { return op_; }
  /// The last argument came with the word VARIADIC: it stands for its elements.
  void set_variadic_array(bool is_array) noexcept { variadic_array_ = is_array; }
  [[nodiscard]] bool variadic_array() const noexcept { return variadic_array_; }
  /// One of its operands is NULL whatever the row, and that decides: the others are not computed.
  [[nodiscard]] bool is_always_null() const noexcept { return always_null_; }

 private:
  const Function& function_;
  const Operator* op_;
  bool variadic_array_ = false;
  bool always_null_ = false;
  std::vector<TypeId> operand_types_;
};

/// Functions that know the session: current_user, nextval, pg_backend_pid, the *_is_visible …
class SessionFunctionExpr final : public OperandsExpr {
 public:
  /// Pre: function.session is not null.
  SessionFunctionExpr(const Function& function, std::vector<ExprPtr> operands)
      : OperandsExpr(function.result, kNoTypmod, std::move(operands)), function_(&function) {}
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
  [[nodiscard]] const Function& function() const noexcept { return *function_; }
  /// Pre: `other` takes and gives the same types.
  void call_instead(const Function& other) noexcept { function_ = &other; }

 private:
  const Function* function_;
};

enum class CastForm : std::uint8_t { implicit, explicit_cast };

class CastExpr final : public OperandsExpr {
 public:
  CastExpr(const Cast& cast, CastForm form, ExprPtr operand);
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
  [[nodiscard]] const Expr& operand() const noexcept { return *operands_[0]; }
  [[nodiscard]] CastForm form() const noexcept { return form_; }
  [[nodiscard]] const Cast& cast() const noexcept { return cast_; }

 private:
  Cast cast_;
  CastForm form_;
};

/// Fits a value to a type modifier: varchar(n), numeric(p, s), timestamp(p) …
class LengthExpr final : public OperandsExpr {
 public:
  LengthExpr(std::int32_t typmod, Coercion coercion, ExprPtr operand);
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
  [[nodiscard]] Coercion coercion() const noexcept { return coercion_; }

 private:
  Coercion coercion_;
};

/// Conversion to a domain. It checks the domain's constraints as they are when it runs, so that
/// ALTER DOMAIN need not invalidate plans.
class DomainExpr final : public OperandsExpr {
 public:
  /// Pre: the operand is of the domain's base type.
  DomainExpr(TypeId domain, CastForm form, ExprPtr operand);
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
  [[nodiscard]] CastForm form() const noexcept { return form_; }

 private:
  CastForm form_;
};

/// value COLLATE name.
class CollateExpr final : public OperandsExpr {
 public:
  /// `name`: as plans show it.
  CollateExpr(Oid collation, std::string name, ExprPtr operand);
  Value evaluate(Execution& execution) const override { return operands_[0]->eval(execution); }
  void print(ExprPrinter& printer) const override;
  [[nodiscard]] const Expr& operand() const noexcept { return *operands_[0]; }
  [[nodiscard]] Oid collation() const noexcept { return collation_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  Oid collation_;
  std::string name_;
};

class BooleanExpr final : public OperandsExpr {
 public:
  enum class Kind : std::uint8_t { conjunction, disjunction, negation };
  BooleanExpr(Kind kind, std::vector<ExprPtr> operands)
      : OperandsExpr(TypeId::bool_, kNoTypmod, std::move(operands)), kind_(kind) {}
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
  [[nodiscard]] Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

/// IS [NOT] NULL, IS [NOT] TRUE / FALSE / UNKNOWN.
class TestExpr final : public OperandsExpr {
 public:
  enum class Kind : std::uint8_t {
    is_null,
    is_not_null,
    is_true,
    is_not_true,
    is_false,
    is_not_false,
    is_unknown,
    is_not_unknown,
  };
  TestExpr(Kind kind, ExprPtr operand);
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
  [[nodiscard]] Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

/// IS [NOT] DISTINCT FROM: `comparison` is the "=" over the two operands.
class DistinctExpr final : public OperandsExpr {
 public:
  enum class Kind : std::uint8_t { distinct, not_distinct };
  DistinctExpr(Kind kind, const Function& equality, std::vector<ExprPtr> operands)
      : OperandsExpr(TypeId::bool_, kNoTypmod, std::move(operands)),
        kind_(kind),
        equality_(equality) {}
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;

 private:
  Kind kind_;
  const Function& equality_;
};

/// Operands: when, then, when, then, …, else. Simple CASE becomes comparisons of a slot.
class CaseExpr final : public OperandsExpr {
 public:
  /// `subject` is stored in `subject_slot` before the first WHEN; both absent for searched CASE.
  CaseExpr(TypeId type, std::vector<ExprPtr> operands, ExprPtr subject, Slot subject_slot);
  [[nodiscard]] bool has_subject() const noexcept { return subject_ != nullptr; }
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
  void for_each_operand(const std::function<void(ExprPtr&)>& visit) override;

 private:
  ExprPtr subject_;
  Slot subject_slot_;
};

class CoalesceExpr final : public OperandsExpr {
 public:
  CoalesceExpr(TypeId type, std::vector<ExprPtr> operands)
      : OperandsExpr(type, kNoTypmod, std::move(operands)) {}
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
};

class NullIfExpr final : public OperandsExpr {
 public:
  NullIfExpr(TypeId type, ExprPtr value, ExprPtr equality, Slot slot);
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;

 private:
  Slot slot_;
};

class GreatestExpr final : public OperandsExpr {
 public:
  enum class Kind : std::uint8_t { greatest, least };
  GreatestExpr(Kind kind, TypeId type, std::vector<ExprPtr> operands);
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;

 private:
  Kind kind_;
  CompareFunction compare_;
};

/// operand op ANY/ALL (array), and IN lists of constants. An array that no row changes is made once
/// per run; where many of its elements are asked for equality, they are looked up by hash.
class ArrayComparisonExpr final : public OperandsExpr {
 public:
  enum class Kind : std::uint8_t { any, all };
  /// `place`: of what it remembers of a run.
  ArrayComparisonExpr(Kind kind, const Operator& op, ExprPtr left, ExprPtr array, StatePlace place);
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] const Operator& op() const noexcept { return op_; }
  [[nodiscard]] StatePlace place() const noexcept { return place_; }

 private:
  struct Fixed;
  Value compare_each(Execution& execution, const Value& left, const Value& array) const;
  /// The array as it is in this run, or null if rows may change it.
  Fixed* fixed(Execution& execution) const;
  [[nodiscard]] bool asks_for_equality() const noexcept;
  [[nodiscard]] TypeId compared_type() const noexcept;

  Kind kind_;
  const Operator& op_;
  StatePlace place_;
};

class ArrayExpr final : public OperandsExpr {
 public:
  /// `nested`: the operands are arrays themselves, and the result has one dimension more.
  enum class Kind : std::uint8_t { elements, nested };
  ArrayExpr(TypeId type, Kind kind, std::vector<ExprPtr> operands)
      : OperandsExpr(type, kNoTypmod, std::move(operands)), kind_(kind) {}
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  /// Shows the constants among the elements as ones of this type, and the array as cast from it.
  void show_elements_as(TypeId type) noexcept { shown_element_ = type; }
  [[nodiscard]] TypeId shown_element() const noexcept { return shown_element_; }

 private:
  Kind kind_;
  TypeId shown_element_ = TypeId::none;
};

class RowExpr final : public OperandsExpr {
 public:
  explicit RowExpr(std::vector<ExprPtr> operands);
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
  /// Names of the fields where they are known (whole rows).
  std::vector<std::string> names;
  bool is_whole_row = false;  ///< of a table or another item of FROM
  bool is_written = false;    ///< ROW(…), perhaps cast to a composite type
  /// The field is a literal that says no type: it is text, but clients are told so.
  void mark_untyped(std::size_t field) { types_[field] = TypeId::unknown; }
  bool tells_names = false;  ///< in its value, for who shows them
  /// Condition under which the whole is NULL because an outer join has not found a row: if this
  /// field is NULL, or if all are where no field of the row is always there.
  enum class Absence : std::uint8_t { never, field_is_null, all_are_null };
  Absence absence = Absence::never;
  std::size_t telling_field = 0;

 private:
  [[nodiscard]] bool is_absent(std::span<const Value> fields) const;
  std::vector<TypeId> types_;
};

/// array[i], array[i][j], array[a:b]. Absent bounds are null operands' places in `slices`.
class SubscriptExpr final : public OperandsExpr {
 public:
  enum class Kind : std::uint8_t { element, slice };
  /// Operands: the array, then for an element one index per dimension, for a slice lower and
  /// upper bound per dimension (a NULL constant is an open bound).
  SubscriptExpr(TypeId type, Kind kind, std::vector<ExprPtr> operands);
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;

 private:
  Kind kind_;
};

/// The array with one element set: what `SET a[i] = x` gives the column.
class ElementAssignment final : public OperandsExpr {
 public:
  /// Operands: the array, the element, then one index per dimension.
  ElementAssignment(TypeId array, std::vector<ExprPtr> operands);
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
};

/// (record).field
class FieldExpr final : public OperandsExpr {
 public:
  FieldExpr(TypeId type, ExprPtr record, std::size_t field, std::string name);
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;

 private:
  std::size_t field_;
  std::string name_;
};

/// Writes what has a syntax of its own in it; false: it has none.
bool print_with_keywords(ExprPrinter& printer, const Expr& expr);
/// True if the two mean the same for every row.
bool same_expression(const Expr& left, const Expr& right);
/// Calls `visit` with the expression and everything below it, subqueries' own blocks excluded.
void walk(Expr& expr, const std::function<void(Expr&)>& visit);
/// False if its value may change from row to row though its slots do not, or it has side effects.
bool is_volatile(Expr& expr);
/// A constant condition on a NULL is false.
inline bool holds(const Expr& condition, Execution& execution) {
  const Value value = condition.eval(execution);
  return !value.is_null() && value.as_bool();
}

}  // namespace swizzle::sql
