#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/routines/language.h"
#include "sql-lite-frontend/routines/plpgsql/tree.h"
#include "sql-lite-frontend/statement/call_place.h"

/// State of one call of a function: its variables and current position.
namespace swizzle::sql::plpgsql {

/// An error caught by a handler.
struct Caught {
  explicit Caught(const SqlError& error);
  [[nodiscard]] SqlError as_error() const;

  SqlState state;
  std::string message;
  std::string detail;
  std::string hint;
  ErrorFields fields;
};

struct Record {
  ShapePtr shape;       ///< null: nothing was assigned yet
  ShapePtr declared;    ///< fixed fields; null: those of the assigned value
  bool is_null = true;  ///< as a whole: OLD of an INSERT, or nothing was assigned yet
  std::vector<Value> values;
  /// Assignments to single fields leave the old values in the arena. It is compacted when it
  /// exceeds this size.
  std::size_t compacted_at = kCompactedAt;
  Arena arena{256};
  Arena spare{256};  ///< for the next row, while the current one may still be read

  static constexpr std::size_t kCompactedAt = 4096;
};

struct Frame final : CallPlace {
  Frame(Program& of, StatementContext& in, const Routine& routine);
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  ~Frame() override = default;

  /// Prepares the frame for another call.
  void reset();
  /// Allocates places among the values for the named fields of all records.
  void make_room();

  // Setters of variables; they copy the value.
  void set_place(std::size_t place, Value value) {
    if (value.is_bytes()) return set_bytes(place, value);
    values[place] = value;
  }
  void set_record(std::size_t record, const ShapePtr& shape, std::span<const Value> values);
  /// The same without a copy, for values that outlive the call.
  void lend_record(std::size_t record, const ShapePtr& shape, std::span<const Value> values);
  void set_field(std::size_t record, std::size_t field, Value value);
  void forget_record(std::size_t record);
  [[nodiscard]] const Value& value_of(std::size_t variable) const {
    return values[program.variables[variable].place];
  }
  /// Assigns a value, converted to the variable's type. Throws 22004 for NULL if the variable does
  /// not allow it.
  void assign(std::size_t variable, Value value, TypeId type);
  void assign(const Target& target, Value value, TypeId type);
  /// Assigns a row to the targets of INTO or of a loop. Missing columns are NULL.
  void assign_row(const Targets& targets, const ShapePtr& shape, std::span<const Value> row);
  bool assign_composite(const Target& target, const Shape& shape, std::span<const Value> row);
  /// Assigns NULLs because there is no row; a record without declared fields gets those of `shape`.
  void assign_nothing(const Targets& targets, const ShapePtr& shape);
  void set_found(bool is_found);
  [[nodiscard]] bool is_true(Expression& condition);
  /// Returns the value as a text; nothing for NULL.
  std::optional<std::string> text_of(Expression& expression);
  Value convert(const Value& value, TypeId from, TypeId to, std::int32_t typmod);
  /// Returns a record's value as a row with the columns that the call expects.
  Value record_value(std::size_t record);

  Flow run_steps(const Steps& steps);
  /// Follows a called procedure that has ended the transaction and begun another.
  void follow_transaction() { execution.transaction = session.transaction.get(); }

  /// "PL/pgSQL function f(integer) line 3 at RAISE".
  [[nodiscard]] std::string call_line() const override;
  void add_place(SqlError& error);

  Program& program;
  StatementContext& session;
  const Routine& routine;
  Execution execution;
  std::vector<Value> values;
  std::vector<Record> records;
  const RoutineCall* call = nullptr;
  const TakeRow* take = nullptr;
  bool is_volatile = true;
  bool is_trigger = false;
  /// Record that a trigger function has returned as a whole.
  std::optional<std::size_t> returned_record;

  const Step* at = nullptr;
  int line = 0;            ///< overrides the step's line; 0: the step's
  std::string_view phase;  ///< overrides the step
  std::string
      label;  ///< label of the block or loop that EXIT or CONTINUE leaves; empty: the innermost
  std::int64_t row_count = 0;
  bool has_result = false;
  Value result;
  TypeId result_type = TypeId::none;
  ShapePtr result_shape;  ///< shape of a returned record variable
  std::vector<const Caught*> caught;
  bool context_told = false;  ///< the current error already has this call's context

 private:
  void set_bytes(std::size_t place, Value value);
  void show_fields(std::size_t record);

  struct Cell {
    std::unique_ptr<std::byte[]> memory;
    std::size_t capacity = 0;
  };
  std::vector<Cell> cells_;
  std::size_t held_bytes_ = 0;
  MemoryShare share_;
  Arena result_arena_{256};

 public:
  void set_result(const Value& value, TypeId type, ShapePtr shape = nullptr) {
    result_arena_.reset();
    result_shape = std::move(shape);
    result = value.copy_to(result_arena_);
    result_type = type;
    has_result = true;
  }
};

}  // namespace swizzle::sql::plpgsql
