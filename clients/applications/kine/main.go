// etcd's API over a table, as k3s uses it: keys by revision, lists, watches, compaction.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/k3s-io/kine/pkg/endpoint"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func step(name string, body func() error) {
	if err := body(); err != nil {
		fmt.Printf("FAIL %s: %v\n", name, err)
		os.Exit(1)
	}
	fmt.Printf("ok %s\n", name)
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 120*time.Second)
	defer cancel()
	folder, _ := os.Getwd()
	var client *clientv3.Client
	step("start", func() error {
		config, err := endpoint.Listen(ctx, endpoint.Config{
			Listener:         "unix://" + filepath.Join(folder, "kine.sock"),
			Endpoint:         os.Getenv("DATABASE_URL") + "?sslmode=disable",
			CompactInterval:  time.Hour,
			CompactTimeout:   5 * time.Second,
			CompactMinRetain: 1000,
			CompactBatchSize: 1000,
			PollBatchSize:    500,
			PollInterval:     time.Second,
			NotifyInterval:   time.Second,
		})
		if err != nil {
			return err
		}
		client, err = clientv3.New(clientv3.Config{Endpoints: config.Endpoints, DialTimeout: 10 * time.Second})
		return err
	})
	defer client.Close()
	create := func(key, value string) (int64, error) {
		response, err := client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=", 0)).
			Then(clientv3.OpPut(key, value)).Commit()
		if err != nil {
			return 0, err
		}
		if !response.Succeeded {
			return 0, fmt.Errorf("%s is there", key)
		}
		return response.Header.Revision, nil
	}
	update := func(key, value string, revision int64) (bool, error) {
		response, err := client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=", revision)).
			Then(clientv3.OpPut(key, value)).Else(clientv3.OpGet(key)).Commit()
		if err != nil {
			return false, err
		}
		return response.Succeeded, nil
	}
	var first int64
	step("create", func() (err error) {
		if first, err = create("/registry/pods/a", "1"); err != nil {
			return err
		}
		if _, err = create("/registry/pods/a", "again"); err == nil {
			return fmt.Errorf("created twice")
		}
		for i := 0; i < 50; i++ {
			if _, err = create(fmt.Sprintf("/registry/pods/p%02d", i), "x"); err != nil {
				return err
			}
		}
		return nil
	})
	watched := client.Watch(ctx, "/registry/pods/", clientv3.WithPrefix(), clientv3.WithRev(first+1))
	step("update by revision", func() error {
		if done, err := update("/registry/pods/a", "2", first); err != nil || !done {
			return fmt.Errorf("%v %v", done, err)
		}
		if done, err := update("/registry/pods/a", "3", first); err != nil || done {
			return fmt.Errorf("an old revision: %v %v", done, err)
		}
		response, err := client.Get(ctx, "/registry/pods/a")
		if err != nil {
			return err
		}
		if string(response.Kvs[0].Value) != "2" || response.Kvs[0].CreateRevision != first {
			return fmt.Errorf("%v", response.Kvs[0])
		}
		return nil
	})
	step("list", func() error {
		page, err := client.Get(ctx, "/registry/pods/", clientv3.WithRange(clientv3.GetPrefixRangeEnd("/registry/pods/")), clientv3.WithLimit(20))
		if err != nil {
			return err
		}
		if len(page.Kvs) != 20 || !page.More || page.Count != 51 {
			return fmt.Errorf("%d of %d", len(page.Kvs), page.Count)
		}
		old, err := client.Get(ctx, "/registry/pods/a", clientv3.WithRev(first))
		if err != nil {
			return err
		}
		if string(old.Kvs[0].Value) != "1" {
			return fmt.Errorf("at the old revision: %s", old.Kvs[0].Value)
		}
		return nil
	})
	step("watch", func() error {
		seen := 0
		for seen < 51 {
			select {
			case response, is_open := <-watched:
				if !is_open || response.Err() != nil {
					return fmt.Errorf("closed: %v", response.Err())
				}
				seen += len(response.Events)
			case <-time.After(15 * time.Second):
				return fmt.Errorf("%d events", seen)
			}
		}
		return nil
	})
	step("delete", func() error {
		current, err := client.Get(ctx, "/registry/pods/p00")
		if err != nil {
			return err
		}
		response, err := client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision("/registry/pods/p00"), "=", current.Kvs[0].ModRevision)).
			Then(clientv3.OpDelete("/registry/pods/p00")).Else(clientv3.OpGet("/registry/pods/p00")).Commit()
		if err != nil || !response.Succeeded {
			return fmt.Errorf("%v", err)
		}
		gone, err := client.Get(ctx, "/registry/pods/p00")
		if err != nil || len(gone.Kvs) != 0 {
			return fmt.Errorf("%v %v", gone, err)
		}
		return nil
	})
}
