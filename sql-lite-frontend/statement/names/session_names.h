#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/query/bind/name_source.h"
#include "sql-lite-frontend/types/fulltext/text_config.h"
#include "sql-lite-frontend/types/function_context.h"

namespace swizzle::sql {

class DomainRules;
class ResultSink;
struct StatementContext;

/// Meanings of names and numbers to the session: along its search path, as its transaction sees the
/// catalog. Results are cached until something that they depend on changes.
class SessionNames final : public NameSource, public ObjectNames, public TextSearchObjects {
 public:
  explicit SessionNames(StatementContext& session);
  SessionNames(const SessionNames&) = delete;
  SessionNames& operator=(const SessionNames&) = delete;
  ~SessionNames() override;

  /// Returns the session in which a function is evaluated, or null. Folder types/ knows a session
  /// only as a source of names.
  static const StatementContext* context_of(const SessionContext& context) {
    const auto* names = dynamic_cast<const SessionNames*>(context.names.raw());
    return names == nullptr ? nullptr : &names->session_;
  }

  TablePtr find_table(std::string_view schema, std::string_view name) override;
  TablePtr table(Oid oid) override;
  bool expands(const Table& table) override;
  bool refreshes(const Table& table) override { return table.relation.oid == refreshed_view; }
  std::vector<TablePtr> referencing_tables(Oid referenced) override;
  TypePtr find_user_type(std::string_view schema, std::string_view name) override;
  TypePtr user_type(TypeId type) override;
  const EnumLabels* enum_labels(TypeId type) override;
  void check_domain(TypeId domain, const Value& value) override;
  std::shared_ptr<const RowShape> row_shape(TypeId type) override;
  // routine_names.cpp
  std::vector<FoundRoutine> find_routines(std::string_view schema, std::string_view name) override;
  CallablePtr routine(Oid oid) override;
  std::optional<std::string> routine_name(std::uint32_t oid) override;
  CallablePtr callable_of(const RoutinePtr& routine);
  bool is_visible(const Routine& routine);
  /// Returns "f(integer, text)", with the schema if the search path would not find it.
  std::string routine_signature(const Routine& routine);
  // operator_names.cpp
  std::vector<FoundOperator> find_operators(std::string_view schema,
                                            std::string_view name) override;
  OperatorPtr made_operator(Oid oid) override;
  // collation_names.cpp
  Oid find_collation(std::string_view schema, std::string_view name) override;
  Oid database_collation() override;
  std::string collation_name(Oid collation) override;
  /// Returns the name as regcollation shows it: quoted, with its schema if the search path would
  /// not find it.
  std::optional<std::string> shown_collation(Oid collation);
  bool is_visible(const UserCollation& collation);
  CastPtr made_cast(TypeId source, TypeId target) override;
  const MadeCasts* made_casts() override;
  std::optional<std::string> operator_name(std::uint32_t oid) override;
  /// Returns "===(integer,integer)", with NONE in place of a prefix operator's left operand.
  std::string operator_signature(const UserOperator& op);
  /// Returns the name as regtype shows it.
  std::string type_name_of(TypeId type);
  /// SET, for functions that are one.
  void set_setting(std::string_view name, std::string_view value);
  std::string schema_name(Oid schema) override;
  bool schema_exists(std::string_view schema) override;
  SessionContext& context() override;
  const Function& identity_numbers() override;
  const RowIdentityFunctions& row_identity_functions() override;
  std::string current_database() override;
  StatisticsPtr statistics(const Table& table) override;
  bool planner_allows(std::string_view setting) override;
  void warn(SqlState state, std::string message) override;
  void note_use(Oid collation) override;
  bool may_read(const IndexAccess& index) override;
  // row_security.cpp
  bool applies_policies(const Table& table, Oid role) override;
  bool is_for(const Policy& policy, Oid role) override;
  /// The same for the current role, whatever row_security is.
  bool hides_rows(const Table& table);
  // text_search_names.cpp; `kind` is regconfig or regdictionary
  /// Searches the search path if no schema is named. 3F000 if there is no such schema.
  Oid find_text_search(TypeId kind, std::string_view schema, std::string_view name);
  /// Nothing if there is no such object.
  std::optional<bool> is_visible_text_search(TypeId kind, Oid oid);
  /// Returns the quoted name, with the schema if the search path would not find it.
  std::optional<std::string> shown_text_search(TypeId kind, Oid oid);
  /// Returns the name in the form of default_text_search_config: with its schema. Nothing if there
  /// is none.
  std::optional<std::string> canonical_text_config(std::string_view written);
  TextConfigPtr default_text_config() override;
  TextConfigPtr text_config(std::uint32_t oid) override;
  TextDictionaryPtr text_dictionary(std::uint32_t oid) override;
  std::optional<std::uint32_t> find(TypeId kind, std::string_view name) override;
  std::optional<std::string> name_of(TypeId kind, std::uint32_t oid) override;
  /// Returns the existing schemas of the search path, with pg_temp and pg_catalog in their places.
  const std::vector<Oid>& search_path();
  /// Called when "$user" means another schema.
  void forget_search_path() noexcept { search_path_version_ = 0; }
  /// 3F000 when there is no such schema; pg_temp is the session's own.
  Oid schema_named(std::string_view name);
  /// Returns the schema for unqualified new objects. 3F000 when the path has no existing schema.
  Oid creation_schema(const ast::RangeVar& range);
  Oid temporary_schema();
  bool is_visible(const Table& table);
  // type_names.cpp
  bool is_visible(const UserType& type);
  /// Returns the composite type with that relation number; null for a true relation's.
  TypePtr composite_of(Oid relation);
  /// True if clients can know the type: it comes with the server, or is in the catalog.
  bool is_type(TypeId type);
  /// Returns the name as regtype shows it, also of an array; nothing if it is not user-defined.
  std::optional<std::string> user_type_name(TypeId type);
  std::optional<TypeId> find_user_type_written(std::string_view text);
  std::string qualified_name(const Table& table);

