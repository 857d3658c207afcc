#include "sql-lite-frontend/catalog/large_objects.h"

#include <algorithm>

#include "sql-lite-frontend/catalog/catalog_keys.h"
#include "sql-lite-frontend/catalog/object_codec.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

// Keys of the tree: ('m', oid) → metadata; ('p', oid, page) → the page's bytes.
constexpr char kMetadata = 'm';
constexpr char kPages = 'p';

std::string key_of_object(Oid oid) {
  std::string key{kMetadata};
  append_oid(key, oid);
  return key;
}

std::string prefix_of_pages(Oid oid) {
  std::string key{kPages};
  append_oid(key, oid);
  return key;
}

std::string key_of_page(Oid oid, std::int64_t page) {
  std::string key = prefix_of_pages(oid);
  append_oid(key, static_cast<Oid>(page));
  return key;
}

std::int64_t page_of_key(Bytes key) {
  return load_big_endian<Oid>(key.data() + 1 + sizeof(Oid));
}

ScanRange between(const std::string& low, const std::string& high) {
  ScanRange range;
  range.low = as_bytes(low);
  range.high = as_bytes(high);
  return range;
}

Bytes checked_page(Bytes page) {
  if (page.size() <= LargeObjects::kPageBytes) return page;
  throw SqlError{sqlstate::data_corrupted, "a page of a large object is too long"};
}

}  // namespace

LargeObjects::LargeObjects(Engine& engine, const Catalog& catalog, Pause pause)
    : engine_(&engine),
      catalog_(catalog.tree()),
      database_(catalog.database()),
      pause_(std::move(pause)) {
  static_cast<void>(open_tree());
}

bool LargeObjects::open_tree() {
  const std::string key = object_key(database_, RecordKind::large_object_tree, 0);
  auto transaction = engine_->begin(Isolation::read_committed, Access::read_only);
  transaction->begin_statement();
  ValueBuffer buffer;
  const bool is_there = value_of(catalog_.get(*transaction, as_bytes(key), buffer));
  transaction->rollback();
  if (!is_there) return false;
  if (buffer.bytes().size() != sizeof(Oid))
    throw SqlError{sqlstate::data_corrupted, "the catalog does not know its large objects"};
  tree_ = value_of(engine_->tree(TreeId{load_big_endian<Oid>(buffer.bytes().data())}));
  return true;
}

/// Others may make it at the same time: the record's key decides, and the loser opens the winner's.
void LargeObjects::make_tree() {
  while (!tree_ && !open_tree()) {
    auto transaction = engine_->begin();
    transaction->begin_statement();
    const TreeId id = value_of(engine_->create_tree(*transaction));
    std::string value;
    append_oid(value, static_cast<Oid>(id));
    const std::string key = object_key(database_, RecordKind::large_object_tree, 0);
    if (value_of(catalog_.insert(*transaction, as_bytes(key), as_bytes(value)))) {
      value_of(transaction->commit());
    } else {
      transaction->rollback();
    }
  }
}

std::optional<LargeObject> LargeObjects::find(Transaction& transaction, Oid oid,
                                              ReadMode mode) const {
  if (!tree_) return std::nullopt;
  ValueBuffer buffer;
  if (!value_of(tree_->get(transaction, as_bytes(key_of_object(oid)), buffer, mode)))
    return std::nullopt;
  return decode<LargeObject>(buffer.bytes());
}

std::vector<LargeObject> LargeObjects::all(Transaction& transaction) const {
  std::vector<LargeObject> found;
  if (!tree_) return found;
  const std::string low{kMetadata};
  const std::string high = key_successor(low);
  Cursor cursor = value_of(tree_->scan(transaction, between(low, high)));
  while (value_of(cursor.next())) {
    pause_();
    found.push_back(decode<LargeObject>(cursor.value()));
  }
  return found;
}

bool LargeObjects::create(Transaction& transaction, const LargeObject& object) {
  make_tree();
  return value_of(
      tree_->insert(transaction, as_bytes(key_of_object(object.oid)), as_bytes(encode(object))));
}

void LargeObjects::replace(Transaction& transaction, const LargeObject& object) {
  value_of(
      tree_->update(transaction, as_bytes(key_of_object(object.oid)), as_bytes(encode(object))));
}

bool LargeObjects::remove(Transaction& transaction, Oid oid) {
  if (!tree_ || !value_of(tree_->remove(transaction, as_bytes(key_of_object(oid))))) return false;
  remove_pages(transaction, oid, 0);
  return true;
}

/// Removes the pages from `first` on, a bounded number of keys at a time.
void LargeObjects::remove_pages(Transaction& transaction, Oid oid, std::int64_t first) {
  constexpr std::size_t kAtOnce = 512;
  const std::string high = key_successor(prefix_of_pages(oid));
  std::string low = key_of_page(oid, first);
  for (;;) {
    std::vector<std::string> keys;
    {
      Cursor cursor = value_of(tree_->scan(transaction, between(low, high)));
      while (keys.size() < kAtOnce && value_of(cursor.next()))
        keys.emplace_back(as_text(cursor.key()));
    }
    for (const std::string& key : keys) {
      pause_();
      value_of(tree_->remove(transaction, as_bytes(key)));
    }
    if (keys.size() < kAtOnce) return;
    low = key_successor(keys.back());
  }
}

