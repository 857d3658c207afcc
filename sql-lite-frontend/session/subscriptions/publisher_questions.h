#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/catalog/subscription.h"
#include "sql-lite-frontend/publisher.h"

/// Questions to a publisher. All throw 08006 if it does not answer.
namespace swizzle::sql {

/// `'a','b'`: a list of SQL strings.
std::string literal_list(std::span<const std::string> names);
/// Returns those of `publications` that the publisher does not have.
std::vector<std::string> missing_publications(PublisherLink& link,
                                              const std::vector<std::string>& publications);

struct PublishedName {
  std::string schema;
  std::string table;
};
/// Returns the tables of the publications. 0A000: two of them have different column lists for one.
std::vector<PublishedName> published_tables(PublisherLink& link,
                                            const std::vector<std::string>& publications);

/// Returns those of `publications` that have tables into which other subscriptions of the publisher
/// write.
std::vector<std::string> publications_of_others(PublisherLink& link,
                                                const std::vector<std::string>& publications);

/// Creates a logical slot that lasts.
void create_publisher_slot(PublisherLink& link, const std::string& name);
/// Throws 08006 unless the slot is dropped.
void drop_publisher_slot(PublisherLink& link, const std::string& name);
/// The same, but the slot may be missing.
void drop_slot_if_exists(PublisherLink& link, const std::string& name);

/// Names of the slots of a subscription's first copies, as PostgreSQL has them.
struct CopySlots {
  Oid subscription = kNoOid;
  std::uint64_t server = 0;  ///< the subscriber's system identifier

  [[nodiscard]] std::string name(Oid table) const;
};
/// Drops these slots, but for those of the tables in `kept`.
void drop_copy_slots(PublisherLink& link, const CopySlots& slots, std::span<const Oid> kept);

/// The published part of a table.
struct PublishedPart {
  std::vector<std::string> columns;
  /// COPY … TO STDOUT of the published rows, with these columns.
  std::string copy;
  bool is_binary = false;  ///< the form of the rows
};
/// `binary`: if the publisher has it for first copies.
PublishedPart published_part(PublisherLink& link, const PublishedName& name,
                             const Subscription& subscription);

}  // namespace swizzle::sql
