#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/statistics/table_statistics.h"
#include "sql-lite-frontend/query/bind/access.h"
#include "sql-lite-frontend/query/bind/body_names.h"
#include "sql-lite-frontend/query/bind/bound_names.h"
#include "sql-lite-frontend/query/bind/collations.h"
#include "sql-lite-frontend/query/bind/name_source.h"
#include "sql-lite-frontend/query/bind/query.h"
#include "sql-lite-frontend/query/bind/repeated_binding.h"
#include "sql-lite-frontend/query/bind/scope.h"
#include "sql-lite-frontend/query/bound/json_expression.h"
#include "sql-lite-frontend/query/parse/ast.h"
#include "sql-lite-frontend/types/resolve.h"

namespace swizzle::sql {

struct BindingNotes;

/// A subquery in an expression, waiting to be planned.
struct PendingSubquery {
  PendingSubquery(SubqueryExpr& of, std::unique_ptr<Query> bound)
      : expr(&of), life(of.life()), query(std::move(bound)) {}

  SubqueryExpr* expr;
  std::weak_ptr<const void> life;  ///< of `expr`
  std::unique_ptr<Query> query;
};

/// Gives names and types to expressions. The results live in the plan; the plan's arena takes
/// constants. Queries within them are QueryBinder's.
class ExpressionBinder : public BoundNames {
 public:
  ExpressionBinder(NameSource& names, Arena& plan_arena) : names_(names), arena_(plan_arena) {}
  ExpressionBinder(const ExpressionBinder&) = delete;
  ExpressionBinder& operator=(const ExpressionBinder&) = delete;
  virtual ~ExpressionBinder() = default;

  /// Declared parameter types; unknown ones are inferred. $n beyond them are allowed unless
  /// `parameters_allowed` was never called.
  void allow_parameters(std::span<const TypeId> declared);
  [[nodiscard]] const std::vector<TypeId>& parameter_types() const noexcept { return parameters_; }
  /// The statement stands in a routine's body, whose parameters are the statement's. `names`
  /// outlive the binder.
  void enter_body(const BodyNames& names);
  /// Returns the place where a subquery named the enclosing query's column; `otherwise` if it did
  /// not by itself.
  [[nodiscard]] std::int32_t named_outside(Slot slot, std::int32_t otherwise) const {
    const auto named = named_outside_.find(slot);
    return named == named_outside_.end() ? otherwise : named->second;
  }
  /// Throws 42P18 for a parameter without a known type, 42P08 if an earlier use of it took any
  /// type.
  void require_parameter_types() const;

  /// `open`: literals and parameters in the select list stay untyped, because the consumer of the
  /// rows knows the types (INSERT … SELECT).
  enum class OutputTypes : std::uint8_t { final, open };
  virtual std::unique_ptr<Query> bind_select(const ast::SelectStmt& select, Scope* parent,
                                             OutputTypes output = OutputTypes::final) = 0;
  ExprPtr bind_expression(const ast::Node* node, Scope& scope);
  /// Bound and coerced to boolean; `what` is for the error: "argument of WHERE must be …".
  ExprPtr bind_condition(const ast::Node* node, Scope& scope, std::string_view what);
  /// An expression over the columns of one table, as checks, defaults and indexes have them.
  ExprPtr bind_table_expression(std::string_view sql, const Table& table, Slot first_slot,
                                Clause clause);

  /// A call as CALL has it, whose routine is a procedure.
  struct ProcedureCall {
    RoutineCallPtr call;
    std::vector<ExprPtr> arguments;
  };
  ProcedureCall bind_procedure_call(const ast::FuncCall& node);
  /// An expression that stands for itself, without columns: a parameter's default.
  ExprPtr bind_stored_expression(std::string_view sql);
  /// One over whatever the scope has.
  ExprPtr bind_stored(std::string_view sql, Scope& scope);
  /// A scope in which the table's columns are in slots from `first_slot` on.
  Scope table_scope(const TablePtr& table, std::string_view alias, Slot first_slot);

