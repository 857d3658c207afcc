module check

go 1.25

require (
	github.com/cockroachdb/cockroach-go v2.0.1+incompatible
	github.com/dexidp/dex v2.13.0+incompatible
)

replace github.com/cockroachdb/cockroach-go => ./cockroach-go
