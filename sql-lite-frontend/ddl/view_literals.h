#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/bind/binder.h"
#include "sql-lite-frontend/session/state/session_state.h"

namespace swizzle::sql {

/// The literals in the texts of views and of atomic bodies that have values of a type in them,
/// whose way of being written is about to change: an enum one of whose labels gets another name.
class ViewLiterals {
 public:
  /// Finds them, while they can still be read.
  ViewLiterals(Session::State& session, TypeId type);
  ViewLiterals(const ViewLiterals&) = delete;
  ViewLiterals& operator=(const ViewLiterals&) = delete;
  ~ViewLiterals() = default;

  /// Writes those that are written otherwise now.
  void write_again();

 private:
  struct Literal {
    std::size_t begin = 0;  ///< in the view's text
    std::size_t end = 0;
    TypeId type = TypeId::none;
    Value value;
    std::string text = {};  ///< as it was
  };
  struct Text {
    TablePtr view;       ///< or null
    RoutinePtr routine;  ///< whose body it is
    std::vector<Literal> literals = {};
  };
  void read_view(const TablePtr& view);
  void read_body(const RoutinePtr& routine);
  /// Those that a statement has, which begins at `offset` of the text.
  void note(Text& into, std::string_view text, const Binder& binder, std::size_t offset);
  /// `text` with the literals written as they are now; `what` is whose it is.
  std::string written_again(std::string text, std::vector<Literal>& literals,
                            const std::string& what);
  std::string shown(const Literal& literal);

  Session::State& session_;
  Arena arena_;
  std::vector<TypeId> within_;  ///< the type, and those whose values have some of it in them
  std::vector<Text> texts_;
};

}  // namespace swizzle::sql