  enum class Implicitness : std::uint8_t { implicit, assignment, explicit_cast };
  /// Null when there is no way.
  ExprPtr try_coerce(ExprPtr& expr, TypeId type, std::int32_t typmod, Implicitness how);
  /// Throws 42846 (or 42804 for assignments).
  ExprPtr coerce(ExprPtr expr, TypeId type, std::int32_t typmod, Implicitness how);
  ExprPtr coerce_to_column(ExprPtr expr, const Column& column);
  /// A condition over VALUE, which is in `slot`: a CHECK of a domain over `base`.
  Scope domain_scope(TypeReference base, Slot slot);
  ExprPtr comparison(std::string_view op, ExprPtr left, ExprPtr right, std::int32_t location);

  /// Virtual columns that are named from here on are computed. Without it they stay columns, as
  /// definitions want them.
  void compute_virtual_columns() noexcept { computes_virtual_ = true; }
  /// Notes from here on where the statement's parts come from. `notes` outlive the binder.
  void note_bindings(BindingNotes& notes) noexcept { notes_ = &notes; }
  /// Returns the name of a column that shows this expression.
  std::string target_name_of(const ast::Node* node) { return target_name(node); }
  TypeReference bind_type(const ast::TypeName& name);
  Slot new_slot() { return new_slots(1); }
  Slot new_slots(std::size_t count) {
    const Slot first = slot_count_;
    slot_count_ += static_cast<Slot>(count);
    used_.resize(slot_count_, false);
    return first;
  }
  /// Returns a new place for the state that an expression keeps for a run.
  StatePlace new_state() noexcept { return state_count_++; }
  [[nodiscard]] Slot slot_count() const noexcept { return slot_count_; }
  [[nodiscard]] bool is_used(Slot slot) const { return used_[slot]; }
  void mark_used(Slot slot) {
    used_[slot] = true;
    if (!read_by_virtual_.empty()) std::erase(read_by_virtual_, slot);
  }
  void mark_unused(Slot slot) { used_[slot] = false; }

  /// Returns the uses of relations whose privileges are to be checked. Pre: the statement is bound
  /// and not planned yet.
  [[nodiscard]] std::vector<RelationAccess> accesses() const;

  std::vector<PendingSubquery>& pending() noexcept { return pending_; }
  /// Returns EXPLAIN's form of columns: with their relation's name if there are several relations.
  [[nodiscard]] ExprPrinter::Columns explained_columns() const noexcept {
    return relations_named_ > 1 ? ExprPrinter::Columns::qualified : ExprPrinter::Columns::names;
  }
  NameSource& names() noexcept { return names_; }
  Arena& arena() noexcept { return arena_; }

  ExprPtr constant(TypeId type, Value value);
  ExprPtr slot_expr(const ScopeColumn& column);

  // bind_row_identity.cpp
  /// Replaces an equality of two rows' ctids by that of their keys, if they are rows of one table.
  void join_by_keys(ExprPtr& condition);
  /// The same; besides, replaces a comparison of a row's ctid with a value that does not depend on
  /// the row by conditions on the row's key, by which it can be found.
  void find_by_key(ExprPtr& condition);

