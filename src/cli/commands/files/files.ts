import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Command } from '@commander-js/extra-typings'
import { refuse, UpshotError } from '../../../core/errors.ts'
import type { Cli } from '../../command.ts'
import { countUpTo } from '../../input/parse-option.ts'
import { call, type Operations } from '../../open/operations.ts'
import { confirm } from '../../terminal/confirm.ts'
import { formatBytes, formatMoment, formatText } from '../../terminal/format-value.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import type { Output } from '../../terminal/output.ts'
import { showProgress } from '../../terminal/progress.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { type Asked, addAccount, describeIncomplete, type Entry, findEntry, parsePlace } from './targets.ts'

export function ls(command: Command, { out, project }: Cli): void {
  addAccount(command)
    .argument('<service:/path>', 'a folder, such as storage_a:/reports')
    .option('--recursive', 'include the entries of its subfolders')
    .option('--limit <n>', 'maximum number of entries, 1 to 50000, oldest first', countUpTo(50_000), 1_000)
    .action((text, { recursive, limit, account }) =>
      project.withOperations(
        async (operations) => {
          const { storage, path } = parsePlace(text)
          const query = { account, path, limit, ...(recursive && { recursive: 'true' as const }) }
          const input = { params: { storage }, query }
          const signal = onInterrupt()
          const { items, reason } = await call(operations, 'GET /files/:storage/snapshot', input, { signal })
          out.result(items, () => formatTable(items, COLUMNS, out))
          if (items.length === 0) out.note(`There is nothing at ${storage}:${path}.`)
          if (reason === 'max') out.note(`There are more than these ${items.length} entries. Show more with --limit.`)
          // A list of several pages, read once, is what one expects of `ls`.
          else if (reason !== null && reason !== 'unverified') out.note(describeIncomplete(reason))
        },
        { mayCreate: true },
      ),
    )
}

const COLUMNS: Column<Entry>[] = [
  { title: 'PATH', value: ({ path, type }) => (type === 'folder' ? `${path}/` : path) },
  { title: 'SIZE', value: ({ size }) => formatBytes(size), align: 'right' },
  { title: 'MODIFIED', value: ({ modifiedAt }) => (modifiedAt === null ? null : showTime(modifiedAt)) },
  { title: 'TYPE', value: ({ type, mimeType }) => mimeType ?? type },
  { title: 'ID', value: ({ id }) => id },
]

/** The service's time for a person; unchanged if it is not a valid time. */
function showTime(text: string): string | null {
  const moment = Date.parse(text)
  return Number.isNaN(moment) ? text : formatMoment(moment)
}

export function url(command: Command, { out, project }: Cli): void {
  addAccount(command)
    .argument('<file>', '<service:/path> or <service:id>, such as storage_a:/reports/june.pdf')
    .action((text, { account }) =>
      project.withOperations(
        async (operations) => {
          const { service, id } = await findEntry(operations, text, { account, signal: onInterrupt() })
          const input = { params: { storage: service, id }, body: { account } }
          const found = await call(operations, 'POST /files/:storage/:id/url', input)
          out.result(found, () => [found.url])
          const until = found.expiresAt === null ? '' : ` until ${found.expiresAt}`
          out.note(`Anyone with this URL can read the file${until}, without an API key.`)
        },
        { mayCreate: true },
      ),
    )
}

export function get(command: Command, { out, project }: Cli): void {
  addAccount(command)
    .argument('<file>', '<service:/path> or <service:id>, such as storage_a:/reports/june.pdf')
    .option(
      '-o, --output <file>',
      'target file or folder, or - for standard output (default: its name, in this folder)',
    )
    .action((text, { output, account }) => {
      if (output === '-' && (out.given.json || out.given.ndjson)) {
        throw new UpshotError('invalid_request', 'Standard output cannot hold both the file and JSON.', {
          fix: 'Leave out --json, or name a file with --output.',
        })
      }
      return project.withOperations(
        async (operations) => {
          const signal = onInterrupt()
          const entry = await findEntry(operations, text, { account, signal })
          if (entry.type === 'folder') {
            const place = `${entry.service}:${entry.path}`
            throw refuse(`${place} is a folder.`, `List its entries: upshot files ls ${place}`)
          }
          const work = {
            out,
            signal,
            open: (from: number) => openBytes(operations, entry, { account, from, signal }),
            look: () => findEntry(operations, `${entry.service}:${entry.id}`, { account, signal }),
          }
          if (output === '-') await print(entry, work)
          else await save(entry, { to: await chooseTarget(entry, output), ...work })
        },
        { mayCreate: true },
      )
    })
}

async function* openBytes(
  operations: Operations,
  { service, id }: Entry,
  { account, from, signal }: Asked & { from: number },
) {
  const input = { params: { storage: service, id }, body: { account, from } }
  const { ticket } = await call(operations, 'POST /files/:storage/:id/ticket', input, { signal })
  yield* operations.stream('GET /downloads/:ticket', { params: { ticket } }, { signal })
}

interface Work {
  out: Output
  signal: AbortSignal
  open: (from: number) => AsyncIterable<Uint8Array | string>
  look: () => Promise<Entry>
}

async function print(entry: Entry, { out, open }: Pick<Work, 'out' | 'open'>): Promise<void> {
  await pipeline(open(0), out.streams.stdout, { end: false })
  out.note(formatText(`${entry.service}:${entry.path}, ${formatBytes(entry.size)}`))
}

async function save(entry: Entry, { to, out, signal, open, look }: Work & { to: string }): Promise<void> {
  const from = `${entry.service}:${entry.path}`
  if (existsSync(to) || out.given.dryRun) {
    const will = existsSync(to) ? `replace ${to} with ${from}` : `download ${from} to ${to}`
    if (!(await confirm(out, { will: `${will} (${formatBytes(entry.size)})` }))) {
      out.result({ path: to, from: entry, saved: false }, () => [])
      return
    }
  }
  const { saveBytes } = await import('../../../files/disk/save-bytes.ts')
  using progress = showProgress(out, { title: from, total: entry.size, unit: 'bytes' })
  const onProgress = (bytes: number) => progress.set(bytes)
  const saved = await saveBytes({ to, file: entry, open, look, onProgress, signal })
  out.result({ ...saved, from: entry, saved: true }, () => [
    formatText(`${saved.path}  ${formatBytes(saved.bytes)}  sha256 ${saved.sha256}`),
  ])
  if (saved.resumedFrom > 0) out.note(`Continued from ${formatBytes(saved.resumedFrom)}.`)
}

/** The path to write to. The service's file name is made safe for this machine first. */
async function chooseTarget(entry: Entry, output: string | undefined): Promise<string> {
  const { localName } = await import('../../../files/index.ts')
  const isFolder =
    output === undefined || output.endsWith('/') || (existsSync(output) && statSync(output).isDirectory())
  return resolve(isFolder ? join(output ?? '.', localName(entry.name)) : output)
}
