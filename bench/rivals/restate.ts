import { spawn } from 'node:child_process'
import { Agent, request } from 'node:http'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { answerCalls } from '../processes/answer-calls.ts'
import { load, runInLanes } from './lanes.ts'

// A line of log for each start and end would be a part of its speed.
process.env.RESTATE_LOGGING = 'ERROR'
const restate = await load('@restatedev/restate-sdk')
const agent = new Agent({ keepAlive: true })
let ingress = ''
let server: ReturnType<typeof spawn> | null = null
process.on('exit', () => server?.kill('SIGKILL'))

interface Context {
  run(name: string, code: () => unknown): Promise<unknown>
}

answerCalls({
  /** The server that npm brings, and a service with the SDK in this process. */
  async open({ folder }: { folder: string }) {
    const [service, admin, calls, node] = [await freePort(), await freePort(), await freePort(), await freePort()]
    const threeSteps = restate.service({
      name: 'three',
      handlers: {
        steps: async (context: Context) => {
          for (const name of ['one', 'two', 'three']) await context.run(name, () => name)
        },
      },
    })
    await restate.serve({ services: [threeSteps], port: service })
    ingress = `http://127.0.0.1:${calls}`
    server = spawn(serverPath(), ['--base-dir', folder, '--log-filter', 'error'], {
      env: {
        RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
        RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${calls}`,
        RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
        DO_NOT_TRACK: '1',
      },
      stdio: 'ignore',
    })
    await register(`http://127.0.0.1:${admin}`, `http://127.0.0.1:${service}`)
  },
  runMany: (load: { count: number; inFlight: number }) => runInLanes(load, () => post(`${ingress}/three/steps`)),
})

/** The binary in the package of this platform. */
function serverPath(): string {
  const { resolve } = createRequire(import.meta.resolve('@restatedev/restate-server/package.json'))
  return resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`)
}

async function register(admin: string, uri: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const headers = { 'Content-Type': 'application/json' }
    const answered = await fetch(`${admin}/deployments`, { method: 'POST', headers, body: JSON.stringify({ uri }) })
      .then(({ ok }) => ok)
      .catch(() => false)
    if (answered) return
    if (tries === 150) throw new Error('the server of Restate does not take the service')
    await sleep(200)
  }
}

function post(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    request(url, { method: 'POST', agent }, (response) => {
      response.resume().on('end', () => {
        if (response.statusCode === 200) resolve()
        else reject(new Error(`Restate answered ${response.statusCode}`))
      })
    })
      .on('error', reject)
      .end()
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
