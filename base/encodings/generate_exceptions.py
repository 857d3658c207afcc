#!/usr/bin/env python3
"""generate_exceptions.py PSQL-ARGUMENT…: writes character_exceptions.inc, the characters for which the tables of a
running PostgreSQL 18 differ from those of this system's iconv. Asks for all code points and all characters; takes a few
minutes. A database of its own with the encoding UTF8 must be given, which gets two functions.

Prints the number of differences before they are written as exceptions."""
import ctypes
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAIRED = {"EUC_JIS_2004", "SHIFT_JIS_2004"}
FUNCTIONS = r"""
create or replace function decoded(wanted name, prefix bytea, first int, last int)
returns table (code text, point text) language plpgsql as $$
declare bytes bytea;
begin
  for i in first..last loop
    bytes := prefix || case when last < 256 then decode(lpad(to_hex(i), 2, '0'), 'hex')
                            else decode(lpad(to_hex(i), 4, '0'), 'hex') end;
    begin
      point := encode(convert_to(convert_from(bytes, wanted), 'UTF8'), 'hex');
      code := encode(bytes, 'hex');
      return next;
    exception
      when untranslatable_character then
        code := encode(bytes, 'hex');
        point := '';
        return next;
      when character_not_in_repertoire then null;
    end;
  end loop;
end $$;
create or replace function encoded(wanted name, first int, last int)
returns table (point int, code text) language plpgsql as $$
begin
  for i in first..last loop
    continue when i between 55296 and 57343;
    begin
      code := encode(convert_to(chr(i), wanted), 'hex');
      point := i;
      return next;
    exception when untranslatable_character then null;
    end;
  end loop;
end $$;
"""


def encodings():
    text = (HERE / "encoding.cpp").read_text()
    found = re.findall(r'\{"(\w+)", (\d), "([\w-]+)"\}', text)
    return [(name, int(size), table) for name, size, table in found]


def questions(name, size):
    """The SQL of all answers about one encoding."""
    yield f"select 'D', * from decoded('{name}', '', 128, 255)"
    if size > 1:
        yield f"select 'D', * from decoded('{name}', '', 32768, 65535)"
    if size >= 3 and name != "GB18030":
        yield f"select 'D', * from decoded('{name}', '\\x8f', 32896, 65535)"
    if name == "EUC_TW":
        for plane in ("a1", "a2"):
            yield f"select 'D', * from decoded('{name}', '\\x8e{plane}', 41377, 65278)"
    if name == "GB18030":
        for lead in ("81", "82", "83", "84"):
            for second in range(0x30, 0x3a):
                yield f"select 'D', * from decoded('{name}', '\\x{lead}{second:02x}', 33072, 65081)"
    yield f"select 'E', * from encoded('{name}', 128, 65535)"
    if size > 1:
        yield f"select 'E', * from encoded('{name}', 65536, 196607)"


def ask(arguments, name, size):
    script = "".join(f"copy ({question}) to stdout;\n" for question in questions(name, size))
    answer = subprocess.run(["psql", "-qX", *arguments], input="set client_min_messages to error;\n" + FUNCTIONS + script,
                            capture_output=True, text=True, check=True)
    if answer.stderr:
        raise SystemExit(answer.stderr)
    decoded, encoded = {}, {}
    for line in answer.stdout.splitlines():
        kind, first, second = line.split("\t")
        if kind == "D":
            decoded[bytes.fromhex(first)] = bytes.fromhex(second).decode()
        else:
            encoded[int(first)] = int(second, 16)
    # Drops the codes whose first byte is a character: they are several.
    return {code: point for code, point in decoded.items() if len(code) == 1 or not decoded.get(code[:1])}, encoded


class Iconv:
    def __init__(self, table):
        self.libc = ctypes.CDLL(None)
        self.libc.iconv_open.restype = ctypes.c_void_p
        self.libc.iconv.restype = ctypes.c_size_t
        self.libc.iconv.argtypes = [ctypes.c_void_p] + [ctypes.c_void_p] * 4
        self.handle = self.libc.iconv_open(b"UTF-32LE", table.encode())

    def decode(self, code):
        source = ctypes.create_string_buffer(code, len(code))
        target = ctypes.create_string_buffer(16)
        source_at, target_at = ctypes.c_void_p(ctypes.addressof(source)), ctypes.c_void_p(ctypes.addressof(target))
        left, room = ctypes.c_size_t(len(code)), ctypes.c_size_t(16)
        failed = ctypes.c_size_t(-1).value
        bad = self.libc.iconv(self.handle, ctypes.byref(source_at), ctypes.byref(left), ctypes.byref(target_at),
                                 ctypes.byref(room)) == failed or left.value
        bad = bad or self.libc.iconv(self.handle, None, None, ctypes.byref(target_at), ctypes.byref(room)) == failed
        self.libc.iconv(self.handle, None, None, None, None)
        return "" if bad else target.raw[:16 - room.value].decode("utf-32-le")


def own_tables(name, table, decoded):
    """As make_tables.cpp makes them."""
    iconv = Iconv(table)
    codes = sorted(decoded, key=lambda code: (len(code), code))
    if name == "JOHAB":
        codes += [code.to_bytes(2, "big") for code in range(0x8000, 0x10000) if code.to_bytes(2, "big") not in decoded]
    points, back = {}, {}
    for code in codes:
        point = iconv.decode(code)
        if len(point) > 2 or (len(point) == 2 and name not in PAIRED):
            point = ""
        points[code] = point
        if len(point) == 1:
            back.setdefault(ord(point), int.from_bytes(code, "big"))
    return points, back


def runs(pairs):
    """Joins neighbours: (from, to, count)."""
    joined = []
    for source, target in sorted(pairs):
        if joined:
            first, to, count = joined[-1]
            if first + count == source and (target == to + count if target and to else target == to):
                joined[-1] = (first, to, count + 1)
                continue
        joined.append((source, target, 1))
    return joined


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    lines = {"kDecoded": [], "kEncoded": []}
    for name, size, table in encodings():
        decoded, encoded = ask(sys.argv[1:], name, size)
        points, back = own_tables(name, table, decoded)
        other_points = [(int.from_bytes(code, "big"), ord(point) if point else 0) for code, point in decoded.items()
                        if points[code] != point and len(point) <= 1]
        if any(points[code] != point and len(point) > 1 for code, point in decoded.items()):
            raise SystemExit(f"{name}: pairs of code points differ")
        # EUC_TW: PostgreSQL writes a plane that it does not read.
        unread = {point for point, code in encoded.items() if name == "EUC_TW" and code >> 16 == 0x8eae}
        other_codes = [(point, encoded.get(point, 0)) for point in set(encoded) | set(back)
                       if back.get(point, 0) != encoded.get(point, 0) and point not in unread
                       # Those beyond the first plane have no table: they are computed.
                       and not (name == "GB18030" and point > 0xffff)]
        print(f"{name}: {len(other_points)} characters and {len(other_codes)} code points differ, {len(unread)} unread")
        for kind, pairs in (("kDecoded", other_points), ("kEncoded", other_codes)):
            for first, to, count in runs(pairs):
                lines[kind].append(f"    {{Encoding::{name.lower()}, {{0x{first:x}, 0x{to:x}, {count}}}}},\n")
    text = "// Generated by generate_exceptions.py.\n"
    for kind, made in lines.items():
        text += f"constexpr Exception {kind}[] = {{\n{''.join(made)}}};\n"
    (HERE / "character_exceptions.inc").write_text(text)


if __name__ == "__main__":
    main()
