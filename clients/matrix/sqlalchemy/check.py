"""SQLAlchemy 2: ORM with relationships, transactions, reflection."""
import datetime
import decimal
import sys

import sqlalchemy as sa
from sqlalchemy import orm

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


class Base(orm.DeclarativeBase):
    pass


class Customer(Base):
    __tablename__ = "sa_customer"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    name: orm.Mapped[str] = orm.mapped_column(sa.String(20), unique=True)
    since: orm.Mapped[datetime.datetime] = orm.mapped_column(server_default=sa.func.now())
    orders: orm.Mapped[list["Order"]] = orm.relationship(
        back_populates="customer", cascade="all, delete-orphan")


class Order(Base):
    __tablename__ = "sa_order"
    __table_args__ = (sa.CheckConstraint("total >= 0", name="sa_total"),
                      sa.Index("sa_order_customer", "customer_id"))
    id: orm.Mapped[int] = orm.mapped_column(sa.Identity(), primary_key=True)
    customer_id: orm.Mapped[int] = orm.mapped_column(
        sa.ForeignKey("sa_customer.id", ondelete="CASCADE"))
    total: orm.Mapped[decimal.Decimal] = orm.mapped_column(sa.Numeric(10, 2))
    customer: orm.Mapped[Customer] = orm.relationship(back_populates="orders")


def create():
    Base.metadata.drop_all(engine)
    Base.metadata.create_all(engine)


def insert():
    with orm.Session(engine) as session:
        ada = Customer(name="Ada", orders=[Order(total=decimal.Decimal("1.50")),
                                           Order(total=decimal.Decimal("2.25"))])
        session.add_all([ada, Customer(name="Grace")])
        session.commit()
        assert ada.since is not None


def query():
    with orm.Session(engine) as session:
        total = session.scalars(
            sa.select(sa.func.sum(Order.total)).join(Order.customer).where(Customer.name == "Ada")).one()
        assert total == decimal.Decimal("3.75"), total
        customers = session.scalars(
            sa.select(Customer).options(orm.selectinload(Customer.orders)).order_by(Customer.name)).all()
        assert [(c.name, len(c.orders)) for c in customers] == [("Ada", 2), ("Grace", 0)]


def update_and_delete():
    with orm.Session(engine) as session:
        ada = session.scalars(sa.select(Customer).filter_by(name="Ada")).one()
        ada.name = "Ada L."
        ada.orders.pop()
        session.commit()
        assert session.scalar(sa.select(sa.func.count()).select_from(Order)) == 1
        session.delete(ada)
        session.commit()
        assert session.scalar(sa.select(sa.func.count()).select_from(Order)) == 0


def errors():
    with orm.Session(engine) as session:
        session.add(Customer(name="Grace"))
        try:
            session.commit()
        except sa.exc.IntegrityError:
            session.rollback()
        else:
            raise AssertionError("no error")
        assert session.scalar(sa.select(sa.func.count()).select_from(Customer)) == 1


def savepoint():
    with orm.Session(engine) as session, session.begin():
        nested = session.begin_nested()
        session.add(Customer(name="nobody"))
        session.flush()
        nested.rollback()
        session.add(Customer(name="Barbara"))
    with orm.Session(engine) as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Customer)) == 2


def isolation():
    with engine.connect().execution_options(isolation_level="SERIALIZABLE") as connection:
        assert connection.exec_driver_sql("SHOW transaction_isolation").scalar() == "serializable"


def upsert():
    from sqlalchemy.dialects import postgresql
    with engine.begin() as connection:
        insert = postgresql.insert(Customer).values(name="Grace")
        changed = connection.execute(
            insert.on_conflict_do_update(index_elements=["name"], set_={"name": "Grace H."})
            .returning(Customer.name)).scalar()
        assert changed == "Grace H.", changed


def reflect_names():
    inspector = sa.inspect(engine)
    assert {"sa_customer", "sa_order"} <= set(inspector.get_table_names())
    assert "information_schema" in inspector.get_schema_names()


def reflect_columns():
    columns = {c["name"]: c for c in sa.inspect(engine).get_columns("sa_order")}
    assert list(columns) == ["id", "customer_id", "total"], list(columns)
    assert str(columns["total"]["type"]) == "NUMERIC(10, 2)"
    assert columns["id"]["identity"]["start"] == 1


def reflect_keys():
    inspector = sa.inspect(engine)
    assert inspector.get_pk_constraint("sa_order")["constrained_columns"] == ["id"]
    key = inspector.get_foreign_keys("sa_order")[0]
    assert (key["referred_table"], key["options"]) == ("sa_customer", {"ondelete": "CASCADE"}), key
    assert inspector.get_indexes("sa_order")[0]["name"] == "sa_order_customer"
    assert inspector.get_unique_constraints("sa_customer")[0]["column_names"] == ["name"]
    assert inspector.get_check_constraints("sa_order")[0]["name"] == "sa_total"


def reflect_all():
    metadata = sa.MetaData()
    metadata.reflect(engine, only=["sa_customer", "sa_order"])
    assert metadata.tables["sa_order"].c.customer_id.foreign_keys


def drop():
    Base.metadata.drop_all(engine)
    assert not sa.inspect(engine).has_table("sa_order")


step("create tables", create)
step("insert", insert)
step("query and join", query)
step("update and delete", update_and_delete)
step("unique violation", errors)
step("savepoint", savepoint)
step("isolation level", isolation)
step("on conflict", upsert)
step("reflect names", reflect_names)
step("reflect columns", reflect_columns)
step("reflect keys and indexes", reflect_keys)
step("reflect all", reflect_all)
step("drop tables", drop)
sys.exit(failures)
