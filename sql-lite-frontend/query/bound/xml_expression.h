#pragma once

#include <string>
#include <vector>

#include "sql-lite-frontend/query/bound/expression.h"
#include "sql-lite-frontend/types/xml/xml_option.h"

namespace swizzle::sql {

/// Expressions of SQL/XML, such as XMLELEMENT. They are not functions, because they have names and
/// keywords among their arguments.
class XmlExpression final : public OperandsExpr {
 public:
  enum class Kind : std::uint8_t {
    concatenation,
    element,  ///< operands: one attribute for each name, then the content
    forest,   ///< operands: one for each name
    parse,    ///< operands: the text, PRESERVE WHITESPACE as a boolean
    instruction,
    root,  ///< operands: the value, the version, a number of xml::Standalone
    serialize,
    is_document,
  };
  struct Words {
    Kind kind = Kind::concatenation;
    std::string name{};
    std::vector<std::string> names{};
    xml::Option option = xml::Option::content;
  };
  XmlExpression(TypeId type, Words words, std::vector<ExprPtr> operands)
      : OperandsExpr(type, kNoTypmod, std::move(operands)), words_(std::move(words)) {}
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
  [[nodiscard]] const Words& words() const noexcept { return words_; }

 private:
  void print_named(ExprPrinter& printer) const;
  void print_root(ExprPrinter& printer) const;

  Words words_;
};

}  // namespace swizzle::sql
