#!/usr/bin/env node
import { runCommandLine } from './run-command-line.ts'

// A reader such as `head` may close the pipe early; that is not an error of the command.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit()
  throw error
})

// `process.exit()` would cut off output that a pipe has not taken yet.
const exit = await runCommandLine(process.argv.slice(2), process)
if (exit !== 0) process.exitCode = exit