std::int64_t LargeObjects::size(Transaction& transaction, Oid oid) const {
  if (!tree_) return 0;
  const std::string low = prefix_of_pages(oid);
  const std::string high = key_successor(low);
  Cursor cursor = value_of(tree_->scan(transaction, between(low, high), Direction::backward));
  if (!value_of(cursor.next())) return 0;
  return page_of_key(cursor.key()) * static_cast<std::int64_t>(kPageBytes) +
         static_cast<std::int64_t>(checked_page(cursor.value()).size());
}

void LargeObjects::read(Transaction& transaction, Oid oid, std::int64_t offset,
                        MutableBytes into) const {
  std::ranges::fill(into, std::byte{0});
  if (!tree_ || into.empty()) return;
  constexpr auto kPage = static_cast<std::int64_t>(kPageBytes);
  const std::int64_t end = offset + static_cast<std::int64_t>(into.size());
  const std::string low = key_of_page(oid, offset / kPage);
  const std::string high = key_of_page(oid, (end + kPage - 1) / kPage);
  Cursor cursor = value_of(tree_->scan(transaction, between(low, high)));
  while (value_of(cursor.next())) {
    pause_();
    const Bytes page = checked_page(cursor.value());
    const std::int64_t begins = page_of_key(cursor.key()) * kPage;
    const std::int64_t from = std::max(offset, begins);
    const std::int64_t to = std::min(end, begins + static_cast<std::int64_t>(page.size()));
    if (from >= to) continue;
    std::ranges::copy(
        page.subspan(static_cast<std::size_t>(from - begins), static_cast<std::size_t>(to - from)),
        into.begin() + (from - offset));
  }
}

/// Writes a part of one page over what is there.
void LargeObjects::put_page(Transaction& transaction, const std::string& key, std::size_t from,
                            Bytes bytes) {
  ValueBuffer buffer;
  for (;;) {
    const bool is_there =
        value_of(tree_->get(transaction, as_bytes(key), buffer, ReadMode::for_update));
    std::vector<std::byte> page;
    if (is_there) {
      const Bytes before = checked_page(buffer.bytes());
      page.assign(before.begin(), before.end());
    }
    page.resize(std::max(page.size(), from + bytes.size()));
    std::ranges::copy(bytes, page.begin() + static_cast<std::ptrdiff_t>(from));
    const bool is_done = is_there ? value_of(tree_->update(transaction, as_bytes(key), page))
                                  : value_of(tree_->insert(transaction, as_bytes(key), page));
    if (is_done) return;
    // Another transaction has made the page meanwhile.
    pause_();
  }
}

void LargeObjects::write(Transaction& transaction, Oid oid, std::int64_t offset, Bytes bytes) {
  make_tree();
  constexpr auto kPage = static_cast<std::int64_t>(kPageBytes);
  while (!bytes.empty()) {
    pause_();
    const auto from = static_cast<std::size_t>(offset % kPage);
    const std::size_t size = std::min(bytes.size(), kPageBytes - from);
    put_page(transaction, key_of_page(oid, offset / kPage), from, bytes.first(size));
    bytes = bytes.subspan(size);
    offset += static_cast<std::int64_t>(size);
  }
}

/// Keeps a last page that ends at the new size, as PostgreSQL does, though it may be empty.
void LargeObjects::truncate(Transaction& transaction, Oid oid, std::int64_t size) {
  make_tree();
  constexpr auto kPage = static_cast<std::int64_t>(kPageBytes);
  const std::int64_t last = size / kPage;
  const std::string key = key_of_page(oid, last);
  std::vector<std::byte> page;
  ValueBuffer buffer;
  if (value_of(tree_->get(transaction, as_bytes(key), buffer, ReadMode::for_update))) {
    const Bytes before = checked_page(buffer.bytes());
    page.assign(before.begin(), before.end());
  }
  remove_pages(transaction, oid, last);
  page.resize(static_cast<std::size_t>(size % kPage));
  put_page(transaction, key, 0, page);
}

void LargeObjects::visit_pages(Transaction& transaction,
                               const std::function<void(const Page&)>& visit) const {
  if (!tree_) return;
  const std::string low{kPages};
  const std::string high = key_successor(low);
  Cursor cursor = value_of(tree_->scan(transaction, between(low, high)));
  while (value_of(cursor.next())) {
    pause_();
    visit({load_big_endian<Oid>(cursor.key().data() + 1),
           static_cast<std::int32_t>(page_of_key(cursor.key())), checked_page(cursor.value())});
  }
}

}  // namespace swizzle::sql
