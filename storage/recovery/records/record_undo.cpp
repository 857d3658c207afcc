#include "storage/recovery/records/record_undo.h"

#include <array>
#include <cstddef>
#include <ranges>

namespace swizzle {

namespace undo_of {
namespace {

std::vector<UndoneRow> one(const UndoneRow& row) {
  return {row};
}

/// Returns the change that restores a removed row.
UndoneRow back(const payload::LeafRow& row) {
  return {.action = LeafChange::Action::insert,
          .key = row.key,
          .value = row.value,
          .overflow = row.overflow,
          .update = {}};
}

}  // namespace

Rows leaf_insert(Bytes payload) {
  ASSIGN_OR_RETURN(const auto row, payload::decode_leaf_row(payload));
  return one({.action = LeafChange::Action::remove,
              .key = row.key,
              .value = {},
              .overflow = false,
              .update = {}});
}

Rows leaf_update(Bytes payload) {
  ASSIGN_OR_RETURN(const auto update, payload::decode_leaf_update(payload));
  return one({.action = LeafChange::Action::update,
              .key = update.key,
              .value = {},
              .overflow = update.old_overflow,
              .update = update});
}

Rows leaf_remove(Bytes payload) {
  ASSIGN_OR_RETURN(const auto row, payload::decode_leaf_row(payload));
  return one(back(row));
}

Rows leaf_removals(Bytes payload) {
  ASSIGN_OR_RETURN(const auto removed, payload::decode_leaf_rows(payload));
  std::vector<UndoneRow> rows;
  rows.reserve(removed.size());
  for (const payload::LeafRow& row : std::views::reverse(removed)) {
    rows.push_back(back(row));
    rows.back().may_be_done = true;
  }
  return rows;
}

Rows load_begun(Bytes payload) {
  if (payload.size() != sizeof(TreeId))
    return fail(sqlstate::data_corrupted, "malformed log record: load");
  return std::vector<UndoneRow>{};
}

Rows new_root(Bytes payload) {
  std::array<std::byte, kPageBytes> root;
  RETURN_IF_ERROR(payload::restore_image(payload, root.data()));
  return std::vector<UndoneRow>{};
}

}  // namespace undo_of

LeafChange::Action LoggedUndo::decide(const Node& leaf, Node::Position at) noexcept {
  const bool is_live = at.exact && !leaf.is_ghost(at.index);
  if (row_.may_be_done && is_live && compare(leaf.value(at.index), value_) == 0) {
    done_ = true;
    return Action::leave;
  }
  done_ = row_.action == Action::insert ? at.exact && !is_live : is_live;
  if (!done_) return Action::leave;
  return row_.action == Action::update ? put_old_part_back(leaf.value(at.index)) : row_.action;
}

LeafChange::Action LoggedUndo::put_old_part_back(Bytes now) noexcept {
  auto before = value_before(row_.update, now);
  done_ = before.has_value();
  if (!done_) return Action::leave;
  value_ = std::move(*before);
  return Action::update;
}

std::optional<std::vector<std::byte>> value_before(const payload::LeafUpdate& update, Bytes after) {
  if (after.size() < std::size_t{update.offset} + update.new_part.size()) return std::nullopt;
  const Bytes front = after.first(update.offset);
  const Bytes back = after.subspan(update.offset + update.new_part.size());
  std::vector<std::byte> value;
  value.reserve(front.size() + update.old_part.size() + back.size());
  for (const Bytes part : {front, update.old_part, back})
    value.insert(value.end(), part.begin(), part.end());
  return value;
}

}  // namespace swizzle
