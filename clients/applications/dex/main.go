// OpenID Connect: clients and people by its API, logins in the browser's way, codes, tokens that are renewed, refused
// and revoked, two servers on one database, its own tests of what it keeps.
package main

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dexidp/dex/api"
	"github.com/dexidp/dex/server"
	"github.com/dexidp/dex/storage"
	"github.com/dexidp/dex/storage/conformance"
	dexsql "github.com/dexidp/dex/storage/sql"
	_ "github.com/lib/pq"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"
	"golang.org/x/crypto/bcrypt"
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

var logger = logrus.New()

func open() (storage.Storage, error) {
	config := dexsql.Postgres{
		Host: os.Getenv("PGHOST") + ":" + os.Getenv("PGPORT"), Database: os.Getenv("PGDATABASE"), User: os.Getenv("PGUSER"),
		Password: os.Getenv("PGPASSWORD"), SSL: dexsql.PostgresSSL{Mode: "disable"}, ConnectionTimeout: 10}
	return config.Open(logger)
}

func empty(db *sql.DB) error {
	for _, table := range []string{"client", "auth_request", "auth_code", "refresh_token", "keys", "password", "offline_session", "connector"} {
		if _, err := db.Exec("delete from " + table); err != nil {
			return err
		}
	}
	return nil
}

// Its own tests, which want a program of their own.
func conform(t *testing.T, db *sql.DB) {
	conformance.RunTests(t, func() storage.Storage {
		if err := empty(db); err != nil {
			t.Fatal(err)
		}
		made, err := open()
		if err != nil {
			t.Fatal(err)
		}
		return made
	})
}

// A server of Dex's at an address of its own, which has to be known before.
func serve(kept storage.Storage) (*httptest.Server, error) {
	var dex http.Handler
	made := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		dex.ServeHTTP(answer, request)
	}))
	source, _ := runtime.FuncForPC(reflect.ValueOf(server.NewServer).Pointer()).FileLine(0)
	var err error
	dex, err = server.NewServer(context.Background(), server.Config{
		Issuer: made.URL, Storage: kept, Logger: logger, PrometheusRegistry: prometheus.NewRegistry(),
		Web: server.WebConfig{Dir: filepath.Join(filepath.Dir(filepath.Dir(source)), "web")}})
	return made, err
}

const back = "http://127.0.0.1/back"

var browser = &http.Client{CheckRedirect: func(request *http.Request, _ []*http.Request) error {
	if strings.HasPrefix(request.URL.String(), back) {
		return http.ErrUseLastResponse
	}
	return nil
}}

func read(answer *http.Response, err error) (*http.Response, string, error) {
	if err != nil {
		return nil, "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return answer, string(body), err
}

// Logs somebody in at one server, agrees at another, and gives the code.
func login(at, then *httptest.Server, email, password string) (string, error) {
	answer, page, err := read(browser.Get(at.URL + "/auth?" + url.Values{"client_id": {"shop"}, "redirect_uri": {back},
		"response_type": {"code"}, "scope": {"openid email profile offline_access"}, "state": {"s1"}, "nonce": {"n1"}}.Encode()))
	if err != nil {
		return "", err
	}
	if answer.StatusCode != 200 || !strings.Contains(page, "password") {
		return "", fmt.Errorf("no form: %s %.200s", answer.Status, page)
	}
	answer, page, err = read(browser.PostForm(answer.Request.URL.String(), url.Values{"login": {email}, "password": {password}}))
	if err != nil {
		return "", err
	}
	request := regexp.MustCompile(`name="req" value="([^"]+)"`).FindStringSubmatch(page)
	if request == nil {
		return "", errors.New("refused")
	}
	answer, page, err = read(browser.PostForm(then.URL+"/approval", url.Values{"req": {request[1]}, "approval": {"approve"}}))
	if err != nil {
		return "", err
	}
	location, err := answer.Location()
	if err != nil {
		return "", fmt.Errorf("no way back: %s %.200s", answer.Status, page)
	}
	return location.Query().Get("code"), expect("state", location.Query().Get("state"), "s1")
}

type tokens struct {
	ID      string `json:"id_token"`
	Refresh string `json:"refresh_token"`
	Kind    string `json:"token_type"`
	Error   string `json:"error"`
}

// Whom an ID token is about, as the API names people.
func subject(token string) (about struct {
	Sub string `json:"sub"`
}, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return about, fmt.Errorf("no token: %s", token)
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return about, err
	}
	return about, json.Unmarshal(text, &about)
}

func ask(at *httptest.Server, secret string, form url.Values) (got tokens, err error) {
	request, _ := http.NewRequest("POST", at.URL+"/token", strings.NewReader(form.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.SetBasicAuth("shop", secret)
	_, body, err := read(http.DefaultClient.Do(request))
	if err != nil {
		return got, err
	}
	return got, json.Unmarshal([]byte(body), &got)
}

func exchange(at *httptest.Server, code, secret string) (tokens, error) {
	return ask(at, secret, url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {back}})
}

func renew(at *httptest.Server, token string) (tokens, error) {
	return ask(at, "secret", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}})
}

