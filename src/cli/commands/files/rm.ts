import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../../admin/client/index.ts'
import { refuse, UpshotError } from '../../../core/errors.ts'
import type { Cli } from '../../command.ts'
import { countUpTo } from '../../input/parse-option.ts'
import { call, type Operations } from '../../open/operations.ts'
import { canAsk, confirm, typesCount } from '../../terminal/confirm.ts'
import { formatBytes, formatText } from '../../terminal/format-value.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import type { Output } from '../../terminal/output.ts'
import { showWork } from '../../terminal/progress.ts'
import { type Asked, addAccount, describeIncomplete, type Entry, findEntry } from './targets.ts'

type Removed = AnswerOf<'POST /files/delete'>

/** Entries below a folder that are listed; a larger one is refused. */
const MAX_ENTRIES = 50_000

/**
 * `upshot files rm <file…>`: lists the files, asks, and deletes those that are unchanged. Exits
 * with 7 if a file was not deleted.
 */
export function define(command: Command, { out, project }: Cli): void {
  addAccount(command)
    .argument('<file...>', '<service:/path> or <service:id>, such as storage_a:/reports/june.pdf')
    .option('--recursive', 'delete the files below a folder; the folders themselves are kept')
    .option('--count <n>', 'the number of files, where they are more than a run may delete', countUpTo(1_000_000))
    .action((texts, { recursive = false, count, account }) =>
      project.withOperations(
        async (operations) => {
          const asked = { account, signal: onInterrupt() }
          const byId = new Map<string, Entry>()
          for (const text of texts) {
            const entry = await findEntry(operations, text, asked)
            for (const file of await listFiles(operations, entry, { recursive, ...asked }))
              byId.set(`${file.service}:${file.id}`, file)
          }
          const found = [...byId.values()]
          const isConfirmed = found.length > 0 && (await confirm(out, describeIntent(found)))
          report(out, isConfirmed ? await remove(operations, found, { out, account, count }) : leave(found))
        },
        { mayCreate: true },
      ),
    )
}

/** All files of an entry. Throws for a folder too large to list completely. */
async function listFiles(
  operations: Operations,
  { service, path, ...entry }: Entry,
  { recursive, account, signal }: Asked & { recursive: boolean },
): Promise<Entry[]> {
  if (entry.type === 'file') return [{ service, path, ...entry }]
  const place = `${service}:${path}`
  if (!recursive) {
    throw refuse(`${place} is a folder. Nothing was deleted.`, 'Add --recursive to delete the files below it.')
  }
  const query = { account, path, recursive: 'true', verify: 'true', limit: MAX_ENTRIES } as const
  const input = { params: { storage: service }, query }
  const { items, reason } = await call(operations, 'GET /files/:storage/snapshot', input, { signal })
  if (reason === null) return items.filter(({ type }) => type === 'file')
  const fix = reason === 'max' ? 'Delete its subfolders one by one.' : 'Try again, or delete its files by their ids.'
  throw refuse(`${place}: ${describeIncomplete(reason)} Nothing was deleted.`, fix)
}

function describeIntent(found: readonly Entry[]) {
  const bytes = found.reduce((sum, { size }) => sum + (size ?? 0), 0)
  const count = found.length === 1 ? '1 file' : `${found.length} files`
  return {
    will: `delete ${count} (${formatBytes(bytes)}) for good`,
    things: found.map(({ service, path }) => `${service}:${path}`),
  }
}

/** Deletes the files. Many need their number: named by a script, or typed at a terminal. */
async function remove(
  operations: Operations,
  found: readonly Entry[],
  { out, account, count }: { out: Output; account: string; count: number | undefined },
): Promise<Removed> {
  const files = found.map(({ service, id, path, size, modifiedAt }) => ({ service, id, path, size, modifiedAt }))
  const perform = async (body: object) => {
    using work = showWork(out, 'Deleting')
    return await call(operations, 'POST /files/delete', { body: { account, files, ...body } }, work)
  }
  try {
    return await perform({ count })
  } catch (error) {
    const isCounted = error instanceof UpshotError && error.code === 'needs_confirmation' && count === undefined
    if (!isCounted || !canAsk(out) || !(await typesCount(out, found.length))) throw error
    return perform({ count: found.length })
  }
}

function leave(found: readonly Entry[]): Removed {
  const files = found.map(({ service, id, path, size }) => {
    return { service, id, path, size, outcome: 'dry_run' as const, error: null }
  })
  return { counts: files.length === 0 ? {} : { dry_run: files.length }, files }
}

const EXPECTED_OUTCOMES = new Set<Removed['files'][number]['outcome']>(['deleted', 'already_gone', 'dry_run'])

function report(out: Output, { counts, files }: Removed): void {
  const unexpected = files.filter(({ outcome }) => !EXPECTED_OUTCOMES.has(outcome))
  out.result({ counts, files }, () => [
    ...unexpected.map(({ service, path, outcome, error }) =>
      formatText(`${service}:${path}  ${outcome}${error === null ? '' : `: ${error}`}`),
    ),
    Object.entries(counts)
      .map(([outcome, count]) => `${count} ${outcome.replace('_', ' ')}`)
      .join(', ') || 'There was no file to delete.',
  ])
  if (onInterrupt().aborted) out.leaveWith('interrupted')
  else if (counts.failed !== undefined) out.leaveWith('failed')
  else if (unexpected.length > 0) out.leaveWith('difference')
}
