// lo_open() and the other functions of large objects.
#include <algorithm>
#include <utility>

#include "sql-lite-frontend/catalog/default_grants.h"
#include "sql-lite-frontend/session/functions/session_functions.h"
#include "sql-lite-frontend/session/large_objects/descriptors.h"
#include "sql-lite-frontend/session/server_files/file_errors.h"
#include "sql-lite-frontend/session/server_files/server_stream.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/statement/large_objects.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "storage/held_view.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

// Flags of lo_open().
constexpr std::int32_t kWrite = 0x20000;
constexpr std::int32_t kRead = 0x40000;

constexpr std::string_view kKey = "pg_largeobject_metadata_oid_index";
constexpr std::int64_t kMostBytes = LargeObjects::kMostBytes;
constexpr std::int64_t kMostValue = 0x3FFFFFFF - 4;  ///< of a bytea

LargeObjectDescriptors& descriptors_of(Session::State& session) {
  if (!session.large_objects) session.large_objects = std::make_shared<LargeObjectDescriptors>();
  return *session.large_objects;
}

/// Throws 42704 unless the transaction has opened the descriptor.
LargeObjectDescriptor& descriptor_of(Session::State& session, const Value& number) {
  return descriptors_of(session).at(number.as_int4());
}

LargeObjectDescriptor& writable(Session::State& session, const Value& number) {
  LargeObjectDescriptor& opened = descriptor_of(session, number);
  if (opened.may_write) return opened;
  throw_error(SqlState{"55000"}, "large object descriptor {} was not opened for writing",
              number.as_int4());
}

/// View in which an opened object is read: its own, or the newest for one that is also written.
class OpenedView {
 public:
  OpenedView(Session::State& session, const LargeObjectDescriptor& opened) {
    if (opened.may_write) {
      newest_.emplace(*session.transaction);
    } else {
      held_.emplace(opened.view);
    }
  }

 private:
  std::optional<InnerStatement> newest_;
  std::optional<HeldView::Reading> held_;
};

MutableBytes value_bytes(Execution& execution, std::int64_t size) {
  if (size > kMostValue)
    throw SqlError{sqlstate::invalid_parameter_value, "large object read request is too large"};
  const auto count = static_cast<std::size_t>(size);
  return {execution.row_arena.allocate(count, 1), count};
}

Value read_at(Execution& execution, const LargeObjects& objects, Oid oid, std::int64_t from,
              std::int64_t length) {
  Transaction& transaction = *session_of(execution).transaction;
  const std::int64_t left = objects.size(transaction, oid) - from;
  const MutableBytes into = value_bytes(execution, std::clamp<std::int64_t>(left, 0, length));
  objects.read(transaction, oid, from, into);
  return Value::from_bytes(into);
}

void write_at(Session::State& session, LargeObjects& objects, Oid oid, std::int64_t from,
              Bytes bytes) {
  if (static_cast<std::int64_t>(bytes.size()) > kMostBytes - from) {
    throw_error(sqlstate::invalid_parameter_value, "invalid large object write request size: {}",
                bytes.size());
  }
  const InnerStatement now{*session.transaction};
  objects.write(*session.transaction, oid, from, bytes);
}

/// Makes an object; none: one of the next free number.
Oid make_object(Session::State& session, LargeObjects& objects, Oid wanted) {
  const InnerStatement now{*session.transaction};
  LargeObject object;
  object.owner = session.user;
  object.grants = grants_of_new(session.catalog.of_database(), *session.transaction, session.user,
                                kNoOid, GrantedOn::large_object);
  for (const Grant& grant : object.grants) {
    if (grant.grantee != kNoOid) session.catalog.hold(*session.transaction, grant.grantee);
  }
  session.catalog.hold(*session.transaction, session.user);
  object.oid = wanted == kNoOid ? session.catalog.allocate_oid() : wanted;
  while (!objects.create(*session.transaction, object)) {
    if (wanted != kNoOid) {
      SqlError error = sql_error(sqlstate::unique_violation,
                                 "duplicate key value violates unique constraint \"{}\"", kKey)
                           .with_detail(fmt::format("Key (oid)=({}) already exists.", wanted));
      error.fields().schema = "pg_catalog";
      error.fields().table = "pg_largeobject_metadata";
      error.fields().constraint = kKey;
      throw error;
    }
    object.oid = session.catalog.allocate_oid();
  }
  return object.oid;
}