  Oid temp_schema = kNoOid;
  /// Set while a statement of the server's own is bound, which may name objects regardless of the
  /// user's rights.
  bool trusts_names = false;
  /// The materialized view that is being refreshed: references to it mean its query, not its rows.
  Oid expanded_view = kNoOid;
  /// The materialized view that this session writes while it is refreshed concurrently.
  Oid refreshed_view = kNoOid;

 private:
  struct UserDefinedNames;
  const UserDefinedNames& user_defined_names();

  StatementContext& session_;
  std::shared_ptr<UserDefinedNames> user_defined_names_;
  std::vector<Oid> search_path_;
  std::uint64_t search_path_version_ = 0;
  CatalogView::Stamp search_path_stamp_;
  /// Routines that were called or looked up, in the last known version.
  std::unordered_map<Oid, CallablePtr> callables_;
  /// Labels of the enums whose values this session has read or written, as of this stamp.
  std::vector<std::pair<TypeId, std::unique_ptr<EnumLabels>>> known_labels_;
  CatalogView::Stamp label_stamp_;
  /// The same for the domains that it has given values (statement/names/domains.h).
  std::unordered_map<TypeId, std::shared_ptr<DomainRules>> known_domains_;
  CatalogView::Stamp domain_stamp_;
  /// The same for composite types.
  std::unordered_map<TypeId, std::shared_ptr<const RowShape>> known_shapes_;
  CatalogView::Stamp shape_stamp_;
  /// The same for user-defined text search configurations.
  std::unordered_map<Oid, TextConfigPtr> known_text_configs_;
  CatalogView::Stamp text_config_stamp_;
};

/// Warns if the database's collation is of another version of the library than when it was made.
void warn_of_database_collation(StatementContext& session, ResultSink& sink);

}  // namespace swizzle::sql
