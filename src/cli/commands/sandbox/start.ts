import { join, resolve } from 'node:path'
import { type Command, Option } from '@commander-js/extra-typings'
import { InvalidArgumentError } from 'commander'
import type { Config } from '../../../project/config/load-config.ts'
import type { ApiKey, Sandbox, SandboxOptions } from '../../../sandbox/index.ts'
import { gather } from '../../input/parse-option.ts'
import { loadProject } from '../../open/open-project.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import type { Output } from '../../terminal/output.ts'
import { removeSandboxFile, writeSandboxFile } from './control/sandbox-file.ts'

/**
 * `upshot sandbox start`: a program of its own. What it prints first, as one document under
 * `--json`, is all a client needs.
 */
export function define(command: Command, out: Output): void {
  command
    .option('--dir <dir>', 'where it keeps everything (default: the folder of the app that `upshot dev` runs)')
    .option('--port <port>', 'of the API and the account page; 0 takes a free one (default: 4747)', parsePort)
    .option('--download-port <port>', 'of the download host; 0 takes a free one (default: 4748)', parsePort)
    .option('--allow-host <host:port>', 'one more name to answer to, as from a container; may be repeated', gather, [])
    .option('--seed <n>', 'every random choice follows from it (default: 1)', parseSeed)
    .addOption(
      new Option('--form <form>', 'which of the two described forms replies take').choices([
        'primary',
        'alternative',
        'mixed',
      ]),
    )
    .addOption(
      new Option('--plan <plan>', 'how many requests are allowed').choices(['free', 'pro', 'enterprise', 'unlimited']),
    )
    .addOption(
      new Option('--clock <clock>', 'manual: it stands still until "upshot sandbox clock advance"')
        .choices(['real', 'manual'])
        .default('real' as const),
    )
    .addHelpText(
      'after',
      '\nStopping it loses nothing: the next start on the same folder goes on. Each start makes a read-write key and prints\nit once; "upshot sandbox key revoke" ends those that are no longer needed.',
    )
    .action(async ({ dir, port, downloadPort, allowHost, ...options }) => {
      const config = await loadProject({}, { isSandbox: true })
      const ports = { port: port ?? config.ports.sandbox, downloadPort: downloadPort ?? config.ports.sandboxDownload }
      const { startSandbox } = await import('../../../sandbox/index.ts')
      // Before anything is printed: whoever waits for the first line may stop it right after.
      const stopped = untilStopped()
      await using sandbox = await startSandbox({
        ...placesOf(dir, config),
        ...ports,
        ...definedOnly(options),
        hosts: allowHost,
        log: (line) => out.note(describeLine(line)),
      })
      await serve(sandbox, { dir: placesOf(dir, config).dir, out, stopped })
    })
}

/** Without `--dir` it goes on with what the sandbox of `upshot dev` holds, in the same folders. */
function placesOf(dir: string | undefined, { dataDir }: Config): { dir: string; storagesDir?: string } {
  if (dir !== undefined) return { dir: resolve(dir) }
  return { dir: join(dataDir, 'sandbox'), storagesDir: join(dataDir, 'storages') }
}

async function serve(
  sandbox: Sandbox,
  { dir, out, stopped }: { dir: string; out: Output; stopped: Promise<void> },
): Promise<void> {
  const startedAt = new Date().toISOString()
  const key = await sandbox.keys.create({ name: `sandbox start, ${startedAt}`, scope: 'read-write' })
  writeSandboxFile(dir, { pid: process.pid, startedAt, origin: sandbox.origin })
  try {
    announce(sandbox, key, { dir, out })
    await stopped
  } finally {
    removeSandboxFile(dir)
  }
  out.note('Stopped. The next start goes on from here.')
}

function announce(sandbox: Sandbox, { key }: ApiKey, { dir, out }: { dir: string; out: Output }): void {
  const { url, origin, downloadOrigin, clock, settings } = sandbox
  const account = `${origin}/account`
  const storages = sandbox.storage('storage_a').dir.replace(/\/storage_a$/, '')
  const { plan, form } = settings.get()
  const facts = { url, origin, downloadOrigin, account, dir, storages, clock: clock.mode, plan, form, key }
  out.result(facts, () => [
    `base URL   ${url}`,
    `API key    ${key}`,
    `account    ${account}`,
    `downloads  ${downloadOrigin}`,
    `storages   ${storages}`,
    `plan       ${plan}, form ${form}, clock ${clock.mode}`,
  ])
  out.note('The key is read-write, and shown this once. Drop files into the storages. Ctrl-C stops.')
}

function describeLine({ msg, ...facts }: { msg: string } & Record<string, unknown>): string {
  const parts = Object.entries(facts).flatMap(([name, value]) => {
    if (value === null || value === undefined) return []
    return `${name}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`
  })
  return [msg, ...parts].join(' ')
}

/**
 * The first Ctrl-C, or whoever ends processes, stops it in order; a second Ctrl-C leaves at once.
 */
function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    onInterrupt().addEventListener('abort', () => resolve())
    process.once('SIGTERM', () => resolve())
  })
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new InvalidArgumentError('It is a port from 0 to 65535.')
}

function parseSeed(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It is a whole number from 0 to 999999999.')
}

function definedOnly(options: {
  seed?: number | undefined
  form?: SandboxOptions['form'] | undefined
  plan?: SandboxOptions['plan'] | undefined
  clock: 'real' | 'manual'
}): Pick<SandboxOptions, 'seed' | 'form' | 'plan' | 'clock'> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}
