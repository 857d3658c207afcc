"""Django: migrations, CRUD, queries, transactions, introspection."""
import io
import os
import pathlib
import shutil
import sys
import tempfile

# An application of two models, whose migrations Django writes itself.
place = pathlib.Path(tempfile.mkdtemp())
application = place / "shop"
(application / "migrations").mkdir(parents=True)
(application / "__init__.py").touch()
(application / "migrations" / "__init__.py").touch()
(application / "models.py").write_text('''
from django.db import models

class Author(models.Model):
    name = models.CharField(max_length=40, unique=True)
    born = models.DateField(null=True)

class Book(models.Model):
    title = models.CharField(max_length=80, db_index=True)
    price = models.DecimalField(max_digits=8, decimal_places=2)
    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="books")
    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(price__gte=0), name="price_sane")]
''')
sys.path.insert(0, str(place))

import django
from django.conf import settings

settings.configure(
    INSTALLED_APPS=["shop"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    USE_TZ=True,
    DATABASES={"default": {
        "ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"],
        "USER": os.environ["PGUSER"], "PASSWORD": os.environ["PGPASSWORD"],
        "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"]}})
django.setup()

from django.core.management import call_command
from django.db import IntegrityError, connection, models, transaction

from shop.models import Author, Book

failures = 0


def step(name, body):
    global failures
    try:
        body()
        print(f"ok {name}")
    except Exception as error:  # every kind of failure is a line of the report
        print(f"FAIL {name}: {type(error).__name__} {str(error)[:300]}".replace("\n", " "))
        failures += 1


def migrate():
    call_command("makemigrations", "shop", verbosity=0)
    call_command("migrate", verbosity=0)
    assert "shop_book" in connection.introspection.table_names()


def create():
    ada = Author.objects.create(name="Ada")
    Book.objects.bulk_create([Book(title=f"Notes {i}", price=i, author=ada) for i in range(5)])
    assert ada.books.count() == 5


def query():
    titles = Book.objects.filter(author__name__startswith="A", price__gt=2).order_by("-price")
    assert [b.title for b in titles] == ["Notes 4", "Notes 3"]
    row = Author.objects.annotate(n=models.Count("books"), total=models.Sum("books__price")).get()
    assert (row.n, row.total) == (5, 10)
    assert Book.objects.filter(title__icontains="NOTES").exists()


def update():
    assert Book.objects.filter(price__lt=2).update(price=models.F("price") + 10) == 2
    author, created = Author.objects.update_or_create(name="Ada", defaults={"born": "1815-12-10"})
    assert not created


def unique():
    try:
        with transaction.atomic():
            Author.objects.create(name="Ada")
    except IntegrityError:
        return
    raise AssertionError("no error")


def savepoints():
    with transaction.atomic():
        Author.objects.create(name="Grace")
        try:
            with transaction.atomic():
                Author.objects.create(name="nobody")
                raise RuntimeError
        except RuntimeError:
            pass
    assert set(Author.objects.values_list("name", flat=True)) == {"Ada", "Grace"}


def locking():
    with transaction.atomic():
        assert Author.objects.select_for_update().get(name="Ada").pk


def introspection():
    with connection.cursor() as cursor:
        constraints = connection.introspection.get_constraints(cursor, "shop_book")
        assert constraints["price_sane"]["check"]
        assert any(c["foreign_key"] == ("shop_author", "id") for c in constraints.values())
        fields = [f.name for f in connection.introspection.get_table_description(cursor, "shop_book")]
        assert fields == ["id", "title", "price", "author_id"], fields


def second_migration():
    field = models.CharField(max_length=2, default="uk")
    field.set_attributes_from_name("country")
    with connection.schema_editor() as editor:
        editor.add_field(Author, field)
    with connection.cursor() as cursor:
        cursor.execute("SELECT country FROM shop_author WHERE name = 'Ada'")
        assert cursor.fetchone() == ("uk",)
    with connection.schema_editor() as editor:
        editor.remove_field(Author, field)


def delete():
    deleted, _ = Author.objects.filter(name="Ada").delete()
    assert deleted == 6, deleted


def inspect():
    out = io.StringIO()
    call_command("inspectdb", stdout=out)
    assert "class ShopBook" in out.getvalue()


def back():
    call_command("migrate", "shop", "zero", verbosity=0)
    assert "shop_book" not in connection.introspection.table_names()


step("migrate", migrate)
step("create", create)
step("query", query)
step("update", update)
step("unique violation", unique)
step("savepoints", savepoints)
step("select for update", locking)
step("introspection", introspection)
step("add and remove a field", second_migration)
step("delete with cascade", delete)
step("inspectdb", inspect)
step("migrate back", back)
shutil.rmtree(place)
sys.exit(failures)
