import { setTimeout as after } from 'node:timers/promises'
import { type Command, Option } from '@commander-js/extra-typings'
import { InvalidArgumentError } from 'commander'
import type { TransferRecord } from '../../../../sandbox/index.ts'
import { formatBytes } from '../../../terminal/format-value.ts'
import { onInterrupt } from '../../../terminal/on-interrupt.ts'
import type { Output } from '../../../terminal/output.ts'
import { showProgress } from '../../../terminal/progress.ts'
import { parseSandboxPlace } from '../control/place.ts'
import { atSandbox, findSandbox, isRehearsal, type SandboxControl } from '../control/sandbox-control.ts'
import { describeEnd, describeProgress } from '../control/view.ts'

const LOOK_EVERY_MS = 100

/**
 * `upshot sandbox transfer start <from> <to>`: waits for its end, and leaves with 7 where it did
 * not complete.
 */
export function define(command: Command, out: Output): void {
  atSandbox(command)
    .argument('<from>', 'a file or a folder, such as storage_a:/in', parseSandboxPlace)
    .argument('<to>', 'where to; a path that ends in / is the folder it comes to lie in', parseSandboxPlace)
    .option('--fail-at <part>', 'fail after this part of the bytes: 0 at once, 1 just before the end', parsePart)
    .addOption(
      new Option('--existing <what>', 'files that are there already')
        .choices(['replace', 'keep'])
        .default('replace' as const),
    )
    .option('--detach', 'come back as soon as it has begun')
    .addHelpText('after', '\nCtrl-C cancels it. What has arrived whole stays.')
    .action(async (from, to, { failAt = null, existing, detach = false, ...choice }) => {
      const sandbox = await findSandbox(choice)
      if (isRehearsal(out, `transfer ${from.storage}:${from.path} to ${to.storage}:${to.path}`)) return
      const signal = onInterrupt()
      const started = await sandbox.post<TransferRecord>('/transfers', {
        ...{ from: [from.storage, from.path], to: [to.storage, to.path], failAt, existing },
      })
      const record = detach ? started : await follow(sandbox, started, { out, signal })
      out.result(record, () => [
        `${record.id}  ${describeEnd(record.source)} → ${describeEnd(record.destination)}  ${describeProgress(record)}`,
        `${record.filesDone} of ${record.filesTotal} files, ${formatBytes(record.bytesDone)} of ${formatBytes(record.bytesTotal)}`,
      ])
      if (signal.aborted) out.leaveWith('interrupted')
      else if (record.status === 'failed' || record.status === 'canceled') out.leaveWith('difference')
    })
}

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
      // It may have ended just now; then its record says how.
      await sandbox.post(`/transfers/${record.id}/cancel`).catch(() => null)
    }
    record = await sandbox.get<TransferRecord>(`/transfers/${record.id}`)
    progress.set(record.bytesDone)
    if (record.finishedAt === null) await after(LOOK_EVERY_MS)
  }
  return record
}

function parsePart(text: string): number {
  if (/^(0|1|0?\.\d{1,9}|1\.0*)$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It is a number from 0 to 1.')
}
