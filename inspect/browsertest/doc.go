// Package browsertest holds tests alone: that the pages of package inspect do in a real browser what they are to do. They need
// Chromium, which .ci/run installs.
package browsertest
