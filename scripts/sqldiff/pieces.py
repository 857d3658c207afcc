"""Random statements as trees of text, so that one that answers differently can be made smaller.

A piece has a kind: of two pieces of one kind each can stand where the other does. Expressions have
their type's name as kind."""
import dataclasses


class Piece:
    """Text and smaller pieces. An optional one may be left out of its statement."""

    __slots__ = ("kind", "optional", "parts")

    def __init__(self, kind, *parts, optional=False):
        self.kind = kind
        self.parts = parts
        self.optional = optional

    def with_parts(self, parts):
        return Piece(self.kind, *parts, optional=self.optional)


class Series(Piece):
    """Pieces with a separator between them; any of them but the last one left may go."""

    __slots__ = ("separator",)

    def __init__(self, separator, parts):
        super().__init__("series", *parts)
        self.separator = separator

    def with_parts(self, parts):
        return Series(self.separator, parts)


class Literal(Piece):
    """A constant: as `written` in the text, or as a parameter of its type."""

    __slots__ = ("text", "written")

    def __init__(self, kind, text, written):
        super().__init__(kind)
        self.text = text
        self.written = written

    def with_parts(self, parts):
        return self


@dataclasses.dataclass
class Parameters:
    """Collects the literals of one statement as its parameters."""
    values: list = dataclasses.field(default_factory=list)
    numbers: dict = dataclasses.field(default_factory=dict)

    def place(self, literal):
        # One literal that stands twice, in a target and in GROUP BY say, is one parameter.
        if id(literal) not in self.numbers:
            self.values.append(literal.text)
            self.numbers[id(literal)] = len(self.values)
        return f"${self.numbers[id(literal)]}::{literal.kind[1:]}"


def render(piece, parameters=None):
    if isinstance(piece, str):
        return piece
    if isinstance(piece, Literal):
        return parameters.place(piece) if parameters else piece.written
    if isinstance(piece, Series):
        return piece.separator.join(render(part, parameters) for part in piece.parts)
    return "".join(render(part, parameters) for part in piece.parts)


def literals(piece):
    if isinstance(piece, Literal):
        yield piece
    elif isinstance(piece, Piece):
        for part in piece.parts:
            yield from literals(part)


def replaced(piece, replacements):
    """The tree with other pieces in the place of some, by identity."""
    if isinstance(piece, str):
        return piece
    if id(piece) in replacements:
        return replacements[id(piece)]
    if not piece.parts:
        return piece
    parts = [replaced(part, replacements) for part in piece.parts]
    if all(new is old for new, old in zip(parts, piece.parts)):
        return piece
    return piece.with_parts(parts)


def all_pieces(piece):
    """The tree's pieces, larger ones first within each path."""
    if isinstance(piece, Piece):
        yield piece
        for part in piece.parts:
            yield from all_pieces(part)


def smaller(tree):
    """Trees that are a step smaller: the larger steps first."""
    for piece in all_pieces(tree):
        if piece.optional:
            yield replaced(tree, {id(piece): Piece(piece.kind)})
        if isinstance(piece, Series) and len(piece.parts) > 1:
            for index in range(len(piece.parts)):
                parts = piece.parts[:index] + piece.parts[index + 1:]
                yield replaced(tree, {id(piece): piece.with_parts(parts)})
        for inner in all_pieces(piece):
            if inner is not piece and inner.kind == piece.kind and piece.kind not in ("series", "text"):
                yield replaced(tree, {id(piece): inner})
    for piece in all_pieces(tree):
        # A column or a literal is as small as an expression gets.
        if piece.parts and piece.kind.startswith("=") and len(render(piece)) > 20:
            yield replaced(tree, {id(piece): Piece(piece.kind, f"null::{piece.kind[1:]}")})


def shrink(tree, still_differs, tries=400):
    """The smallest tree found whose answers still differ."""
    while tries > 0:
        for candidate in smaller(tree):
            tries -= 1
            if tries <= 0 or still_differs(candidate):
                break
        else:
            return tree
        if tries > 0:
            tree = candidate
    return tree
