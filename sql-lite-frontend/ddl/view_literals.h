#pragma once

#include <string>
#include <vector>

#include "sql-lite-frontend/session/state/session_state.h"

namespace swizzle::sql {

/// The literals in views' texts that have values of a type in them, whose way of being written is
/// about to change: an enum one of whose labels gets another name.
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
  struct View {
    TablePtr table;
    std::vector<Literal> literals;
  };
  std::string shown(const Literal& literal);

  Session::State& session_;
  Arena arena_;
  std::vector<View> views_;
};

}  // namespace swizzle::sql
