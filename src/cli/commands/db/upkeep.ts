import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Command, Option } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../../admin/client/index.ts'
import { UpshotError } from '../../../core/errors.ts'
import { PRUNE_KINDS, type Prunable, type PruneKind } from '../../../core/store/retention.ts'
import { withIsoTimes } from '../../../core/time.ts'
import type { DatabaseConfig } from '../../../project/config/database-config.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { takeAnchor } from '../../../project/data-dir/anchor-file.ts'
import {
  backUp,
  verify as checkDatabase,
  describeNoBackup,
  partOf,
  publishBackup,
  removeOldParts,
} from '../../../project/data-dir/maintain-database.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../command-clock.ts'
import { readSecret } from '../../input/read-source.ts'
import { requireDatabase } from '../../open/open-project.ts'
import { call } from '../../open/operations.ts'
import { findRunningApp } from '../../open/running-app.ts'
import { confirm } from '../../terminal/confirm.ts'
import { formatBytes } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'
import { showProgress, showUnstoppable, showWork } from '../../terminal/progress.ts'

export function backup(command: Command, { out, project }: Cli): void {
  command
    .argument('<file>', 'path of the backup; must not exist yet')
    .addHelpText('after', RESTORE)
    .action(async (target) => {
      const to = resolve(target)
      if (await project.isFar()) return fetchBackup({ out, project }, to)
      const config = await project.load()
      if (config.database) throw refusePostgres(config.database, to)
      const file = await requireDatabase(config)
      if (out.given.dryRun) {
        out.result({ file: to, made: false }, () => [`Would copy ${file} to ${to}.`])
        return
      }
      // Anchored before, so that the backup contains the seal that the anchor names.
      const anchor = await project.withStore((store) => takeAnchor(store, commandClock, config))
      using work = showWork(out, 'Backing up')
      const { bytes, rows } = await backUp(config, to, work)
      report(out, { file: to, made: true, bytes, rows, anchor: anchor && withIsoTimes(anchor) })
      out.note(describeKey(config))
    })
}

type Backup = Pick<AnswerOf<'POST /database/backup'>, 'bytes' | 'rows' | 'anchor'> & { file: string; made: true }

function report(out: Output, backup: Backup): void {
  const { file, bytes, rows, anchor } = backup
  out.result(backup, () => [
    `Backed up to ${file}: ${formatBytes(bytes)}, ${rows.event} events, ${rows.run} runs.`,
    'The copy was read back and is sound.',
    ...(anchor === null ? [] : [`The end of its effect ledger: ${JSON.stringify(anchor)}`]),
  ])
}

/** Lets the server make and check a copy, and fetches it. Throws `conflict` for a taken name. */
async function fetchBackup({ out, project }: Pick<Cli, 'out' | 'project'>, to: string): Promise<void> {
  if (existsSync(to))
    throw new UpshotError('conflict', `There is already a file ${to}, and a backup overwrites nothing.`, {
      details: { fix: 'Name a file that does not exist yet.' },
    })
  if (out.given.dryRun) return out.result({ file: to, made: false }, () => [`Would fetch a backup to ${to}.`])
  await project.withOperations(async (operations) => {
    using work = showWork(out, 'Backing up')
    const { backup, sha256, ...about } = await call(operations, 'POST /database/backup', { body: {} }, work)
    using progress = showProgress(out, { title: 'Fetching', total: about.bytes, unit: 'bytes' })
    const part = partOf(to)
    try {
      const chunks = operations.stream('GET /database/backups/:name', { params: { name: backup } }, work)
      const found = await saveBytes(chunks, part, (bytes) => progress.set(bytes))
      if (found !== sha256)
        throw new UpshotError('service_failed', 'The bytes that arrived are not those that the server sent.')
      removeOldParts(part)
      publishBackup(part, to)
    } catch (error) {
      // Calls of the file system alone have one; the server and the network tell their own faults.
      throw error instanceof Error && 'syscall' in error ? describeNoBackup(to, error) : error
    } finally {
      await rm(part, { force: true })
    }
    report(out, { file: to, made: true, ...about })
    out.note('Its secrets are encrypted with the key of the server, which is not in the backup.')
  })
}

