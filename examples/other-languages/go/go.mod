module example.com/evenshards

go 1.22
