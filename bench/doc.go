// Package bench measures what operators feel: aborts, lists, enrolment and reports, each over the real database with the
// real job queue, beside a bare transaction on the same kind of file. Run it with
//
//	go test -bench . -run '^$' ./bench
package bench
