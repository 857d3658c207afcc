module check

go 1.22

require (
	gorm.io/driver/postgres v1.5.11
	gorm.io/gorm v1.25.12
)