func main() {
	logger.SetOutput(os.Stdout)
	ctx := context.Background()
	db, err := sql.Open("postgres", os.Getenv("DATABASE_URL")+"?sslmode=disable")
	if err != nil {
		panic(err)
	}
	defer db.Close()
	if len(os.Args) > 1 {
		testing.Main(func(string, string) (bool, error) { return true, nil },
			[]testing.InternalTest{{Name: "storage", F: func(t *testing.T) { conform(t, db) }}}, nil, nil)
	}
	var kept storage.Storage
	step("migrations", func() (err error) {
		if kept, err = open(); err != nil {
			return err
		}
		again, err := open()
		if err != nil {
			return err
		}
		return again.Close()
	})
	// RunTransactionTests is left out: in the middle of a change it makes another to the same record, and waits for
	// it, which two-phase locking can not let pass.
	step("its own tests of a storage", func() error {
		tests := exec.Command(os.Args[0], "-test.v")
		tests.Stdout, tests.Stderr = os.Stdout, os.Stderr
		return errors.Join(tests.Run(), empty(db))
	})
	step("two that change the same", func() error {
		if err := kept.CreateClient(storage.Client{ID: "counted", Name: ""}); err != nil {
			return err
		}
		const each = 10
		// Both have read before either writes, so that one of them is refused.
		var both, wait sync.WaitGroup
		both.Add(2)
		failures := make([]error, 2)
		refused := make([]int, 2)
		for i := range failures {
			wait.Add(1)
			go func() {
				defer wait.Done()
				for done, tries := 0, 0; done < each; tries++ {
					err := kept.UpdateClient("counted", func(old storage.Client) (storage.Client, error) {
						if tries == 0 {
							both.Done()
							both.Wait()
						}
						old.Name += "x"
						return old, nil
					})
					if err == nil {
						done++
					} else if refused[i]++; refused[i] == 1000 {
						failures[i] = err
						return
					}
				}
			}()
		}
		wait.Wait()
		if err := errors.Join(failures...); err != nil {
			return err
		}
		if refused[0]+refused[1] == 0 {
			return errors.New("none was refused")
		}
		got, err := kept.GetClient("counted")
		if err != nil {
			return err
		}
		return errors.Join(expect("changes", len(got.Name), 2*each), kept.DeleteClient("counted"))
	})
	dex := server.NewAPI(kept, logger)
	step("clients and people", func() error {
		client := &api.Client{Id: "shop", Secret: "secret", RedirectUris: []string{back}, Name: "Shop"}
		if made, err := dex.CreateClient(ctx, &api.CreateClientReq{Client: client}); err != nil || made.AlreadyExists {
			return fmt.Errorf("%v %v", made, err)
		}
		if made, err := dex.CreateClient(ctx, &api.CreateClientReq{Client: client}); err != nil || !made.AlreadyExists {
			return fmt.Errorf("a client twice: %v %v", made, err)
		}
		for _, name := range []string{"ada", "bo"} {
			hash, err := bcrypt.GenerateFromPassword([]byte(name+"'s"), bcrypt.DefaultCost)
			if err != nil {
				return err
			}
			password := &api.Password{Email: name + "@example.com", Hash: hash, Username: name, UserId: name}
			if made, err := dex.CreatePassword(ctx, &api.CreatePasswordReq{Password: password}); err != nil || made.AlreadyExists {
				return fmt.Errorf("%v %v", made, err)
			}
			password.Email = strings.ToUpper(password.Email)
			if made, err := dex.CreatePassword(ctx, &api.CreatePasswordReq{Password: password}); err != nil || !made.AlreadyExists {
				return fmt.Errorf("a person twice: %v %v", made, err)
			}
		}
		listed, err := dex.ListPasswords(ctx, &api.ListPasswordReq{})
		if err != nil {
			return err
		}
		if err = expect("people", len(listed.Passwords), 2); err != nil {
			return err
		}
		if gone, err := dex.DeletePassword(ctx, &api.DeletePasswordReq{Email: "nobody@example.com"}); err != nil || !gone.NotFound {
			return fmt.Errorf("nobody deleted: %v %v", gone, err)
		}
		return kept.CreateConnector(storage.Connector{ID: server.LocalConnector, Type: server.LocalConnector, Name: "Email", ResourceVersion: "1"})
	})
	var one, two *httptest.Server
	step("two servers", func() (err error) {
		if one, err = serve(kept); err != nil {
			return err
		}
		other, err := open()
		if err != nil {
			return err
		}
		if two, err = serve(other); err != nil {
			return err
		}
		for _, each := range []*httptest.Server{one, two} {
			if _, body, err := read(http.Get(each.URL + "/healthz")); err != nil || !strings.Contains(body, "passed") {
				return fmt.Errorf("%s %v", body, err)
			}
		}
		_, first, err := read(http.Get(one.URL + "/keys"))
		if err != nil {
			return err
		}
		_, second, err := read(http.Get(two.URL + "/keys"))
		if err != nil {
			return err
		}
		return expect("keys", second, first)
	})
	var got tokens
	step("a login", func() error {
		if _, err := login(one, two, "ada@example.com", "guessed"); err == nil {
			return errors.New("a guessed password")
		}
		code, err := login(one, two, "ada@example.com", "ada's")
		if err != nil {
			return err
		}
		if got, err = exchange(two, code, "guessed"); err != nil || got.Error != "invalid_client" {
			return fmt.Errorf("a guessed secret: %v %v", got, err)
		}
		if got, err = exchange(two, code, "secret"); err != nil || got.ID == "" || got.Refresh == "" {
			return fmt.Errorf("%v %v", got, err)
		}
		if again, err := exchange(one, code, "secret"); err != nil || again.Error != "invalid_request" {
			return fmt.Errorf("a code twice: %v %v", again, err)
		}
		return nil
	})
	step("tokens renewed", func() error {
		next, err := renew(one, got.Refresh)
		if err != nil || next.ID == "" || next.Refresh == got.Refresh {
			return fmt.Errorf("%v %v", next, err)
		}
		if old, err := renew(two, got.Refresh); err != nil || old.Error != "invalid_request" {
			return fmt.Errorf("a token twice: %v %v", old, err)
		}
		got = next
		return nil
	})
	step("tokens revoked", func() error {
		about, err := subject(got.ID)
		if err != nil {
			return err
		}
		listed, err := dex.ListRefresh(ctx, &api.ListRefreshReq{UserId: about.Sub})
		if err != nil || len(listed.RefreshTokens) != 1 || listed.RefreshTokens[0].ClientId != "shop" {
			return fmt.Errorf("%v %v", listed, err)
		}
		for _, is_there := range []bool{true, false} {
			done, err := dex.RevokeRefresh(ctx, &api.RevokeRefreshReq{UserId: about.Sub, ClientId: "shop"})
			if err != nil || done.NotFound == is_there {
				return fmt.Errorf("%v %v", done, err)
			}
		}
		if next, err := renew(one, got.Refresh); err != nil || next.Error != "invalid_request" {
			return fmt.Errorf("renewed: %v %v", next, err)
		}
		code, err := login(two, one, "ada@example.com", "ada's")
		if err != nil {
			return err
		}
		got, err = exchange(one, code, "secret")
		return err
	})
	step("many at a time", func() error {
		var wait sync.WaitGroup
		failures := make([]error, 8)
		for i := range failures {
			wait.Add(1)
			go func() {
				defer wait.Done()
				// One of them each time, from two servers: a conflict is said as one, and tried again.
				for tries := 0; tries < 50; tries++ {
					code, err := login(one, two, "bo@example.com", "bo's")
					if err == nil {
						var given tokens
						if given, err = exchange(one, code, "secret"); err == nil && given.Refresh == "" {
							err = errors.New(given.Error)
						}
					}
					if failures[i] = err; err == nil {
						return
					}
				}
			}()
		}
		wait.Wait()
		return errors.Join(failures...)
	})
	step("clean and revoke", func() error {
		if _, _, err := read(browser.Get(one.URL + "/auth?" + url.Values{"client_id": {"shop"}, "redirect_uri": {back}, "response_type": {"code"},
			"scope": {"openid"}}.Encode())); err != nil {
			return err
		}
		gone, err := kept.GarbageCollect(time.Now())
		if err != nil {
			return err
		}
		if err = expect("gone", gone.AuthRequests, int64(0)); err != nil {
			return err
		}
		if gone, err = kept.GarbageCollect(time.Now().Add(48 * time.Hour)); err != nil {
			return err
		}
		if gone.AuthRequests == 0 {
			return errors.New("none gone")
		}
		if done, err := dex.DeletePassword(ctx, &api.DeletePasswordReq{Email: "ada@example.com"}); err != nil || done.NotFound {
			return fmt.Errorf("%v %v", done, err)
		}
		if next, err := renew(one, got.Refresh); err != nil || next.Error == "" {
			return fmt.Errorf("renewed for nobody: %v %v", next, err)
		}
		if done, err := dex.DeleteClient(ctx, &api.DeleteClientReq{Id: "shop"}); err != nil || done.NotFound {
			return fmt.Errorf("%v %v", done, err)
		}
		if next, err := renew(one, got.Refresh); err != nil || next.Error != "invalid_client" {
			return fmt.Errorf("renewed for no client: %v %v", next, err)
		}
		return nil
	})
}
