import { fork } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CHILD_ENVIRONMENT } from '../../support/child-environment.ts'
import { bundledProgram } from '../../support/program.ts'

/** A program that hands its arguments and its input to the server, and prints the answer. */
const writeClient = (socket: string) => `#!${process.execPath}
const { readFileSync } = require('node:fs')
const { env: environment, argv } = process
const asked = { args: argv.slice(2), folder: process.cwd(), environment, input: readFileSync(0, 'utf8') }
let answer = ''
const socket = require('node:net').connect(${JSON.stringify(socket)})
socket.setEncoding('utf8').on('data', (part) => (answer += part)).end(JSON.stringify(asked))
socket.on('end', () => {
  const { stdout, stderr, exit } = JSON.parse(answer)
  process.stdout.write(stdout)
  process.stderr.write(stderr)
  process.exitCode = exit
})
`

/**
 * Writes the command `upshot` into `bin`. One process runs all of its lines: to start one each
 * takes ten times as long. Gives what ends it.
 */
export async function serveCommands(bin: string): Promise<() => void> {
  mkdirSync(bin, { recursive: true })
  const socket = join(bin, 'upshot.socket')
  const server = fork(bundledProgram(join(import.meta.dirname, 'command-server.ts')), [socket], {
    env: CHILD_ENVIRONMENT,
  })
  await once(server, 'message')
  writeFileSync(join(bin, 'upshot'), writeClient(socket))
  chmodSync(join(bin, 'upshot'), 0o755)
  return () => void server.kill()
}
