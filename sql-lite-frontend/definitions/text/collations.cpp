#include "sql-lite-frontend/definitions/text/collations.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/catalog/comments.h"
#include "sql-lite-frontend/definitions/routines/definition_options.h"
#include "sql-lite-frontend/definitions/routines/made_objects.h"
#include "sql-lite-frontend/definitions/tables/notice_missing.h"
#include "sql-lite-frontend/definitions/tables/transfer.h"
#include "sql-lite-frontend/query/bind/collations.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/collation/icu.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kInvalidDefinition{"42P17"};
constexpr SqlState kNotice{"00000"};
/// Of the rules of the provider builtin.
constexpr std::string_view kBuiltinVersion = "1";

std::string_view schema_named_in(ast::NodeList names) {
  return names.size() > 1 ? ast::string_of(names[names.size() - 2]) : std::string_view{};
}

std::string dotted_names(ast::NodeList names) {
  std::string text;
  for (const ast::Node* name : names) {
    if (!text.empty()) text += ".";
    text += ast::string_of(name);
  }
  return text;
}

ast::NodeList names_in(const ast::Node* object) {
  return ast::as<ast::List>(object).items;
}

bool orders_as_c(std::string_view locale) {
  return locale == "C" || locale == "POSIX";
}

/// Options of CREATE COLLATION; each may be given once.
class CollationOptions {
 public:
  explicit CollationOptions(ast::NodeList options) {
    for (const ast::Node* node : options) take(ast::as<ast::DefElem>(node));
    const auto refuse_with = [](std::string_view detail) {
      throw SqlError{sqlstate::syntax_error, "conflicting or redundant options"}.with_detail(
          std::string{detail});
    };
    if (locale_ != nullptr && (collate_ != nullptr || ctype_ != nullptr))
      refuse_with("LOCALE cannot be specified together with LC_COLLATE or LC_CTYPE.");
    if (from_ != nullptr && options.size() != 1)
      refuse_with("FROM cannot be specified together with any other options.");
  }

  [[nodiscard]] const ast::DefElem* from() const noexcept { return from_; }

  void read(UserCollation& made) const {
    made.provider = 'c';
    if (provider_ != nullptr) made.provider = provider(option_text(*provider_));
    if (deterministic_ != nullptr) made.deterministic = option_boolean(*deterministic_);
    if (version_ != nullptr) made.version = option_text(*version_);
    if (made.provider == 'i') {
      if (locale_ == nullptr)
        throw SqlError{kInvalidDefinition, "parameter \"locale\" must be specified"};
      made.locale = option_text(*locale_);
      return;
    }
    if (made.provider == 'b') return read_builtin(made);
    const ast::DefElem* collate = locale_ != nullptr ? locale_ : collate_;
    const ast::DefElem* ctype = locale_ != nullptr ? locale_ : ctype_;
    if (collate == nullptr)
      throw SqlError{kInvalidDefinition, "parameter \"lc_collate\" must be specified"};
    if (ctype == nullptr)
      throw SqlError{kInvalidDefinition, "parameter \"lc_ctype\" must be specified"};
    if (!made.deterministic)
      throw SqlError{sqlstate::feature_not_supported,
                     "nondeterministic collations not supported with this provider"};
    made.collate = option_text(*collate);
    made.ctype = option_text(*ctype);
    for (const std::string& locale : {made.collate, made.ctype}) {
      if (!orders_as_c(locale)) refuse_libc(locale);
    }
  }

 private:
  void read_builtin(UserCollation& made) const {
    if (locale_ == nullptr)
      throw SqlError{kInvalidDefinition, "parameter \"locale\" must be specified"};
    if (!made.deterministic)
      throw SqlError{sqlstate::feature_not_supported,
                     "nondeterministic collations not supported with this provider"};
    made.locale = option_text(*locale_);
    if (made.locale == "C.UTF8") made.locale = std::string{"C.UTF-8"};
    if (made.locale != "C" && made.locale != "C.UTF-8" && made.locale != "PG_UNICODE_FAST") {
      throw_error(sqlstate::wrong_object_type, "invalid locale name \"{}\" for builtin provider",
                  made.locale);
    }
    if (made.version.empty()) made.version = kBuiltinVersion;
  }

