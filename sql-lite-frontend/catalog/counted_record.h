#pragma once

#include "base/bytes.h"
#include "sql-lite-frontend/catalog/definition_memory.h"
#include "sql-lite-frontend/catalog/object_codec.h"

namespace swizzle::sql {

/// Reads an object's record; the object's memory is counted.
template <class Object>
CheckedShared<const Object> read_record(const DefinitionMemoryPtr& memory, Bytes record) {
  return counted<Object>(std::make_shared<const Object>(decode<Object>(record)),
                         {memory, DefinitionMemory::bytes_of_record(record.size())});
}

}  // namespace swizzle::sql
