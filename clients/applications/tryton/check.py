"""A company's books: its schema by modules with exclusion constraints, sales that become shipments and invoices, what
they refuse, searches, reports, two clients at a time, a worker woken by NOTIFY."""
import contextlib
import datetime
import os
import pathlib
import subprocess
import sys
import threading
import time
import warnings
from decimal import Decimal

from steps import step

warnings.simplefilter("ignore")
port = int(os.environ["PORTS"])
database = os.environ["PGDATABASE"]
pathlib.Path("trytond.conf").write_text(f"""
[database]
uri = {os.environ["DATABASE_URL"].rsplit("/", 1)[0]}/
[web]
listen = 127.0.0.1:{port}
[queue]
worker = True
[session]
timeout = 3000
""")
pathlib.Path("password").write_text("checking")
environment = os.environ | {"TRYTONPASSFILE": "password", "TRYTOND_CONFIG": "trytond.conf"}
programs = pathlib.Path(os.environ["PROGRAMS"])


def admin(*words):
    done = subprocess.run([programs / "trytond-admin", "-c", "trytond.conf", "-d", database, *words], env=environment,
                          capture_output=True, text=True, timeout=200)
    print(done.stdout[-3000:], done.stderr[-3000:])
    assert done.returncode == 0, f"trytond-admin {' '.join(words)}: {done.stderr.strip().splitlines()[-1:]}"


def expect(got, wanted):
    assert got == wanted, f"{got!r} instead of {wanted!r}"


def refused(what, kind):
    try:
        what()
    except kind as fault:
        print("refused:", fault)
        return
    raise AssertionError("not refused")


def until(seconds, condition):
    for _ in range(seconds * 10):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError(f"not within {seconds} s")


def connect():
    return config.set_xmlrpc_session(f"http://127.0.0.1:{port}/{database}/rpc/", "admin", "checking")


with step("schema"):
    admin("--all", "--email", "ada@example.com")
with step("modules"):
    admin("-u", "sale", "--activate-dependencies")
with step("an update finds it as it is"):
    admin("--all")

from proteus import Model, Report, Wizard, config  # noqa: E402
from trytond.modules.account.tests.tools import (  # noqa: E402
    create_chart, create_fiscalyear, create_tax, get_accounts)
from trytond.modules.account_invoice.tests.tools import (  # noqa: E402
    create_payment_term, set_fiscalyear_invoice_sequences)
from trytond.modules.company.tests.tools import create_company  # noqa: E402