/** Writes to a new file that only its owner can read. The SHA-256, once it is on disk. */
async function saveBytes(
  chunks: AsyncIterable<Uint8Array | string>,
  to: string,
  onBytes: (bytes: number) => void,
): Promise<string> {
  const hash = createHash('sha256')
  await using file = await open(to, 'wx', 0o600)
  let bytes = 0
  for await (const chunk of chunks) {
    hash.update(chunk)
    await file.writeFile(chunk)
    bytes += chunk.length
    onBytes(bytes)
  }
  await file.sync()
  return hash.digest('hex')
}

/** PostgreSQL has its own tools, which are better than a copy of rows. */
function refusePostgres({ hosts, schema }: DatabaseConfig, to: string): UpshotError {
  const [{ host, port, database, user } = { host: '', port: 0, database: '', user: '' }] = hosts
  const where = `--host=${host} --port=${port} --username=${user} --dbname=${database}`
  const command = `pg_dump --format=custom --schema=${schema} --file=${to} ${where}`
  return new UpshotError('invalid_request', 'PostgreSQL makes the backups of its databases; nothing was copied.', {
    details: {
      fix: `Run: ${command}. A large database needs pgBackRest, WAL-G or the recovery of its provider.`,
      command,
    },
  })
}

const RESTORE = `
To restore a backup, stop the app, replace upshot.db in the data directory with it, and delete
upshot.db-wal, upshot.db-shm and upshot.db-open. Its runs go on from the backup: see "Back up and
restore" in the operator's guide, docs/operating.md.`

/** Without the key the secrets in a backup are lost; kept with the backup it would reveal them. */
function describeKey({ dataDir, secretKey }: { dataDir: string; secretKey: string | null }): string {
  const where = secretKey === null ? `${dataDir}/secret.key` : 'UPSHOT_SECRET_KEY'
  return `Its secrets are encrypted with the key in ${where}, which is not in the backup. Back up the key separately.`
}

/** `upshot db verify [file]`: checks a database; exits with 7 if a check fails. */
export function verify(command: Command, { out, project }: Cli): void {
  command
    .argument('[file]', 'path of a database or a backup (default: the database of this project)')
    .action(async (file) => {
      using work = showWork(out, 'Checks')
      const isFar = (await project.isFar()) && file === undefined
      const report = await (isFar
        ? project.withOperations((far) => call(far, 'POST /database/verify', { body: {} }, work))
        : verifyHere(await project.load(), file, work))
      out.result(report, () => [
        ...report.checks.map(({ name, passed, found }) => {
          const mark = passed ? out.paint('green', '✓') : out.paint('red', '✗')
          return `${mark} ${name}${passed ? '' : `: ${found}`}`
        }),
        '',
        Object.entries(report.rows)
          .map(([table, count]) => `${table} ${count}`)
          .join(', '),
      ])
      if (report.passed) return
      out.leaveWith('difference')
      out.note('Stop the app, copy its data, and restore the newest backup or moment that passes "upshot db verify".')
    })
}

async function verifyHere(
  config: Config,
  file: string | undefined,
  { onProgress }: Pick<ReturnType<typeof showWork>, 'onProgress'>,
) {
  if (file === undefined && !config.database) await requireDatabase(config)
  return checkDatabase(config, file && resolve(file), onProgress)
}

