#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "sql-lite-frontend/catalog/change_list.h"
#include "sql-lite-frontend/catalog/definition_memory.h"
#include "sql-lite-frontend/catalog/dependency_index.h"
#include "sql-lite-frontend/catalog/made_objects.h"
#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/catalog/shared_objects.h"
#include "sql-lite-frontend/catalog/table.h"
#include "storage/engine.h"

namespace swizzle::sql {

/// Records in the process's tables of types and collations, found by number: names, labels, base
/// types of domains. `default_collation`: of the type's database.
[[nodiscard]] NotedType note_user_type(const UserType& type, Oid default_collation);
/// Returns the type with its name registered as long as the pointer or a copy lives; it may be
/// null.
[[nodiscard]] TypePtr registered(const TypePtr& type, Oid default_collation);
void note_user_collation(const UserCollation& collation);

/// The committed catalog of one database, over its records in one tree of the engine. Relations are
/// read when first asked for, and stay; schemas, types and routines are read at once. Thread-safe;
/// lookups may park. Sessions see it through a CatalogView, which adds the changes of their own
/// transaction.
///
/// Records: (database, kind, oid) → the object; (database, name kind, schema, name) → its oid, so
/// that two transactions cannot make the same name; (database, lock, oid) → the version of a
/// relation, which changes of its definition lock; (database, reference, referenced, referencing)
/// for each relation with a foreign key to another.
class Catalog {
 public:
  /// The first tree made in an empty engine, whose own overflow tree is 1.
  static constexpr TreeId kTree{2};

  /// The catalog of a database that is there. `shared` outlives it.
  static std::unique_ptr<Catalog> open(Engine& engine, SharedObjects& shared, Oid database);

  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;
  ~Catalog() = default;

  /// Raised after every committed change, of shared objects as well.
  [[nodiscard]] std::uint64_t version() const noexcept {
    // acquire: observes the change that the number counts.
    return version_.load(std::memory_order_acquire) + shared_.version();
  }
  [[nodiscard]] Engine& engine() const noexcept { return engine_; }
  /// A handle, which may be copied freely.
  [[nodiscard]] Tree tree() const noexcept { return tree_; }
  [[nodiscard]] Oid database() const noexcept { return database_; }
  /// Returns the meaning of "default" in this database. It never changes.
  [[nodiscard]] Oid default_collation() const noexcept { return default_collation_; }

  [[nodiscard]] TablePtr table(Oid oid);
  [[nodiscard]] TablePtr table(Oid schema, std::string_view name);
  /// The table that owns the index of that name.
  [[nodiscard]] TablePtr table_of_index(Oid schema, std::string_view index);
  [[nodiscard]] SchemaPtr schema(Oid oid) const;
  [[nodiscard]] SchemaPtr schema(std::string_view name) const;
  [[nodiscard]] TypePtr type(Oid oid) const;
  [[nodiscard]] TypePtr type(Oid schema, std::string_view name) const;
  [[nodiscard]] std::vector<TypePtr> types() const;
  [[nodiscard]] RoutinePtr routine(Oid oid) const;
  /// Returns all routines of that name, in all schemas, with all arguments.
  [[nodiscard]] std::vector<RoutinePtr> routines_named(std::string_view name) const;
  [[nodiscard]] std::vector<RoutinePtr> routines() const;
  /// Operators, casts, collations, extensions, publications, and what text search is made of.
  template <class Object>
  [[nodiscard]] CheckedShared<const Object> made(Oid oid) const;
  template <class Object>
  [[nodiscard]] std::vector<CheckedShared<const Object>> all_made() const;
  /// Returns the objects of a kind that name that one (`dependency_keys`), by ascending oid.
  template <class Object>
  [[nodiscard]] std::vector<CheckedShared<const Object>> naming(Oid named);
  /// Returns all tables: reads those that have not been asked for yet.
  [[nodiscard]] std::vector<TablePtr> tables();
  /// Returns the tables that have been read so far.
  [[nodiscard]] std::vector<TablePtr> known_tables() const;
  /// Returns the counts of all its tables since the start or pg_stat_reset(), dropped ones
  /// included.
  [[nodiscard]] CountedRows counted_rows() const;
  /// The part of pg_stat_reset() that no table has.
  void forget_rows_of_dropped();
  /// The relations whose foreign keys refer to this one.
  [[nodiscard]] std::vector<Oid> referencing(Oid referenced);
  [[nodiscard]] std::vector<SchemaPtr> schemas() const;
  [[nodiscard]] SharedObjects& shared_objects() const noexcept { return shared_; }