sessions = contextlib.ExitStack()
servers = [subprocess.Popen([programs / "trytond", "-c", "trytond.conf", "-d", database], env=environment)]
try:
    with step("server"):
        for attempt in range(300):
            assert servers[0].poll() is None, "the server has ended"
            try:
                session = sessions.enter_context(connect())
                break
            except OSError:
                time.sleep(0.1)
    with step("a company"):
        create_company()
        create_chart()
        year = set_fiscalyear_invoice_sequences(create_fiscalyear())
        year.click("create_period")
        expect(len(year.periods), 12)
        accounts = get_accounts()
        tax = create_tax(Decimal(".10"))
        tax.save()
        Category = Model.get("product.category")
        books = Category(name="Books", accounting=True, account_expense=accounts["expense"], account_revenue=accounts["revenue"])
        books.customer_taxes.append(tax)
        books.save()
        term = create_payment_term()
        term.save()
    with step("what is refused"):
        # By exclusion constraints over ranges, and over a value that may be missing.
        Year = Model.get("account.fiscalyear")
        refused(lambda: set_fiscalyear_invoice_sequences(create_fiscalyear()).save(), Exception)
        expect(len(Year.find([])), 1)
        Kind = Model.get("party.category")
        staff = Kind(name="Staff")
        staff.save()
        Kind(name="Cooks", parent=staff).save()
        refused(lambda: Kind(name="Staff").save(), Exception)
        refused(lambda: Kind(name="Cooks", parent=staff).save(), Exception)
        Kind(name="Cooks").save()
        expect(sorted(one.rec_name for one in Kind.find([])), ["Cooks", "Staff", "Staff / Cooks"])
        refused(lambda: Model.get("party.party")(name="Ada", lang=999).save(), Exception)
    Party = Model.get("party.party")
    Template = Model.get("product.template")
    with step("parties and products"):
        for i in range(60):
            party = Party(name=f"Müller & Söhne {i}" if i % 3 == 0 else f"Customer {i}", code=f"C{i:03}")
            address, = party.addresses
            address.street, address.city, address.postal_code = f"Road {i}", "Hamburg" if i % 2 else "Bremen", f"{20000 + i}"
            party.save()
        unit, = Model.get("product.uom").find([("name", "=", "Unit")])
        goods = Template(name="Atlas", default_uom=unit, type="goods", salable=True, list_price=Decimal("10"), account_category=books)
        goods.products[0].suffix_code = "A1"
        goods.save()
        atlas, = goods.products
        again = Template(name="Other", default_uom=unit, type="goods")
        again.products[0].suffix_code = "A1"
        refused(again.save, Exception)
        store, = Model.get("stock.location").find([("code", "=", "STO")])
        inventory = Model.get("stock.inventory")(location=store)
        inventory.lines.new(product=atlas, quantity=100.0, expected_quantity=0.0)
        inventory.click("confirm")
        expect(inventory.state, "done")
    with step("searches"):
        expect(len(Party.find([("name", "ilike", "%söhne%")])), 20)
        expect(len(Party.find([("addresses.city", "=", "Bremen"), ("code", ">", "C050")])), 4)
        expect([one.code for one in Party.find([("rec_name", "ilike", "customer%")], order=[("code", "DESC")], limit=2, offset=1)], ["C058", "C056"])
        expect(len(Party.find(["OR", ("code", "in", ["C001", "C002"]), [("name", "like", "M%"), ("code", "<", "C010")]])), 6)
        Address = Model.get("party.address")
        found = Address.find([("party.name", "like", "M%")], order=[("city", "ASC"), ("postal_code", "DESC")], limit=1)
        expect(found[0].postal_code, "20054")
        expect(Party.find([("name", "=", "x")]), [])
    Sale = Model.get("sale.sale")

    def sell(party, *quantities):
        sale = Model.get("sale.sale")(party=Model.get("party.party")(party.id), payment_term=Model.get("account.invoice.payment_term")(term.id))
        for quantity in quantities:
            line = sale.lines.new()
            line.product = Model.get("product.product")(atlas.id)
            line.quantity = quantity
        sale.click("quote")
        sale.click("confirm")
        return sale

    customer, other = Party.find([("code", "in", ["C001", "C002"])], order=[("code", "ASC")])
    servers.append(subprocess.Popen([programs / "trytond-worker", "-c", "trytond.conf", "-d", database, "-n", "2"], env=environment))
    with step("a sale that the worker goes on with"):
        # By itself it looks only once a minute.
        time.sleep(3)
        sale = sell(customer, 2.0, 3.0)
        expect(sale.total_amount, Decimal("55.00"))
        until(30, lambda: Sale(sale.id).state == "processing")
        sale.reload()
        invoice, = sale.invoices
        shipment, = sale.shipments
        for button in ("assign_try", "pick", "pack", "do"):
            shipment.click(button)
        invoice.click("post")
        until(30, lambda: (Sale(sale.id).shipment_state, Sale(sale.id).invoice_state) == ("sent", "awaiting payment"))
        method = Model.get("account.invoice.payment.method")(name="Cash", credit_account=accounts["cash"], debit_account=accounts["cash"])
        method.journal, = Model.get("account.journal").find([("type", "=", "cash")])
        method.save()
        pay = invoice.click("pay")
        pay.form.payment_method = method
        pay.execute("choice")
        until(30, lambda: Model.get("account.invoice")(invoice.id).state == "paid")
        refused(lambda: Sale.delete([sale]), Exception)
        with session.set_context(locations=[store.id]):
            expect(Model.get("product.product")(atlas.id).quantity, 95.0)
    with step("two at a time"):
        failures = []

        def client(party):
            try:
                with connect():
                    for _ in range(8):
                        sell(party, 1.0)
            except BaseException as fault:
                failures.append(fault)

        clients = [threading.Thread(target=client, args=(party,)) for party in (customer, other)]
        for one in clients:
            one.start()
        for one in clients:
            one.join()
        assert not failures, failures[0]
        until(100, lambda: len(Sale.find([("state", "=", "processing")])) == 16)
        numbers = sorted(int(one.number) for one in Sale.find([]))
        expect(numbers, list(range(1, len(numbers) + 1)))
    with step("reports"):
        context = {"from_date": year.start_date, "to_date": year.end_date, "period": "month"}
        with session.set_context(context=context):
            rows = Model.get("sale.reporting.customer").find([])
            expect({(row.customer.code, row.number, row.revenue) for row in rows},
                   {("C001", 9, Decimal("130")), ("C002", 8, Decimal("80"))})
            expect(sum(row.revenue for row in Model.get("sale.reporting.product.time_series").find([])), Decimal("210"))
        context = {"company": session.context["company"], "fiscalyear": year.id}
        with session.set_context(context):
            ledger = Model.get("account.general_ledger.account").find([("account", "=", accounts["revenue"].id)])
            expect((ledger[0].credit, ledger[0].line_count), (Decimal("50.00"), 2))
        assert Report("account.trial_balance", context=context).execute(Model.get("account.general_ledger.account").find([]))[0]
        with session.set_context({**context, "type": "customer", "date": datetime.date.today(), "term1": 30, "term2": 60, "term3": 90, "unit": "day"}):
            Model.get("account.aged_balance").find([])
        kind, content, _, name = Report("sale.sale").execute([sale], {})
        assert kind == "odt" and len(content) > 1000, name
finally:
    with contextlib.suppress(OSError):
        sessions.close()
    for one in servers:
        one.terminate()
    for one in servers:
        try:
            one.wait(20)
        except subprocess.TimeoutExpired:
            one.kill()
with step("a clean-up by time"):
    done = subprocess.run([programs / "trytond-cron", "-c", "trytond.conf", "-d", database, "--once"], env=environment,
                          capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
sys.exit(0)
