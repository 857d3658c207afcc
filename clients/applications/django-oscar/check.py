"""A shop made with Django: its migrations, a catalogue, a basket, an order, a search, a voucher's offer."""
import os

import django
from django.conf import settings
from oscar import defaults

from steps import step

settings.configure(
    **{name: getattr(defaults, name) for name in dir(defaults) if name.isupper()},
    SECRET_KEY="check", SITE_ID=1, USE_TZ=True, ROOT_URLCONF="oscar.urls", DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"],
                           "USER": os.environ["PGUSER"], "PASSWORD": os.environ["PGPASSWORD"],
                           "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"], "ATOMIC_REQUESTS": True}},
    HAYSTACK_CONNECTIONS={"default": {"ENGINE": "haystack.backends.simple_backend.SimpleEngine"}},
    INSTALLED_APPS=[
        "django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions",
        "django.contrib.messages", "django.contrib.staticfiles", "django.contrib.sites", "django.contrib.flatpages",
        "oscar.config.Shop", "oscar.apps.analytics.apps.AnalyticsConfig", "oscar.apps.checkout.apps.CheckoutConfig",
        "oscar.apps.address.apps.AddressConfig", "oscar.apps.shipping.apps.ShippingConfig",
        "oscar.apps.catalogue.apps.CatalogueConfig", "oscar.apps.catalogue.reviews.apps.CatalogueReviewsConfig",
        "oscar.apps.communication.apps.CommunicationConfig", "oscar.apps.partner.apps.PartnerConfig",
        "oscar.apps.basket.apps.BasketConfig", "oscar.apps.payment.apps.PaymentConfig",
        "oscar.apps.offer.apps.OfferConfig", "oscar.apps.order.apps.OrderConfig",
        "oscar.apps.customer.apps.CustomerConfig", "oscar.apps.search.apps.SearchConfig",
        "oscar.apps.voucher.apps.VoucherConfig", "oscar.apps.wishlists.apps.WishlistsConfig",
        "oscar.apps.dashboard.apps.DashboardConfig", "oscar.apps.dashboard.reports.apps.ReportsDashboardConfig",
        "oscar.apps.dashboard.users.apps.UsersDashboardConfig", "oscar.apps.dashboard.orders.apps.OrdersDashboardConfig",
        "oscar.apps.dashboard.catalogue.apps.CatalogueDashboardConfig",
        "oscar.apps.dashboard.offers.apps.OffersDashboardConfig",
        "oscar.apps.dashboard.partners.apps.PartnersDashboardConfig",
        "oscar.apps.dashboard.pages.apps.PagesDashboardConfig", "oscar.apps.dashboard.ranges.apps.RangesDashboardConfig",
        "oscar.apps.dashboard.reviews.apps.ReviewsDashboardConfig",
        "oscar.apps.dashboard.vouchers.apps.VouchersDashboardConfig",
        "oscar.apps.dashboard.communications.apps.CommunicationsDashboardConfig",
        "oscar.apps.dashboard.shipping.apps.ShippingDashboardConfig",
        "widget_tweaks", "haystack", "treebeard", "sorl.thumbnail", "django_tables2"],
    MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware",
                "django.contrib.auth.middleware.AuthenticationMiddleware",
                "django.contrib.messages.middleware.MessageMiddleware",
                "oscar.apps.basket.middleware.BasketMiddleware"])
django.setup()

from decimal import Decimal  # noqa: E402

from django.contrib.auth import get_user_model  # noqa: E402
from django.core.management import call_command  # noqa: E402

with step("migrate"):
    call_command("migrate", verbosity=0)

from django.db.models import Count, Max  # noqa: E402
from oscar.core.loading import get_model  # noqa: E402
from oscar.test import factories  # noqa: E402
from oscar.test.basket import add_product  # noqa: E402

Category = get_model("catalogue", "Category")
Product = get_model("catalogue", "Product")
StockRecord = get_model("partner", "StockRecord")
Order = get_model("order", "Order")

with step("catalogue"):
    root = Category.add_root(name="Books")
    shelves = [root.add_child(name=f"Shelf {i}") for i in range(5)]
    products = []
    for i in range(30):
        product = factories.create_product(title=f"Book {i}", price=Decimal("9.99") + i, num_in_stock=10)
        product.categories.add(shelves[i % 5])
        products.append(product)
    shelves[4].move(shelves[0], pos="first-child")
    assert root.get_descendants().count() == 5 and Category.objects.get(name="Shelf 4").depth == 3
    assert Product.objects.filter(categories=shelves[1]).count() == 6
with step("order"):
    user = get_user_model().objects.create_user("buyer", "buyer@example.com", "secret")
    basket = factories.create_basket(empty=True)
    basket.owner = user
    basket.save()
    for product in products[:3]:
        add_product(basket, product=product)
    order = factories.create_order(number="100001", basket=basket, user=user)
    assert order.lines.count() == 3
    assert StockRecord.objects.aggregate(most=Max("num_allocated"))["most"] == 1
with step("report"):
    by_shelf = {row["categories__name"]: row["n"]
                for row in Product.objects.values("categories__name").annotate(n=Count("id"))
                if row["categories__name"] and row["categories__name"].startswith("Shelf")}
    assert by_shelf == {f"Shelf {i}": 6 for i in range(5)}, by_shelf
    assert Order.objects.filter(lines__product__title="Book 1", user=user).distinct().get().total_incl_tax > 0
with step("undo"):
    Order.objects.all().delete()
    get_user_model().objects.get(pk=user.pk).delete()
    assert not Order.objects.exists()
