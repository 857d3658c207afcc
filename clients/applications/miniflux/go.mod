module check

go 1.26.0

tool miniflux.app/v2

require miniflux.app/v2 v2.3.5
