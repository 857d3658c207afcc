// A reader of feeds: its migrations, its server, feeds that are asked for anew, a full text search, what is read.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	miniflux "miniflux.app/v2/client"
)

func step(name string, body func() error) {
	if err := body(); err != nil {
		fmt.Printf("FAIL %s: %v\n", name, err)
		os.Exit(1)
	}
	fmt.Printf("ok %s\n", name)
}

func expect(what string, got, wanted any) error {
	if got != wanted {
		return fmt.Errorf("%s: %v instead of %v", what, got, wanted)
	}
	return nil
}

// How many entries the feed has by now.
var entries atomic.Int32

func feed(answer http.ResponseWriter, request *http.Request) {
	answer.Header().Set("Content-Type", "application/atom+xml")
	fmt.Fprintf(answer, `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title>Feed %[1]s</title><id>urn:%[1]s</id><updated>2024-01-01T00:00:00Z</updated>
<link rel="self" href="http://%[2]s%[1]s"/>`, request.URL.Path, request.Host)
	for i := 0; i < int(entries.Load()); i++ {
		fmt.Fprintf(answer, `<entry><title>Entry %[1]d of %[2]s</title><id>urn:%[2]s:%[1]d</id><author><name>Ada</name></author>
<link href="http://%[3]s/%[1]d"/><updated>2024-01-%02[4]dT00:00:00Z</updated><category term="kind %[5]d"/>
<content type="html">&lt;p&gt;Foxes number %[1]d are jumping over lazy dogs, as ever&lt;/p&gt;</content></entry>`,
			i, request.URL.Path, request.Host, i%28+1, i%3)
	}
	fmt.Fprint(answer, "</feed>")
}