  /// Reads all definitions again on a standby. Pre: nobody uses them.
  void read_again();
  /// The same once the standby is promoted, by the tree that its new engine has.
  void open_promoted(const Tree& tree);
  /// Makes a committed transaction's changes visible to all sessions.
  void apply(std::span<const CatalogChange> changes);

 private:
  Catalog(Engine& engine, Tree tree, SharedObjects& shared, Oid database)
      : engine_(engine), tree_(tree), shared_(shared), database_(database) {}
  using NameKey = std::pair<Oid, std::string>;
  using Names = std::map<NameKey, Oid, std::less<>>;
  struct Reading;

  void set_default_collation();
  void load();
  void load_schemas();
  void load_types();
  void load_routines();
  template <class Object>
  void load_made();
  /// Returns the map that holds the objects of a kind.
  template <class Object, class Self>
  static auto& map_of(Self& self);
  /// Replaces the object, which may be null, in its map and in the index of dependencies.
  template <class Object>
  void put_indexed(Oid oid, const CheckedShared<const Object>& object);
  void put_type(Oid oid, const TypePtr& type);
  void put_routine(Oid oid, const RoutinePtr& routine);
  void become_whole();
  TablePtr read(Oid oid);
  TablePtr named(const Names& names, Oid schema, std::string_view name);
  void read_all();
  void read_references(Oid referenced);
  void put(const CatalogChange& change);
  void put_table(const CatalogChange& change, const TablePtr& table);
  void add(const TablePtr& table);
  void forget(const Relation& relation);
  [[nodiscard]] bool may_add(Oid oid) const {
    return !tables_.contains(oid) && !dropped_.contains(oid);
  }

  Engine& engine_;
  Tree tree_;
  SharedObjects& shared_;
  Oid database_;
  Oid default_collation_ = collation_id::by_default;
  std::atomic<std::uint64_t> version_{1};

  /// Guards what follows; held for lookups only, never across a wait.
  mutable std::shared_mutex mutex_;
  std::map<Oid, TablePtr> tables_;  ///< as far as read; what changes is among them
  Names table_names_;
  Names index_names_;  ///< → oid of the table
  std::map<Oid, SchemaPtr> schemas_;
  std::map<Oid, TypePtr> types_;
  Names type_names_;
  std::map<Oid, RoutinePtr> routines_;
  std::multimap<std::string, RoutinePtr, std::less<>> routine_names_;
  template <class Object>
  using Made = std::map<Oid, CheckedShared<const Object>>;
  std::tuple<Made<UserOperator>, Made<UserCast>, Made<Extension>, Made<UserCollation>,
             Made<Publication>, Made<UserTextDictionary>, Made<UserTextConfig>, Made<EventTrigger>>
      made_;
  DependencyIndex dependencies_;  ///< of all objects above
  /// True once tables_ holds every relation of the database.
  bool is_whole_ = false;
  /// Negative cache: names and numbers looked up and not found since the last change.
  std::set<Oid> absent_;
  std::set<NameKey, std::less<>> absent_names_;
  /// Dropped while a reader was active: definitions that it has read of them are out of date.
  std::set<Oid> dropped_;
  std::size_t readers_ = 0;
  /// (referenced, referencing), for the referenced relations that have been looked up.
  std::set<std::pair<Oid, Oid>> references_;
  std::set<Oid> knows_references_of_;
  CountedRows rows_of_dropped_;
};

/// Thrown by locks: definitions have changed since the statement looked for what it is about, so it
/// has to look again.
struct DefinitionsMoved {};

/// The catalog as one session's transaction sees and changes it. Belongs to the session.
class CatalogView {
 public:
  /// Life of one statement that defines something, from before it looks for names to its end.
  /// Locking an object throws DefinitionsMoved if definitions have changed since the names were
  /// resolved. The statement is undone then, and run again under `again`.
  class Resolution {
   public:
    Resolution() = default;
    Resolution(const Resolution&) = delete;
    Resolution& operator=(const Resolution&) = delete;
    ~Resolution() { end(); }

