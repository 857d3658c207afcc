#!/usr/bin/env python3
"""Writes unaccent_rules.inc: what unaccent() puts in the place of a character. From Python's Unicode data: a
letter with marks becomes the letter, a ligature and its like what it is made of; and from the list below.

Usage: generate_unaccent.py"""
import pathlib
import re
import unicodedata

HERE = pathlib.Path(__file__).resolve().parent
# Letters that Unicode does not take apart: with a stroke, a hook or a curl, and those of Germanic languages.
WRITTEN = {
    "Æ": "AE", "æ": "ae", "Ø": "O", "ø": "o", "ß": "ss", "ẞ": "SS", "Ð": "D", "ð": "d", "Þ": "TH", "þ": "th", "Đ": "D",
    "đ": "d", "Ħ": "H", "ħ": "h", "ı": "i", "ĸ": "q", "Ł": "L", "ł": "l", "Ŋ": "N", "ŋ": "n", "Œ": "OE", "œ": "oe",
    "Ŧ": "T", "ŧ": "t", "ƀ": "b", "Ɓ": "B", "Ƃ": "B", "ƃ": "b", "Ƈ": "C", "ƈ": "c", "Ɖ": "D", "Ɗ": "D", "Ƌ": "D",
    "ƌ": "d", "Ɛ": "E", "Ƒ": "F", "ƒ": "f", "Ɠ": "G", "ƕ": "hv", "Ɩ": "I", "Ɨ": "I", "Ƙ": "K", "ƙ": "k", "ƚ": "l",
    "Ɲ": "N", "ƞ": "n", "Ƣ": "OI", "ƣ": "oi", "Ƥ": "P", "ƥ": "p", "ƫ": "t", "Ƭ": "T", "ƭ": "t", "Ʈ": "T", "Ʋ": "V",
    "Ƴ": "Y", "ƴ": "y", "Ƶ": "Z", "ƶ": "z", "Ǥ": "G", "ǥ": "g", "ȡ": "d", "Ȥ": "Z", "ȥ": "z", "ȴ": "l", "ȵ": "n",
    "ȶ": "t", "ȷ": "j", "ȸ": "db", "ȹ": "qp", "Ⱥ": "A", "Ȼ": "C", "ȼ": "c", "Ƚ": "L", "Ⱦ": "T", "ȿ": "s", "ɀ": "z",
    "Ƀ": "B", "Ʉ": "U", "Ɇ": "E", "ɇ": "e", "Ɉ": "J", "ɉ": "j", "Ɍ": "R", "ɍ": "r", "Ɏ": "Y", "ɏ": "y",
    "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "―": "-", "‘": "'", "’": "'", "‚": ",", "‛": "'", "“": '"',
    "”": '"', "„": ",,", "‟": '"', "‹": "<", "›": ">", "«": "<<", "»": ">>", "…": "...", "×": "*", "÷": "/",
    "©": "(C)", "®": "(R)", "±": "+/-", "¡": "!", "¿": "?", "\xad": "-", "ʹ": "'", "ʺ": '"', "ʻ": "'", "ʼ": "'", "ʽ": "'", "˂": "<", "˃": ">", "˄": "^",
    "ˆ": "^", "ˈ": "'", "ˋ": "`", "ː": ":", "˖": "+", "˗": "-", "˜": "~", "ɶ": "OE", "ʣ": "dz", "ʥ": "dz", "ʦ": "ts", "ʪ": "ls",
    "ʫ": "lz", "ᴁ": "AE", "ᵫ": "ue", "ᵺ": "th", "ẜ": "s", "ẝ": "s", "Ỻ": "LL", "ỻ": "ll", "Ỽ": "V", "ỽ": "v", "‖": "||", "′": "'",
    "″": '"', "⁄": "/", "⁅": "[", "⁆": "]", "⁎": "*", "Ǆ": "DZ", "ǅ": "Dz", "ǆ": "dz", "ǈ": "Lj", "ǋ": "Nj", "ǲ": "Dz", "−": "-", "₤": "L.", "ё": "е", "Ё": "Е",
}


NAMED = re.compile(r"LATIN (CAPITAL|SMALL) LETTER ([A-Z])(?: WITH .*)?$|LATIN LETTER SMALL CAPITAL ([A-Z]{1,2})$")
# Kinds of compatibility forms that are the same text in another dress.
DRESSES = {"<compat>", "<fraction>", "<wide>", "<square>"}


def spelled(text):
    return "".join(WRITTEN.get(c, c) for c in text)


def is_letter_of(text, scripts):
    return len(text) == 1 and any(unicodedata.name(text, "").startswith(script) for script in scripts)


def without_marks(character):
    """Returns a Latin or Greek letter without its marks, the Latin letter in its name, or the plain form of a
    compatibility character; None if it has none of these."""
    form = unicodedata.normalize("NFD", character)
    plain = "".join(c for c in form if not unicodedata.combining(c))
    is_alias = len(unicodedata.decomposition(character).split()) == 1
    if len(form) > 1 and not is_alias and is_letter_of(plain, ("LATIN", "GREEK")):
        return spelled(plain)
    named = NAMED.match(unicodedata.name(character, ""))
    if named and ord(character) > 0x7F:
        letter = named.group(2) or named.group(3)
        return letter.lower() if named.group(1) == "SMALL" else letter
    kind = unicodedata.decomposition(character).split(" ")[0]
    if kind in DRESSES:
        plain = spelled("".join(c for c in unicodedata.normalize("NFKC", character).replace("\u2044", "/")))
        if plain and plain != character and plain.isascii() and plain.strip():
            return plain
    return None


def main():
    rules = {}
    for code in range(0x80, 0x10000):
        if 0xD800 <= code < 0xE000:
            continue
        character = chr(code)
        plain = "" if 0x300 <= code <= 0x362 else WRITTEN.get(character) or without_marks(character)
        if plain is not None:
            rules[code] = plain
    lines = ["// Written by generate_unaccent.py from Unicode's decompositions.", "// clang-format off",
             "constexpr UnaccentRule kUnaccentRules[] = {"]
    for code, plain in sorted(rules.items()):
        text = plain.replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'    {{0x{code:04X}, "{text}"}},')
    lines += ["};", "// clang-format on", ""]
    (HERE / "unaccent_rules.inc").write_text("\n".join(lines))
    print(len(rules), "rules")


if __name__ == "__main__":
    main()