export function reseal(command: Command, { out, project }: Cli): void {
  command
    .addOption(new Option('--key-file <file>', 'read the new key from a file').conflicts(['keyStdin', 'keyEnv']))
    .addOption(new Option('--key-stdin', 'read the new key from standard input').conflicts('keyEnv'))
    .option('--key-env <name>', 'read the new key from an environment variable')
    .addHelpText('after', KEY_HELP)
    .action(async ({ keyFile, keyStdin, keyEnv }) => {
      const config = await project.loadBeside()
      const file = await requireDatabase(config)
      const key = await readSecret({ secretFile: keyFile, secretStdin: keyStdin, secretEnv: keyEnv }, 'the new key')
      await requireStopped(config)
      if (!(await confirm(out, { will: `encrypt the secrets in ${file} with a new key` }))) {
        out.result({ resealed: null }, () => ['Nothing was changed.'])
        return
      }
      const { resealSecrets } = await import('../../../project/data-dir/reseal-secrets.ts')
      const { keyFiles, ...resealed } = await resealSecrets(config, key ?? null, project.operator)
      const { webhookSecrets, apiKeys, captures } = resealed
      out.result({ resealed, keyFiles }, () => [
        `Encrypted again: ${webhookSecrets} webhook secrets, ${apiKeys} API keys, ${captures} captured deliveries.`,
      ])
      out.note(
        keyFiles === null
          ? 'Start the app with the new key in UPSHOT_SECRET_KEY. Earlier backups need the old key.'
          : `The new key is in ${keyFiles.present}. Earlier backups need the old key, in ${keyFiles.before}.`,
      )
    })
}

const KEY_HELP = `
A key is 32 bytes in base64 or hex. Without a --key option, a new key replaces the one in the data
directory. Stop every process of the app first. Webhook secrets and API keys keep their values.`

/** A running app would keep the old key, and could not read the secrets any more. */
async function requireStopped(config: Config): Promise<void> {
  const app = await findRunningApp(config)
  if (app === null) return
  throw new UpshotError('conflict', `An app is running on ${config.dataDir} (process ${app.pid}), with the old key.`, {
    fix: 'Stop every process of the app, run this again, then start the app.',
  })
}

const LABELS = {
  runs: 'completed runs',
  failures: 'failed and canceled runs',
  refusals: 'refused deliveries',
  deliveries: 'rows of the delivery ledger',
  payloads: 'bodies of events',
  audit: 'rows of the audit log, with operations on many runs that are over',
  effects: 'rows of the effect ledger',
  files: 'files that are gone, with findings of lost events, and what events told of judged ones',
} as const satisfies Record<PruneKind, string>

const DAY_MS = 86_400_000

export function prune(command: Command, { out, project }: Cli): void {
  command
    .addHelpText(
      'after',
      '\nThe ages are those of `retention` in the project file, by which the app prunes every hour.\n' +
        'Under --dry-run, and before it asks, it counts what would go: up to 100,000 of each kind.',
    )
    .action(() =>
      project.withOperations(async (operations) => {
        const { yes, dryRun } = out.given
        const { items: ages } = await call(operations, 'GET /retention')
        const prunable = yes && !dryRun ? null : (await call(operations, 'GET /retention/prunable')).items
        const things = ages.map(({ kind, ageMs }) =>
          describeBound(kind, ageMs, prunable?.find((each) => each.kind === kind) ?? null),
        )
        if (!(await confirm(out, { will: 'delete data older than this', things }))) {
          out.result({ pruned: null, prunable }, () => ['Nothing was deleted.'])
          return
        }
        using work = showUnstoppable(out, 'Rows removed')
        const { pruned } = await call(operations, 'POST /retention/prune', { body: {} }, work)
        out.result({ pruned }, () => PRUNE_KINDS.map((kind) => `${String(pruned[kind]).padStart(8)} ${LABELS[kind]}`))
      }),
    )
}

function describeBound(kind: PruneKind, ageMs: number | null, prunable: Prunable | null): string {
  if (ageMs === null) return `${LABELS[kind]}: kept forever`
  const age = `${LABELS[kind]}: ${Number((ageMs / DAY_MS).toFixed(1))} days`
  return prunable === null ? age : `${age}; ${describePrunable(prunable)}`
}

/** Such as `100,001 or more would go, 3 weeks of them at once (1.2 GB on disk)`. */
function describePrunable({ rows, isComplete, bytes, weeks }: Prunable): string {
  const size = bytes ? ` (${formatBytes(bytes)})` : ''
  const counted = `${rows.toLocaleString('en')}${isComplete ? '' : ' or more'}${size} would go`
  if (weeks === null) return counted
  const many = `${weeks.count} ${weeks.count === 1 ? 'week' : 'weeks'}`
  return `${counted}, ${many} of them at once (${formatBytes(weeks.bytes)} on disk)`
}
