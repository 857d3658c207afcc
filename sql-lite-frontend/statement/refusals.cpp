#include "sql-lite-frontend/statement/refusals.h"

#include <array>
#include <string>
#include <utility>

#include "sql-lite-frontend/statement/statement_kinds.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using ast::AlterTableType;
constexpr std::array kAlterForms = std::to_array<std::pair<AlterTableType, std::string_view>>({
    {AlterTableType::setcompression, "SET COMPRESSION"},
    {AlterTableType::altercolumngenericoptions, "OPTIONS"},
    {AlterTableType::clusteron, "CLUSTER ON"},
    {AlterTableType::dropcluster, "SET WITHOUT CLUSTER"},
    {AlterTableType::dropoids, "SET WITHOUT OIDS"},
    {AlterTableType::setaccessmethod, "SET ACCESS METHOD"},
    {AlterTableType::settablespace, "SET TABLESPACE"},
    {AlterTableType::enabletrig, "ENABLE TRIGGER"},
    {AlterTableType::enablealwaystrig, "ENABLE ALWAYS TRIGGER"},
    {AlterTableType::enablereplicatrig, "ENABLE REPLICA TRIGGER"},
    {AlterTableType::disabletrig, "DISABLE TRIGGER"},
    {AlterTableType::enabletrigall, "ENABLE TRIGGER ALL"},
    {AlterTableType::disabletrigall, "DISABLE TRIGGER ALL"},
    {AlterTableType::enabletriguser, "ENABLE TRIGGER USER"},
    {AlterTableType::disabletriguser, "DISABLE TRIGGER USER"},
    {AlterTableType::enablerule, "ENABLE RULE"},
    {AlterTableType::enablealwaysrule, "ENABLE ALWAYS RULE"},
    {AlterTableType::enablereplicarule, "ENABLE REPLICA RULE"},
    {AlterTableType::disablerule, "DISABLE RULE"},
    {AlterTableType::addinherit, "INHERIT"},
    {AlterTableType::dropinherit, "NO INHERIT"},
    {AlterTableType::addof, "OF"},
    {AlterTableType::dropof, "NOT OF"},
    {AlterTableType::genericoptions, "OPTIONS"},
    {AlterTableType::attachpartition, "ATTACH PARTITION"},
    {AlterTableType::detachpartition, "DETACH PARTITION"},
    {AlterTableType::detachpartitionfinalize, "DETACH PARTITION FINALIZE"},
});

}  // namespace

std::string_view alter_form_name(AlterTableType type) noexcept {
  for (const auto& [known, name] : kAlterForms) {
    if (known == type) return name;
  }
  return "in this form";
}

void refuse_statement(const ast::Node& statement) {
  const StatementKind& kind = kind_of_statement(statement);
  const std::string_view name = kind.refused_as.empty() ? kind.tag.of(statement) : kind.refused_as;
  const std::string object = kind.object == nullptr ? std::string{} : kind.object(statement);
  SqlError error =
      object.empty()
          ? sql_error(sqlstate::feature_not_supported, "{} is not supported", name)
          : sql_error(sqlstate::feature_not_supported, "{} {} is not supported", name, object);
  if (kind.hint.empty()) throw std::move(error);
  throw std::move(error).with_hint(std::string{kind.hint});
}

}  // namespace swizzle::sql