func main() {
	address := "127.0.0.1:" + os.Getenv("PORTS")
	program := filepath.Join(filepath.Dir(os.Getenv("PROGRAMS")), "tools", "miniflux.app")
	environment := append(os.Environ(), "LISTEN_ADDR="+address, "CREATE_ADMIN=1", "ADMIN_USERNAME=admin",
		"ADMIN_PASSWORD=checking", "FETCHER_ALLOW_PRIVATE_NETWORKS=1", "DATABASE_URL="+os.Getenv("DATABASE_URL")+"?sslmode=disable",
		"POLLING_FREQUENCY=600", "DISABLE_SCHEDULER_SERVICE=1", "LOG_LEVEL=warning", "CLEANUP_ARCHIVE_READ_DAYS=1")
	command := func(words ...string) *exec.Cmd {
		made := exec.Command(program, words...)
		made.Env = environment
		made.Stdout, made.Stderr = os.Stdout, os.Stderr
		return made
	}
	source := httptest.NewServer(http.HandlerFunc(feed))
	defer source.Close()

	step("migrations", func() error { return command("-migrate").Run() })
	server := command()
	client := miniflux.NewClient("http://"+address, "admin", "checking")
	step("start", func() (err error) {
		if err = server.Start(); err != nil {
			return err
		}
		for range 300 {
			if err = client.Healthcheck(); err == nil {
				return nil
			}
			time.Sleep(50 * time.Millisecond)
		}
		return err
	})
	var reader *miniflux.User
	step("users", func() (err error) {
		if reader, err = client.CreateUser("ada", "checking", false); err != nil {
			return err
		}
		if _, err = client.CreateUser("ada", "checking", false); err == nil {
			return errors.New("made twice")
		}
		zone := "Europe/Berlin"
		if reader, err = client.UpdateUser(reader.ID, &miniflux.UserModificationRequest{Timezone: &zone}); err != nil {
			return err
		}
		return expect("zone", reader.Timezone, zone)
	})
	ada := miniflux.NewClient("http://"+address, "ada", "checking")
	var first, second int64
	step("feeds", func() error {
		category, err := ada.CreateCategory("News")
		if err != nil {
			return err
		}
		entries.Store(40)
		if first, err = ada.CreateFeed(&miniflux.FeedCreationRequest{FeedURL: source.URL + "/one", CategoryID: category.ID}); err != nil {
			return err
		}
		if second, err = ada.CreateFeed(&miniflux.FeedCreationRequest{FeedURL: source.URL + "/two", CategoryID: category.ID}); err != nil {
			return err
		}
		if _, err = ada.CreateFeed(&miniflux.FeedCreationRequest{FeedURL: source.URL + "/one", CategoryID: category.ID}); err == nil {
			return errors.New("a feed twice")
		}
		page, err := ada.Entries(&miniflux.Filter{Limit: 10, Offset: 5, Order: "published_at", Direction: "desc", Statuses: []string{"unread"}})
		if err != nil {
			return err
		}
		if err = expect("entries", page.Total, 80); err != nil {
			return err
		}
		return expect("a page", len(page.Entries), 10)
	})
	step("feeds anew", func() error {
		entries.Store(45)
		if err := ada.ForceRefreshFeed(first); err != nil {
			return err
		}
		if err := command("-reset-feed-next-check-at").Run(); err != nil {
			return err
		}
		if err := command("-refresh-feeds").Run(); err != nil {
			return err
		}
		counters, err := ada.FetchCounters()
		if err != nil {
			return err
		}
		return expect("unread", fmt.Sprint(counters.UnreadCounters[first], counters.UnreadCounters[second]), "45 45")
	})
	step("search", func() error {
		found, err := ada.Entries(&miniflux.Filter{Search: "jumping foxes 17"})
		if err != nil {
			return err
		}
		if err = expect("found", found.Total, 2); err != nil {
			return err
		}
		if found, err = ada.Entries(&miniflux.Filter{Search: `"lazy dogs" -17`, FeedID: first}); err != nil {
			return err
		}
		if err = expect("without one", found.Total, 44); err != nil {
			return err
		}
		if found, err = ada.Entries(&miniflux.Filter{Tags: []string{"KIND 1"}}); err != nil {
			return err
		}
		return expect("by a tag", found.Total, 30)
	})
	step("what is read", func() error {
		page, err := ada.FeedEntries(first, &miniflux.Filter{Limit: 20, Order: "id", Direction: "asc"})
		if err != nil {
			return err
		}
		var ids []int64
		for _, entry := range page.Entries {
			ids = append(ids, entry.ID)
		}
		if err = ada.UpdateEntries(ids, "read"); err != nil {
			return err
		}
		if err = ada.ToggleStarred(ids[0]); err != nil {
			return err
		}
		if err = ada.MarkFeedAsRead(second); err != nil {
			return err
		}
		counters, err := ada.FetchCounters()
		if err != nil {
			return err
		}
		if err = expect("counters", fmt.Sprint(counters.ReadCounters[first], counters.UnreadCounters[first], counters.ReadCounters[second]),
			"20 25 45"); err != nil {
			return err
		}
		if err = ada.FlushHistory(); err != nil {
			return err
		}
		starred, err := ada.Entries(&miniflux.Filter{Starred: "1"})
		if err != nil {
			return err
		}
		return expect("starred", starred.Total, 1)
	})
	step("OPML", func() error {
		outline, err := ada.Export()
		if err != nil {
			return err
		}
		if err = expect("feeds", strings.Count(string(outline), "xmlUrl"), 2); err != nil {
			return err
		}
		if err = client.Import(io.NopCloser(bytes.NewReader(outline))); err != nil {
			return err
		}
		feeds, err := client.Feeds()
		if err != nil {
			return err
		}
		return expect("feeds", len(feeds), 2)
	})
	step("clean and delete", func() error {
		if err := command("-run-cleanup-tasks").Run(); err != nil {
			return err
		}
		if err := ada.DeleteFeed(second); err != nil {
			return err
		}
		if err := client.DeleteUser(reader.ID); err != nil {
			return err
		}
		for range 100 {
			if _, err := client.UserByID(reader.ID); err != nil {
				return nil
			}
			time.Sleep(50 * time.Millisecond)
		}
		return errors.New("still there")
	})
	server.Process.Kill()
	server.Wait()
}
