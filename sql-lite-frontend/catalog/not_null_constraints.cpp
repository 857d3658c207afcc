#include "sql-lite-frontend/catalog/not_null_constraints.h"

#include <algorithm>
#include <utility>

#include "sql-lite-frontend/catalog/old_not_nulls.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t kNameBytes = 63;

bool is_named(const Relation& relation, std::string_view name) {
  return std::ranges::find(relation.constraints, name, &Constraint::name) !=
             relation.constraints.end() ||
         std::ranges::find(relation.indexes, name, &Index::name) != relation.indexes.end();
}

bool is_of(const Constraint& constraint, std::size_t position) noexcept {
  return constraint.kind == ConstraintKind::not_null && !constraint.columns.empty() &&
         constraint.columns.front() == static_cast<std::int16_t>(position + 1);
}

bool has_not_null(const Relation& relation, const Constraint& constraint) noexcept {
  if (constraint.columns.empty()) return false;
  const auto number = static_cast<std::size_t>(constraint.columns.front());
  if (number == 0 || number > relation.columns.size()) return false;
  const Column& column = relation.columns[number - 1];
  return column.not_null && !column.dropped;
}

}  // namespace

std::string ObjectName::numbered(int number) const {
  const std::string suffix = number > 0 ? kind + std::to_string(number) : kind;
  std::string name = first;
  std::string middle = second;
  const auto size = [&] {
    return name.size() + suffix.size() + 1 + (middle.empty() ? 0 : middle.size() + 1);
  };
  // The longer part gives way first.
  while (size() > kNameBytes) {
    if (name.size() > middle.size()) {
      name.pop_back();
    } else {
      middle.pop_back();
    }
  }
  if (!middle.empty()) name += "_" + middle;
  return name + "_" + suffix;
}

ObjectName object_name(std::string_view first, std::string_view second, std::string_view kind) {
  return {std::string{first}, std::string{second}, std::string{kind}};
}

const Constraint* not_null_of(const Relation& relation, std::size_t position) noexcept {
  const auto found = std::ranges::find_if(
      relation.constraints, [position](const Constraint& one) { return is_of(one, position); });
  return found == relation.constraints.end() ? nullptr : &*found;
}

Constraint* not_null_of(Relation& relation, std::size_t position) noexcept {
  return const_cast<Constraint*>(not_null_of(std::as_const(relation), position));
}

namespace {

/// `number_of` returns the number of a new constraint for the column at a position.
void complete(Relation& relation, const std::function<Oid(std::size_t)>& number_of) {
  if (!is_table(relation.kind)) return;
  std::erase_if(relation.constraints, [&](const Constraint& one) {
    return one.kind == ConstraintKind::not_null && !has_not_null(relation, one);
  });
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    Column& column = relation.columns[i];
    column.not_null_unproven = false;
    if (!column.not_null || column.dropped) continue;
    if (const Constraint* known = not_null_of(std::as_const(relation), i)) {
      column.not_null_unproven = !known->validated;
      continue;
    }
    const ObjectName base = object_name(relation.name, column.name, "not_null");
    int number = 0;
    while (is_named(relation, base.numbered(number))) ++number;
    Constraint constraint;
    constraint.oid = number_of(i);
    constraint.name = base.numbered(number);
    constraint.kind = ConstraintKind::not_null;
    constraint.columns = {static_cast<std::int16_t>(i + 1)};
    relation.constraints.push_back(std::move(constraint));
  }
}

}  // namespace

void complete_not_nulls(Relation& relation, const std::function<Oid()>& allocate) {
  complete(relation, [&](std::size_t /*position*/) { return allocate(); });
}

namespace {

/// Returns the number of a constraint that an old record lacks. Position: of the column, from 0.
Oid old_number(Oid object, std::size_t position) {
  const Oid place = object * static_cast<Oid>(kMostTableColumns) + static_cast<Oid>(position);
  return kFirstOldNotNull + place % kOldNotNulls;
}

}  // namespace

void name_old_not_nulls(Relation& relation) {
  complete(relation, [&](std::size_t position) { return old_number(relation.oid, position); });
}

void name_old_not_null(UserType& domain) {
  if (!domain.not_null || !is_domain(domain.id())) return;
  const ObjectName base = object_name(domain.name, {}, "not_null");
  int number = 0;
  while (std::ranges::find(domain.checks, base.numbered(number), &DomainCheck::name) !=
         domain.checks.end()) {
    ++number;
  }
  DomainCheck constraint;
  constraint.oid = old_number(domain.oid, 0);
  constraint.name = base.numbered(number);
  constraint.is_not_null = true;
  domain.checks.push_back(std::move(constraint));
}

}  // namespace swizzle::sql
