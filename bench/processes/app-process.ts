import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { CLONE } from './built-package.ts'
import { adopt } from './child.ts'
import { readCpuMs } from './read-cpu.ts'

const STOP_WITHIN_MS = 10_000

export interface AppOptions {
  /** Project folder, with its `workflows`, data and cache of compiled code. */
  root: string
  /** Default: the folder `workflows` of the project. */
  workflows?: string
  /** Folder of the code; default: that of the clone. */
  code?: string
  environment?: Record<string, string>
}

/** The real app, in a process of its own. */
export interface AppProcess extends AsyncDisposable {
  /** From its spawn to its line "started". */
  readyMs: number
  urls: Record<string, string>
  /** Resident memory in MB, shared pages of the Node binary included. */
  residentMb(): number
  /** Processor time of all its threads so far. Processes that it has started have their own. */
  cpuMs(): number
}

/** Resolves once the app is ready. Rejects when it ends before that. */
export async function startApp({
  root,
  workflows = `${root}/workflows`,
  code = CLONE.code,
  environment = {},
}: AppOptions) {
  const begunAt = performance.now()
  const free = { UPSHOT_PORT: '0', UPSHOT_ADMIN_PORT: '0', UPSHOT_SANDBOX_PORT: '0', UPSHOT_SANDBOX_DOWNLOAD_PORT: '0' }
  const folders = { UPSHOT_WORKFLOWS_DIR: workflows, XDG_CACHE_HOME: `${root}/cache` }
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, [join(code, 'app/main.js')], {
    cwd: root,
    env: { PATH, ...free, ...folders, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  adopt(child)
  const ended = once(child, 'exit')
  const started = new Promise<Record<string, string>>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.includes('"message":"started"')) resolve(JSON.parse(line).urls)
    })
  })
  const failed = ended.then(([code]) => {
    throw new Error(`the app ended with ${code} before it was ready`)
  })
  const urls = await Promise.race([started, failed])
  const app: AppProcess = {
    readyMs: performance.now() - begunAt,
    urls,
    residentMb: () =>
      Number(spawnSync('ps', ['-o', 'rss=', '-p', String(child.pid)], { encoding: 'utf8' }).stdout) / 1024,
    cpuMs: () => readCpuMs(Number(child.pid)),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      const kill = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS)
      await ended
      clearTimeout(kill)
    },
  }
  return app
}
