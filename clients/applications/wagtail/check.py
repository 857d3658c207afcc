"""A content management system made with Django: all migrations, a tree of pages, revisions, a search in the database."""
import os

import django
from django.conf import settings

from steps import step

settings.configure(
    SECRET_KEY="check", USE_TZ=True, ROOT_URLCONF="wagtail.urls", DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    WAGTAIL_SITE_NAME="check", WAGTAILADMIN_BASE_URL="http://localhost", STATIC_URL="/static/", MEDIA_ROOT=os.getcwd(),
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"],
                           "USER": os.environ["PGUSER"], "PASSWORD": os.environ["PGPASSWORD"],
                           "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"]}},
    WAGTAILSEARCH_BACKENDS={"default": {"BACKEND": "wagtail.search.backends.database"}},
    INSTALLED_APPS=[
        "wagtail.contrib.forms", "wagtail.contrib.redirects", "wagtail.embeds", "wagtail.sites", "wagtail.users",
        "wagtail.snippets", "wagtail.documents", "wagtail.images", "wagtail.search", "wagtail.admin", "wagtail",
        "modelcluster", "taggit", "django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes",
        "django.contrib.sessions", "django.contrib.messages", "django.contrib.staticfiles", "django.contrib.postgres"],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}])
django.setup()

from django.core.management import call_command  # noqa: E402

with step("migrate"):
    call_command("migrate", verbosity=0)

from django.contrib.auth import get_user_model  # noqa: E402
from wagtail.models import Page, Site  # noqa: E402

with step("pages"):
    root = Page.objects.get(depth=1)
    home = root.add_child(instance=Page(title="Harbour", slug="harbour"))
    for i in range(12):
        section = home.add_child(instance=Page(title=f"Section {i}", slug=f"section-{i}"))
        for j in range(3):
            section.add_child(instance=Page(title=f"Sailing boats and their {'sails' if j else 'anchors'} {i}.{j}", slug=f"page-{j}"))
    home.refresh_from_db()
    assert home.get_descendants().count() == 48
    first, second = home.get_children()[:2]
    second.move(first, pos="first-child")
    assert Page.objects.get(slug="section-1").get_parent().slug == "section-0"
    first.refresh_from_db()
    first.copy(recursive=True, update_attrs={"slug": "copied", "title": "Copied"})
    assert Page.objects.get(slug="copied").get_descendants().count() == 7
with step("revisions"):
    user = get_user_model().objects.create_superuser("editor", "editor@example.com", "secret")
    page = Page.objects.get(slug="section-3")
    page.title = "Lighthouses"
    revision = page.save_revision(user=user)
    assert Page.objects.get(slug="section-3").title == "Section 3"
    revision.publish()
    assert Page.objects.get(slug="section-3").title == "Lighthouses"
with step("search"):
    call_command("rebuild_references_index", verbosity=0)
    index = next(one for one in ("update_index", "rebuild_modelsearch_index", "update_modelsearch_index")
                 if one in __import__("django.core.management", fromlist=["x"]).get_commands())
    call_command(index, verbosity=0)
    titles = [one.title for one in Page.objects.live().search("lighthouse")]
    assert titles == ["Lighthouses"], titles
    assert len(Page.objects.search("anchor", fields=["title"])) == 14, len(Page.objects.search("anchor"))
    assert len(Page.objects.autocomplete("light")) == 1
with step("a site"):
    Site.objects.all().delete()
    Site.objects.create(hostname="localhost", root_page=home, is_default_site=True)
    assert Page.objects.get(slug="page-1", path__startswith=Page.objects.get(slug="section-5").path).get_url()
with step("delete"):
    Page.objects.get(slug="harbour").delete()
    assert Page.objects.filter(title__startswith="Section").count() == 0
