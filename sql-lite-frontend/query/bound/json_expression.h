#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sql-lite-frontend/query/bound/expression.h"
#include "sql-lite-frontend/types/json/sql_json.h"

/// Expressions of SQL/JSON. They are not functions, because they have keywords among their
/// arguments.
namespace swizzle::sql {

/// A value with FORMAT JSON, or one that is converted to JSON implicitly. Prints only its operand,
/// without the conversions that the binder added.
class JsonInputExpr final : public OperandsExpr {
 public:
  /// `conversions`: number of conversions around the operand.
  JsonInputExpr(ExprPtr converted, std::size_t conversions, std::string format)
      : OperandsExpr(converted->type(), converted->typmod(), {}),
        conversions_(conversions),
        format_(std::move(format)) {
    operands_.push_back(std::move(converted));
  }
  Value evaluate(Execution& execution) const override { return operands_[0]->eval(execution); }
  void print(ExprPrinter& printer) const override;
  [[nodiscard]] std::size_t conversions() const noexcept { return conversions_; }
  [[nodiscard]] const std::string& format() const noexcept { return format_; }

 private:
  std::size_t conversions_;
  std::string format_;  ///< " FORMAT JSON", or empty
};

/// Conversion of a constructor's result to the type of RETURNING. Prints only its operand, the
/// constructor, which prints RETURNING itself.
class JsonOutputExpr final : public OperandsExpr {
 public:
  /// Pre: the type is a string type or bytea.
  JsonOutputExpr(TypeId type, std::int32_t typmod, ExprPtr json) : OperandsExpr(type, typmod, {}) {
    operands_.push_back(std::move(json));
  }
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override { printer.print_instead(*operands_[0]); }
};

/// IS JSON. The binder expresses IS NOT JSON by a NOT around it. Operand: text, json, jsonb or
/// bytea.
class JsonTestExpr final : public OperandsExpr {
 public:
  struct Words {
    JsonItemKind kind = JsonItemKind::any;
    JsonKeys keys = JsonKeys::any;
  };
  JsonTestExpr(Words words, std::vector<ExprPtr> operands)
      : OperandsExpr(TypeId::bool_, kNoTypmod, std::move(operands)), words_(words) {}
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
  [[nodiscard]] const Words& words() const noexcept { return words_; }

 private:
  Words words_;
};

/// RETURNING of a constructor, for printing.
struct JsonReturning {
  TypeId type = TypeId::none;
  std::int32_t typmod = kNoTypmod;
  std::string format;  ///< " FORMAT JSON" if printed, else empty
};

/// JSON_ARRAY, JSON_OBJECT, JSON(), JSON_SCALAR and JSON_SERIALIZE. The result is json or jsonb; a
/// JsonOutputExpr around it converts it to other types.
class JsonConstructorExpr final : public OperandsExpr {
 public:
  enum class Kind : std::uint8_t { array, object, parse, scalar, serialize };
  enum class Nulls : std::uint8_t { shown, absent };
  struct Words {
    Kind kind = Kind::array;
    Nulls nulls = Nulls::shown;
    JsonKeys keys = JsonKeys::any;
    JsonReturning returning = {};
  };
  JsonConstructorExpr(TypeId type, Words words, std::vector<ExprPtr> operands);
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
  [[nodiscard]] const Words& words() const noexcept { return words_; }

 private:
  [[nodiscard]] Value array(Execution& execution) const;
  [[nodiscard]] Value object(Execution& execution) const;
  /// Returns the JSON text as a value of the expression's type.
  [[nodiscard]] Value finished(Execution& execution, std::string_view json) const;

  Words words_;
};

/// JSON_EXISTS, JSON_QUERY and JSON_VALUE, and the columns of JSON_TABLE.
class JsonPathExpr final : public OperandsExpr {
 public:
  enum class Kind : std::uint8_t { exists, query, value };
  enum class Wrapper : std::uint8_t { none, conditional, always };
  /// Behavior ON EMPTY or ON ERROR.
  struct Behavior {
    enum class Kind : std::uint8_t {
      null,
      error,
      empty_array,
      empty_object,
      true_,
      false_,
      unknown,
      value,
    };
    Kind kind = Kind::null;
    std::size_t operand = 0;  ///< operand number of a DEFAULT
  };
  struct Words {
    Kind kind = Kind::value;
    std::vector<std::string> variables = {};
    Wrapper wrapper = Wrapper::none;
    JsonQuotes quotes = JsonQuotes::kept;
    Behavior on_empty = {};
    Behavior on_error = {};
    std::string format = {};  ///< FORMAT of RETURNING, as printed
    std::string column = {};  ///< column name in JSON_TABLE, else empty
  };
  /// Operands: the document as jsonb, the path, one value for each variable, values of DEFAULT
  /// behaviors.
  JsonPathExpr(TypeId type, std::int32_t typmod, Words words, std::vector<ExprPtr> operands)
      : OperandsExpr(type, typmod, std::move(operands)), words_(std::move(words)) {}
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
  /// Prints WRAPPER, QUOTES and behaviors, of JSON_TABLE's columns too.
  void print_options(ExprPrinter& printer) const;
  [[nodiscard]] const Words& words() const noexcept { return words_; }

 private:
  struct Found;
  [[nodiscard]] Value answer(Execution& execution, const Behavior& behavior,
                             std::string_view clause) const;
  [[nodiscard]] Value empty(Execution& execution) const;
  [[nodiscard]] Value on_error(Execution& execution) const {
    return answer(execution, words_.on_error, "ON ERROR");
  }
  [[nodiscard]] bool throws() const noexcept {
    return words_.on_error.kind == Behavior::Kind::error;
  }
  [[nodiscard]] Value result_of_exists(Execution& execution, bool exists) const;
  void print_behavior(ExprPrinter& printer, const Behavior& behavior,
                      std::string_view clause) const;

  Words words_;
};

/// Returns the type's name for printed expressions.
std::string json_type_name(const ExprPrinter& printer, TypeId type, std::int32_t typmod);
/// Prints a path; a constant one as a string literal without a cast.
void print_json_path(ExprPrinter& printer, const Expr& path);
/// Prints " RETURNING type".
void print_json_returning(ExprPrinter& printer, const JsonReturning& returning);
/// Copies a SQL/JSON expression with other operands; null if `expr` is none.
ExprPtr copy_json_expression(const Expr& expr, std::vector<ExprPtr> operands);

}  // namespace swizzle::sql
