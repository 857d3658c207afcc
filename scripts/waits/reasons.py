"""Why an answer may be another than PostgreSQL's: each reason by a name that is counted and printed. An answer that
none of them explains is unexpected."""
import re

# Statements that ours refuses by name, in the change or in the use.
REFUSED = re.compile(
    r"create (statistics|rule|aggregate|user mapping|cast)|comment on procedure|alter constraint|create table \w+ of |create schema \w+ create|merge into|^cluster |^alter table \w+ cluster|"
    r"set \(fillfactor|depends on extension|in database \w+ set|alter publication \w+ (add|set) tables in|create publication .* tables in|inherit|"
    r"on rr|into rr|trigger z instead of .* on rr|create user mapping|lc_collate|alter default privileges", re.I)
# A name that means something else, or nothing, since the first session has ended.
NAMES = ("42P01", "42704", "42883", "42703", "3F000", "42809", "42P07", "42710", "42723", "42701", "42P06", "22P02", "42P03", "42804", "42P17", "42846", "42601", "55000",
         "42501", "3D000", "2BP01", "23514", "42P16", "22023", "42939", "42P13", "42830", "42P10", "42725", "42712", "25P01")
DUPLICATES = ("42P07", "42710", "42723", "42P06", "42701", "42P04")


def is_error(word):
    return len(word) == 5 and word.isalnum() and any(c.isdigit() for c in word)


def words_of(heard):
    """Returns a word for each answer; "first 40001" and similar ones become one word."""
    return re.sub(r"^(the change|parse|first|before) ", lambda m: m.group(1).replace(" ", "-") + "-", heard).split(" ")


def two_kinds_of_names(cell, theirs, ours):
    """Known: an index and a composite type that two sessions make at once under one name both come to be."""
    both = cell[1], cell[3]
    return theirs[0] == "23505" and all(any(text.startswith(f"create {kind} z") for text in both) for kind in ("index", "type"))


def keeps_what_it_meant(cell, theirs, ours):
    """A prepared statement keeps the objects to which its constants referred by name."""
    return len(theirs) > 1 and ours[:2] == theirs[:1] * 2 and "prepare p as" in cell[3] and theirs[1] in NAMES


def refused_by_name(cell, theirs, ours):
    _, change, _, use, _ = cell
    of_row_type = use.startswith("comment on type") and change == "becomes a table"
    return any("0A000" in word for word in ours) and (of_row_type or bool(REFUSED.search(use) or REFUSED.search(change)))


def planned_again(cell, theirs, ours):
    """Our server says that the rows are not those of the statement any more; the repeated statement succeeds."""
    return ours[0] == "0A000" and len(ours) > 1 and ours[1] != "0A000" and theirs[-1] == ours[-1] and "truncate" not in cell[3]


def stumbles(cell, theirs, ours):
    return "XX000" in theirs and all(a == b or a == "XX000" or (is_error(b) and b in NAMES) or b == theirs[-1] for a, b in zip(theirs, ours))


def races(cell, theirs, ours):
    return theirs[0] == "23505" and ours[0] in DUPLICATES


def is_same_or_both_refuse(theirs, ours):
    """The answers are equal, or both refuse with different reasons, which depends on the order of checks."""
    return len(theirs) == len(ours) and all(a == b or (is_error(a) and is_error(b) and b in NAMES and a in NAMES + ("0A000", "26000"))
                                            for a, b in zip(theirs, ours))


def refuses_for_another_reason(cell, theirs, ours):
    return is_error(ours[0]) and is_error(theirs[0]) and is_same_or_both_refuse(theirs, ours)


def refuses_again_for_another_reason(cell, theirs, ours):
    return ours[0] == theirs[0] and is_same_or_both_refuse(theirs, ours)


def parse_keeps_locks(cell, theirs, ours):
    return theirs == ["the-change-57014"]


def holds_what_is_named(cell, theirs, ours):
    """Our server locks the objects that a definition in an open block names; PostgreSQL does not for types."""
    return ours == ["the-change-57014"] and "begin ;; create" in cell[3]


