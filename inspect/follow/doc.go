// Package follow owns how the passes of a running engine are followed: a [Follower] tells each pass that has ended once, and counts
// those that the engine has forgotten before it was asked. It starts no goroutine: whoever follows looks as often as he likes.
package follow