  void take(const ast::DefElem& option) {
    const std::pair<std::string_view, const ast::DefElem**> known[] = {
        {"from", &from_},      {"locale", &locale_},     {"lc_collate", &collate_},
        {"lc_ctype", &ctype_}, {"provider", &provider_}, {"deterministic", &deterministic_},
        {"version", &version_}};
    const auto found = std::ranges::find(known, option.defname,
                                         &std::pair<std::string_view, const ast::DefElem**>::first);
    if (found == std::end(known)) {
      throw sql_error(sqlstate::syntax_error, "collation attribute \"{}\" not recognized",
                      option.defname)
          .at_position(option.location + 1);
    }
    if (*found->second != nullptr) {
      throw SqlError{sqlstate::syntax_error, "conflicting or redundant options"}.at_position(
          option.location + 1);
    }
    *found->second = &option;
  }

  static char provider(std::string name) {
    std::ranges::transform(name, name.begin(), [](unsigned char letter) {
      return static_cast<char>(std::tolower(letter));
    });
    if (name == "icu") return 'i';
    if (name == "libc") return 'c';
    if (name == "builtin") return 'b';
    throw_error(kInvalidDefinition, "unrecognized collation provider: {}", name);
  }

  [[noreturn]] static void refuse_libc(const std::string& locale) {
    throw sql_error(sqlstate::feature_not_supported, "the locale \"{}\" of libc is not supported",
                    locale)
        .with_hint(
            "Of libc there are \"C\" and \"POSIX\". Use provider = icu with one of ICU's locales.");
  }

  const ast::DefElem* from_ = nullptr;
  const ast::DefElem* locale_ = nullptr;
  const ast::DefElem* collate_ = nullptr;
  const ast::DefElem* ctype_ = nullptr;
  const ast::DefElem* provider_ = nullptr;
  const ast::DefElem* deterministic_ = nullptr;
  const ast::DefElem* version_ = nullptr;
};

/// Copies the properties of a collation except name, number and owner.
void copy_collation(StatementContext& session, ast::NodeList from, UserCollation& made) {
  const Oid source = require_collation(session.names, from, -1);
  if (source == collation_id::by_default)
    throw SqlError{kInvalidDefinition, "collation \"default\" cannot be copied"};
  if (const CollationPtr known = session.catalog.made<UserCollation>(source)) {
    made.provider = known->provider;
    made.deterministic = known->deterministic;
    made.locale = known->locale;
    made.collate = known->collate;
    made.ctype = known->ctype;
    return;
  }
  const CollationRule* rule = find_collation_rule(source);
  if (rule->letters != Letters::ascii) {
    made.provider = 'b';
    made.locale = std::string{rule->letters == Letters::c_utf8 ? "C.UTF-8" : "PG_UNICODE_FAST"};
    made.version = kBuiltinVersion;
    return;
  }
  made.provider = rule->is_of_bytes() ? 'c' : 'i';
  made.locale = rule->locale;
  if (rule->is_of_bytes())
    made.collate = made.ctype = source == collation_id::posix ? "POSIX" : "C";
}

Oid allocate_collation(StatementContext& session) {
  const Oid number = session.catalog.allocate_oid();
  if (number >= collation_id::first_of_database)
    throw SqlError{sqlstate::program_limit_exceeded, "there are no numbers left for collations"};
  return number;
}

std::string taken_message(const UserCollation& collation, bool skips) {
  return fmt::format("collation \"{}\" {}already exists{}", collation.name,
                     collation.provider == 'i' ? "" : "for encoding \"UTF8\" ",
                     skips ? ", skipping" : "");
}

[[noreturn]] void refuse_missing(ast::NodeList names) {
  throw_error(sqlstate::undefined_object, "collation \"{}\" for encoding \"UTF8\" does not exist",
              dotted_names(names));
}

/// Returns the user-defined collation; null for a built-in one.
CollationPtr find_made(StatementContext& session, ast::NodeList names) {
  const Oid found =
      session.names.find_collation(schema_named_in(names), ast::string_of(names.back()));
  if (found == kNoOid) refuse_missing(names);
  return session.catalog.made<UserCollation>(found);
}

