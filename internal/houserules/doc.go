// Package houserules holds the repository to its own rules. It owns no code: its tests read the source of all packages
// and fail where a rule is broken, saying which one and where.
//
//   - The engine links only the standard library, the contract, and a short list of libraries; so does the loop without it.
//   - Packages of the engine import downwards, and nothing imports the engine that ships with the contract.
//   - Every package has a comment, and so has every exported name.
//   - The engine reads no wall clock and no global source of randomness, and starts goroutines in known places only, as
//     the program does that soaks it.
//   - Every promise of the engine has tests, and docs/promises.md names them.
//
// It starts no goroutine.
package houserules