    /// Definitions are those of now. Keeps the locks that an attempt before had where that was not
    /// the first, so that others cannot make it look again for ever.
    void begin(CatalogView& view, Transaction& transaction);
    void end() noexcept;

   private:
    friend class CatalogView;
    struct Held {
      Oid oid;
      lock::RelationMode mode;
    };
    [[nodiscard]] bool holds(Oid oid, lock::RelationMode mode) const noexcept;

    CatalogView* view_ = nullptr;
    Resolution* outer_ = nullptr;
    std::uint64_t version_ = 0;
    std::size_t mark_ = 0;
    std::vector<Held> held_;
    int attempts_ = 0;
  };

  explicit CatalogView(Catalog& catalog) : catalog_(catalog) {}

  /// Locks do not throw DefinitionsMoved any more: the statement has committed a part of its work,
  /// so it cannot run again, and goes by numbers.
  void end_resolution() noexcept {
    if (resolution_ != nullptr) resolution_->end();
  }

  [[nodiscard]] TablePtr table(Oid oid) const;
  [[nodiscard]] TablePtr table(Oid schema, std::string_view name) const;
  [[nodiscard]] TablePtr table_of_index(Oid schema, std::string_view index) const;
  /// The relations whose foreign keys refer to this one, by ascending oid.
  [[nodiscard]] std::vector<TablePtr> referencing_tables(Oid referenced) const;
  /// Returns the objects of a kind whose records name one of `named`, or have it as a part
  /// (`dependency_keys`), by ascending oid. All dependents of an object are among them; an object
  /// that names itself is not.
  template <class Object>
  [[nodiscard]] std::vector<CheckedShared<const Object>> naming(const NamedObjects& named) const;
  /// Returns the sequences that belong to a column of the table, by ascending oid.
  [[nodiscard]] std::vector<TablePtr> sequences_of(Oid table) const;
  /// Returns the table that has the index; null if there is none.
  [[nodiscard]] TablePtr table_with_index(Oid index) const;
  /// True if the transaction has created the table, or has given it a new tree.
  [[nodiscard]] bool has_new_rows(const Table& table) const;
  [[nodiscard]] SchemaPtr schema(Oid oid) const;
  [[nodiscard]] SchemaPtr schema(std::string_view name) const;
  [[nodiscard]] TypePtr type(Oid oid) const;
  [[nodiscard]] TypePtr type(Oid schema, std::string_view name) const;
  [[nodiscard]] RoutinePtr routine(Oid oid) const;
  [[nodiscard]] std::vector<RoutinePtr> routines_named(std::string_view name) const;
  /// Operators, casts, collations, extensions, publications, and what text search is made of; all
  /// of a kind by ascending oid.
  template <class Object>
  [[nodiscard]] CheckedShared<const Object> made(Oid oid) const;
  template <class Object>
  [[nodiscard]] std::vector<CheckedShared<const Object>> all_made() const;
  [[nodiscard]] ExtensionPtr extension(std::string_view name) const;
  [[nodiscard]] CollationPtr collation(Oid schema, std::string_view name) const;
  /// Returns a text search dictionary or configuration.
  template <class Object>
  [[nodiscard]] CheckedShared<const Object> made_named(Oid schema, std::string_view name) const;
  [[nodiscard]] PublicationPtr publication(std::string_view name) const;
  [[nodiscard]] EventTriggerPtr event_trigger(std::string_view name) const;
  [[nodiscard]] RolePtr role(Oid oid) const;
  [[nodiscard]] RolePtr role(std::string_view name) const;
  [[nodiscard]] DatabasePtr database(Oid oid) const;
  [[nodiscard]] DatabasePtr database(std::string_view name) const;
  /// Return all objects by ascending oid.
  [[nodiscard]] std::vector<TablePtr> tables() const;
  [[nodiscard]] std::vector<SchemaPtr> schemas() const;
  [[nodiscard]] std::vector<TypePtr> types() const;
  [[nodiscard]] std::vector<RoutinePtr> routines() const;
  [[nodiscard]] std::vector<RolePtr> roles() const;
  [[nodiscard]] std::vector<DatabasePtr> databases() const;

