"""Alembic: migrations by operations, and autogenerate, which must find what is there and nothing more."""
import sys

import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy.dialects import postgresql

failures = 0


def step(name, body):
    global failures
    try:
        body()
        print(f"ok {name}")
    except Exception as error:  # every kind of failure is a line of the report
        print(f"FAIL {name}: {type(error).__name__} {str(error)[:300]}".replace("\n", " "))
        failures += 1


engine = sa.create_engine("postgresql+psycopg://")
model = sa.MetaData()
# Every kind of default and constraint that autogenerate compares as text with what the server shows.
sa.Table(
    "al_person", model,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("email", sa.String(80), nullable=False, unique=True),
    sa.Column("name", sa.Text, server_default="x", comment="the name"),
    sa.Column("balance", sa.Numeric(10, 2), server_default=sa.text("0")),
    sa.Column("limits", sa.Numeric(10, 2), server_default="0"),
    sa.Column("made", sa.DateTime(timezone=True), server_default=sa.func.now()),
    sa.Column("seen", sa.DateTime, server_default=sa.text("CURRENT_TIMESTAMP")),
    sa.Column("utc", sa.DateTime, server_default=sa.text("timezone('utc', now())")),
    sa.Column("day", sa.Date, server_default=sa.func.current_date()),
    sa.Column("data", postgresql.JSONB, server_default=sa.text("'{}'::jsonb")),
    sa.Column("numbers", postgresql.ARRAY(sa.Integer), server_default="{}"),
    sa.Column("words", postgresql.ARRAY(sa.Text), server_default=sa.text("ARRAY[]::text[]")),
    sa.Column("key", postgresql.UUID, server_default=sa.text("gen_random_uuid()")),
    sa.Column("number", sa.BigInteger, sa.Identity(start=5)),
    sa.Column("twice", sa.Integer, sa.Computed("id * 2")),
    sa.Column("state", sa.String(10), server_default="new"),
    sa.CheckConstraint("balance >= 0", name="al_balance"),
    sa.Index("al_low", sa.text("lower(email)")),
    sa.Index("al_named", "name", postgresql_where=sa.text("name <> ''")),
    sa.Index("al_recent", sa.text("made DESC")),
    sa.Index("al_covering", "state", postgresql_include=["day"]),
    comment="people")
sa.Table(
    "al_note", model,
    sa.Column("id", sa.BigInteger, primary_key=True),
    sa.Column("person", sa.Integer, sa.ForeignKey(
        "al_person.id", name="al_note_person", ondelete="CASCADE", deferrable=True, initially="DEFERRED")),
    sa.Column("title", sa.String),
    sa.UniqueConstraint("person", "title", name="al_note_titles"),
    sa.Index("al_note_by_person", "person"))


def differences(metadata):
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={
            "compare_type": True, "compare_server_default": True,
            "include_name": lambda name, kind, _: kind != "table" or name.startswith("al_")})
        return compare_metadata(context, metadata)


def create():
    model.drop_all(engine)
    model.create_all(engine)


def nothing_to_do():
    found = differences(model)
    assert not found, found


def migrate():
    with engine.begin() as connection:
        op = Operations(MigrationContext.configure(connection))
        op.add_column("al_note", sa.Column("rank", sa.SmallInteger, server_default="1", nullable=False))
        op.alter_column("al_note", "title", type_=sa.String(40), nullable=False, server_default="untitled")
        op.alter_column("al_note", "rank", new_column_name="place")
        op.drop_constraint("al_note_titles", "al_note", type_="unique")
        op.create_check_constraint("al_note_place", "al_note", "place > 0")
        op.create_index("al_note_places", "al_note", ["place", sa.text("title DESC")], unique=True)
        op.create_table_comment("al_note", "notes")
        op.bulk_insert(sa.table("al_note", sa.column("title"), sa.column("place")),
                       [{"title": "a", "place": 1}, {"title": "b", "place": 2}])
        op.execute("UPDATE al_note SET place = place + 10")
        op.drop_index("al_note_by_person", "al_note")


def found_again():
    kinds = sorted(change[0] if isinstance(change, tuple) else change[0][0] for change in differences(model))
    wanted = {"add_constraint", "add_index", "modify_nullable", "remove_column", "remove_index",
              "remove_table_comment"}
    assert set(kinds) == wanted, kinds


def undone():
    try:
        with engine.begin() as connection:
            op = Operations(MigrationContext.configure(connection))
            op.drop_table("al_note")
            op.drop_column("al_person", "email")
            raise ZeroDivisionError
    except ZeroDivisionError:
        pass
    assert {"al_note", "al_person"} <= set(sa.inspect(engine).get_table_names())
    assert "email" in [column["name"] for column in sa.inspect(engine).get_columns("al_person")]


step("create", create)
step("autogenerate finds no difference", nothing_to_do)
step("operations", migrate)
step("autogenerate finds what operations changed", found_again)
step("a failed migration leaves nothing", undone)
step("drop", lambda: model.drop_all(engine))
sys.exit(failures)
