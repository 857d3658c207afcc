// GORM: AutoMigrate, associations, upserts, the migrator's view of the catalog.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
)

type Person struct {
	gorm.Model
	Name    string  `gorm:"size:50;uniqueIndex;comment:the name"`
	Age     *int    `gorm:"index:,sort:desc;check:age > 0;default:18"`
	Balance float64 `gorm:"type:numeric(10,2);default:0"`
	Data    string  `gorm:"type:jsonb;default:'{}'"`
	Key     string  `gorm:"type:uuid;default:gen_random_uuid()"`
	Fine    bool    `gorm:"default:true"`
	Posts   []Post  `gorm:"constraint:OnDelete:CASCADE"`
	Langs   []Lang  `gorm:"many2many:go_spoken"`
}
type Post struct {
	ID       uint64
	Title    string `gorm:"uniqueIndex:go_titles"`
	PersonID uint   `gorm:"uniqueIndex:go_titles"`
}
type Lang struct {
	Code string `gorm:"primaryKey;size:3"`
	Name string
}

// The same table, later.
type Changed struct {
	ID    uint
	Name  string `gorm:"size:80"`
	Age   int64  `gorm:"not null;default:20"`
	Extra string `gorm:"default:hey"`
}

func (Person) TableName() string  { return "go_people" }
func (Post) TableName() string    { return "go_posts" }
func (Lang) TableName() string    { return "go_langs" }
func (Changed) TableName() string { return "go_people" }

var failures int

func step(name string, body func() error) {
	if err := body(); err != nil {
		fmt.Printf("FAIL %s: %s\n", name, strings.ReplaceAll(err.Error(), "\n", " "))
		failures++
		return
	}
	fmt.Println("ok", name)
}

func expect(fine bool) error {
	if fine {
		return nil
	}
	return errors.New("wrong answer")
}

func main() {
	db, err := gorm.Open(postgres.Open(""), &gorm.Config{Logger: logger.Default.LogMode(logger.Silent)})
	if err != nil {
		fmt.Println("FAIL connect:", err)
		os.Exit(1)
	}
	migrate := func() error { return db.AutoMigrate(&Person{}, &Post{}, &Lang{}) }
	step("AutoMigrate", migrate)
	step("AutoMigrate again", migrate)
	step("create with associations", func() error {
		age := 5
		person := Person{Name: "a", Age: &age, Data: `{"a":1}`, Posts: []Post{{Title: "t1"}, {Title: "t2"}},
			Langs: []Lang{{"en", "English"}, {"de", "German"}}}
		err := db.Create(&person).Error
		return errors.Join(err, expect(len(person.Key) == 36 && person.Fine && person.Posts[1].ID != 0))
	})
	step("batches", func() error {
		var people []Person
		for i := 1; i <= 100; i++ {
			age := i
			people = append(people, Person{Name: fmt.Sprint("n", i), Age: &age, Data: "{}"})
		}
		return db.CreateInBatches(people, 30).Error
	})
	step("on conflict", func() error {
		age := 7
		upsert := clause.OnConflict{Columns: []clause.Column{{Name: "name"}}, DoUpdates: clause.AssignmentColumns([]string{"age"})}
		err := db.Clauses(upsert).Create(&Person{Name: "a", Age: &age, Data: "{}"}).Error
		ignored := db.Clauses(clause.OnConflict{DoNothing: true}).Create(&Lang{"en", "x"})
		return errors.Join(err, ignored.Error, expect(ignored.RowsAffected == 0))
	})
	step("preload", func() error {
		var person Person
		err := db.Preload("Posts").Preload("Langs").First(&person, "name = ?", "a").Error
		return errors.Join(err, expect(len(person.Posts) == 2 && len(person.Langs) == 2 && *person.Age == 7))
	})
	step("groups and counts", func() error {
		var count int64
		err := db.Model(&Person{}).Where("age BETWEEN ? AND ?", 10, 20).Count(&count).Error
		var sums []struct{ Total int }
		err = errors.Join(err, db.Model(&Person{}).Select("sum(age) AS total").Group("fine").Having("count(*) > ?", 1).Scan(&sums).Error)
		return errors.Join(err, expect(count == 11 && len(sums) == 1 && sums[0].Total == 5057))
	})
	step("savepoints and rollback", func() error {
		err := db.Transaction(func(work *gorm.DB) error {
			var person Person
			work.Clauses(clause.Locking{Strength: "UPDATE", Options: "SKIP LOCKED"}).First(&person)
			work.SavePoint("s")
			work.Delete(&person)
			work.RollbackTo("s")
			return work.Create(&Person{Name: "a", Data: "{}"}).Error
		})
		var count int64
		db.Model(&Person{}).Count(&count)
		return expect(err != nil && strings.Contains(err.Error(), "23505") && count == 101)
	})
	step("the migrator's questions", func() error {
		asks := db.Migrator()
		return expect(asks.HasTable("go_people") && asks.HasColumn(&Person{}, "Age") && asks.HasIndex(&Person{}, "idx_go_people_name") &&
			asks.HasConstraint(&Person{}, "chk_go_people_age") && !asks.HasTable("go_nothing"))
	})
	step("AutoMigrate to another shape", func() error {
		err := db.AutoMigrate(&Changed{})
		columns, asked := db.Migrator().ColumnTypes(&Changed{})
		for _, column := range columns {
			length, _ := column.Length()
			nullable, _ := column.Nullable()
			if column.Name() == "name" && length != 80 || column.Name() == "age" && (nullable || column.DatabaseTypeName() != "int8") {
				return fmt.Errorf("%s is %d long, %s", column.Name(), length, column.DatabaseTypeName())
			}
		}
		return errors.Join(err, asked, expect(len(columns) == 11))
	})
	step("drop", func() error { return db.Migrator().DropTable("go_spoken", &Post{}, &Lang{}, &Person{}) })
	os.Exit(failures)
}