// Functions -------------------------------------------------------------------------------------

Value create(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  session.transaction.require_read_write("lo_create()");
  LargeObjects objects = large_objects_of(session);
  return Value::from_oid(make_object(session, objects, arguments[0].as_oid()));
}

/// lo_creat(mode), whose mode has no meaning.
Value create_any(Execution& execution, Arguments) {
  Session::State& session = session_of(execution);
  session.transaction.require_read_write("lo_creat()");
  LargeObjects objects = large_objects_of(session);
  return Value::from_oid(make_object(session, objects, kNoOid));
}

Value create_with(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  session.transaction.require_read_write("lo_from_bytea()");
  LargeObjects objects = large_objects_of(session);
  const Oid oid = make_object(session, objects, arguments[0].as_oid());
  write_at(session, objects, oid, 0, arguments[1].as_bytes());
  return Value::from_oid(oid);
}

/// Opens an object as lo_open() does, which asks for the rights once. What may be written may be
/// read as well, and stays until the transaction ends.
LargeObjectDescriptor opened(Session::State& session, const LargeObjects& objects, Oid oid,
                             bool may_write) {
  LargeObjectDescriptor descriptor;
  descriptor.object = oid;
  descriptor.may_read = true;
  descriptor.may_write = may_write;
  Privileges rights = privilege::kSelect;
  if (may_write) {
    const InnerStatement now{*session.transaction};
    rights |= privilege::kUpdate;
    require_right(session, large_object_named(session, objects, oid, ReadMode::for_key_share),
                  rights);
  } else {
    require_right(session, large_object_named(session, objects, oid), rights);
    descriptor.view = HeldView{*session.transaction};
  }
  return descriptor;
}

Value open(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  const std::int32_t flags = arguments[1].as_int4();
  const bool may_write = (flags & kWrite) != 0;
  if (may_write) session.transaction.require_read_write("lo_open(INV_WRITE)");
  if ((flags & (kRead | kWrite)) == 0) {
    throw_error(sqlstate::invalid_parameter_value, "invalid flags for opening a large object: {}",
                flags);
  }
  LargeObjectDescriptor descriptor =
      opened(session, large_objects_of(session), arguments[0].as_oid(), may_write);
  LargeObjectDescriptors& all = descriptors_of(session);
  all.share.set(session.memory, 2 * all.bytes() + sizeof descriptor);
  return Value::from_int(all.add(std::move(descriptor)));
}

Value close(Execution& execution, Arguments arguments) {
  descriptors_of(session_of(execution)).close(arguments[0].as_int4());
  return Value::from_int(0);
}

Value read(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  LargeObjectDescriptor& opened = descriptor_of(session, arguments[0]);
  const OpenedView view{session, opened};
  const Value value = read_at(execution, large_objects_of(session), opened.object, opened.place,
                              std::max(arguments[1].as_int4(), 0));
  opened.place += static_cast<std::int64_t>(value.as_bytes().size());
  return value;
}

Value write(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  session.transaction.require_read_write("lowrite()");
  LargeObjectDescriptor& opened = writable(session, arguments[0]);
  LargeObjects objects = large_objects_of(session);
  const Bytes bytes = arguments[1].as_bytes();
  write_at(session, objects, opened.object, opened.place, bytes);
  opened.place += static_cast<std::int64_t>(bytes.size());
  return Value::from_int(static_cast<std::int64_t>(bytes.size()));
}

