#!/usr/bin/env node
import { runCommandLine } from './run-command-line.ts'

// Whoever reads us may stop early, as `head` does; that is no fault of the command.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit()
  throw error
})

// Set, not passed to `exit()`, which would cut off what a pipe has not taken yet.
const exit = await runCommandLine(process.argv.slice(2), process)
if (exit !== 0) process.exitCode = exit
