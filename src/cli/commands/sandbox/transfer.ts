import { setTimeout as after } from 'node:timers/promises'
import { Option } from '@commander-js/extra-typings'
import { InvalidArgumentError } from 'commander'
import { resolveAmong } from '../../../admin/queries/resolve-id.ts'
import type { TransferRecord } from '../../../sandbox/index.ts'
import { countUpTo } from '../../input/parse-option.ts'
import { formatBytes, formatMoment } from '../../terminal/format-value.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import type { Output } from '../../terminal/output.ts'
import { showProgress } from '../../terminal/progress.ts'
import type { Column } from '../../terminal/table.ts'
import { isRehearsal, sandboxCommand, showRows } from './sandbox-command.ts'
import type { SandboxControl } from './sandbox-control.ts'
import { parseSandboxPlace } from './storage.ts'

const POLL_EVERY_MS = 100

/**
 * `upshot sandbox transfer start <from> <to>`: starts a transfer and waits for its end. Exits with
 * 7 unless it completes.
 */
export const start = sandboxCommand(
  (command) =>
    command
      .argument('<from>', 'file or folder to transfer, such as storage_a:/in', parseSandboxPlace)
      .argument('<to>', 'target path; a path that ends in / is the folder to put it into', parseSandboxPlace)
      .option(
        '--fail-at <part>',
        'fail after this part of the bytes, from 0 (at once) to 1 (just before the end)',
        parsePart,
      )
      .addOption(
        new Option('--existing <what>', 'what to do with existing files')
          .choices(['replace', 'keep'])
          .default('replace' as const),
      )
      .option('--detach', 'do not wait for the end')
      .addHelpText('after', '\nCtrl-C cancels it. Files that were transferred completely are kept.'),
  async ({ out, sandbox }, { failAt = null, existing, detach = false }, from, to) => {
    if (isRehearsal(out, `transfer ${from.storage}:${from.path} to ${to.storage}:${to.path}`)) return
    const signal = onInterrupt()
    const started = await sandbox.post<TransferRecord>('/transfers', {
      from: [from.storage, from.path],
      to: [to.storage, to.path],
      failAt,
      existing,
    })
    const record = detach ? started : await follow(sandbox, started, { out, signal })
    out.result(record, () => formatTransfer(record))
    if (signal.aborted) out.leaveWith('interrupted')
    else if (record.status === 'failed' || record.status === 'canceled') out.leaveWith('difference')
  },
)

async function follow(
  sandbox: SandboxControl,
  started: TransferRecord,
  { out, signal }: { out: Output; signal: AbortSignal },
): Promise<TransferRecord> {
  using progress = showProgress(out, { title: 'Transferring', total: started.bytesTotal, unit: 'bytes' })
  let record = started
  let isCanceled = false
  while (record.status === 'queued' || record.status === 'running') {
    if (signal.aborted && !isCanceled) {
      isCanceled = true
      // If it has just ended, the record below says how.
      await sandbox.post(`/transfers/${record.id}/cancel`).catch(() => null)
    }
    record = await sandbox.get<TransferRecord>(`/transfers/${record.id}`)
    progress.set(record.bytesDone)
    if (record.finishedAt === null) await after(POLL_EVERY_MS)
  }
  return record
}

function formatTransfer(record: TransferRecord): string[] {
  const { id, source, destination, filesDone, filesTotal, bytesDone, bytesTotal } = record
  return [
    `${id}  ${describeEnd(source)} → ${describeEnd(destination)}  ${describeProgress(record)}`,
    `${filesDone} of ${filesTotal} files, ${formatBytes(bytesDone)} of ${formatBytes(bytesTotal)}`,
  ]
}

function parsePart(text: string): number {
  if (/^(0|1|0?\.\d{1,9}|1\.0*)$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give a number from 0 to 1.')
}

export const list = sandboxCommand(
  (command) => command.option('--limit <n>', 'maximum number of transfers, 1 to 10000', countUpTo(10_000), 20),
  async ({ out, sandbox }, { limit }) => {
    const transfers = (await sandbox.get<TransferRecord[]>('/transfers')).slice(-limit).reverse()
    const empty = 'No transfer yet. Start one with "upshot sandbox transfer start <from> <to>".'
    showRows(out, transfers, LIST_COLUMNS, empty)
  },
)

const LIST_COLUMNS: Column<TransferRecord>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'STARTED', value: ({ startedAt }) => formatMoment(startedAt) },
  { title: 'FROM', value: ({ source }) => describeEnd(source), most: 50 },
  { title: 'TO', value: ({ destination }) => describeEnd(destination), most: 50 },
  { title: 'FILES', value: ({ filesDone, filesTotal }) => `${filesDone}/${filesTotal}`, align: 'right' },
  { title: 'BYTES', value: ({ bytesDone }) => formatBytes(bytesDone), align: 'right' },
  { title: 'STATE', value: describeProgress, most: 80 },
]

export const cancel = sandboxCommand(
  (command) =>
    command.argument('<id>', 'id of the transfer, trf_…, or its beginning, from "upshot sandbox transfer list"'),
  async ({ out, sandbox }, _, given) => {
    const id = resolveAmong(given, await sandbox.get<TransferRecord[]>('/transfers'))?.id ?? given
    const path = `/transfers/${encodeURIComponent(id)}`
    const { status } = await sandbox.get<TransferRecord>(path)
    if (isRehearsal(out, `cancel the transfer ${id}, which is ${status}`)) return
    const record = await sandbox.post<TransferRecord>(`${path}/cancel`)
    out.result(record, () => [`${id} is ${record.status}, after ${record.filesDone} of ${record.filesTotal} files.`])
  },
)

/** One end of a transfer, such as `storage_a:/in`. */
function describeEnd({ service, path }: TransferRecord['source']): string {
  return `${service}:${path}`
}

/** The status of a transfer, such as `completed` or `failed: …`. */
function describeProgress({ status, error }: TransferRecord): string {
  return error === undefined ? status : `${status}: ${error.message}`
}
