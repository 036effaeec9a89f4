#!/usr/bin/env node
import { setUpProcess } from '../project/process-setup.js'

// A reader such as `head` may close the pipe early. The command ends in order, with its verdict. On
// a full disk it ends as well, and says so: what is there is not the whole result.
let hasReader = true
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (hasReader && stream === process.stdout) {
      process.emit('SIGINT')
      if (!('code' in error && error.code === 'EPIPE')) describeLoss(error)
    }
    hasReader = false
  })
}

/** @param {Error} error */
function describeLoss({ message }) {
  process.exitCode = 1
  const fix = 'Free some space, and look at what the command did before you repeat it.'
  process.stderr.write(`error: The output could not be written: ${message}.\n  fix: ${fix}\n`)
}

// An old Node cannot even read the imports of the program, so they follow the check.
if (setUpProcess()) {
  const { runCommandLine } = await import('./run-command-line.ts')
  // `process.exit()` would cut off output that a pipe has not taken yet.
  const exit = await runCommandLine(process.argv.slice(2), process)
  if (exit !== 0) process.exitCode = exit
}
