#include "storage/recovery/record_undo.h"

#include <array>
#include <cstddef>

namespace swizzle {

namespace undo_of {

Result<UndoneRow> leaf_insert(Bytes payload) {
  ASSIGN_OR_RETURN(const auto row, payload::decode_leaf_row(payload));
  return UndoneRow{.action = LeafChange::Action::remove,
                   .key = row.key,
                   .value = {},
                   .overflow = false,
                   .update = {}};
}

Result<UndoneRow> leaf_update(Bytes payload) {
  ASSIGN_OR_RETURN(const auto update, payload::decode_leaf_update(payload));
  return UndoneRow{.action = LeafChange::Action::update,
                   .key = update.key,
                   .value = {},
                   .overflow = update.old_overflow,
                   .update = update};
}

Result<UndoneRow> leaf_remove(Bytes payload) {
  ASSIGN_OR_RETURN(const auto row, payload::decode_leaf_row(payload));
  return UndoneRow{.action = LeafChange::Action::insert,
                   .key = row.key,
                   .value = row.value,
                   .overflow = row.overflow,
                   .update = {}};
}

Result<UndoneRow> load_begun(Bytes payload) {
  if (payload.size() != sizeof(TreeId))
    return fail(sqlstate::data_corrupted, "malformed log record: load");
  return UndoneRow{};
}

Result<UndoneRow> new_root(Bytes payload) {
  std::array<std::byte, kPageBytes> root;
  RETURN_IF_ERROR(payload::restore_image(payload, root.data()));
  return UndoneRow{};
}

}  // namespace undo_of

LeafChange::Action LoggedUndo::decide(const Node& leaf, Node::Position at) noexcept {
  const bool is_live = at.exact && !leaf.is_ghost(at.index);
  done_ = row_.action == Action::insert ? at.exact && !is_live : is_live;
  if (!done_) return Action::leave;
  return row_.action == Action::update ? put_old_part_back(leaf.value(at.index)) : row_.action;
}

LeafChange::Action LoggedUndo::put_old_part_back(Bytes now) noexcept {
  const payload::LeafUpdate& update = row_.update;
  done_ = now.size() >= std::size_t{update.offset} + update.new_part.size();
  if (!done_) return Action::leave;
  const Bytes front = now.first(update.offset);
  const Bytes back = now.subspan(update.offset + update.new_part.size());
  value_.clear();
  for (const Bytes part : {front, update.old_part, back})
    value_.insert(value_.end(), part.begin(), part.end());
  return Action::update;
}

}  // namespace swizzle
