#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// Literals of an enum type in the texts of views and atomic bodies, which are rewritten when a
/// label is renamed.
class ViewLiterals {
 public:
  /// Finds the literals. Must be called before the label is renamed.
  ViewLiterals(StatementContext& session, TypeId type);
  ViewLiterals(const ViewLiterals&) = delete;
  ViewLiterals& operator=(const ViewLiterals&) = delete;
  ~ViewLiterals() = default;

  /// Rewrites the texts in which a literal has changed.
  void write_again();

 private:
  struct Literal {
    std::size_t begin = 0;  ///< in the view's text
    std::size_t end = 0;
    TypeId type = TypeId::none;
    Value value;
    std::string text = {};  ///< original text
  };
  struct Text {
    TablePtr view;       ///< or null
    RoutinePtr routine;  ///< the routine of the body
    std::vector<Literal> literals = {};
  };
  void read_view(const TablePtr& view);
  void read_body(const RoutinePtr& routine);
  /// Records the literals of a statement that begins at `offset` of the text.
  void note(Text& into, std::string_view text, const Binder& binder, std::size_t offset);
  /// Returns `text` with the literals as currently spelled; `what` describes its owner.
  std::string written_again(std::string text, std::vector<Literal>& literals,
                            const std::string& what);
  std::string shown(const Literal& literal);

  StatementContext& session_;
  Arena arena_;
  std::vector<TypeId> within_;  ///< the type, and those with values that contain its values
  std::vector<Text> texts_;
};

}  // namespace swizzle::sql
