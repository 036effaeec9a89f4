import type { Command } from '@commander-js/extra-typings'
import { HandLedger } from '../../../app/service/hand-ledger.ts'
import { countOutcomes, type Removal, removeFiles } from '../../../app/service/remove-files.ts'
import { UpshotError } from '../../../core/errors.ts'
import type { FileEntry } from '../../../core/service/file.ts'
import type { FilesClient } from '../../../files/index.ts'
import type { Config } from '../../../project/config/load-config.ts'
import type { Cli } from '../../command.ts'
import { countUpTo } from '../../input/parse-option.ts'
import { commandClock } from '../../open/command-clock.ts'
import { canAsk, confirm, typesCount } from '../../terminal/confirm.ts'
import { formatBytes } from '../../terminal/format-value.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import type { Output } from '../../terminal/output.ts'
import { showProgress } from '../../terminal/progress.ts'
import { describeIncomplete, findEntry, openFilesAndStore, parseTarget } from './files-client.ts'

/**
 * `upshot files rm <file…>`: lists the files, asks, and deletes those that are unchanged. Exits
 * with 7 if a file was not deleted.
 */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<file...>', '<service:/path> or <service:id>, such as storage_a:/reports/june.pdf')
    .option('--recursive', 'delete the files below a folder; the folders themselves are kept')
    .option('--count <n>', 'the number of files, where they are more than a run may delete', countUpTo(1_000_000))
    .action(async (texts, { recursive = false, count }) => {
      const config = await project.load()
      const targets = texts.map((text) => parseTarget(text, config))
      const signal = onInterrupt()
      await using files = await openFilesAndStore(config)
      const byId = new Map<string, FileEntry>()
      for (const target of targets) {
        const entry = await findEntry(files, target, signal)
        for (const file of await listFiles(files, entry, { recursive, signal }))
          byId.set(`${file.service}:${file.id}`, file)
      }
      const found = [...byId.values()]
      const isConfirmed = found.length === 0 || (await confirm(out, describeIntent(found)))
      if (isConfirmed) await requireCount(out, found.length, { count, most: mostByHand(config) })
      if (isConfirmed && found.length > 0) await project.recordAction(describeRemoval(found), 'begun')
      const ledger = new HandLedger(files.store, project.operator, commandClock)
      const removals = isConfirmed ? await remove({ files, ledger }, found, { out, signal }) : found.map(leave)
      report(out, removals, signal)
    })
}

/** All files of an entry. Throws for a folder too large to list completely. */
async function listFiles(
  files: FilesClient,
  entry: FileEntry,
  { recursive, signal }: { recursive: boolean; signal: AbortSignal },
): Promise<FileEntry[]> {
  if (entry.type === 'file') return [entry]
  const place = `${entry.service}:${entry.path}`
  if (!recursive) {
    throw new UpshotError('invalid_request', `${place} is a folder. Nothing was deleted.`, {
      fix: 'Add --recursive to delete the files below it.',
    })
  }
  const { items, reason } = await files.snapshot({ service: entry.service, path: entry.path, recursive }, { signal })
  if (reason === null) return items.filter(({ type }) => type === 'file')
  const fix = reason === 'max' ? 'Delete its subfolders one by one.' : 'Try again, or delete its files by their ids.'
  throw new UpshotError('invalid_request', `${place}: ${describeIncomplete(reason)} Nothing was deleted.`, {
    fix,
  })
}

/** The audit log names the first hundred files. */
function describeRemoval(found: readonly FileEntry[]) {
  const files = found.slice(0, 100).map(({ service, id }) => `${service}:${id}`)
  return { action: 'files.rm', target: null, parameters: { count: found.length, files } } as const
}

function describeIntent(found: readonly FileEntry[]) {
  const bytes = found.reduce((sum, { size }) => sum + (size ?? 0), 0)
  const count = found.length === 1 ? '1 file' : `${found.length} files`
  return {
    will: `delete ${count} (${formatBytes(bytes)}) for good`,
    things: found.map(({ service, path }) => `${service}:${path}`),
  }
}

/** Deletes of one run that the project allows without anybody's word. */
function mostByHand({ guardPolicy }: Pick<Config, 'guardPolicy'>): number {
  return guardPolicy.limits?.workflow.deletes?.perRun ?? Number.POSITIVE_INFINITY
}

/** Many files need their number: typed at a terminal, or named by a script. */
async function requireCount(
  out: Output,
  found: number,
  { count, most }: { count: number | undefined; most: number },
): Promise<void> {
  if (found <= most || count === found) return
  if (count === undefined && canAsk(out) && (await typesCount(out, found))) return
  const given = count === undefined ? 'no number was given' : `--count says ${count}`
  throw new UpshotError('needs_confirmation', `These are ${found} files, and ${given}. Nothing was deleted.`, {
    fix: `More than ${most} need their number: add --count ${found}.`,
  })
}

async function remove(
  files: { files: FilesClient; ledger: HandLedger },
  found: readonly FileEntry[],
  { out, signal }: { out: Output; signal: AbortSignal },
) {
  using progress = showProgress(out, { title: 'Deleting', total: found.length, unit: 'count' })
  return await removeFiles(files, found, { signal, onDone: (done) => progress.set(done) })
}

function leave(file: FileEntry): Removal {
  return { file, outcome: 'dry_run', error: null }
}

const EXPECTED_OUTCOMES = new Set<Removal['outcome']>(['deleted', 'already_gone', 'dry_run'])

function report(out: Output, removals: readonly Removal[], signal: AbortSignal): void {
  const counts = countOutcomes(removals)
  const files = removals.map(({ file: { service, id, path, size }, ...rest }) => ({ service, id, path, size, ...rest }))
  out.result({ counts, files }, () => [
    ...files
      .filter(({ outcome }) => !EXPECTED_OUTCOMES.has(outcome))
      .map(
        ({ service, path, outcome, error }) => `${service}:${path}  ${outcome}${error === null ? '' : `: ${error}`}`,
      ),
    Object.entries(counts)
      .map(([outcome, count]) => `${count} ${outcome.replace('_', ' ')}`)
      .join(', ') || 'There was no file to delete.',
  ])
  if (signal.aborted) out.leaveWith('interrupted')
  else if (counts.failed !== undefined) out.leaveWith('failed')
  else if (removals.some(({ outcome }) => !EXPECTED_OUTCOMES.has(outcome))) out.leaveWith('difference')
}