CollationPtr require_own(StatementContext& session, ast::NodeList names) {
  CollationPtr collation = find_made(session, names);
  const bool is_superuser = session.rights.is_superuser(session.user);
  if ((collation && !session.rights.owns(collation->owner)) || (!collation && !is_superuser)) {
    throw_error(sqlstate::insufficient_privilege, "must be owner of collation {}",
                ast::string_of(names.back()));
  }
  if (!collation)
    throw SqlError{sqlstate::feature_not_supported,
                   "changing a built-in collation is not supported"};
  return collation;
}

void lock_collation(StatementContext& session, Oid collation, lock::RelationMode mode) {
  session.catalog.lock(*session.transaction, collation, mode);
}

void refuse_taken(StatementContext& session, Oid schema, const UserCollation& like,
                  std::string_view name) {
  if (!session.catalog.collation(schema, name)) return;
  const SchemaPtr where = session.catalog.schema(schema);
  throw_error(sqlstate::duplicate_object, "collation \"{}\" {}already exists in schema \"{}\"",
              name, like.provider == 'i' ? "" : "for encoding \"UTF8\" ", where ? where->name : "");
}

}  // namespace

std::string described(StatementContext& session, const UserCollation& collation) {
  // Names in messages are not quoted.
  const bool is_visible = session.names.is_visible(collation);
  return is_visible ? "collation " + quote_identifier(collation.name)
                    : fmt::format("collation {}.{}",
                                  quote_identifier(session.names.schema_name(collation.schema)),
                                  quote_identifier(collation.name));
}

namespace {

/// Tells about a locale of an unknown language, as icu_validation_level says.
void validate_locale(StatementContext& session, const std::string& locale, ResultSink& sink) {
  const std::string level = session.settings.text("icu_validation_level");
  if (level == "disabled") return;
  const auto unknown = icu_unknown_language(locale);
  if (!unknown) return;
  const std::string hint =
      "To disable ICU locale validation, set the parameter \"icu_validation_level\" to "
      "\"disabled\".";
  if (level == "error") {
    throw SqlError{sqlstate::invalid_parameter_value, *unknown}.with_hint(hint);
  }
  constexpr std::pair<std::string_view, Severity> kLevels[] = {{"warning", Severity::warning},
                                                               {"notice", Severity::notice}};
  for (const auto& [name, severity] : kLevels) {
    if (level != name) continue;
    Diagnostic told;
    told.severity = severity;
    told.state = sqlstate::invalid_parameter_value;
    told.message = *unknown;
    told.hint = hint;
    session.send_notice(sink, std::move(told));
  }
}

}  // namespace

void create_collation(StatementContext& session, const ast::DefineStmt& statement,
                      ResultSink& sink) {
  UserCollation made;
  made.schema = place_of_definition(session, statement.defnames);
  made.name = ast::string_of(statement.defnames.back());
  made.owner = session.user;
  const CollationOptions options{statement.definition};
  if (options.from() != nullptr) {
    copy_collation(session, option_names(*options.from()), made);
  } else {
    options.read(made);
  }
  if (made.provider == 'i') {
    if (made.version.empty()) made.version = icu_version(made.locale);
  }
  if (session.catalog.collation(made.schema, made.name)) {
    if (!statement.if_not_exists)
      throw SqlError{sqlstate::duplicate_object, taken_message(made, false)};
    return session.notice(sink, Severity::notice, sqlstate::duplicate_object,
                          taken_message(made, true));
  }
  if (made.provider == 'i') {
    validate_locale(session, made.locale, sink);
    IcuCollator::check(made.locale);
  }
  const Oid number = allocate_collation(session);
  made.oid = number;
  session.catalog.create(*session.transaction, std::move(made));
  session.names.note_use(number);
}

