#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sql-lite-frontend/query/bind/name_source.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

/// The objects on which a statement, or a view's query, depends, collected during binding. They are
/// locked, kept alive and checked for rights; a change to one of them invalidates a plan or a
/// stored text.
class BoundNames {
 public:
  /// A relation named in a FROM clause of the statement itself (or of the view, in
  /// bind_view_query), not inside a view.
  struct RelationRead {
    std::string schema;  ///< as written, perhaps empty
    std::string name;
    TablePtr table;
    bool has_slots = false;  ///< column i is in slot first_slot + i
    Slot first_slot = 0;
  };
  [[nodiscard]] const std::vector<RelationRead>& relations_read() const noexcept { return read_; }
  /// Composite types, with their present attributes, of the rows that functions in its FROM clauses
  /// return. Functions that return rows of a relation are in relations_read(), without a name.
  [[nodiscard]] const std::vector<ViewName>& rows_read() const noexcept { return rows_read_; }
  /// User-defined types that it names, as relations_read() for relations.
  [[nodiscard]] const std::vector<ViewType>& types_read() const noexcept { return types_read_; }
  /// The same for routines. A view's text may call them.
  [[nodiscard]] const std::vector<ViewRoutine>& routines_read() const noexcept {
    return routines_read_;
  }
  /// Routines that the called ones use, such as the functions of an aggregate or an operator.
  /// Calling them needs no right.
  [[nodiscard]] const std::vector<RoutinePtr>& routines_behind() const noexcept {
    return routines_behind_;
  }
  /// Routines that the statement calls, also in views, in the version that was bound.
  [[nodiscard]] const std::vector<RoutinePtr>& routines_called() const noexcept {
    return routines_called_;
  }
  /// Tables whose primary key determines a column in a group, so that GROUP BY need not name it.
  [[nodiscard]] const std::vector<Oid>& needed_keys() const noexcept { return needed_keys_; }
  void note_needed_key(const Table& table) { needed_keys_.push_back(table.relation.oid); }
  /// A name and its meaning in the statement. A relation that is created later may hide it, if it
  /// is earlier on the search path.
  struct NamedRelation {
    std::string schema;
    std::string name;
    Oid relation = kNoOid;
  };
  [[nodiscard]] const std::vector<NamedRelation>& named_relations() const noexcept {
    return named_;
  }

  /// Every table on which the statement depends, in the version that was bound.
  [[nodiscard]] const std::vector<TablePtr>& dependencies() const noexcept { return tables_; }
  /// Tables that the statement writes, itself or in WITH queries.
  [[nodiscard]] const std::vector<TablePtr>& written() const noexcept { return written_; }
  /// True if the plan must not be reused, because a constant such as 'now' was read.
  [[nodiscard]] bool is_single_use() const noexcept { return single_use_; }
  /// True if a constant is an object's number, looked up by name ('orders_seq'::regclass), or of a
  /// user-defined type.
  [[nodiscard]] bool looked_up_objects() const noexcept { return looked_up_objects_; }
  /// Place at which a view read by read_view() names a user-defined object by a constant of
  /// regclass or a similar type.
  struct ConstantPlace {
    std::int32_t location = 0;
    TypeId type = TypeId::none;
    Oid object = kNoOid;
  };
  [[nodiscard]] const std::vector<ConstantPlace>& constant_places() const noexcept {
    return constant_places_;
  }
  /// Literal of a user-defined type in a view read by read_view(): its text changes with the labels
  /// of an enum.
  struct LiteralPlace {
    std::int32_t location = 0;
    TypeId type = TypeId::none;
    Value value;
  };
  [[nodiscard]] const std::vector<LiteralPlace>& literal_places() const noexcept {
    return literal_places_;
  }
  /// Returns true if the plan contains a property of a type's definition, other than a name, that
  /// ALTER may change.
  [[nodiscard]] bool depends_on_types() const noexcept {
    return depends_on_types_ || !types_read_.empty();
  }

 protected:
  std::vector<TablePtr> tables_;
  std::vector<TablePtr> written_;
  std::vector<RelationRead> read_;
  std::vector<ViewName> rows_read_;
  std::vector<ViewType> types_read_;
  std::vector<ViewRoutine> routines_read_;
  std::vector<RoutinePtr> routines_called_;
  std::vector<RoutinePtr> routines_behind_;
  std::vector<NamedRelation> named_;
  std::vector<Oid> needed_keys_;
  bool single_use_ = false;
  bool looked_up_objects_ = false;
  std::vector<ConstantPlace> constant_places_;
  std::vector<LiteralPlace> literal_places_;
  bool depends_on_types_ = false;
};

}  // namespace swizzle::sql
