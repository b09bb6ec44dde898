// Package bench measures what operators feel: aborts, lists, enrolment and reports, each over the real database with the
// real job queue, beside a bare transaction on the same kind of file. Run it with
//
//	go test -run '^$' -bench . -skip '^BenchmarkBMC' ./bench
//
// What BMCs cost, and what dead ones do to the others, is measured with a thousand simulated BMCs in another process (Linux; half
// an hour, with -short some minutes of a smaller rack):
//
//	go test -run '^$' -bench '^BenchmarkBMC' -benchtime 1x -timeout 60m -v ./bench
//
// Those benchmarks hold limits and fail where one is missed. No test holds one.
package bench