  /// Two equal stamps mean that nothing this session can see has changed in between.
  struct Stamp {
    std::uint64_t shared = 0;
    std::uint64_t local = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  [[nodiscard]] Stamp stamp() const noexcept { return {catalog_.version(), local_version_}; }

  Oid allocate_oid() { return catalog_.shared_objects().allocate_oid(); }

  /// Creates the object's record and name. Throws 42P07 (42P06, 42710 …) when the name is taken,
  /// also by a transaction that has not committed yet, for which it waits.
  TablePtr create(Transaction& transaction, Relation relation);
  SchemaPtr create(Transaction& transaction, Schema schema);
  TypePtr create(Transaction& transaction, UserType type);
  RoutinePtr create(Transaction& transaction, Routine routine);
  OperatorPtr create(Transaction& transaction, UserOperator op);
  CastPtr create(Transaction& transaction, UserCast cast);
  CollationPtr create(Transaction& transaction, UserCollation collation);
  UserTextDictionaryPtr create(Transaction& transaction, UserTextDictionary dictionary);
  UserTextConfigPtr create(Transaction& transaction, UserTextConfig config);
  ExtensionPtr create(Transaction& transaction, Extension extension);
  PublicationPtr create(Transaction& transaction, Publication publication);
  EventTriggerPtr create(Transaction& transaction, EventTrigger trigger);
  RolePtr create(Transaction& transaction, Role role);
  DatabasePtr create(Transaction& transaction, DatabaseEntry database);

  /// Waits for holders of conflicting locks and holds `mode` until the transaction ends. Works for
  /// any object, because all have numbers of their own. Throws DefinitionsMoved, in a statement
  /// that resolves names, if a name may mean another object by now.
  void lock(Transaction& transaction, Oid oid, lock::RelationMode mode);

  /// Waits for transactions that change or drop the object, and keeps it from being dropped until
  /// the transaction ends. Records that name an object hold it (named_objects.h).
  void hold(Transaction& transaction, Oid oid);

  /// Waits for holders of conflicting locks and for other definitions in progress, excludes both
  /// until the transaction ends, and returns the newest definition. 42P01 if it was dropped
  /// meanwhile.
  TablePtr lock_for_change(Transaction& transaction, const TablePtr& table,
                           lock::RelationMode mode = lock::RelationMode::access_exclusive);

  /// Waits for transactions that change the type or, with access_exclusive, give it to columns.
  /// Returns the newest definition. 42704 if it was dropped meanwhile.
  TypePtr lock_type(Transaction& transaction, const UserType& type, lock::RelationMode mode);

  /// The same for a routine, which its callers do not lock. 42883 if it was dropped meanwhile.
  RoutinePtr lock_routine(Transaction& transaction, const Routine& routine);

