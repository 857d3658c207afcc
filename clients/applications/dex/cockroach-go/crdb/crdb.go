// Dex, which came before modules, was written to an older ExecuteTx than any version of it has. It is for another
// database, and never called.
package crdb

import (
	"database/sql"
	"errors"
)

func ExecuteTx(*sql.DB, func(*sql.Tx) error) error {
	return errors.New("not here")
}
