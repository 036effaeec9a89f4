import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test, vi } from 'vitest'
import { CHILD_ENVIRONMENT } from '../support/child-environment.ts'
import { followLog } from '../support/process-log.ts'
import { CLI, UPSHOT } from '../support/program.ts'
import { type Block, commandsOf, pathOf, ROOT, readPages } from './pages.ts'
import { serveCommands } from './support/serve-commands.ts'

vi.setConfig({ testTimeout: 300_000 })

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'upshot-tutorial-'))
const project = join(folder, 'my-automations')
const bin = join(folder, 'bin')
const endCommands = await serveCommands(bin)
const environment = {
  ...CHILD_ENVIRONMENT,
  PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}`,
  HOME: folder,
  TZ: 'UTC',
  COLUMNS: '200',
  UPSHOT_PORT: '0',
  UPSHOT_ADMIN_PORT: '0',
  UPSHOT_SANDBOX_PORT: '0',
  UPSHOT_SANDBOX_DOWNLOAD_PORT: '0',
}

let app: ChildProcess | undefined
afterAll(async () => {
  const ended = new Promise((resolve) => app?.once('exit', resolve))
  app?.kill('SIGTERM')
  await ended
  endCommands()
  rmSync(folder, { recursive: true, force: true })
})

test('the tutorial, followed word by word, shows what it says', async () => {
  const blocks = readPages().find(({ name }) => name === 'docs/tutorial.md')?.blocks ?? []
  let output = ''
  for (const block of blocks) {
    if (block.language === 'ts') writeFileSync(join(project, pathOf(block) ?? ''), block.code)
    if (block.language === 'sh') output = await type(block, output)
    if (block.language === 'text') expectShown(block, output)
  }
  const ledger = JSON.parse(await upshot('effects of /outbox/report.txt --json')).data
  expect(JSON.stringify(ledger)).toContain('the copy is proven')
})

/** Types the commands of a block, and returns what the last block and this one printed. */
async function type(block: Block, before: string): Promise<string> {
  let output = before
  for (const command of commandsOf(block)) output += await follow(fill(command, output))
  return output
}

async function follow(command: string): Promise<string> {
  if (command === 'npm ci' || command.startsWith('cd ')) return ''
  if (command === 'npm install') return install()
  if (command === 'npm run dev') return start()
  if (command.startsWith('npm run -s upshot -- init')) return upshot(`init ${project}`)
  if (command === 'npm test')
    return shell('node --test --test-concurrency=1 workflows/retire-verified.workflow.test.ts')
  if (command.startsWith('kill ')) return kill(command)
  if (command.startsWith('npx upshot runs')) return untilShown(command.slice('npx upshot '.length))
  return command.startsWith('npx upshot ') ? upshot(command.slice('npx upshot '.length)) : shell(command)
}

/** The packages of the project, from those of this checkout. */
function install(): string {
  for (const name of ['@types/node', 'undici-types']) {
    mkdirSync(dirname(join(project, 'node_modules', name)), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name))
  }
  symlinkSync(UPSHOT, join(project, 'node_modules/upshot'))
  return ''
}

async function start(): Promise<string> {
  app = spawn(process.execPath, [CLI, 'dev'], { cwd: project, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  await followLog(app).line(({ message }) => message === 'started')
  return ''
}

/** The number that "upshot status" printed is that of the app. */
async function kill(command: string): Promise<string> {
  expect(command).toBe(`kill -9 ${app?.pid}`)
  const ended = new Promise((resolve) => app?.once('exit', resolve))
  await shell(command)
  await ended
  return ''
}

/** The output for a person who looks again until the run waits, or has ended. */
async function untilShown(command: string): Promise<string> {
  const awaited = command.startsWith('runs show') ? /status +completed/ : / waiting /
  let shown = ''
  await expect.poll(async () => (shown = await upshot(command)), { timeout: 60_000 }).toMatch(awaited)
  return shown
}

/** Exit code 8 of a plan says that it is open. */
const upshot = (command: string) => shell(`upshot ${command} || [ $? -eq 8 ]`)

async function shell(script: string): Promise<string> {
  const place = { cwd: script.includes(' init ') ? folder : project, env: environment }
  const typed = run('bash', ['-c', script], place)
  typed.child.stdin?.end()
  return (await typed).stdout
}

/** Replaces each placeholder by the newest such thing that was printed. */
function fill(command: string, output: string): string {
  const shapes: Record<string, RegExp> = {
    event: /evt_\w+/g,
    approval: /apr_\w+/g,
    run: /run_\w+/g,
    hash: /(?<=^hash {2})[0-9a-f]+/gm,
    process: /(?<=process +)\d+/g,
  }
  return command.replace(/<(\w+)>/g, (_, word: string) => output.match(shapes[word] ?? /$^/g)?.at(-1) ?? `<no ${word}>`)
}

/** Each line of a sample stands in the output, apart from ids, times, and what `…` leaves out. */
function expectShown({ code }: Block, output: string): void {
  const mask = (text: string) =>
    text
      .replace(/\b(run|evt|apr|storage_[ab])([_:])[0-9a-z]{20,}/g, '$1$2ID')
      .replace(/\d\d:\d\d:\d\d|(?<=hash {2})[0-9a-f]+/g, 'T')
      .replace(/[ \t]+/g, ' ')
  const shown = mask(output)
  for (const line of mask(code).trim().split('\n')) {
    const part = line.replace(/ ?\(?…\)?$/, '').trim()
    expect(shown, part).toContain(part)
  }
}
