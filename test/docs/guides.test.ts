import { execFile, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { readRuntimeFile } from '../../src/project/data-dir/runtime-file.ts'
import { CHILD_ENVIRONMENT } from '../support/child-environment.ts'
import { openDataDir } from '../support/open-data-dir.ts'
import { followLog, type ProcessLog } from '../support/process-log.ts'
import { CLI, UPSHOT } from '../support/program.ts'
import { commandsOf, pathOf, ROOT, readPages } from './pages.ts'
import { serveCommands } from './support/serve-commands.ts'

// One app and many processes: slow on a busy machine.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

/** Placeholders for things in the sandbox, and the list that each is the last of. */
const NEWEST: Record<string, string> = {
  'sandbox-key': '/keys',
  transfer: '/transfers',
  webhook: '/webhooks',
  fault: '/faults',
}
const hasPython = spawnSync('python3', ['--version']).status === 0
const hasCurl = spawnSync('curl', ['--version']).status === 0
const pages = readPages()
const sources = pages.flatMap(({ blocks }) => blocks.filter(({ language }) => language === 'ts'))
const paths = sources.map((block) => pathOf(block) ?? 'nowhere.ts')

let folder: string
let project: string
let endCommands: () => void
let environment: Record<string, string>

/**
 * A project as `upshot init` makes it. Each TypeScript block of the pages is at the path in its
 * first line.
 */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'upshot-docs-'))
  project = join(folder, 'project')
  spawnSync(process.execPath, [CLI, 'init', project])
  mkdirSync(join(project, 'node_modules/@types'), { recursive: true })
  symlinkSync(UPSHOT, join(project, 'node_modules/upshot'))
  symlinkSync(join(ROOT, 'node_modules/@types/node'), join(project, 'node_modules/@types/node'))
  symlinkSync(join(ROOT, 'node_modules/undici-types'), join(project, 'node_modules/undici-types'))
  sources.forEach((block, index) => {
    const path = join(project, paths[index] ?? '')
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, block.code)
  })
  // The compiler sees our sources, as one beside a clone does: the template's library is enough.
  const others = ['*', 'admin/*'].map((door) => join(ROOT, 'src', door, 'index.ts'))
  const doors = { upshot: [join(ROOT, 'src/author/index.ts')], 'upshot/*': others }
  const include = ['workflows', 'config', 'scripts']
  const config = { extends: './tsconfig.json', compilerOptions: { paths: doors }, include }
  writeFileSync(join(project, 'tsconfig.all.json'), JSON.stringify(config))
  const bin = join(folder, 'bin')
  endCommands = await serveCommands(bin)
  environment = {
    ...CHILD_ENVIRONMENT,
    PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: folder,
    TZ: 'UTC',
    UPSHOT_PORT: '0',
    UPSHOT_ADMIN_PORT: '0',
    UPSHOT_SANDBOX_PORT: '0',
    UPSHOT_SANDBOX_DOWNLOAD_PORT: '0',
  }
})

afterAll(() => {
  endCommands()
  rmSync(folder, { recursive: true, force: true })
})

test('every TypeScript block of the guides compiles, as strictly as a project of one’s own', () => {
  expect(sources.length).toBeGreaterThan(0)
  const { stdout, status } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.all.json'], {
    cwd: project,
    encoding: 'utf8',
  })
  expect([stdout, status]).toEqual(['', 0])
})

test('every test among the blocks of the guides passes', () => {
  const tests = paths.filter((path) => path.endsWith('.test.ts'))
  expect(tests.length).toBeGreaterThan(0)
  const { stdout, status } = spawnSync(process.execPath, ['--test', '--test-concurrency=1', ...tests], {
    cwd: project,
    encoding: 'utf8',
    env: environment,
  })
  expect([status, status === 0 ? '' : stdout]).toEqual([0, ''])
})

test.each(paths.filter((path) => path.startsWith('scripts/')))(
  'the script %s of the guides runs to its end',
  (path) => {
    const { status, stderr } = spawnSync(process.execPath, [path], { cwd: project, encoding: 'utf8', env: environment })
    expect([stderr, status]).toEqual(['', 0])
  },
)

