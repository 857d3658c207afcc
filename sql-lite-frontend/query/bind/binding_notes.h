#pragma once

#include <map>
#include <memory>
#include <vector>

#include "sql-lite-frontend/query/bind/query.h"
#include "sql-lite-frontend/query/bind/scope.h"
#include "sql-lite-frontend/query/bound/json_expression.h"
#include "sql-lite-frontend/query/parse/ast.h"

namespace swizzle::sql {

/// The origins of the parts of a bound query, for printing it: they tell what its syntax shows and
/// its bound form does not. The syntax tree and the query outlive the notes.
struct BindingNotes {
  struct OfQuery {
    const ast::SelectStmt* select = nullptr;
    std::vector<std::shared_ptr<BoundCte>> ctes;
  };
  std::map<const Query*, OfQuery> queries;
  struct OfItem {
    const ast::Node* node = nullptr;
    ScopeItem
        item;  ///< the item that the node added last; a join without an alias adds none of its own
  };
  std::map<const FromNode*, OfItem> from;
  /// Calls by the slot of the result.
  std::map<Slot, const ast::FuncCall*> aggregates;
  std::map<Slot, const ast::FuncCall*> windows;
  /// Words of a call that stands for JSON_ARRAYAGG or JSON_OBJECTAGG.
  struct OfJsonAggregate {
    bool is_object = false;
    bool leaves_nulls_out = false;
    bool has_unique_keys = false;
    JsonReturning returning;
  };
  std::map<const ast::FuncCall*, OfJsonAggregate> json_aggregates;
  /// Condition of the policy that read_policy() has bound.
  ExprPtr condition;
};

}  // namespace swizzle::sql