  /// Pre: locked for change. Keeps `Table::runtime` unless `fresh_runtime` is given.
  TablePtr replace(Transaction& transaction, const Table& old, Relation relation,
                   std::shared_ptr<TableRuntime> fresh_runtime = nullptr);
  void replace(Transaction& transaction, const Schema& old, Schema schema);
  void replace(Transaction& transaction, const UserType& old, UserType type);
  void replace(Transaction& transaction, const Routine& old, Routine routine);
  void replace(Transaction& transaction, const UserOperator& old, UserOperator op);
  void replace(Transaction& transaction, const UserCast& old, UserCast cast);
  void replace(Transaction& transaction, const UserCollation& old, UserCollation collation);
  void replace(Transaction& transaction, const UserTextDictionary& old,
               UserTextDictionary dictionary);
  void replace(Transaction& transaction, const UserTextConfig& old, UserTextConfig config);
  void replace(Transaction& transaction, const Extension& old, Extension extension);
  void replace(Transaction& transaction, const Publication& old, Publication publication);
  void replace(Transaction& transaction, const EventTrigger& old, EventTrigger trigger);
  void replace(Transaction& transaction, const Role& old, Role role);
  void replace(Transaction& transaction, const DatabaseEntry& old, DatabaseEntry database);
  void remove(Transaction& transaction, const Table& table);
  void remove(Transaction& transaction, const Schema& schema);
  void remove(Transaction& transaction, const UserType& type);
  void remove(Transaction& transaction, const Routine& routine);
  void remove(Transaction& transaction, const UserOperator& op);
  void remove(Transaction& transaction, const UserCast& cast);
  void remove(Transaction& transaction, const UserCollation& collation);
  void remove(Transaction& transaction, const UserTextDictionary& dictionary);
  void remove(Transaction& transaction, const UserTextConfig& config);
  void remove(Transaction& transaction, const Extension& extension);
  void remove(Transaction& transaction, const Publication& publication);
  void remove(Transaction& transaction, const EventTrigger& trigger);
  void remove(Transaction& transaction, const Role& role);
  void remove(Transaction& transaction, const DatabaseEntry& database);

  /// Savepoints: undoes the view's changes since the mark, as the engine undoes the records'.
  [[nodiscard]] std::size_t mark() const noexcept { return changes_.size(); }
  void rollback_to(std::size_t mark);
  /// Publishes the changes, once the engine's commit is durable and before its locks are released,
  /// so that waiters for those locks find the new definitions. rollback() forgets them.
  void commit();
  void rollback() { rollback_to(0); }
  [[nodiscard]] bool has_changes() const noexcept { return !changes_.empty(); }
  /// Returns the objects that have been made since the mark and still exist, as an extension's
  /// script makes them.
  [[nodiscard]] std::vector<Extension::Member> made_since(std::size_t mark) const;
  /// Returns the transaction's changes from the mark on, in order.
  [[nodiscard]] std::vector<CatalogChange> changes_since(std::size_t mark) const;
  /// Returns a changed object as it was at the mark; a null pointer if there was none.
  [[nodiscard]] CatalogObject before(std::size_t mark, const CatalogChange& change) const;
  /// True if it changes relations that are, or were, only this session's.
  [[nodiscard]] bool changes_temporaries() const;

  [[nodiscard]] Catalog& of_database() const noexcept { return catalog_; }

 private:
  [[nodiscard]] CatalogObject present(const CatalogChange& change) const;
  void count(CatalogChange& change) const;
  void change(CatalogChange change);
  /// The session's own word on an object: nullptr when it has none, else a possibly null pointer.
  template <class Ptr>
  const Ptr* own(Oid oid) const;
  template <class Ptr>
  std::vector<Ptr> merged(std::vector<Ptr> shared) const;

  void look_again_if_moved(std::uint64_t before) const;
  template <class Object>
  void hold_named(Transaction& transaction, const Object* old, const Object& object);
  template <class Object>
  void require_newest(Transaction& transaction, std::string_view key, const Object& old);
  template <class Object, class Ptr>
  Ptr create_object(Transaction& transaction, Object object);
  template <class Object>
  void replace_object(Transaction& transaction, const Object& old, Object object);
  template <class Object>
  void remove_object(Transaction& transaction, const Object& object);
  void put_name(Transaction& transaction, Oid schema, std::string_view name, Oid oid);
  void claim_type_name(Transaction& transaction, Oid schema, std::string_view name);
  void put_temporary(CatalogChange change);
  void forget_temporary(Oid oid);
  void change_names(Transaction& transaction, const Relation* old, const Relation* relation);
  void change_references(Transaction& transaction, const Relation* old, const Relation* relation);

  Catalog& catalog_;
  Resolution* resolution_ = nullptr;
  std::uint64_t local_version_ = 0;
  ChangeList changes_;                      ///< of the transaction
  std::map<Oid, CatalogChange> temporary_;  ///< committed, but only this session's
  DependencyIndex temporary_names_;         ///< of these
};

}  // namespace swizzle::sql