 protected:
  // bind_expression.cpp
  ExprPtr bind_node(const ast::Node* node, Scope& scope);
  ExprPtr bind_constant(const ast::A_Const& node);
  ExprPtr bind_parameter(const ast::ParamRef& node);
  ExprPtr bind_bool(const ast::BoolExpr& node, Scope& scope);
  ExprPtr bind_case(const ast::CaseExpr& node, Scope& scope);
  ExprPtr bind_cast(const ast::TypeCast& node, Scope& scope);
  void add_new_attributes(Expr& stored, TypeId type);
  /// A constant of a type that a user made, as stored expressions have it: by numbers.
  ExprPtr bind_stored_constant(const ast::TypeCast& node, TypeId type);
  // bind_targets.cpp
  bool expand_composite(const ast::Node* node, Scope& scope, std::vector<OutputTarget>& targets);
  bool is_row_of_view(std::string_view name, std::int32_t location, Scope& scope);
  void expand_star(const ast::ColumnRef& node, Scope& scope, std::vector<OutputTarget>& targets);
  SortKey sort_key(const ast::SortBy& node, ExprPtr expr);
  std::string target_name(const ast::Node* node);
  static std::string_view weak_name(const ast::Node* node);
  // bind_column.cpp
  ExprPtr bind_column(const ast::ColumnRef& node, Scope& scope);
  void note_system_column(const ScopeItem& item);
  // bind_row_identity.cpp
  /// Returns `expr` if it is the call that computes a row's ctid; null for anything else.
  SessionFunctionExpr* as_row_identity(Expr* expr);
  /// Returns the conditions that the row has the key of the row `number`. `function` tells a key's
  /// column.
  ExprPtr found_by_key(SessionFunctionExpr& identity, ExprPtr number, const Function& function,
                       std::int32_t location);
  /// ctid = ANY (array). Null if the rows cannot be found by their keys.
  ExprPtr found_by_keys(std::vector<ExprPtr>& operands, std::int32_t location);
  bool find_range_by_key(ExprPtr& condition);
  /// Returns a system column of the item's rows; null if it has none of that name. `use` reads one
  /// of its columns.
  using ColumnUse = std::function<ExprPtr(const ScopeColumn&)>;
  ExprPtr system_column(std::string_view name, const ScopeItem& item, Scope& scope,
                        const ColumnUse& use);
  std::vector<ExprPtr> row_presence(const ScopeItem& item, const ColumnUse& use);
  ExprPtr row_stamp(const ScopeItem& item, const ColumnUse& use);
  ExprPtr row_identity(const ScopeItem& item, const ColumnUse& use);
  /// tableoid of the item's rows.
  ExprPtr table_of_row(const ScopeItem& item, Scope& scope, Scope& at, std::int32_t location);
  ExprPtr unless_absent(ExprPtr value, const ScopeItem& item);
  static ExprPtr null_without(std::vector<ExprPtr> fields, ExprPtr value);
  // bind_virtual.cpp
  void note_virtual_columns(const Table& table, Slot first_slot);
  /// The row may be one that an outer join or a write does not have.
  void note_absence(ScopeItem& item);
  /// Returns the value of the column if it is virtual; null if it is not.
  ExprPtr virtual_column(const ScopeColumn& column);
  ExprPtr call_of_row(const ast::ColumnRef& node, ExprPtr row, Scope& scope);
  // bind_collation.cpp
  ExprPtr bind_collate(const ast::CollateClause& node, Scope& scope);
  Oid bind_collation(ast::NodeList name, std::int32_t location);
  /// Returns the variant of the function or operator under that collation, and gives its operands
  /// the collation.
  const Function& collated(const Function& function, std::span<const ExprPtr> operands,
                           const DerivedCollation& collation);
  const Operator& collated(const Operator& op, std::span<const ExprPtr> operands,
                           const DerivedCollation& collation);
  /// Gives a sort key or a field, which no operator has seen, the collation of the database, if it
  /// has one.
  void apply_usual_collation(Expr& expr);
  /// Makes jsonb and citext compared as this database does; false: there are none, or the order is
  /// by bytes.
  bool order_as_database(Expr& expr);
  bool order_as_database(std::span<const ExprPtr> operands);
  /// Orders jsonb and citext operands of an extension's function as this database does.
  void order_native_call(const CallableRoutine& callable, std::span<const ExprPtr> operands);
  static bool is_native(const CallableRoutine& callable) noexcept;
  static Oid effective(const DerivedCollation& collation) noexcept;
  /// The same as try_coerce(), if either type has a collation: the result has the type's, else its
  /// own.
  ExprPtr coerce_collated(ExprPtr& expr, TypeId type, std::int32_t typmod, Implicitness how);
  /// Returns pg_collation_for()'s text for the expression; empty: NULL.
  std::string described_collation(const Expr& expr);
  /// Throws 42P21 if a key of an order or a comparison has columns with different collations.
  /// `query`: the query to whose targets the key may belong, or null.
  void require_collation_of_key(Expr& key, const Query* query);
  // bind_composite.cpp
  ExprPtr bind_array(const ast::A_ArrayExpr& node, Scope& scope, TypeId wanted);
  ExprPtr bind_row(const ast::RowExpr& node, Scope& scope);
  /// Returns the function that the value is a call of, built-in or the session's; else null.
  static const Function* function_called(const Expr& expr) noexcept;
  /// Returns the fields as written, before an untyped literal becomes a text.
  std::vector<ExprPtr> fields_of_row(const ast::RowExpr& node, Scope& scope);
  ExprPtr bind_indirection(const ast::A_Indirection& node, Scope& scope);
  ExprPtr bind_subscript(const ast::Node& node, Scope& scope);
  /// Binds the subscript of a jsonb value: an int4 or a text.
  ExprPtr bind_json_subscript(const ast::A_Indices& index, Scope& scope);
  /// Binds the one key, as a text. Throws if there are more, or slices.
  ExprPtr bind_hstore_key(ast::NodeList indices, Scope& scope);
  ExprPtr bind_subscripts(ExprPtr base, ast::NodeList indices, Scope& scope);
  // bind_sublink.cpp
  ExprPtr bind_sublink(const ast::SubLink& node, Scope& scope);
  [[nodiscard]] bool are_hashed_alike(const std::vector<ExprPtr>& left,
                                      const std::vector<ExprPtr>& right) const;
  void plan_later(SubqueryExpr& expr, std::unique_ptr<Query> query,
                  SubqueryExpr::Correlation correlation);
  // bind_xml.cpp
  ExprPtr bind_xml(const ast::XmlExpr& node, Scope& scope);
  ExprPtr bind_xml_serialize(const ast::XmlSerialize& node, Scope& scope);
  ExprPtr bind_xml_argument(const ast::Node* node, Scope& scope, TypeId wanted,
                            std::string_view what);
  std::vector<std::string> bind_xml_names(const ast::XmlExpr& node, Scope& scope,
                                          std::vector<ExprPtr>& operands);
  // bind_json.cpp
  /// Meaning of a value without FORMAT: as it is, the text of JSON, or a variable of a path.
  enum class JsonInput : std::uint8_t { as_is, json, variable };
  ExprPtr bind_json_value(const ast::JsonValueExpr& node, Scope& scope, JsonInput input,
                          TypeId target);
  ExprPtr bind_json_document(const ast::Node* node, const ast::JsonFormat* format, Scope& scope);
  ExprPtr text_of_bytes(ExprPtr bytes, const ast::JsonFormat* format);
  /// Types for which RETURNING may say FORMAT JSON.
  enum class JsonOutputs : std::uint8_t { any, of_strings };
  /// Of type none where nothing is said.
  JsonReturning bind_json_output(const ast::Link<ast::JsonOutput>& output, JsonOutputs formats);
  ExprPtr json_as(ExprPtr json, const JsonReturning& returning);
  ExprPtr json_constructor(JsonConstructorExpr::Words words, std::vector<ExprPtr> operands,
                           std::int32_t location);
  ExprPtr bind_json_constructor(const ast::Node* node, Scope& scope);
  ExprPtr bind_json_test(const ast::JsonIsPredicate& node, Scope& scope);
  ExprPtr bind_json_aggregate(const ast::Node* node, Scope& scope);
  ExprPtr bind_json_array_query(const ast::JsonArrayQueryConstructor& node, Scope& scope);
  // bind_json_path.cpp
  static void require_json_behavior(const ast::JsonBehavior* node, JsonPathExpr::Kind kind,
                                    std::string_view clause, std::string_view column);
  JsonPathExpr::Behavior bind_json_behavior(const ast::JsonBehavior* node,
                                            JsonPathExpr::Behavior::Kind usual,
                                            const JsonReturning& returning, Scope& scope,
                                            std::vector<ExprPtr>& operands);
  ExprPtr bind_json_path(const ast::Node* node, Scope& scope);
  void bind_json_variables(ast::NodeList passing, Scope& scope, JsonPathExpr::Words& words,
                           std::vector<ExprPtr>& operands);
  ExprPtr bind_json_function(const ast::JsonFuncExpr& node, Scope& scope);
  // bind_coerce.cpp
  /// The attributes of a composite type; null for others.
  std::shared_ptr<const RowShape> row_shape(TypeId type);
  /// A row that is written field by field, as one of the composite type. Null for other
  /// expressions.
  ExprPtr try_make_composite(ExprPtr& expr, TypeId type, Implicitness how);
  ExprPtr try_enter_domain(ExprPtr& expr, TypeId domain, Implicitness how);
  TypeId bind_type_name(const ast::TypeName& name);
  /// None if there is no user-defined type of that name, or of that name as the element of an
  /// array.
  TypeId bind_user_type(const ast::TypeName& name);
  TypePtr find_user_type(const ast::TypeName& name, std::string_view last);
  ExprPtr bind_value_function(const ast::SQLValueFunction& node);
  // bind_merge.cpp
  ExprPtr bind_merge_support(const ast::MergeSupportFunc& node, Scope& scope);
  /// Fields by name of a value of type record.
  struct RecordFields {
    std::span<const std::string_view> names;
    std::vector<TypeId> types;
  };
  /// Of what a set-returning function, a subquery or a WITH query leaves in a slot.
  std::map<Slot, RecordFields> record_fields_;
  /// None: the expression does not tell.
  std::optional<RecordFields> record_fields_of(const Expr& expr);
  /// Notes the fields of the expression's value, if it is a record's, for its slot.
  void note_record_fields(Slot slot, const Expr& expr);
  ExprPtr field_of(ExprPtr record, std::string_view field, std::int32_t location);
  /// Returns the type modifier of a value that is one of several, or is made of them: theirs, if
  /// they agree.
  static std::int32_t common_typmod(std::span<const ExprPtr> values);
  std::vector<ExprPtr> unify(std::vector<ExprPtr> exprs, std::string_view construct, TypeId& type,
                             std::int32_t location);