void alter_collation(StatementContext& session, const ast::AlterCollationStmt& statement,
                     ResultSink& sink) {
  const Oid found = session.names.find_collation(schema_named_in(statement.collname),
                                                 ast::string_of(statement.collname.back()));
  if (found == collation_id::by_default)
    throw SqlError{sqlstate::wrong_object_type, "cannot refresh version of default collation"}
        .with_hint("Use ALTER DATABASE ... REFRESH COLLATION VERSION instead.");
  const CollationPtr collation = require_own(session, statement.collname);
  const std::string version = collation->provider == 'i'   ? icu_version(collation->locale)
                              : collation->provider == 'b' ? std::string{kBuiltinVersion}
                                                           : std::string{};
  if (version == collation->version) {
    session.notice(sink, Severity::notice, kNotice, "version has not changed");
  } else {
    session.notice(sink, Severity::notice, kNotice,
                   fmt::format("changing version from {} to {}", collation->version, version));
    UserCollation changed = *collation;
    changed.version = version;
    session.catalog.replace(*session.transaction, *collation, std::move(changed));
  }
}

void drop_collations(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink) {
  std::vector<CollationPtr> gone;
  for (const ast::Node* node : statement.objects) {
    const ast::NodeList names = names_in(node);
    const std::string_view schema = schema_named_in(names);
    const auto skip = [&](const std::string& what) { notice_missing(session, sink, what); };
    if (!schema.empty() && !session.names.schema_exists(schema)) {
      if (!statement.missing_ok)
        throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", schema);
      skip(fmt::format("schema \"{}\"", schema));
      continue;
    }
    const Oid found = session.names.find_collation(schema, ast::string_of(names.back()));
    if (found == kNoOid) {
      if (!statement.missing_ok) refuse_missing(names);
      skip(fmt::format("collation \"{}\"", dotted_names(names)));
      continue;
    }
    const CollationPtr collation = session.catalog.made<UserCollation>(found);
    if (!collation) {
      throw_error(sqlstate::dependent_objects_still_exist,
                  "cannot drop collation {} because it is required by the database system",
                  quote_identifier(builtin_collation_name(found)));
    }
    const SchemaPtr place = session.catalog.schema(collation->schema);
    if ((!place || !session.rights.owns(place->owner)) && !session.rights.owns(collation->owner)) {
      throw_error(sqlstate::insufficient_privilege, "must be owner of collation {}",
                  collation->name);
    }
    refuse_extension_member(session, {class_id::pg_collation, found},
                            described(session, *collation));
    lock_collation(session, found, lock::RelationMode::access_exclusive);
    gone.push_back(collation);
  }
  std::vector<Dependent> dependents;
  for (const CollationPtr& collation : gone) {
    for (Dependent& dependent : dependents_of_collation(session, *collation)) {
      const bool is_known =
          std::ranges::find(dependents, dependent.name, &Dependent::name) != dependents.end();
      if (!is_known) dependents.push_back(std::move(dependent));
    }
  }
  if (!gone.empty()) {
    const std::string what =
        gone.size() == 1 ? described(session, *gone[0]) : std::string{kSeveralObjects};
    drop_dependents(session, dependents, what, statement.behavior, sink);
    for (const CollationPtr& collation : gone) {
      if (const CollationPtr now = session.catalog.made<UserCollation>(collation->oid))
        session.catalog.remove(*session.transaction, *now);
    }
  }
}

void rename_collation(StatementContext& session, const ast::RenameStmt& statement) {
  const CollationPtr collation = require_own(session, names_in(statement.object));
  if (const SchemaPtr schema = session.catalog.schema(collation->schema))
    session.rights.require(*schema, privilege::kCreate);
  refuse_taken(session, collation->schema, *collation, statement.newname);
  UserCollation changed = *collation;
  changed.name = statement.newname;
  session.catalog.replace(*session.transaction, *collation, std::move(changed));
}

void set_collation_owner(StatementContext& session, const ast::AlterOwnerStmt& statement) {
  const CollationPtr collation = require_own(session, names_in(statement.object));
  const RolePtr owner =
      require_new_owner(session, *statement.newowner, collation->owner, collation->schema);
  if (!owner) return;
  UserCollation changed = *collation;
  changed.owner = owner->oid;
  session.catalog.replace(*session.transaction, *collation, std::move(changed));
}