/// Moves the place of a descriptor; returns the new one.
std::int64_t moved_place(Session::State& session, Arguments arguments) {
  enum class From : std::int32_t { begin = 0, place = 1, end = 2 };
  LargeObjectDescriptor& opened = descriptor_of(session, arguments[0]);
  const std::int64_t by = arguments[1].as_int8();
  std::int64_t to = 0;
  switch (static_cast<From>(arguments[2].as_int4())) {
    case From::begin:
      break;
    case From::place:
      to = opened.place;
      break;
    case From::end: {
      const OpenedView view{session, opened};
      to = large_objects_of(session).size(*session.transaction, opened.object);
      break;
    }
    default:
      throw_error(sqlstate::invalid_parameter_value, "invalid whence setting: {}",
                  arguments[2].as_int4());
  }
  // Wraps around in PostgreSQL, which then refuses it, too.
  to = static_cast<std::int64_t>(static_cast<std::uint64_t>(to) + static_cast<std::uint64_t>(by));
  if (to < 0 || to > kMostBytes) {
    throw_error(sqlstate::invalid_parameter_value, "invalid large object seek target: {}", to);
  }
  return opened.place = to;
}

/// The result of a function that older clients call, whose numbers are short.
Value short_place(std::string_view function, std::int64_t place, const Value& descriptor) {
  if (place > INT32_MAX) {
    throw_error(sqlstate::numeric_value_out_of_range,
                "{} result out of range for large-object descriptor {}", function,
                descriptor.as_int4());
  }
  return Value::from_int(place);
}

Value seek(Execution& execution, Arguments arguments) {
  return short_place("lo_lseek", moved_place(session_of(execution), arguments), arguments[0]);
}
Value seek_64(Execution& execution, Arguments arguments) {
  return Value::from_int(moved_place(session_of(execution), arguments));
}
Value tell(Execution& execution, Arguments arguments) {
  return short_place("lo_tell", descriptor_of(session_of(execution), arguments[0]).place,
                     arguments[0]);
}
Value tell_64(Execution& execution, Arguments arguments) {
  return Value::from_int(descriptor_of(session_of(execution), arguments[0]).place);
}

Value truncate_named(Execution& execution, Arguments arguments, std::string_view function) {
  Session::State& session = session_of(execution);
  session.transaction.require_read_write(function);
  const LargeObjectDescriptor& opened = writable(session, arguments[0]);
  const std::int64_t size = arguments[1].as_int8();
  if (size < 0 || size > kMostBytes) {
    throw_error(sqlstate::invalid_parameter_value, "invalid large object truncation target: {}",
                size);
  }
  const InnerStatement now{*session.transaction};
  large_objects_of(session).truncate(*session.transaction, opened.object, size);
  return Value::from_int(0);
}
Value truncate(Execution& execution, Arguments arguments) {
  return truncate_named(execution, arguments, "lo_truncate()");
}
Value truncate_64(Execution& execution, Arguments arguments) {
  return truncate_named(execution, arguments, "lo_truncate64()");
}

Value unlink(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  session.transaction.require_read_write("lo_unlink()");
  const Oid oid = arguments[0].as_oid();
  LargeObjects objects = large_objects_of(session);
  const InnerStatement now{*session.transaction};
  const LargeObject object = large_object_named(session, objects, oid, ReadMode::for_update);
  if (!session.settings.boolean("lo_compat_privileges")) require_owner(session, object);
  remove_large_object(session, objects, oid);
  if (session.large_objects) session.large_objects->close_all_of(oid);
  return Value::from_int(1);
}

Value whole(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  const LargeObjects objects = large_objects_of(session);
  const Oid oid = arguments[0].as_oid();
  require_right(session, large_object_named(session, objects, oid), privilege::kSelect);
  std::int64_t from = 0;
  std::int64_t length = kMostBytes;
  if (arguments.size() > 1) {
    from = arguments[1].as_int8();
    length = arguments[2].as_int4();
    if (length < 0)
      throw SqlError{sqlstate::invalid_parameter_value, "requested length cannot be negative"};
    if (from < 0 || from > kMostBytes) {
      throw_error(sqlstate::invalid_parameter_value, "invalid large object seek target: {}", from);
    }
  }
  return read_at(execution, objects, oid, from, length);
}

