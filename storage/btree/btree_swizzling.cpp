#include "storage/btree/btree_adopt.inl"
#include "storage/btree/btree_change.inl"
#include "storage/btree/btree_clear.inl"
#include "storage/btree/btree_descend.inl"
#include "storage/btree/btree_load.inl"
#include "storage/btree/btree_merge.inl"
#include "storage/btree/btree_read_ahead.inl"
#include "storage/btree/btree_salvage.inl"
#include "storage/btree/btree_size.inl"
#include "storage/btree/btree_split.inl"
#include "storage/btree/btree_tidy.inl"
#include "storage/btree/btree_verify.inl"
#include "storage/buffer/swizzling_pool.h"

namespace swizzle {

template class BTree<SwizzlingPool>;

}  // namespace swizzle