  // bind_operator.cpp
  ExprPtr bind_operator_node(const ast::A_Expr& node, Scope& scope);
  ExprPtr bind_in(const ast::A_Expr& node, Scope& scope);
  /// The left side of IN for another of its members.
  ExprPtr bind_subject_again(const ast::Node* node, Scope& scope) {
    const RepeatedBinding::Again again{repeated_, RepeatedBinding::For::each_of_a_list};
    return bind_expression(node, scope);
  }
  ExprPtr bind_between(const ast::A_Expr& node, Scope& scope);
  ExprPtr array_comparison(ArrayComparisonExpr::Kind kind, const Operator& op,
                           std::vector<ExprPtr> operands, const DerivedCollation& collation,
                           std::int32_t location);
  ExprPtr bind_distinct(const ast::A_Expr& node, Scope& scope);
  ExprPtr distinction(DistinctExpr::Kind kind, ExprPtr left, ExprPtr right, std::int32_t location);
  ExprPtr bind_quantified(const ast::A_Expr& node, Scope& scope);

  // bind_rows.cpp
  /// The fields of a row that is written out, perhaps cast to a composite type; else the value.
  std::vector<ExprPtr> fields_or_value(const ast::Node* node, Scope& scope);
  ExprPtr row_comparison(std::string_view op, std::vector<ExprPtr> left, std::vector<ExprPtr> right,
                         std::int32_t location);
  ExprPtr row_order(std::string_view op, std::vector<ExprPtr> left, std::vector<ExprPtr> right,
                    std::int32_t location);
  ExprPtr row_distinction(DistinctExpr::Kind kind, const ast::RowExpr& left_row,
                          const ast::RowExpr& right_row, Scope& scope, std::int32_t location);
  /// Binds a comparison of a written row with another, or with a subquery; null for anything else.
  ExprPtr bind_rows_beside(std::string_view op, const ast::Node* left, const ast::Node* right,
                           Scope& scope, std::int32_t location);
  ExprPtr bind_row_operator(std::string_view op, const ast::RowExpr& left_row,
                            const ast::RowExpr& right_row, Scope& scope, std::int32_t location);
  ExprPtr bind_row_subquery(std::string_view op, const ast::RowExpr& row, const ast::SubLink& link,
                            Scope& scope, std::int32_t location);
  ExprPtr row_among(const ast::A_Expr& node, Scope& scope);
  ExprPtr composite_among(const ast::A_Expr& node, Scope& scope, ExprPtr left,
                          std::vector<ExprPtr> elements);

