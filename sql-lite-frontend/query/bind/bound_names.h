#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sql-lite-frontend/query/bind/name_source.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

/// Objects that a statement, or a view's query, names and depends on, collected while it is bound.
/// These objects are locked, held and checked for rights, and a change to one of them invalidates a
/// plan or a stored text.
class BoundNames {
 public:
  /// Relation that a FROM clause of the statement names itself (or of the view, in
  /// bind_view_query), not inside a view.
  struct RelationRead {
    std::string schema;  ///< as written, perhaps empty
    std::string name;
    TablePtr table;
    bool has_slots = false;  ///< column i is in slot first_slot + i
    Slot first_slot = 0;
  };
  [[nodiscard]] const std::vector<RelationRead>& relations_read() const noexcept { return read_; }
  /// Composite types whose rows functions of its FROM clauses give, with the attributes that they
  /// have now. Functions that give rows of a relation are among relations_read(), without a name.
  [[nodiscard]] const std::vector<ViewName>& rows_read() const noexcept { return rows_read_; }
  /// The types that users made and that it names, as relations_read() has relations.
  [[nodiscard]] const std::vector<ViewType>& types_read() const noexcept { return types_read_; }
  /// The same for routines, which a view's text may call.
  [[nodiscard]] const std::vector<ViewRoutine>& routines_read() const noexcept {
    return routines_read_;
  }
  /// Routines that the called ones consist of: an aggregate's functions, an operator's. Calling
  /// them needs no right.
  [[nodiscard]] const std::vector<RoutinePtr>& routines_behind() const noexcept {
    return routines_behind_;
  }
  /// Routines that the statement calls, in views too, in the version that was bound.
  [[nodiscard]] const std::vector<RoutinePtr>& routines_called() const noexcept {
    return routines_called_;
  }
  /// Tables whose primary key makes a column one per group, so that GROUP BY need not name it.
  [[nodiscard]] const std::vector<Oid>& needed_keys() const noexcept { return needed_keys_; }
  void note_needed_key(const Table& table) { needed_keys_.push_back(table.relation.oid); }
  /// Meaning of a name in the statement. Another relation may take the name over, if it is nearer
  /// on the search path.
  struct NamedRelation {
    std::string schema;
    std::string name;
    Oid relation = kNoOid;
  };
  [[nodiscard]] const std::vector<NamedRelation>& named_relations() const noexcept {
    return named_;
  }

  /// Every table the statement depends on, in the version that was bound.
  [[nodiscard]] const std::vector<TablePtr>& dependencies() const noexcept { return tables_; }
  /// Tables that it writes to, by itself or in WITH queries.
  [[nodiscard]] const std::vector<TablePtr>& written() const noexcept { return written_; }
  /// Set when the plan must not be reused: a constant such as 'now' was read.
  [[nodiscard]] bool is_single_use() const noexcept { return single_use_; }
  /// A constant is an object's number, which was found by its name: 'orders_seq'::regclass; or a
  /// type that a user made was.
  [[nodiscard]] bool looked_up_objects() const noexcept { return looked_up_objects_; }
  /// Place where a view that was read with read_view() names a user-defined object as a constant of
  /// regclass or one of its like.
  struct ConstantPlace {
    std::int32_t location = 0;
    TypeId type = TypeId::none;
    Oid object = kNoOid;
  };
  [[nodiscard]] const std::vector<ConstantPlace>& constant_places() const noexcept {
    return constant_places_;
  }
  /// Literal of a user-defined type in a view that was read with read_view(): its text changes with
  /// the labels of an enum.
  struct LiteralPlace {
    std::int32_t location = 0;
    TypeId type = TypeId::none;
    Value value;
  };
  [[nodiscard]] const std::vector<LiteralPlace>& literal_places() const noexcept {
    return literal_places_;
  }
  /// True if the plan contains a property of a type's definition that ALTER may change, besides a
  /// name.
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
