package main

import (
	"context"
	"time"
)

var background = context.Background()

func withTimeout(limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(background, limit)
}