  // bind_function.cpp
  ExprPtr bind_function(const ast::FuncCall& node, Scope& scope);
  /// Binds a call of a window function or an aggregate.
  ExprPtr bind_window_call(const ast::FuncCall& node, Scope& scope, std::vector<ExprPtr> arguments,
                           const ResolvedFunction& resolved, CallsBefore before);
  /// Makes the call one of those of the query whose scope it is.
  ExprPtr bind_aggregate(const ast::FuncCall& node, Scope& scope, AggregateCall call);
  /// Throws for a call of an aggregate without arguments, except count(*).
  static void require_star(const ast::FuncCall& node);
  ExprPtr bind_set_call(const Function& function, const RoutineCallPtr& routine, TypeId result,
                        std::span<const TypeId> types, std::vector<ExprPtr> arguments, Scope& scope,
                        std::int32_t location);
  // bind_routine.cpp
  /// Arguments of a call, and the names given to them in it.
  struct CallArguments {
    std::vector<ExprPtr> values;
    std::vector<std::string_view> names;  ///< empty, or one per argument
    std::vector<TypeId> types;
  };
  CallArguments bind_arguments(const ast::FuncCall& node, Scope& scope);
  struct ResolvedRoutine {
    CallablePtr callable;
    ResolvedFunction resolved;
  };
  struct OperatorName {
    std::string_view schema;  ///< as written, perhaps empty
    std::string_view name;
  };
  static OperatorName operator_name(ast::NodeList names);
  /// The user's routine that the call means, if it means one. Throws when there is no such schema.
  std::optional<ResolvedRoutine> find_routine(const ast::FuncCall& node,
                                              const CallArguments& arguments, RoutineKind wanted);
  std::vector<NameSource::FoundRoutine> routines_named(std::string_view schema,
                                                       std::string_view name);
  void note_routine(const ast::FuncCall& node, const CallablePtr& callable);
  /// Returns the collation inside a routine whose arguments have this one.
  Oid collation_inside(const DerivedCollation& collation);
  RoutineCallPtr make_call(const ResolvedRoutine& routine, std::span<const ExprPtr> placed);
  ExprPtr bind_routine(const ast::FuncCall& node, const ResolvedRoutine& routine,
                       CallArguments arguments, Scope& scope);
  /// Numbers of the enclosing queries' notes on the purposes of reads.
  struct OuterNotes {
    explicit OuterNotes(const Scope& scope);
    /// Forgets what was noted since by the queries inside `home`.
    void take_back(const Scope& scope, const Scope& home) const;
    std::vector<std::size_t> sizes;
  };
  // bind_made.cpp: aggregates, operators and casts that users made
  ExprPtr bind_made_aggregate(const ast::FuncCall& node, const ResolvedRoutine& routine,
                              CallArguments arguments, Scope& scope, const OuterNotes& notes,
                              CallsBefore before);
  MadeAggregatePtr made_aggregate(const ResolvedFunction& resolved, std::int32_t location);
  AggregateStep aggregate_step(Oid function, std::vector<TypeId> types);
  /// A call that an operator or a cast is, of a function by its number.
  ExprPtr call_by_number(Oid function, std::vector<ExprPtr> arguments, RoutineExpr::Written written,
                         std::int32_t location);
  /// Null where the name means none that a user made.
  ExprPtr call_made_operator(const OperatorName& name, ExprPtr& left, ExprPtr& right,
                             std::int32_t location);
  ExprPtr call_operator_function(const OperatorPtr& op, const ResolvedOperator& resolved,
                                 ExprPtr left, ExprPtr right, std::int32_t location);
  std::vector<NameSource::FoundOperator> operators_found(const OperatorName& name);
  /// Null if there is no user-defined cast for this use.
  ExprPtr try_made_cast(ExprPtr& expr, TypeId type, std::int32_t typmod, Implicitness how);
  /// Binds a call by a name of stored_operator_name() or stored_cast_name(); null for any other
  /// name.
  ExprPtr bind_stored_call(const ast::FuncCall& node, CallArguments& arguments);
  Value read_object(TypeId type, std::string_view text, std::int32_t location);
  void note_made(std::string name, std::string_view schema, Oid object);
  static void refuse_aggregate_syntax(const ast::FuncCall& node, std::string_view name);
  /// Null where no parameter has that name.
  ExprPtr named_parameter(std::string_view name, std::int32_t location);
  ExprPtr row_parameter(const ast::ColumnRef& node);
  void note_named_relation(Oid relation, std::string_view name);
  /// Returns the variable that `$n` is in a language that numbers its parameters in another way.
  ExprPtr numbered_variable(const ast::ParamRef& node);
  /// A variable of the routine's language that the name means; null where there is none.
  enum class Fields : std::uint8_t { may_miss, must_be };
  ExprPtr body_variable(const ast::ColumnRef& node, Fields fields);
  /// Returns the variable that a column's name means if variables come first.
  ExprPtr variable_instead(const ast::ColumnRef& node);
  /// Throws 42702 where a name that is a column's could be a variable's, too.
  void refuse_variable(const ast::ColumnRef& node);
  [[nodiscard]] BodyVariables* body_variables() const {
    return body_ != nullptr && open_view_ == body_->meanings.get() ? body_->variables : nullptr;
  }
  [[nodiscard]] bool is_body_of(std::string_view routine) const {
    return body_ != nullptr && body_->routine->name == routine;
  }
  /// Pre: the arguments are in the parameters' places.
  ExprPtr bind_session_call(const Function& function, std::vector<ExprPtr> arguments,
                            std::int32_t location);
  ExprPtr bind_any_aggregate(const ast::FuncCall& node, Scope& scope,
                             const ResolvedFunction& resolved, std::vector<ExprPtr> arguments,
                             const OuterNotes& notes);
  /// One that is called WITHIN GROUP.
  static bool is_ordered_set(const Function& function);
  ExprPtr bind_ordered_set(const ast::FuncCall& node, Scope& scope, std::vector<ExprPtr> arguments,
                           const OuterNotes& notes);
  static Scope& home_of_aggregate(Scope& scope, AggregateCall& call);
  /// Throws if the argument of an aggregate or of GROUPING() has another of the query in it.
  static void refuse_nested(Expr& argument, const Query& query);
  ExprPtr bind_grouping(const ast::GroupingFunc& node, Scope& scope);
  static void refuse_sets(const Scope& scope, std::size_t before, std::string_view where);
  static void refuse_calls_in_window(const Scope& scope, CallsBefore before);
  AggregateCall make_aggregate(const ast::FuncCall& node, Scope& scope,
                               const ResolvedFunction& resolved, std::vector<ExprPtr> arguments);
  std::vector<ExprPtr> place_arguments(const ResolvedFunction& resolved,
                                       std::vector<ExprPtr> arguments);
  std::size_t window_of(const ast::WindowDef& over, Scope& scope);
  WindowDefinition define_window(const ast::WindowDef& over, Scope& scope);
  // bind_frame.cpp
  void bind_frame(const ast::WindowDef& over, WindowDefinition& window, Scope& scope);
  void bind_range(WindowDefinition& window, std::int32_t location);
  ExprPtr bind_frame_offset(const ast::Node* node, const WindowFrame& frame, Scope& scope);