def keeps_grants(cell, theirs, ours):
    """In PostgreSQL 15 DROP OWNED leaves grants made by others than the owner, so DROP ROLE fails."""
    return theirs == ["the-change-2BP01"] and cell[0] == "role" and cell[1].startswith("the member")


def rewritten_is_empty(cell, theirs, ours):
    """PostgreSQL shows a rewritten table as empty to snapshots from before."""
    return theirs[0] in ("COPY_0", "SELECT_0", "UPDATE_0") and ours[0] in ("COPY_2", "SELECT_2", "UPDATE_2", "0A000")


def made_again(cell, theirs, ours):
    """PostgreSQL has defined the object in a schema that was dropped meanwhile, so it can be defined again; our server
    has it."""
    return len(theirs) == len(ours) == 3 and theirs[0] == theirs[1] == ours[0] and not is_error(theirs[0]) and ours[1] == theirs[2]


def does_more(cell, theirs, ours):
    """PostgreSQL does not know how to do it."""
    return theirs[0] in ("0A000", "2BP01", "22023") and not is_error(ours[0])


def own_function(cell, theirs, ours):
    return "swizzle_" in cell[3]


def other_database(cell, theirs, ours):
    return "database script" in cell[3]


def looks_again(cell, theirs, ours):
    """A prepared statement or a default of a temporary table is looked at again, which PostgreSQL does once."""
    return ours[0] == theirs[0] and len(ours) > 1 and len(theirs) > 1 and is_error(ours[1]) and ours[1] in NAMES and not is_error(theirs[1]) and (
        "prepare" in cell[3] or "create temp" in cell[3] or cell[0] == "role")


def others_temporary(cell, theirs, ours):
    """A temporary relation belongs to its session: others may drop the objects on which it depends."""
    return cell[0] == "temporary" and ours[-1].startswith("DROP_") and theirs[-1] == "2BP01"


def heeds_at_once(cell, theirs, ours):
    return cell[0] == "policy" and cell[1] == "the role may bypass"


def fails_and_then_not(cell, theirs, ours):
    """It goes by a relation that has gone while it waited, and says so."""
    return ours[0] in ("42P01", "42703", "42809") and len(ours) > 2 and ours[1:] == theirs[1:]


def goes_by_the_name(cell, theirs, ours):
    """PostgreSQL has resolved the name before it waited, so it does to the old object what a repeated statement cannot.
    Our server answers at once as for the repeated statement."""
    return is_error(ours[0]) and not is_error(theirs[0]) and len(theirs) > 1 and is_error(theirs[1])


def done_before(cell, theirs, ours):
    """Our server did not wait, as if the statement had come before the change."""
    return not is_error(ours[0]) and theirs[0] in NAMES and len(ours) > 1


REASONS = (
    ("another database's name", other_database),
    ("a function of ours alone", own_function),
    ("known: index and composite type of one name", two_kinds_of_names),
    ("what was prepared keeps what it meant", keeps_what_it_meant),
    ("refused by name here", refused_by_name),
    ("PostgreSQL says XX000 of what has gone or changed meanwhile", stumbles),
    ("PostgreSQL says 23505 of its catalog, ours that the name is taken", races),
    ("PostgreSQL's Parse keeps locks in an open block", parse_keeps_locks),
    ("the rows are no longer of the type that was told", planned_again),
    ("PostgreSQL goes by a name that it looked up before it waited", goes_by_the_name),
    ("ours comes before the change", done_before),
    ("refused for another reason", refuses_for_another_reason),
    ("refused the next time for another reason", refuses_again_for_another_reason),
    ("a definition in an open block holds what it names", holds_what_is_named),
    ("PostgreSQL's DROP OWNED leaves what others granted", keeps_grants),
    ("PostgreSQL shows a rewritten table as empty", rewritten_is_empty),
    ("PostgreSQL has defined it in what went away", made_again),
    ("PostgreSQL does not know how", does_more),
    ("looked at again at each run", looks_again),
    ("temporary relations are their session's own", others_temporary),
    ("a right is heeded at once", heeds_at_once),
    ("goes by what it found, and fails", fails_and_then_not),
)


def reason_for(cell, theirs, ours):
    words = words_of(theirs), words_of(ours)
    return next((name for name, explains in REASONS if explains(cell, *words)), None)
