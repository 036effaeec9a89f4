import { join, resolve } from 'node:path'
import { type Command, Option } from '@commander-js/extra-typings'
import { InvalidArgumentError } from 'commander'
import { given } from '../../../admin/queries/read-query.ts'
import type { Config } from '../../../project/config/load-config.ts'
import type { ApiKey, Sandbox } from '../../../sandbox/index.ts'
import type { Cli } from '../../command.ts'
import { gather } from '../../input/parse-option.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import type { Output } from '../../terminal/output.ts'
import { removeSandboxFile, writeSandboxFile } from './sandbox-control.ts'

/** `upshot sandbox start`: runs a sandbox until Ctrl-C. Its first output is all a client needs. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .option('--dir <dir>', 'folder for all its data (default: the one that "upshot dev" uses)')
    .option('--port <port>', 'port of the API and the account page; 0 for any free one (default: 4747)', parsePort)
    .option('--download-port <port>', 'port of the download host; 0 for any free one (default: 4748)', parsePort)
    .option('--host <name>', 'host to listen on, such as 0.0.0.0 in a container (default: 127.0.0.1)')
    .option(
      '--allow-host <host:port>',
      'additional host name to answer to, as from a container; can be repeated',
      gather,
    )
    .option('--seed <n>', 'seed of all random choices, 0 to 999999999 (default: 1)', parseSeed)
    .addOption(
      new Option(
        '--form <form>',
        'one of the two documented forms of replies, or mixed (default: unchanged, at first primary)',
      ).choices(['primary', 'alternative', 'mixed']),
    )
    .addOption(
      new Option(
        '--plan <plan>',
        'plan of the account, which sets its rate limit (default: unchanged, at first free)',
      ).choices(['free', 'pro', 'enterprise', 'unlimited']),
    )
    .addOption(
      new Option('--clock <clock>', 'real, or manual: moved only by "upshot sandbox clock advance <duration>"')
        .choices(['real', 'manual'])
        .default('real' as const),
    )
    .addHelpText('after', HELP)
    .action(async ({ dir, port, downloadPort, allowHost = [], ...options }) => {
      const config = await project.load({}, { isSandbox: true })
      const ports = { port: port ?? config.ports.sandbox, downloadPort: downloadPort ?? config.ports.sandboxDownload }
      const { startSandbox } = await import('../../../sandbox/index.ts')
      // Listens before the first line is printed: its reader may stop the sandbox right after.
      const stopped = untilStopped()
      await using sandbox = await startSandbox({
        ...foldersOf(dir, config),
        ...ports,
        ...given(options),
        hosts: allowHost,
        log: (line) => out.note(describeLine(line)),
      })
      await serve(sandbox, { dir: foldersOf(dir, config).dir, out, stopped })
    })
}

const HELP = `
The next start on the same folder continues with the same data. Each start creates a read-write key
and prints it once; "upshot sandbox key revoke <id>" revokes keys that are no longer needed.`

/** The folders; without `--dir` those of the sandbox of `upshot dev`. */
function foldersOf(dir: string | undefined, { dataDir }: Config): { dir: string; storagesDir?: string } {
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
  out.note('Stopped. The next start continues from here.')
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
  out.note('The key is read-write and is not shown again. Put files into the storages. Stop with Ctrl-C.')
}

function describeLine({ msg, ...facts }: { msg: string } & Record<string, unknown>): string {
  const parts = Object.entries(facts).flatMap(([name, value]) => {
    if (value === null || value === undefined) return []
    return `${name}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`
  })
  return [msg, ...parts].join(' ')
}

/** Resolves at the first Ctrl-C or SIGTERM. A second Ctrl-C exits at once. */
function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    onInterrupt().addEventListener('abort', () => resolve())
    process.once('SIGTERM', () => resolve())
  })
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new InvalidArgumentError('Give a port from 0 to 65535.')
}

function parseSeed(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give a whole number from 0 to 999999999.')
}