  void depend_on(const TablePtr& table);
  ExprPtr call_operator(std::string_view name, ExprPtr left, ExprPtr right, std::int32_t location) {
    return call_operator(OperatorName{{}, name}, std::move(left), std::move(right), location);
  }
  ExprPtr call_operator(const OperatorName& name, ExprPtr left, ExprPtr right,
                        std::int32_t location);
  void note_untyped(const Expr& expr);
  /// 42883 for a type whose values cannot be compared with each other.
  static void require_equality(TypeId type, std::int32_t location);
  ExprPtr read_literal(const ConstantExpr& literal, TypeId type, std::int32_t typmod);
  /// The builtin function of that name and these argument types. Pre: there is one.
  ExprPtr call_builtin(std::string_view name, std::vector<ExprPtr> arguments);
  [[noreturn]] static void unsupported(std::string_view what, std::int32_t location = -1);

  NameSource& names_;
  Arena& arena_;
  bool parameters_allowed_ = false;
  std::vector<TypeId> parameters_;
  /// A use that takes any type, of a parameter whose type was not known there.
  struct UntypedParameter {
    std::size_t index;
    std::int32_t location;
  };
  std::vector<UntypedParameter> untyped_;
  /// Places where an enclosing query's column was named first, for errors.
  std::map<Slot, std::int32_t> named_outside_;
  Slot slot_count_ = 0;
  StatePlace state_count_ = 0;
  std::vector<bool> used_;
  std::vector<PendingSubquery> pending_;
  const BodyNames* body_ = nullptr;
  /// The view that is being bound, which records the meaning of its names. The outermost view's own
  /// relations are noted in `read_`.
  const Relation* open_view_ = nullptr;
  struct Noted {
    RelationAccess access;
    std::optional<Slot> first_slot;  ///< of its columns, where using one counts as reading it
    /// Columns that the view shows, of the table that is written through it.
    std::vector<std::size_t> shown = {};
  };
  std::vector<Noted> noted_;
  Oid as_role_ = kNoOid;
  /// Reason why a recursive reference may not stand here: "an outer join"; empty if it may.
  std::string_view recursion_forbidden_;
  int view_depth_ = 0;
  /// A locking clause is about what is being bound.
  bool locks_rows_ = false;
  int recorded_depth_ = 0;
  /// Only what a view reads itself is asked for: other views are not opened.
  bool reads_only_ = false;
  bool applies_policies_ = false;
  bool met_policies_ = false;
  std::vector<Oid> open_policies_;  ///< tables whose policies with subqueries are being bound
  std::vector<Slot> policy_reads_;
  struct VirtualColumn {
    const Table* table;
    Slot first_slot;
    bool may_be_absent = false;
  };
  bool computes_virtual_ = false;
  std::map<Slot, VirtualColumn> virtual_columns_;
  /// Slots of columns that only virtual columns read, which takes no right.
  std::vector<Slot> read_by_virtual_;
  RepeatedBinding repeated_;
  BindingNotes* notes_ = nullptr;  ///< null unless the query is to be printed
  int relations_named_ = 0;        ///< in FROM, and as targets
};

}  // namespace swizzle::sql
