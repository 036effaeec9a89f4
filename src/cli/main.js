#!/usr/bin/env node
import { setUpProcess } from '../project/process-setup.js'

// A reader such as `head` may close the pipe early; that is not an error of the command.
process.stdout.on('error', (error) => {
  if ('code' in error && error.code === 'EPIPE') process.exit()
  throw error
})

// An old Node cannot even read the imports of the program, so they follow the check.
if (setUpProcess()) {
  const { runCommandLine } = await import('./run-command-line.ts')
  // `process.exit()` would cut off output that a pipe has not taken yet.
  const exit = await runCommandLine(process.argv.slice(2), process)
  if (exit !== 0) process.exitCode = exit
}
