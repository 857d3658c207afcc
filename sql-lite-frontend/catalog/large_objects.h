#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/catalog.h"

namespace swizzle::sql {

/// A large object as pg_largeobject_metadata shows it. Its content is stored in pages.
struct LargeObject {
  Oid oid = kNoOid;
  Oid owner = kNoOid;
  std::vector<Grant> grants;
};

/// The large objects of a database, in a tree of their own, which the first one makes.
///
/// Pages have PostgreSQL's size, and their numbers mean the same: a page that is missing, and the
/// end of a short one that is not the last, read as zeros.
class LargeObjects {
 public:
  static constexpr std::size_t kPageBytes = 2048;
  static constexpr std::int64_t kMostBytes = std::int64_t{INT32_MAX} * kPageBytes;
  /// Called between pages; may throw.
  using Pause = std::function<void()>;

  LargeObjects(Engine& engine, const Catalog& catalog, Pause pause);

  /// Returns the object that the transaction's present view shows.
  [[nodiscard]] std::optional<LargeObject> find(Transaction& transaction, Oid oid,
                                                ReadMode mode = ReadMode::snapshot) const;
  /// Returns all objects, by number.
  [[nodiscard]] std::vector<LargeObject> all(Transaction& transaction) const;
  /// Returns false if there is one of that number.
  bool create(Transaction& transaction, const LargeObject& object);
  /// Stores another owner or other grants. Pre: the object is locked for_update.
  void replace(Transaction& transaction, const LargeObject& object);
  /// Removes the object and its content. Returns false if there is none.
  bool remove(Transaction& transaction, Oid oid);

  [[nodiscard]] std::int64_t size(Transaction& transaction, Oid oid) const;
  /// Fills `into` with the content from `offset` on, zeros where there is none.
  void read(Transaction& transaction, Oid oid, std::int64_t offset, MutableBytes into) const;
  /// Pre: the end is not above kMostBytes.
  void write(Transaction& transaction, Oid oid, std::int64_t offset, Bytes bytes);
  /// Gives the object this size. Pre: 0 <= size <= kMostBytes.
  void truncate(Transaction& transaction, Oid oid, std::int64_t size);

  struct Page {
    Oid object = kNoOid;
    std::int32_t number = 0;
    Bytes data;  ///< valid during the call
  };
  /// Visits the pages of all objects in order.
  void visit_pages(Transaction& transaction, const std::function<void(const Page&)>& visit) const;

 private:
  /// Makes the tree, in a transaction of its own.
  void make_tree();
  [[nodiscard]] bool open_tree();
  void put_page(Transaction& transaction, const std::string& key, std::size_t from, Bytes bytes);
  void remove_pages(Transaction& transaction, Oid oid, std::int64_t first);

  Engine* engine_;
  Tree catalog_;
  Oid database_;
  Pause pause_;
  std::optional<Tree> tree_;  ///< none: the database has never had a large object
};

}  // namespace swizzle::sql
