// Package incidents owns the proof that people find out what is wrong with an appliance: its controllers run over real files and
// processes, something goes wrong, and the answer to what an operator asks then has to name it within the first screen. It holds
// tests alone; the transcripts are in testdata.
package incidents
