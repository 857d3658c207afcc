module check

go 1.25

require (
	github.com/k3s-io/kine v0.17.5
)
