#pragma once

namespace swizzle::sql {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

}  // namespace swizzle::sql
