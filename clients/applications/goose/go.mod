module check

go 1.24

require (
	github.com/jackc/pgx/v5 v5.7.6
	github.com/pressly/goose/v3 v3.27.3
)
