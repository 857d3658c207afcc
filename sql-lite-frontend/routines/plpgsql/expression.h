#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/query/bound/expression.h"
#include "sql-lite-frontend/routines/plpgsql/variables.h"
#include "sql-lite-frontend/statement/statement.h"

/// SQL fragments in a body, compiled once per session and function.
namespace swizzle::sql::plpgsql {

struct Frame;

/// Resolves names in a fragment to the function's variables; their values are in the frame.
class FragmentNames final : public BodyVariables {
 public:
  explicit FragmentNames(const Name* names) : names_(names) {}
  std::optional<Meaning> find(std::span<const std::string_view> parts,
                              bool must_have_field) override;
  [[nodiscard]] Conflict conflict() const override;

  /// Sets the frame with the variables. Must be called before binding.
  void bind_for(Frame& frame) { frame_ = &frame; }
  void forget() {
    used_.clear();
    shapes_.clear();
  }
  /// Places of the variables that the fragment uses.
  [[nodiscard]] const std::vector<std::size_t>& used() const noexcept { return used_; }
  /// True if the records used still have the fields with which the fragment was bound.
  [[nodiscard]] bool fits(const Frame& frame) const;
  /// Returns the record if the fragment names exactly one record, as a whole.
  [[nodiscard]] std::optional<std::size_t> only_record() const {
    if (shapes_.size() != 1 || !shapes_[0].is_whole) return std::nullopt;
    return shapes_[0].record;
  }

 private:
  void use(std::size_t place);

  const Name* names_;
  Frame* frame_ = nullptr;
  std::vector<std::size_t> used_;
  struct Known {
    std::size_t record;
    ShapePtr shape;
    bool is_whole = false;  ///< it is named without a field
    bool is_null = false;   ///< and was NULL then
  };
  std::vector<Known> shapes_;
};

/// The target of an assignment to a part, e.g. v[i].f, where v is the whole.
struct AssignedPart {
  std::string whole;  ///< as written
  std::string name;   ///< the first of its words
  /// Text after the name, split at the subscripts: one piece more than there are subscripts.
  std::vector<std::string> around;
  std::vector<ExpressionPtr> subscripts;

  /// Value or subscript that requires a statement: it is computed first, and stored among the
  /// frame's values.
  struct Computed {
    std::optional<std::size_t> place = std::nullopt;  ///< assigned once and kept
    TypeId type = TypeId::none;                       ///< none: the text is bound as is
  };
  Computed value = {};
  std::vector<Computed> computed = {};  ///< by subscript
};

class Expression {
 public:
  enum class Kind : std::uint8_t { value, statement };
  Expression(Kind kind, std::string text, const Name* names);

  /// Evaluates the expression; the value is in the frame's row arena.
  Value evaluate(Frame& frame);
  /// For an assignment to a part: returns the whole with the part set to `value`.
  Value put(Frame& frame, const Value& value, TypeId type);
  /// Type of the value. Pre: evaluate().
  [[nodiscard]] TypeId type() const noexcept { return type_; }
  /// True for an expression without variables, which a planner evaluates at plan time, with its
  /// conversion. Pre: evaluate().
  [[nodiscard]] bool is_folded() const;

  /// Returns the record if the expression is a record variable and nothing else.
  std::optional<std::size_t> whole_record(Frame& frame);
  /// Returns the fields of the record, or null if the expression is not a record. Pre: evaluate().
  ShapePtr record_shape(Frame& frame);

  /// Returns the prepared statement; the frame's values are its parameters.
  const StatementPtr& statement(Frame& frame);
  [[nodiscard]] const FragmentNames& names() const noexcept { return names_; }
  FragmentNames& names() noexcept { return names_; }

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] std::string sql() const;
  /// Returns the length of the text that sql() puts before the expression's.
  [[nodiscard]] std::size_t sql_before() const noexcept;
  /// Sets the text of the assignment's target.
  void set_target(std::string target) { target_ = std::move(target); }
  /// Makes the expression an assignment to a part: its value is the whole variable or record field
  /// with that part replaced.
  void set_part(AssignedPart part) {
    part_ = std::make_unique<AssignedPart>(std::move(part));
    part_->computed.resize(part_->subscripts.size());
  }
  /// Returns the line of CONTEXT for an error inside.
  [[nodiscard]] std::string context() const;

 private:
  [[nodiscard]] bool is_ready(const Frame& frame) const;
  [[nodiscard]] bool has_current_plan(const Frame& frame) const;
  void prepare(Frame& frame);
  void prepare_statement(Frame& frame);
  /// Prepares the expression for evaluation without a statement; false if it needs one.
  bool prepare_plain(Frame& frame);
  void enter(Frame& frame, Binder& binder, BodyNames& names);
  void keep_plain(Frame& frame, Binder& binder);
  void bind_part(Binder& binder, Arena& tree);
  void give_place(Frame& frame, AssignedPart::Computed& to, TypeId type);
  void prepare_computed(Frame& frame);
  void bind_computed(Frame& frame);
  bool compute_part(Frame& frame);
  /// Runs the statement; returns nothing if it has no row.
  std::optional<Value> run_for_value(Frame& frame);
  Value evaluate_plain(Frame& frame);

  Kind kind_;
  std::string text_;
  std::string target_;
  std::unique_ptr<AssignedPart> part_;
  FragmentNames names_;
  TypeId type_ = TypeId::none;

  // Compiled form: an expression, or a statement.
  bool is_prepared_ = false;
  std::unique_ptr<Arena> arena_;
  ExprPtr plain_;
  std::optional<std::size_t> whole_record_;
  CatalogView::Stamp stamp_;
  std::uint64_t settings_version_ = 0;
  bool depends_on_catalog_ = false;
  bool calls_readers_ = false;      ///< a function called may read tables
  std::vector<RoutinePtr> called_;  ///< routines called by an expression without a statement
  StatementPtr statement_;
  std::shared_ptr<BodyNames> body_;
};

}  // namespace swizzle::sql::plpgsql
