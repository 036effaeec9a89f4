import { createServer } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { json, text } from 'node:stream/consumers'
import { runCommandLine } from '../../../src/cli/run-command-line.ts'

interface Asked {
  args: string[]
  folder: string
  environment: Record<string, string>
  input: string
}

/** Runs `upshot` as a process of its own would; the modules are loaded. */
async function run({ args, folder, environment, input }: Asked) {
  process.chdir(folder)
  process.env = environment
  const streams = { stdin: Readable.from([Buffer.from(input)]), stdout: new PassThrough(), stderr: new PassThrough() }
  const texts = Promise.all([text(streams.stdout), text(streams.stderr)])
  const exit = await runCommandLine(args, streams)
  streams.stdout.end()
  streams.stderr.end()
  const [stdout, stderr] = await texts
  return { exit, stdout, stderr }
}

let before: Promise<unknown> = Promise.resolve()
// Commands share the folder and the variables of this process, so that one runs at a time.
createServer({ allowHalfOpen: true }, async (socket) => {
  const asked = (await json(socket)) as Asked
  const answer = before.then(() => run(asked))
  before = answer.catch(() => {})
  socket.end(JSON.stringify(await answer))
}).listen(process.argv[2], () => process.send?.('listening'))