void set_collation_schema(StatementContext& session, const ast::AlterObjectSchemaStmt& statement) {
  const CollationPtr collation = require_own(session, names_in(statement.object));
  const SchemaPtr schema = require_new_schema(session, statement.newschema);
  if (schema->oid == collation->schema) return;
  refuse_taken(session, schema->oid, *collation, collation->name);
  UserCollation changed = *collation;
  changed.schema = schema->oid;
  session.catalog.replace(*session.transaction, *collation, std::move(changed));
}

bool comment_on_collation(StatementContext& session, ast::NodeList name, std::string_view text) {
  if (!find_made(session, name)) return false;
  const CollationPtr collation = require_own(session, name);
  UserCollation changed = *collation;
  changed.comment = text;
  session.catalog.replace(*session.transaction, *collation, std::move(changed));
  return true;
}

Oid used_collation(StatementContext& session, ast::NodeList name, std::int32_t location) {
  const Oid found = require_collation(session.names, name, location);
  if (!builtin_collation_name(found).empty()) return found;
  lock_collation(session, found, lock::RelationMode::access_share);
  // The collation may have been dropped while this waited for the lock.
  if (!session.catalog.made<UserCollation>(found)) refuse_missing(name);
  return found;
}

namespace {

void require_collatable(TypeId type, std::int32_t location) {
  if (default_collation(type) != 0) return;
  throw sql_error(sqlstate::datatype_mismatch, "collations are not supported by type {}",
                  format_type(type))
      .at_position(location + 1);
}

/// Refuses a collation for a column whose type has text in it but no form for each collation.
void require_known_form(StatementContext& session, TypeId type, Oid collation) {
  const bool is_of_domain = is_domain(type) || is_domain(element_type(type));
  const bool is_as_ever = !follows_database(type) || collation == collation_id::by_default ||
                          orders_by_bytes(session.names.database_collation());
  if (orders_by_bytes(collation) && !is_of_domain && is_as_ever) return;
  if (is_collatable(type)) return;
  throw_error(sqlstate::feature_not_supported,
              "a collation of its own for a column of type {} is not supported", format_type(type));
}

}  // namespace

Oid collation_of_column(StatementContext& session, const ast::CollateClause* clause, TypeId type) {
  if (clause == nullptr) return kNoOid;
  require_collatable(type, clause->location);
  const Oid collation = used_collation(session, clause->collname, clause->location);
  if (collation == default_collation(type)) return kNoOid;
  require_known_form(session, type, collation);
  return collation;
}

Oid collation_of_key(StatementContext& session, ast::NodeList name, TypeId type) {
  const Oid usual = session.names.database_collation();
  const auto meant = [&](Oid collation) {
    return collation == collation_id::by_default ? usual : collation;
  };
  // A type without a collation in SQL may still be ordered by the database's.
  const bool has_usual = follows_database(type) && usual != collation_id::by_default;
  const Oid own = has_usual ? usual : meant(default_collation(type));
  if (name.empty()) {
    if (is_collated(type) && own == collation_id::indeterminate) {
      throw SqlError{sqlstate::indeterminate_collation,
                     "could not determine which collation to use for index expression"}
          .with_hint("Use the COLLATE clause to set the collation explicitly.");
    }
    return own;
  }
  require_collatable(type, -1);
  const Oid collation = used_collation(session, name, -1);
  if (!is_domain(type)) require_known_form(session, without_collation(type), collation);
  return meant(collation);
}

void define_collation(Column& column, DefinedIn where) {
  if (!is_collated(column.type)) return;
  const Oid collation = shown_number(collation_of_type(column.type));
  column.type = without_collation(column.type);
  if (follows_database(column.type)) return;
  if (collation == collation_id::indeterminate && where == DefinedIn::view) {
    throw sql_error(sqlstate::indeterminate_collation,
                    "could not determine which collation to use for view column \"{}\"",
                    column.name)
        .with_hint("Use the COLLATE clause to set the collation explicitly.");
  }
  if (collation == collation_id::indeterminate) {
    throw sql_error(sqlstate::indeterminate_collation,
                    "no collation was derived for column \"{}\" with collatable type {}",
                    column.name, format_type(column.type))
        .with_hint("Use the COLLATE clause to set the collation explicitly.");
  }
  if (collation != default_collation(column.type)) column.collation = collation;
}

}  // namespace swizzle::sql