Value put(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  session.transaction.require_read_write("lo_put()");
  LargeObjects objects = large_objects_of(session);
  const std::int64_t from = arguments[1].as_int8();
  const LargeObjectDescriptor descriptor = opened(session, objects, arguments[0].as_oid(), true);
  if (from < 0 || from > kMostBytes) {
    throw_error(sqlstate::invalid_parameter_value, "invalid large object seek target: {}", from);
  }
  write_at(session, objects, descriptor.object, from, arguments[2].as_bytes());
  return Value::from_text({});
}

void require_file_right(const Session::State& session, std::string_view function) {
  if (session.rights.is_superuser(session.user)) return;
  throw_error(sqlstate::insufficient_privilege, "permission denied for function {}", function);
}

constexpr std::size_t kFilePiece = std::size_t{256} << 10U;

Value import_file(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  require_file_right(session, "lo_import");
  session.transaction.require_read_write("lo_import()");
  const std::string name{arguments[0].as_text()};
  auto file = ServerStream::open_to_read(session, server_path(session, name));
  if (!file) {
    throw file_error(file.error(), fmt::format("could not open server file \"{}\"", name));
  }
  LargeObjects objects = large_objects_of(session);
  const Oid oid =
      make_object(session, objects, arguments.size() > 1 ? arguments[1].as_oid() : kNoOid);
  std::vector<std::byte> piece(kFilePiece);
  for (std::int64_t place = 0;;) {
    const auto size = file->read(piece);
    if (!size) {
      throw file_error(size.error(), fmt::format("could not read server file \"{}\"", name));
    }
    if (*size == 0) break;
    write_at(session, objects, oid, place, std::span{piece}.first(*size));
    place += static_cast<std::int64_t>(*size);
  }
  return Value::from_oid(oid);
}

Value export_file(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  require_file_right(session, "lo_export");
  const LargeObjects objects = large_objects_of(session);
  const Oid oid = arguments[0].as_oid();
  require_right(session, large_object_named(session, objects, oid), privilege::kSelect);
  const std::string name{arguments[1].as_text()};
  const auto require = [&](const SystemResult<void>& done, std::string_view what) {
    if (!done) throw file_error(done.error(), fmt::format("could not {} \"{}\"", what, name));
  };
  auto file = ServerStream::open_to_write(session, server_path(session, name));
  if (!file) require(std::unexpected{file.error()}, "create server file");
  std::vector<std::byte> piece(kFilePiece);
  const std::int64_t end = objects.size(*session.transaction, oid);
  for (std::int64_t place = 0; place < end;) {
    const auto left = static_cast<std::size_t>(end - place);
    const MutableBytes part = std::span{piece}.first(std::min(left, piece.size()));
    objects.read(*session.transaction, oid, place, part);
    require(file->write(part), "write server file");
    place += static_cast<std::int64_t>(part.size());
  }
  require(file->close(), "close file");
  return Value::from_int(1);
}

}  // namespace

std::span<const SessionEntry> large_object_functions() {
  static constexpr SessionEntry kFunctions[] = {
      {"lo_create", create},
      {"lo_creat", create_any},
      {"lo_from_bytea", create_with},
      {"lo_open", open},
      {"lo_close", close},
      {"loread", read},
      {"lowrite", write},
      {"lo_lseek", seek},
      {"lo_lseek64", seek_64},
      {"lo_tell", tell},
      {"lo_tell64", tell_64},
      {"lo_truncate", truncate},
      {"lo_truncate64", truncate_64},
      {"lo_unlink", unlink},
      {"lo_get", whole},
      {"lo_put", put},
      {"lo_import", import_file},
      {"lo_export", export_file},
  };
  return kFunctions;
}

}  // namespace swizzle::sql