describe('with an app at work', () => {
  let log: ProcessLog
  let stop: () => Promise<unknown>
  let ids: Record<string, string>

  beforeAll(async () => {
    const child = spawn(process.execPath, [CLI, 'dev'], {
      cwd: project,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    log = followLog(child)
    stop = () => {
      child.kill('SIGTERM')
      return log.exited
    }
    await log.line(({ message }) => message === 'started')
    const isDone = ({ message, workflow }: Record<string, unknown>) =>
      message === 'run completed' && workflow === 'record-arrival'
    await log.line(isDone)
    ids = await findIds(String(log.lines.find(isDone)?.run))
  })

  afterAll(() => stop())

  test('the app loads every module among the blocks of the guides', async () => {
    const { stdout } = await run('upshot workflows list --json')
    const modules = JSON.parse(stdout).data.map(({ file }: { file: string }) => `workflows/${file}`)
    expect(modules).toEqual(expect.arrayContaining(paths.filter((path) => path.endsWith('.workflow.ts'))))
    expect(log.lines.filter(({ message }) => String(message).includes('broken'))).toEqual([])
  })

  // `tutorial.test.ts` follows that page by itself: its commands build on one another.
  const others = pages.map(({ name }) => name).filter((name) => name !== 'docs/tutorial.md')

  test.each(others)('every command of %s does what it says', async (name) => {
    const blocks = pages.find((page) => page.name === name)?.blocks ?? []
    for (const block of blocks.filter(({ language }) => language === 'sh')) {
      const commands = commandsOf(block).map(fill).filter(isRunHere)
      // An installation on another machine is not there: test/cli/server.test.ts has one.
      if (commands.length === 0 || block.code.includes('https://upshot.example.com')) continue
      const script = `set -euo pipefail\n${commands.join('\n')}`
      await expect(run(script), script).resolves.toBeDefined()
    }
  })

  /** Replaces placeholders such as `<run>` by real ids, and ports by those that this app took. */
  function fill(command: string): string {
    const runtime = readRuntimeFile(join(project, 'data'))
    return (
      command
        .replace('<url>', () => learnerUrl(runtime?.receiver ?? ''))
        .replace('npm run -s upshot -- ', 'upshot ')
        .replace(/^npx upshot /, 'upshot ')
        // Exit code 7 reports a finding of this machine or project, which is not tested here.
        .replace(/^upshot (doctor|sandbox audit|types check)\b.*$/, '$& || [ $? -eq 7 ]')
        .replace(/^curl /, 'curl --retry 20 --retry-delay 1 --retry-all-errors ')
        .replace('http://127.0.0.1:4701', runtime?.admin ?? '')
        .replace('http://127.0.0.1:4747', runtime?.sandbox?.origin ?? '')
        .replace(/<([a-z-]+)>/g, (_, word: string) => {
          const id = word in NEWEST ? newestOf(word) : ids[word]
          if (id === undefined) throw new Error(`nothing stands for <${word}>`)
          return id
        })
    )
  }

  /** The id of the newest thing of a kind in the sandbox, which the blocks before may have made. */
  function newestOf(word: string): string | undefined {
    const origin = readRuntimeFile(join(project, 'data'))?.sandbox?.origin
    const { stdout } = spawnSync('curl', ['-s', `${origin}/_sandbox${NEWEST[word]}`], { encoding: 'utf8' })
    return JSON.parse(stdout).data.at(-1)?.id
  }

  test.skipIf(!hasPython)('the programs of the guides in Python run to their end against the sandbox', async () => {
    const programs = pages.flatMap(({ blocks }) => blocks.filter(({ language }) => language === 'python'))
    expect(programs.length).toBeGreaterThan(0)
    for (const { code } of programs) {
      const { stderr, status } = spawnSync('python3', ['-c', fill(code)], { encoding: 'utf8', timeout: 60_000 })
      expect([stderr, status]).toEqual(['', 0])
    }
  })

  /** Only known once the blocks before it have made the endpoint. */
  function learnerUrl(receiver: string): string {
    const { stdout } = spawnSync('upshot', ['endpoints', 'show', 'learner', '--json'], {
      cwd: project,
      env: environment,
      encoding: 'utf8',
    })
    const { url } = JSON.parse(stdout).data
    return url.replace(/^https?:\/\/[^/]+/, receiver)
  }

  async function findIds(runId: string): Promise<Record<string, string>> {
    const store = openDataDir({ dataDir: join(project, 'data'), secretKey: null })
    try {
      const found = await store.findRun(runId)
      const [event] = await store.findEvents(found?.eventId ?? '')
      const [delivery] = event ? await store.listDeliveriesOf(event, 1) : []
      if (!event || !delivery) throw new Error('the sample file was to be told of')
      return { run: runId, event: event.id, delivery: delivery.id }
    } finally {
      await store.close()
    }
  }

  function run(script: string) {
    const place = { cwd: project, env: environment, maxBuffer: 16 * 1024 ** 2 }
    const result = promisify(execFile)('bash', ['-c', script], place)
    result.child.stdin?.end()
    return result
  }
})

/**
 * False for commands that run until they are stopped, install something or need a PostgreSQL. They
 * have tests of their own, and `pages.test.ts` checks their options.
 */
function isRunHere(command: string): boolean {
  if (command.startsWith('curl ') && !hasCurl) return false
  return !/^(npm|npx|cd|docker) |^upshot (dev|start|init|sandbox start|db (move|migrate))\b/.test(command)
}
